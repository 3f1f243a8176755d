/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job_server.c -- a job that is a server: all of its run is one call of its
 * queue hook, and fio takes it for a job that does no I/O of its own.
 *
 * Options that make fio do something to a job, like verifying its data or pacing
 * it, are meant for the clients even where they are given to all jobs; so they
 * are cleared for this one.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/failure.h"
#include "job.h"
#include "memory_server.h"
#include "options.h"

#define FLAGS	 (FIO_SYNCIO | FIO_NOIO | FIO_NOSTATS)
#define TASKS	 (TD_F_DO_VERIFY | TD_F_VER_BACKLOG | TD_F_TRIM_BACKLOG | TD_F_CHECK_RATE)
#define GRACE_US 30000000ULL /* for clients whose runtime= began later than the server's */

struct server {
	struct thread_data *td;
	struct settings settings;
	struct memory_server *memory_server;
	bool walled; /* a client of this run has a stonewall between */
};

/* --- what fio is to know of the job ---------------------------------------------- */

static void take_tasks_away(struct thread_data *td)
{
	struct thread_options *o = &td->o;

	td->flags |= (uint64_t)FLAGS << TD_ENG_FLAG_SHIFT;
	td->flags &= ~(uint64_t)TASKS;
	o->td_ddir = TD_DDIR_READ;
	for_each_rw_ddir(ddir)
		o->min_bs[ddir] = o->max_bs[ddir] = 1;
	o->verify = 0; /* VERIFY_NONE, of a header that cannot be had alone */
	o->verify_async = 0;
	o->fsync_blocks = o->fdatasync_blocks = o->sync_file_range = 0;
	o->end_fsync = o->fsync_on_close = 0;
	o->barrier_blocks = 0;
	o->thinktime = 0;
	o->number_ios = 0;
	o->file_append = 0;
	o->latency_target = 0;
	o->continue_on_error = ERROR_TYPE_NONE;
	o->read_iolog_file = NULL;
}

/* True if a job is of this engine, by the name in the job file. */
static bool is_ours(const struct thread_data *td, const struct thread_data *other)
{
	return other->o.ioengine && (!strncmp(other->o.ioengine, "librpma", 7) ||
				     !strcmp(other->o.ioengine, td->o.ioengine));
}

/* True if the other job is a client that will connect to this address. */
static bool comes_to(const struct settings *server, const struct thread_data *other)
{
	struct settings client;

	return !options_settle(other, &client) && client.role == ROLE_CLIENT &&
	       client.port == server->port && !strcmp(client.address, server->address);
}

/*
 * A server without clients= that has clients in its own run waits for all of
 * them: by the first one alone it would know of one section. In setup fio has
 * parsed all jobs and started none, but with create_serialize=0.
 */
static void count_clients(struct thread_data *td)
{
	struct rpma_options *options = td->eo;
	struct settings own;

	if (options->clients || options_settle(td, &own))
		return;
	for (unsigned i = 0; i < thread_number; i++) {
		const struct thread_data *other = tnumber_to_td(i);

		if (other->eo && other->io_ops && is_ours(td, other))
			options->clients += comes_to(&own, other);
	}
}

int server_setup(struct thread_data *td)
{
	take_tasks_away(td);
	count_clients(td);
	failure_get()->text[0] = '\0';
	return 0;
}

/* --- memory ---------------------------------------------------------------------- */

/* NULL: memory that has no file. */
static const char *file_name(struct thread_data *td)
{
	if (td->o.filename &&
	    (!strcmp(td->o.filename, "malloc") || !strcmp(td->o.filename, "hugepages")))
		return NULL;
	if (td->o.filename || fio_option_is_set(&td->o, filename_format))
		return td->files[0]->file_name;
	return NULL;
}

/* 0: it was not given; fio itself puts -1 then. */
static uint64_t bytes_given(const struct thread_data *td)
{
	return td->o.size == -1ULL ? 0 : td->o.size;
}

static int check_memory(struct thread_data *td, const char *file)
{
	if (td->o.size_percent)
		return failure_usage(
			"size=%u%%: expected bytes; a server without size= offers all of its file",
			td->o.size_percent);
	if (td->o.start_offset_percent)
		return failure_usage("offset=%u%%: expected bytes", td->o.start_offset_percent);
	if (file && td->files_index > 1)
		return failure_usage("filename=%s: a server has one file, not %u", td->o.filename,
				     td->files_index);
	if (!file && get_start_offset(td, td->files[0]))
		return failure_usage("offset=: a server without filename= has no memory before its "
				     "own; give it offset=0");
	if ((!file || access(file, F_OK)) && !bytes_given(td))
		return failure_usage("no size: set size= to the bytes to export");
	return 0;
}

/* The memory as target.h has it spelled; the caller frees it. NULL, with the error message set. */
static char *memory(struct thread_data *td)
{
	const char *file = file_name(td);
	const char *here = file && !strchr(file, '/') ? "./" : "";
	const char *kind =
		td->o.filename && !strcmp(td->o.filename, "hugepages") ? "hugepages" : "dram";
	char *text = NULL;
	int ret;

	if (check_memory(td, file))
		return NULL;
	if (!file)
		ret = asprintf(&text, "%s:%" PRIu64, kind, bytes_given(td));
	else if (!access(file, F_OK))
		ret = asprintf(&text, "%s%s", here, file);
	else
		ret = asprintf(&text, "%s%s:%" PRIu64, here, file, bytes_given(td));
	if (ret >= 0)
		return text;
	failure_set(EXIT_RUN_FAILED, "open", "out of memory");
	return NULL;
}

/* Each of several servers of one file has a part of its own. */
static uint64_t offset(struct thread_data *td)
{
	uint64_t bytes = get_start_offset(td, td->files[0]);

	if (file_name(td) && !td->o.offset_increment && !td->o.offset_increment_percent)
		bytes += td->subjob_number * bytes_given(td);
	return bytes;
}

static int cannot_extend(const char *file, uint64_t bytes, int error)
{
	return failure_set(EXIT_RUN_FAILED, "open", "cannot extend %s to %" PRIu64 " bytes: %s",
			   file, bytes, strerror(error));
}

/* A file that is there and ends too early is extended, as fio does with those of other engines. */
static int extend_file(struct thread_data *td)
{
	const char *file = file_name(td);
	uint64_t bytes = offset(td) + bytes_given(td);
	struct stat st;
	char text[PATH_MAX + 64];
	int fd, error;

	if (!file || !bytes_given(td) || stat(file, &st) || !S_ISREG(st.st_mode) ||
	    (uint64_t)st.st_size >= bytes)
		return 0;
	fd = open(file, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return cannot_extend(file, bytes, errno);
	error = posix_fallocate(fd, st.st_size, (off_t)bytes - st.st_size);
	close(fd);
	if (error)
		return cannot_extend(file, bytes, error);
	snprintf(text, sizeof(text), "%s extended from %jd to %" PRIu64 " bytes", file,
		 (intmax_t)st.st_size, bytes);
	job_say(td, text);
	return 0;
}

/* --- when it is over ------------------------------------------------------------- */

/* The clients are jobs of the same run, and all of them have ended or wait for this one to. */
static bool nobody_comes(struct server *server)
{
	bool any = false;

	for (unsigned i = 0; i < thread_number; i++) {
		const struct thread_data *other = tnumber_to_td(i);

		if (!is_ours(server->td, other) || (other->flags >> TD_ENG_FLAG_SHIFT) & FIO_NOIO)
			continue;
		server->walled = other->runstate == TD_NOT_CREATED && other->o.stonewall;
		if (server->walled)
			return true;
		if (other->runstate < TD_EXITED)
			return false;
		any = true;
	}
	return any;
}

static bool stopped(void *arg)
{
	struct server *server = arg;
	struct thread_data *td = server->td;
	uint64_t limit_us = td->o.timeout + td->o.ramp_time;
	uint64_t passed_us;
	bool alone;

	if (job_stopped(td) || !server->memory_server) /* without it, the run has not begun */
		return td->terminate;
	alone = !memory_server_clients(server->memory_server);
	if (alone && nobody_comes(server))
		return true;
	if (!td->o.timeout)
		return false;
	passed_us = utime_since_now(&td->epoch);
	return passed_us >= limit_us && (alone || passed_us >= limit_us + GRACE_US);
}

/* --- the hooks ------------------------------------------------------------------- */

static int open_server(struct server *server)
{
	struct thread_data *td = server->td;
	struct memory_server_cfg cfg = {
		.settings = &server->settings,
		.offset = offset(td),
		.bytes = bytes_given(td),
		.depth = (uint16_t)min(td->o.iodepth, (unsigned)JOB_DEPTH_MAX),
		.stopped = stopped,
		.arg = server,
	};
	char *target;
	int ret = options_settle(td, &server->settings);

	if (ret)
		return ret;
	ret = extend_file(td);
	if (ret)
		return ret;
	target = memory(td);
	if (!target)
		return -EINVAL;
	cfg.target = target;
	ret = memory_server_open(&server->memory_server, &cfg);
	free(target);
	return ret;
}

int server_init(struct thread_data *td)
{
	struct server *server = calloc(1, sizeof(*server));

	take_tasks_away(td);
	count_clients(td);
	if (!server) {
		failure_set(EXIT_RUN_FAILED, "open", "out of memory");
		return job_failed(td);
	}
	td->io_ops_data = server; /* server_cleanup() frees it, also half built */
	server->td = td;
	if (open_server(server))
		return job_failed(td);
	td->o.iodepth = 1; /* fio would say so itself, on stdout */
	return 0;
}

enum fio_q_status server_queue(struct thread_data *td, struct io_u *io_u)
{
	struct server *server = td->io_ops_data;

	(void)io_u;
	if (memory_server_serve(server->memory_server))
		job_failed(td);
	else if (server->walled)
		job_say(td, "ends before a client with stonewall, which waits for it to end: give "
			    "that client wait_for= in place of stonewall");
	td->done = 1;
	return FIO_Q_BUSY; /* or fio would count it as a read */
}

void server_cleanup(struct thread_data *td)
{
	struct server *server = td->io_ops_data;

	if (!server)
		return;
	memory_server_close(&server->memory_server);
	free(server);
	td->io_ops_data = NULL;
}
