/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * answers.c -- asks this machine: the verbs, statx, and a mapping.
 *
 * Nothing is changed and nothing is read or written through a mapping: a file
 * is opened for reading, without touching its access time where that may be
 * asked for; in a directory a file without a name stands for those to be made.
 */
#include "answers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <infiniband/verbs.h>

static void read_attributes(struct ibv_context *context, struct answers_device *out)
{
	struct ibv_device_attr_ex attr;
	int ret;

	memset(&attr, 0, sizeof(attr));
	ret = ibv_query_device_ex(context, NULL, &attr);
	if (ret != 0) {
		snprintf(out->why, sizeof(out->why), "ibv_query_device_ex: %s",
			 strerror(ret < 0 ? -ret : ret));
		return;
	}
	out->known = out->flags_known = out->odp_known = true;
	out->cap_flags_ex = attr.device_cap_flags_ex;
	out->odp_general = attr.odp_caps.general_caps;
	out->odp_rc = attr.odp_caps.per_transport_caps.rc_odp_caps;
	out->max_qp_wr = attr.orig_attr.max_qp_wr;
	out->max_cqe = attr.orig_attr.max_cqe;
	out->max_qp_rd_atom = attr.orig_attr.max_qp_rd_atom;
}

static void ask_device(struct ibv_device *const *list, const char *name, struct answers_device *out)
{
	struct ibv_context *context;

	for (; *list != NULL && strcmp(ibv_get_device_name(*list), name) != 0; list++)
		;
	if (*list == NULL) {
		snprintf(out->why, sizeof(out->why),
			 "libibverbs does not show it (no /dev/infiniband/uverbs here, or no "
			 "provider library)");
		return;
	}
	context = ibv_open_device(*list);
	if (context == NULL) {
		snprintf(out->why, sizeof(out->why), "ibv_open_device: %s", strerror(errno));
		return;
	}
	read_attributes(context, out);
	ibv_close_device(context);
}

static void ask_verbs(const char *name, struct answers_device *out)
{
	struct ibv_device **list;

	errno = 0;
	list = ibv_get_device_list(NULL);
	if (list == NULL) {
		snprintf(out->why, sizeof(out->why), "ibv_get_device_list: %s", strerror(errno));
		return;
	}
	ask_device(list, name, out);
	ibv_free_device_list(list);
}

void answers_of_device(const struct answers *answers, const char *name, struct answers_device *out)
{
	*out = (struct answers_device){
		.max_qp_wr = -1, .max_cqe = -1, .max_qp_rd_atom = -1, .tph_handle = -1};
	if (name[0] == '\0') {
		snprintf(out->why, sizeof(out->why), "there is no device");
	} else if (answers->root->machine) {
		ask_verbs(name, out);
		answers_note_device(answers, name, out);
	} else {
		answers_read_device(answers, name, out);
	}
}

static enum answers_file kind_of(unsigned mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return ANSWERS_REGULAR;
	case S_IFDIR:
		return ANSWERS_DIRECTORY;
	case S_IFCHR:
		return ANSWERS_CHARACTER;
	case S_IFBLK:
		return ANSWERS_BLOCK;
	default:
		return ANSWERS_OTHER;
	}
}

/* Only a file knows whether it is mapped with DAX; a directory does not. */
static void read_dax(int fd, struct answers_path *out)
{
	struct statx st;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &st) == 0 &&
	    (st.stx_attributes_mask & STATX_ATTR_DAX) != 0)
		out->dax = (st.stx_attributes & STATX_ATTR_DAX) != 0;
}

/* Asks what is opened, not the path: that may be another file by now. */
static int open_for_mapping(int fd, enum answers_file kind)
{
	char path[64];
	int opened;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (kind == ANSWERS_DIRECTORY)
		return open(path, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	opened = open(path, O_RDONLY | O_NOATIME | O_NONBLOCK | O_CLOEXEC);
	if (opened < 0 && errno == EPERM)
		opened = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	return opened;
}

static void try_mapping(int fd, struct answers_path *out)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *memory;

	memory = mmap(NULL, page, PROT_READ, MAP_SHARED_VALIDATE | MAP_SYNC, fd, 0);
	out->map_sync = memory == MAP_FAILED ? errno : 0;
	if (memory != MAP_FAILED)
		munmap(memory, page);
}

static void ask_file(int fd, struct answers_path *out)
{
	int file;

	if (out->kind != ANSWERS_REGULAR && out->kind != ANSWERS_DIRECTORY)
		return;
	file = open_for_mapping(fd, out->kind);
	if (file < 0) {
		out->error = errno;
		return;
	}
	read_dax(file, out);
	try_mapping(file, out);
	close(file);
}

static void read_numbers(const struct statx *st, struct answers_path *out)
{
	bool device;

	out->kind = kind_of(st->stx_mode);
	device = out->kind == ANSWERS_CHARACTER || out->kind == ANSWERS_BLOCK;
	out->major = device ? st->stx_rdev_major : st->stx_dev_major;
	out->minor = device ? st->stx_rdev_minor : st->stx_dev_minor;
	out->numbers = true;
	if (out->kind == ANSWERS_REGULAR)
		out->size_bytes = (int64_t)st->stx_size;
}

static void ask_path(const char *path, struct answers_path *out)
{
	struct statx st;
	int fd = open(path, O_PATH | O_CLOEXEC);

	if (fd < 0 || statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &st) != 0) {
		out->error = errno;
		if (errno == ENOENT || errno == ENOTDIR)
			out->kind = ANSWERS_NONE;
	} else {
		read_numbers(&st, out);
		ask_file(fd, out);
	}
	if (fd >= 0)
		close(fd);
}

void answers_of_path(const struct answers *answers, const char *path, struct answers_path *out)
{
	*out = (struct answers_path){.size_bytes = -1, .dax = -1, .map_sync = -1};
	if (!answers->root->machine) {
		answers_read_path(answers, path, out);
	} else {
		ask_path(path, out);
		answers_note_path(answers, path, out);
	}
}

void answers_of_probe(const struct answers *answers, struct answers_probe *out)
{
	if (!answers->root->machine)
		answers_read_probe(answers, out);
}
