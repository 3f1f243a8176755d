/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * durable_log.c -- see durable_log.h. The file is open with O_DSYNC: a write(2) that
 * returned is on the disk.
 */
#include "durable_log.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "common/base/failure.h"

#define BUFFER_BYTES 65536U

struct durable_log {
	char *path;
	int fd;
	int error; /* errno of the first write(2) that failed; 0: none did */
	uint64_t next;
	struct log_sum last;
	size_t used;
	uint8_t buffer[BUFFER_BYTES];
};

static void drain(struct durable_log *log)
{
	size_t at = 0;

	while (at < log->used && log->error == 0) {
		ssize_t done = write(log->fd, log->buffer + at, log->used - at);

		if (done > 0)
			at += (size_t)done;
		else if (done == 0 || errno != EINTR)
			log->error = done == 0 ? ENOSPC : errno;
	}
	log->used = 0;
}

/* Room for so few bytes. */
static uint8_t *reserve(struct durable_log *log, size_t bytes)
{
	uint8_t *at;

	if (bytes > BUFFER_BYTES - log->used)
		drain(log);
	at = log->buffer + log->used;
	log->used += bytes;
	return at;
}

static int cannot(const char *path, int error)
{
	return failure_set(EXIT_RUN_FAILED, "durable_log", "durable_log=%s: %s", path,
			   error == EWOULDBLOCK ? "another job writes it; give each section a file "
						  "of its own"
						: strerror(error));
}

/* A new file survives only with its folder. */
static int sync_folder(const char *path)
{
	char *copy = strdup(path);
	int fd = copy != NULL ? open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	int ret = fd >= 0 ? fsync(fd) : -1;

	if (fd >= 0)
		close(fd);
	free(copy);
	return ret;
}

static int begin(struct durable_log *log, const struct log_header *header)
{
	log->fd = open(log->path, O_WRONLY | O_CREAT | O_DSYNC | O_CLOEXEC, 0666);
	if (log->fd < 0 || flock(log->fd, LOCK_EX | LOCK_NB) != 0 || ftruncate(log->fd, 0) != 0 ||
	    sync_folder(log->path) != 0)
		return cannot(log->path, errno);
	log->last = log_header_encode(header, reserve(log, LOG_HEADER_BYTES));
	return durable_log_commit(log);
}

int durable_log_open(struct durable_log **log, const char *path, const struct log_header *header)
{
	struct durable_log *l = calloc(1, sizeof(*l));
	int ret;

	if (l == NULL || (l->path = strdup(path)) == NULL) {
		free(l);
		return cannot(path, ENOMEM);
	}
	l->fd = -1;
	ret = begin(l, header);
	if (ret) {
		durable_log_close(&l);
		return ret;
	}
	*log = l;
	return 0;
}

void durable_log_close(struct durable_log **log)
{
	struct durable_log *l = *log;

	*log = NULL;
	if (l == NULL)
		return;
	if (l->fd >= 0) {
		drain(l);
		close(l->fd);
	}
	free(l->path);
	free(l);
}

uint64_t durable_log_write(struct durable_log *log, uint64_t begin, const uint8_t *content,
			   uint32_t bytes)
{
	static const uint8_t zeros[LOG_LINE];
	const struct log_record record = {
		.type = LOG_WRITE, .number = log->next, .begin = begin, .bytes = bytes};
	struct log_sum sum = log_record_front(&record, log->last, reserve(log, LOG_FRONT_BYTES));

	while (bytes > 0) {
		uint32_t part = LOG_LINE - (uint32_t)(begin % LOG_LINE);

		if (part > bytes)
			part = bytes;
		log_record_tag(&sum, log_tag(content != NULL ? content : zeros, part),
			       reserve(log, LOG_TAG_BYTES));
		begin += part;
		bytes -= part;
		if (content != NULL)
			content += part;
	}
	log_record_end(sum, reserve(log, LOG_TAG_BYTES));
	log->last = sum;
	return log->next++;
}

static void put(struct durable_log *log, struct log_record record)
{
	log->last = log_record_encode(&record, log->last, reserve(log, LOG_RECORD_BYTES));
}

void durable_log_done(struct durable_log *log, uint64_t number, bool claimed)
{
	put(log, (struct log_record){.type = LOG_DONE, .claimed = claimed, .number = number});
}

void durable_log_sync(struct durable_log *log)
{
	put(log, (struct log_record){.type = LOG_SYNC});
}

void durable_log_failed_sync(struct durable_log *log)
{
	put(log, (struct log_record){.type = LOG_FAILED});
}

int durable_log_commit(struct durable_log *log)
{
	drain(log);
	return log->error != 0 ? cannot(log->path, log->error) : 0;
}

int durable_log_end(struct durable_log *log, uint64_t flushes, enum reached reached)
{
	put(log, (struct log_record){.type = LOG_END,
				     .number = log->next,
				     .begin = flushes,
				     .bytes = (uint32_t)reached});
	return durable_log_commit(log);
}
