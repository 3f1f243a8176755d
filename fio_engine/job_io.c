/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job_io.c -- what a client does for fio between its begin and its end: takes
 * io_us, posts them, hands them back.
 *
 * An error that fio is to go on after is handed back with its io_u, and the
 * connection made again. After any other one the job ends: the first io_u that
 * failed has the error, and fio prints it once; the others go back with
 * nothing done.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/failure.h"
#include "common/base/monotonic.h"
#include "job_client.h"
#include "struct_guard.h"

/* The rare cases are apart, so that a plain operation saves no registers for them. */
#define APART __attribute__((noinline))

static bool goes_on_after(struct thread_data *td, enum fio_ddir ddir, int error)
{
	return td_non_fatal_error(td, td_error_type(ddir, error), error);
}

/* Prints why; nothing more is done, whatever fio would go on after. */
static void give_up(struct client *client)
{
	client->error = job_failed(client->td);
	fio_mark_td_terminate(client->td);
}

/* --- one io_u -------------------------------------------------------------------- */

/* fio's stamps: an io_u is under way from here on. */
static __always_inline void stamp(struct thread_data *td, struct io_u *io_u)
{
	if (!fio_fill_issue_time(td))
		return;
	fio_gettime(&io_u->issue_time, NULL);
	if (td->o.read_iolog_file)
		td->last_issue = io_u->issue_time;
}

static void posting(void *arg, struct operation *operation)
{
	struct client *client = arg;

	stamp(client->td, operation->owner);
	if (client->commits)
		operation->posted_ns = monotonic_ns();
	io_u_queued(client->td, operation->owner);
}

static enum operation_kind kind_of(enum fio_ddir ddir)
{
	if (ddir == DDIR_READ)
		return OPERATION_READ;
	return ddir == DDIR_WRITE ? OPERATION_WRITE : OPERATION_TRIM;
}

/* fio keeps to the sizes of files by itself, except when it replays a log. */
static bool within_its_file(const struct client *client, const struct io_u *io_u)
{
	uint64_t size = client->layout.sizes[io_u->file->fileno];

	return io_u->offset <= size && io_u->xfer_buflen <= size - io_u->offset;
}

/* Immediate data names blocks: any other write could be posted, but not be named. */
static bool is_block(const struct client *client, const struct operation *operation)
{
	return !client->block || operation->kind != OPERATION_WRITE ||
	       (operation->bytes == client->block && operation->begin % client->block == 0);
}

/* True if the server has to be asked for it. */
static bool possible(const struct client *client, const struct io_u *io_u)
{
	return within_its_file(client, io_u) && is_block(client, io_u->engine_data);
}

static APART void say_impossible(const struct client *client, const struct io_u *io_u)
{
	if (!within_its_file(client, io_u))
		failure_set(EXIT_RUN_FAILED, "queue", "%llu bytes at %llu are beyond the file",
			    io_u->xfer_buflen, io_u->offset);
	else
		failure_set(EXIT_RUN_FAILED, "queue",
			    "%llu bytes at %llu are no block of %" PRIu64 " bytes of the server's "
			    "memory, and write_op= needs them to be",
			    io_u->xfer_buflen, io_u->offset, client->block);
}

static void fill(struct client *client, const struct io_u *io_u, struct operation *operation)
{
	operation->kind = kind_of(io_u->ddir);
	operation->begin = client->layout.files[io_u->file->fileno] + io_u->offset;
	operation->bytes = (uint32_t)io_u->xfer_buflen;
	operation->local_offset = 0;
	if (operation->kind != OPERATION_TRIM)
		operation->local_offset =
			(size_t)((const char *)io_u->xfer_buf - client->connection.buffer_memory);
	operation->status = IBV_WC_SUCCESS; /* as far as client_errdetails() is to know */
}

/* Gives the io_u what has become of it; false: its error ends the job. */
static bool finish(struct client *client, struct io_u *io_u, int error)
{
	if (client->error) { /* fio has been told; of this one it is to count and say nothing */
		io_u->ddir = DDIR_INVAL;
		return true;
	}
	io_u->error = (unsigned)error;
	if (!error || goes_on_after(client->td, io_u->ddir, error))
		return true;
	client->error = error;
	return false;
}

/* Describes why an io_u failed; the caller frees the text. */
static char *details(const struct io_u *io_u)
{
	const struct operation *operation = io_u->engine_data;
	const char *why = failure_get()->text;
	char *text = NULL;
	int ret;

	if (ddir_rw(io_u->ddir) && operation->status != IBV_WC_SUCCESS)
		ret = asprintf(&text, "completion with %s (vendor error 0x%x)%s%s",
			       connection_wc_status_name(operation->status),
			       operation->vendor_error, *why ? ": " : "", why);
	else
		ret = asprintf(&text, "%s", *why ? why : strerror((int)io_u->error));
	return ret < 0 ? NULL : text;
}

/* The text that fio prints behind "fio: " and frees. */
char *client_errdetails(const struct io_u *io_u)
{
	char *plain = details(io_u), *text = NULL;

	if (asprintf(&text, "librpma: %s", plain ? plain : "out of memory") < 0)
		text = NULL;
	free(plain);
	return text;
}

/* For what completes in queue: fio asks for no details of those. */
static APART enum fio_q_status complete(struct client *client, struct io_u *io_u, int error)
{
	if (!finish(client, io_u, error)) {
		char *text = details(io_u);

		job_say(client->td, text ? text : strerror(error));
		free(text);
	}
	return FIO_Q_COMPLETED;
}

/* --- the log of what is durable ---------------------------------------------------- */

static APART void log_write(struct client *client, struct operation *operation)
{
	const char *content = NULL;

	if (operation->kind == OPERATION_READ)
		return;
	if (operation->kind == OPERATION_WRITE)
		content = client->connection.buffer_memory + operation->local_offset;
	operation->number = durable_log_write(client->log, operation->begin,
					      (const uint8_t *)content, operation->bytes);
}

static APART void log_done(struct client *client, const struct operation *operation)
{
	if (operation->kind != OPERATION_READ && !operation->error)
		durable_log_done(client->log, operation->number, client->claims);
}

/* On the disk before anything else happens; else the job ends with nothing more posted. */
static APART void log_commit(struct client *client)
{
	if (client->error || !durable_log_commit(client->log))
		return;
	give_up(client);
	io_queue_break(client->io_queue, ECANCELED);
}

static void log_sync(struct client *client, int error)
{
	if (!client->log)
		return;
	if (error)
		durable_log_failed_sync(client->log);
	else
		durable_log_sync(client->log);
	log_commit(client);
}

/* --- commits, for result= ---------------------------------------------------------- */

static APART void count_commit(struct client *client, const struct operation *operation)
{
	if (client->claims && client->settings.flush != FLUSH_NONE && !operation->error &&
	    operation->kind != OPERATION_READ)
		histogram_record(client->commits, monotonic_ns() - operation->posted_ns);
}

/* An fsync; what has nothing to flush is no commit. */
static int sync_dirty(struct client *client)
{
	uint64_t begin_ns;
	int ret;

	if (client->settings.flush == FLUSH_NONE || !io_queue_dirty(client->io_queue)) {
		client->syncs.empty++;
		return 0;
	}
	begin_ns = monotonic_ns();
	ret = io_queue_sync(client->io_queue);
	if (ret) {
		client->syncs.failed++;
		return ret;
	}
	client->syncs.flushed++;
	/* what was posted before is complete, and nothing was posted since */
	job_connection_mark_durable(&client->connection);
	if (client->commits)
		histogram_record(client->commits, monotonic_ns() - begin_ns);
	return 0;
}

/* --- queue ----------------------------------------------------------------------- */

static void commit(struct client *client, uint32_t added)
{
	if (client->log)
		log_commit(client);
	io_queue_commit(client->io_queue, posting, client);
	io_u_mark_submit(client->td, added);
	client->held = 0;
}

static APART bool connect_again(struct client *client)
{
	io_queue_abandon(client->io_queue, EIO);
	if (!job_connection_reconnect(&client->connection))
		return true;
	give_up(client);
	return false;
}

/* Connects again if the connection is gone and the job is to go on. */
static bool usable(struct client *client)
{
	if (client->error)
		return false;
	return !io_queue_broken(client->io_queue) || !client->td->o.continue_on_error ||
	       connect_again(client);
}

/* Said once a section: what fio reports as latencies of sync is the time of no flush. */
static void say_empty(struct client *client)
{
	static const char *const names[] = {
		[FLUSH_AUTO] = "auto", [FLUSH_EACH] = "each", [FLUSH_BATCH] = "batch"};
	const enum flush_policy flush = client->settings.flush;
	const bool by_sync = client->td->o.sync_io;
	char text[160];

	if (client->told_empty || flush == FLUSH_FSYNC || client->td->subjob_number)
		return;
	client->told_empty = true;
	if (flush == FLUSH_NONE)
		snprintf(text, sizeof(text),
			 "fsync does nothing with flush=none: its latencies measure nothing");
	else
		snprintf(text, sizeof(text),
			 "fsync has nothing to flush, as %s%s flushes each write: its latencies "
			 "measure nothing",
			 by_sync ? "" : "flush=", by_sync ? "sync=1" : names[flush]);
	job_say(client->td, text);
}

/* fsync and its like complete in here, or fio would ask for each of them twice. */
static APART enum fio_q_status sync_now(struct client *client, struct io_u *io_u)
{
	uint32_t added = io_queue_added(client->io_queue);
	int ret;

	if (added) {
		bool held = added == client->held;

		commit(client, added);
		if (!held)
			return FIO_Q_BUSY;
	}
	say_empty(client);
	stamp(client->td, io_u);
	ret = sync_dirty(client);
	log_sync(client, ret);
	return complete(client, io_u, ret ? EIO : 0);
}

/* A write or read of sync=1 is over when queue returns. */
static APART enum fio_q_status do_now(struct client *client, struct io_u *io_u)
{
	struct operation *operation = io_u->engine_data;

	if (client->log)
		log_commit(client);
	io_queue_commit(client->io_queue, posting, client);
	while (io_queue_done(client->io_queue) != operation)
		io_queue_wait(client->io_queue, 1, UINT64_MAX);
	if (client->commits)
		count_commit(client, operation);
	if (client->log) {
		log_done(client, operation);
		log_commit(client);
	}
	return complete(client, io_u, operation->error);
}

/* fio forgets that an io_u is a barrier when that has to wait. */
static bool is_barrier(const struct client *client, const struct io_u *io_u)
{
	return (io_u->flags & IO_U_F_BARRIER) || io_u == client->barrier;
}

/* All before a barrier is done, and durable where the policy makes it so. */
static APART bool barrier_passed(struct client *client, const struct io_u *io_u, int *error)
{
	bool busy = io_queue_added(client->io_queue) || io_queue_out(client->io_queue);

	client->barrier = busy ? io_u : NULL;
	if (busy)
		return false;
	if (client->settings.flush != FLUSH_NONE && io_queue_dirty(client->io_queue))
		*error = io_queue_sync(client->io_queue) ? EIO : 0;
	if (*error) /* fio was not told of a sync: one that succeeds claims nothing */
		log_sync(client, *error);
	return true;
}

/*
 * Gives each io_u the operation with its index, in whose place that is then, when the first one has
 * come and is what the headers tell. Else the job ends, with nothing changed in it.
 */
static APART bool bind_io_us(struct client *client, const struct io_u *first)
{
	struct io_u *io_u;
	unsigned i;

	if (!struct_guard_io_u(first)) {
		failure_set(EXIT_RUN_FAILED, "queue", "this fio cannot be served");
		give_up(client);
		return false;
	}
	io_u_qiter(&client->td->io_u_all, io_u, i) {
		struct operation *operation = io_queue_operation(client->io_queue, i);

		operation->owner = io_u;
		io_u->engine_data = operation;
	}
	client->bound = true;
	return true;
}

enum fio_q_status client_queue(struct thread_data *td, struct io_u *io_u)
{
	struct client *client = td->io_ops_data;
	int error = 0;

	if (!usable(client)) {
		io_u->error = (unsigned)client->error;
		return FIO_Q_COMPLETED;
	}
	if (ddir_sync(io_u->ddir))
		return sync_now(client, io_u);
	if (!client->bound && !bind_io_us(client, io_u)) {
		io_u->ddir = DDIR_INVAL;
		return FIO_Q_COMPLETED;
	}
	if (is_barrier(client, io_u) && !barrier_passed(client, io_u, &error))
		return FIO_Q_BUSY;
	fill(client, io_u, io_u->engine_data);
	if (error)
		return complete(client, io_u, error);
	if (!possible(client, io_u)) {
		say_impossible(client, io_u);
		return complete(client, io_u, EINVAL);
	}
	if (!io_queue_add(client->io_queue, io_u->engine_data))
		return FIO_Q_BUSY;
	if (client->log)
		log_write(client, io_u->engine_data);
	return td->o.sync_io ? do_now(client, io_u) : FIO_Q_QUEUED;
}

/*
 * At a full queue fio commits before it asks for completions, and asks for one
 * at a time (iodepth_batch_complete_max=1): what it has handed over since is
 * less than a batch, and would get a flush of its own. It waits for the rest of
 * its batch, which fio hands over as it takes completions.
 */
static bool waits_for_its_batch(const struct client *client, uint32_t added)
{
	const struct thread_options *o = &client->td->o;
	uint32_t out = io_queue_out(client->io_queue);

	return added < o->iodepth_batch && out > 0 && added + out == o->iodepth;
}

int client_commit(struct thread_data *td)
{
	struct client *client = td->io_ops_data;
	uint32_t added = io_queue_added(client->io_queue);

	if (added && waits_for_its_batch(client, added))
		client->held =
			added; /* for fio it is committed: an fsync does not wait for the rest */
	else if (added)
		commit(client, added);
	return 0;
}

/* --- completions ----------------------------------------------------------------- */

static void add_ns(struct timespec *time, uint64_t ns)
{
	ns += (uint64_t)time->tv_nsec;
	time->tv_sec += (time_t)(ns / 1000000000);
	time->tv_nsec = (long)(ns % 1000000000);
}

/*
 * fio takes what it is handed now for done now. What was done while a sync waited has its beginning
 * moved by the time since, so that its latencies are without the sync.
 */
static void set_back(struct io_u *io_u, uint64_t done_ns)
{
	uint64_t since_ns = monotonic_ns() - done_ns;

	add_ns(&io_u->start_time, since_ns);
	add_ns(&io_u->issue_time, since_ns);
}

int client_getevents(struct thread_data *td, unsigned min, unsigned max,
		     const struct timespec *timeout)
{
	struct client *client = td->io_ops_data;
	uint64_t timeout_ns = UINT64_MAX;
	uint32_t added = io_queue_added(client->io_queue);
	unsigned count = 0;

	if (max < client->events_least)
		max = client->events_least;
	if (timeout)
		timeout_ns = (uint64_t)timeout->tv_sec * 1000000000 + (uint64_t)timeout->tv_nsec;
	if (added && min > io_queue_out(client->io_queue)) /* it asks for those that wait, too */
		commit(client, added);
	if (min)
		io_queue_wait(client->io_queue, min, timeout_ns);
	else
		io_queue_poll(client->io_queue);
	while (count < max) {
		struct operation *operation = io_queue_done(client->io_queue);

		if (!operation)
			break;
		client->events[count++] = operation->owner;
		if (client->commits)
			count_commit(client, operation);
		if (client->log)
			log_done(client, operation);
	}
	if (client->log && count)
		log_commit(client);
	for (unsigned i = 0; i < count; i++) {
		struct io_u *io_u = client->events[i];
		const struct operation *operation = io_u->engine_data;

		if (operation->done_ns)
			set_back(io_u, operation->done_ns);
		finish(client, io_u, operation->error);
	}
	return (int)count;
}

struct io_u *client_event(struct thread_data *td, int number)
{
	struct client *client = td->io_ops_data;

	return client->events[number];
}
