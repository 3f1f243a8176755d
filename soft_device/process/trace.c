/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace.c -- the file of trace.h: made by the first open of a device, written
 * by the threads that post, complete and poll.
 *
 * Each operation has a record of its own, whose number goes with it through slot and
 * completion, so no thread waits for another. A child of fork() has the parent's mapping but
 * no operations of the parent; it makes a file of its own with its first open.
 */
#include "trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define TRACE_BYTES (sizeof(struct trace_header) + TRACE_ROOM * sizeof(struct trace_record))

static struct trace_header *header; /* NULL: no trace */
static struct trace_record *records;
static pid_t owner;
static int file = -1;

static void put_name(char *name, size_t size, const char *pattern)
{
	const char *percent = strchr(pattern, '%');

	snprintf(name, size, "%.*s%d%s", (int)(percent - pattern), pattern, (int)getpid(),
		 percent + 2);
}

/* An empty file of full size, mapped; 0 or -errno. */
static int begin(int fd)
{
	int error = posix_fallocate(fd, 0, TRACE_BYTES);
	struct trace_header *mapped;

	if (error != 0)
		return -error;
	mapped = mmap(NULL, TRACE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
	if (mapped == MAP_FAILED)
		return -errno;
	mapped->header_bytes = sizeof(*mapped);
	mapped->record_bytes = sizeof(*records);
	mapped->room = TRACE_ROOM;
	mapped->magic = TRACE_MAGIC;
	records = (struct trace_record *)(mapped + 1);
	header = mapped;
	owner = getpid();
	return 0;
}

/* Makes the file, if the options ask for one. */
static int make(struct process *process)
{
	const struct soft_options *options = &process->options;
	char name[SOFT_WORD_MAX + 16];
	int error;

	if (options->trace[0] == '\0')
		return 0;
	if (file >= 0) /* the parent's */
		close(file);
	if (header != NULL)
		munmap(header, TRACE_BYTES);
	header = NULL;
	put_name(name, sizeof(name), options->trace);
	/* one left by another process of this id goes; a link that another user has put there is
	 * not followed */
	unlink(name);
	file = open(name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	error = file < 0 ? -errno : begin(file);
	if (error != 0)
		process_warn("trace %s: %s", name, strerror(-error));
	return error;
}

/* Gives the blocks back that are not needed. */
static void leave(void)
{
	uint64_t posted;
	off_t used;

	if (header == NULL || owner != getpid())
		return;
	posted = atomic_load(&header->posted);
	used = (off_t)(sizeof(*header) +
		       sizeof(*records) * (posted < TRACE_ROOM ? posted : TRACE_ROOM));
	/* no truncation: other threads may still write; where it is not supported it stays large */
	(void)fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, used,
			(off_t)TRACE_BYTES - used);
}

const struct process_part trace_part = {.begin = make, .leave = leave};

uint32_t trace_posted(const struct trace_post *post)
{
	struct trace_record *record;
	uint64_t number;

	if (header == NULL)
		return 0;
	atomic_fetch_add(&header->kinds[post->opcode].operations, 1);
	atomic_fetch_add(&header->kinds[post->opcode].bytes, post->bytes);
	number = atomic_fetch_add(&header->posted, 1);
	if (number >= TRACE_ROOM)
		return 0;
	record = &records[number];
	record->posted_ns = post->now_ns;
	record->delay_ns = post->delay_ns;
	record->qpn = post->qpn;
	record->bytes = post->bytes;
	record->opcode = post->opcode;
	record->signaled = post->signaled;
	return (uint32_t)number + 1;
}

void trace_done(uint32_t record, enum ibv_wc_status status)
{
	records[record - 1].status = (uint8_t)status;
	records[record - 1].done_ns = process_now_ns();
}

void trace_polled(struct ibv_wc *wc, int count)
{
	uint64_t now_ns = 0;

	if (header == NULL)
		return;
	for (int i = 0; i < count; i++) {
		if (wc[i].status != IBV_WC_SUCCESS || (wc[i].opcode & IBV_WC_RECV) != 0 ||
		    wc[i].imm_data == 0)
			continue;
		now_ns = now_ns == 0 ? process_now_ns() : now_ns;
		records[wc[i].imm_data - 1].polled_ns = now_ns;
		wc[i].imm_data = 0;
	}
}
