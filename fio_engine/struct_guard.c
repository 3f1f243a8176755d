/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * struct_guard.c -- see struct_guard.h. What is read of fio: where its parser stores each option;
 * how large the memory is that it has for jobs; and in a job what has a value that is known.
 */
#include "struct_guard.h"

#include <dlfcn.h>
#include <sys/shm.h>

#include "options.h"

/* Options whose member of struct thread_options the engine reads, from its beginning to its end. */
#define OPTION(option, field)                                                                      \
	{                                                                                          \
		option, #field, offsetof(struct thread_options, field)                             \
	}
static const struct {
	const char *option;
	const char *field;
	size_t offset;
} options[] = {
	OPTION("name", name),
	OPTION("rw", td_ddir),
	OPTION("iodepth", iodepth),
	OPTION("iodepth_batch", iodepth_batch),
	OPTION("size", size),
	OPTION("filesize", file_size_low),
	OPTION("nrfiles", nr_files),
	OPTION("offset", start_offset),
	OPTION("offset_increment", offset_increment),
	OPTION("bsrange", min_bs[DDIR_READ]),
	OPTION("blockalign", ba[DDIR_READ]),
	OPTION("number_ios", number_ios),
	OPTION("fsync", fsync_blocks),
	OPTION("fdatasync", fdatasync_blocks),
	OPTION("sync", sync_io),
	OPTION("end_fsync", end_fsync),
	OPTION("fsync_on_close", fsync_on_close),
	OPTION("write_barrier", barrier_blocks),
	OPTION("verify", verify),
	OPTION("runtime", timeout),
	OPTION("ramp_time", ramp_time),
	OPTION("thread", use_thread),
	OPTION("numjobs", numjobs),
	OPTION("create_serialize", create_serialize),
	OPTION("read_iolog", read_iolog_file),
	OPTION("zonerange", zone_range),
	OPTION("zoneskip", zone_skip),
	OPTION("continue_on_error", continue_on_error),
};

static bool differs(const char *what)
{
	const char *running = dlsym(RTLD_DEFAULT, "fio_version_string");

	fprintf(stderr,
		"librpma: the structures of %s differ from those in the headers of %s that this "
		"engine was built with (%s): build it with the source of that very fio "
		"(cmake -DFIO_SOURCE_DIR=)\n",
		running ? running : "this fio", FIO_HEADERS_VERSION, what);
	return false;
}

/* fio's table of options, by its own search: one entry behind the other, of the size we know. */
static bool options_fit(void)
{
	const struct fio_option *(*find)(const struct fio_option *, const char *) =
		dlsym(RTLD_DEFAULT, "find_option_c");
	const char *table = dlsym(RTLD_DEFAULT, "fio_options");

	if (!table || !find) /* nothing that can be held against the headers */
		return true;
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		const void *at = find((const void *)table, options[i].option);
		const struct fio_option *option = at;

		if (!at)
			continue;
		if ((size_t)((const char *)at - table) % sizeof(*option))
			return differs("struct fio_option");
		if (option->off1 != options[i].offset)
			return differs(options[i].field);
	}
	return true;
}

/* The memory that fio shares among jobs is that of some of them, and a few bytes. */
static bool job_size_fits(void)
{
	const size_t jobs = JOBS_PER_SEG * sizeof(struct thread_data);
	struct shmid_ds memory;

	if (!segments[0].threads || shmctl(segments[0].shm_id, IPC_STAT, &memory))
		return true;
	if (memory.shm_segsz >= jobs && memory.shm_segsz - jobs < JOBS_PER_SEG * sizeof(void *))
		return true;
	return differs("the size of struct thread_data");
}

bool struct_guard_program(void)
{
	return options_fit() && job_size_fits();
}

/* No I/O has begun in it: fio marks the places of the last ones so. */
static bool is_unused(const struct fio_file *file)
{
	for_each_rw_ddir(ddir)
		if (file->last_start[ddir] != -1ULL)
			return false;
	return true;
}

/* In the order of their offsets: what is before a place that fits does, too. */
bool struct_guard_job(struct thread_data *td, bool (*is_table)(const struct ioengine_ops *))
{
	const struct rpma_options *ours;
	struct fio_file *file;
	unsigned i;

	if (!is_table(td->io_ops))
		return differs("thread_data.io_ops");
	ours = td->eo;
	if (!ours || ours->role < ROLE_CLIENT || ours->role > ROLE_SERVER ||
	    ours->region < REGION_AUTO || ours->region > REGION_SPLIT) /* all have a default */
		return differs("thread_data.eo");
	if (!job_size_fits())
		return false;
	for_each_file(td, file, i)
		if (file->fileno != (int)i || !is_unused(file))
			return differs("struct fio_file");
	return true;
}

bool struct_guard_io_u(const struct io_u *io_u)
{
	return (io_u->xfer_buf == io_u->buf && io_u->xfer_buflen == io_u->buflen) ||
	       differs("struct io_u");
}
