/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job_client.c -- begin and end of a client: its sizes, its connection, its
 * place in the region, its buffers. What it does between is in job_io.c.
 *
 * fio asks for the sizes of files before a job begins, unless it is told not to
 * (create_serialize=0); they come from the job's options then, and are held
 * against the region when that is known.
 */
#include "job_client.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>

#include "common/base/failure.h"
#include "job_result.h"

#define BLOCK_MAX (1ULL << 30) /* an RDMA message has 2^31 bytes at most */

/* --- sizes ----------------------------------------------------------------------- */

/* The end of a file by the options of the job; 0: they do not tell. */
static uint64_t reach(struct thread_data *td, struct fio_file *file, unsigned number)
{
	const struct thread_options *o = &td->o;
	uint64_t share = o->nr_files ? o->size / o->nr_files : o->size;
	uint64_t block = td_min_bs(td);

	if (o->file_size_low && o->file_size_low < o->file_size_high)
		return max(get_rand_file_size(td), o->file_size_low); /* as fio, but never below */
	if (o->file_size_low)
		return o->file_size_low;
	if (!share)
		return 0;
	/* what cannot be divided goes to the first files, as fio does */
	if (block && number < (o->size - share * o->nr_files) / block)
		share += block;
	return get_start_offset(td, file) + share;
}

static int size_files(struct thread_data *td, bool must_be_known)
{
	struct fio_file *file;
	unsigned i;

	if (td->o.size && !td->o.file_size_low && td->o.start_offset_percent)
		return failure_usage(
			"offset=%u%%: of what is not known; give filesize= in place of size=",
			td->o.start_offset_percent);
	for_each_file(td, file, i) {
		uint64_t bytes = reach(td, file, i);

		if (!bytes && must_be_known)
			return failure_usage(
				"no size: give size=, how much of the server's memory the job "
				"uses, or create_serialize=0 to use all of it");
		file->real_file_size = bytes;
		fio_file_set_size_known(file);
	}
	return 0;
}

int client_setup(struct thread_data *td)
{
	if (td->io_ops_data) /* create_serialize=0: init has done it */
		return 0;
	facts_open(td);
	job_result_run_id(); /* before the jobs are processes of their own */
	return size_files(td, !td->o.read_iolog_file) ? job_failed(td) : 0;
}

/* --- place ----------------------------------------------------------------------- */

/* Offsets of block writes are multiples of this number of bytes. */
static int check_blocks(struct client *client)
{
	struct thread_data *td = client->td;
	uint64_t block = client->block;
	struct fio_file *file;
	unsigned i;
	bool fit = td->o.ba[DDIR_WRITE] % block == 0 &&
		   llabs(td->o.ddir_seq_add) % (long long)block == 0;

	for_each_file(td, file, i)
		fit = fit && (client->layout.files[i] + get_start_offset(td, file)) % block == 0;
	if (fit)
		return 0;
	return failure_usage("write_op=%s: all writes must be at multiples of %" PRIu64
			     " bytes of the server's memory, by offset=, blockalign= and the sizes "
			     "of files and parts",
			     client->settings.write_op == WRITE_ATOMIC ? "atomic" : "imm", block);
}

static int place_files(struct client *client)
{
	struct thread_data *td = client->td;
	struct layout_request request = {
		.use = client->settings.region,
		.job = client->settings.job,
		.jobs = client->settings.jobs,
		.placed = td->o.offset_increment || td->o.offset_increment_percent,
		.files = td->o.nr_files,
		.alignment = client->settings.write_op == WRITE_ATOMIC ? 8 : 1,
	};
	uint64_t *bytes = calloc(request.files, sizeof(*bytes));
	struct fio_file *file;
	unsigned i;
	int ret;

	if (!bytes)
		return failure_set(EXIT_RUN_FAILED, "layout", "out of memory for %zu files",
				   request.files);
	for_each_file(td, file, i) /* -1: it is of a log, and came after the others were sized */
		bytes[i] = file->real_file_size == -1ULL ? 0 : file->real_file_size;
	request.file_bytes = bytes;
	ret = layout_open(&client->layout, &request, client->connection.remote_bytes);
	free(bytes);
	if (ret)
		return ret;
	for_each_file(td, file, i)
		file->real_file_size = client->layout.sizes[i];
	client->block = client->connection.cfg.job_request.imm_bytes;
	if (client->settings.write_op == WRITE_ATOMIC)
		client->block = 8;
	return client->block ? check_blocks(client) : 0;
}

/* The largest power of two that all offsets and lengths of writes are multiples of. */
static uint64_t write_grain(struct client *client)
{
	struct thread_data *td = client->td;
	const struct thread_options *o = &td->o;
	uint64_t all = (uint64_t)o->ddir_seq_add | o->zone_range | o->zone_skip;
	struct fio_file *file;
	unsigned i;

	if (o->bs_unaligned || o->read_iolog_file)
		return 1;
	for_each_rw_ddir(ddir) {
		all |= o->min_bs[ddir] | o->ba[ddir];
		if (o->min_bs[ddir] != o->max_bs[ddir] && !is_power_of_2(o->min_bs[ddir]))
			return 1;
	}
	for_each_file(td, file, i)
		all |= client->layout.files[i] | get_start_offset(td, file);
	return all & -all;
}

/* --- begin ----------------------------------------------------------------------- */

/* Mode gpspm has a message for each operation; else the server credits numbers in halves. */
static uint32_t message_depth(const struct client *client)
{
	uint32_t depth = client->td->o.iodepth;

	if (client->settings.method == METHOD_GPSPM)
		return depth;
	if (client->settings.write_op != WRITE_IMM)
		return 0;
	return 2 * depth > JOB_DEPTH_MIN / 2 ? 2 * depth : JOB_DEPTH_MIN / 2;
}

static int check_limits(const struct client *client)
{
	struct thread_data *td = client->td;
	bool gpspm = client->settings.method == METHOD_GPSPM;
	uint32_t most = gpspm ? JOB_DEPTH_MAX : JOB_DEPTH_MAX / 2;

	if (td_max_bs(td) > BLOCK_MAX)
		return failure_usage("bs=%llu: expected at most %llu",
				     (unsigned long long)td_max_bs(td),
				     (unsigned long long)BLOCK_MAX);
	if (message_depth(client) > 0 && td->o.iodepth > most)
		return failure_usage("iodepth=%u: expected at most %u with %s", td->o.iodepth, most,
				     gpspm ? "mode=gpspm" : "write_op=imm");
	return 0;
}

static struct job_request job_request_of(const struct client *client)
{
	const struct settings *settings = &client->settings;
	const struct thread_data *td = client->td;
	struct job_request job_request = {
		.method = settings->method,
		.job = (uint16_t)settings->job,
		.jobs = (uint16_t)settings->jobs,
		.depth = (uint16_t)message_depth(client),
	};

	if (settings->method == METHOD_GPSPM && settings->write_op == WRITE_IMM)
		job_request.imm_bytes = (uint32_t)td->o.max_bs[DDIR_WRITE];
	return job_request;
}

static int connect_client(struct client *client)
{
	struct job_connection_cfg cfg = {
		.settings = &client->settings,
		.job_request = job_request_of(client),
		.sq_size = IO_QUEUE_SQ_SIZE(client->td->o.iodepth),
		.stopped = job_stopped,
		.arg = client->td,
	};

	cfg.cq_size = cfg.sq_size + cfg.job_request.depth;
	return job_connection_open(&client->connection, &cfg);
}

struct account client_account(const struct client *client)
{
	return (struct account){
		.policy = client->settings.flush,
		.persistent = client->connection.flush_type == RPMA_FLUSH_TYPE_PERSISTENT,
		.io = io_queue_counts(client->io_queue),
		.syncs = client->syncs,
	};
}

/* For fio's results: until the job has ended nothing is known of its flushes. */
static void set_facts(const struct client *client, bool ended)
{
	const struct job_connection *connection = &client->connection;
	const struct account account = client_account(client);
	char text[512], counts[256] = "", run[32] = "";

	if (ended)
		snprintf(counts, sizeof(counts),
			 " writes=%" PRIu64 " covered=%" PRIu64 " flushes=%" PRIu64
			 " syncs=%" PRIu64 " empty_syncs=%" PRIu64,
			 account.io.writes, account.io.covered, account.io.flushes,
			 account.syncs.flushed + account.syncs.empty + account.syncs.failed,
			 account.syncs.empty);
	if (client->settings.result)
		snprintf(run, sizeof(run), " run=%s", job_result_run_id());
	snprintf(text, sizeof(text), "mode=%s flush=%s flush_type=%s target=%s device=%s%s%s",
		 method_name(client->settings.method), flush_policy_name(account.policy),
		 ended ? reached_name(account_reached(&account)) : "unproven",
		 target_kind_name(connection->job_reply.kind), connection->device, counts, run);
	facts_set(client->td, text);
}

/* In one line: what became of the writes of the job. */
static void say_what_it_did(const struct client *client)
{
	const struct account account = client_account(client);
	char text[ACCOUNT_TEXT_BYTES], line[ACCOUNT_TEXT_BYTES + 32];

	account_print(&account, text);
	if (text[0] == '\0')
		return;
	if (options_numjobs(client->td) > 1)
		snprintf(line, sizeof(line), "job %u: %s", client->td->subjob_number, text);
	else
		snprintf(line, sizeof(line), "%s", text);
	job_say(client->td, line);
}

/* In one line: what a flush of the job is worth. */
static void say_what_it_is(const struct client *client)
{
	const struct job_connection *connection = &client->connection;
	const struct settings *settings = &client->settings;
	const char *kind = job_connection_region_words(connection);
	char text[256];

	if (client->td->subjob_number)
		return;
	if (settings->flush == FLUSH_NONE)
		snprintf(text, sizeof(text), "%s with %s: writes to %s are not flushed",
			 connection->server, connection->device, kind);
	else
		snprintf(text, sizeof(text),
			 "%s with %s: a flush of writes to %s reaches %s, mode=%s%s",
			 connection->server, connection->device, kind,
			 connection->flush_type == RPMA_FLUSH_TYPE_PERSISTENT ? "persistence"
									      : "visibility only",
			 method_name(settings->method),
			 settings->method == METHOD_NATIVE ? ", if it is native" : "");
	job_say(client->td, text);
}

/* Each job of a section has a file of its own. */
static int open_log(struct client *client)
{
	const struct settings *settings = &client->settings;
	const struct job_connection *connection = &client->connection;
	const struct log_header header = {
		.method = settings->method,
		.policy = settings->flush,
		.kind = connection->job_reply.kind,
		.region_bytes = connection->remote_bytes,
	};
	char path[PATH_MAX];

	client->claims = client->td->o.sync_io ||
			 (settings->flush != FLUSH_FSYNC && settings->flush != FLUSH_NONE);
	if (!settings->durable_log)
		return 0;
	if (job_file_name(client->td, settings->durable_log, path, sizeof(path)))
		return failure_usage("durable_log=%s: too long", settings->durable_log);
	return durable_log_open(&client->log, path, &header);
}

/*
 * Fio asks for one completion if the job does not choose; it takes more, as from its rdma
 * engine. But then it hands over several writes for each look at whether an fsync is due, and so
 * fewer fsyncs.
 */
static bool takes_all(struct thread_options *o)
{
	return !fio_option_is_set(o, iodepth_batch_complete_min) &&
	       !fio_option_is_set(o, iodepth_batch_complete_max) && o->fsync_blocks == 0 &&
	       o->fdatasync_blocks == 0 && o->sync_file_range == 0 && o->barrier_blocks == 0;
}

static int open_client(struct client *client)
{
	struct thread_data *td = client->td;
	struct io_queue_cfg cfg = {.connection = &client->connection, .depth = td->o.iodepth};
	int ret = options_settle(td, &client->settings);

	if (!ret)
		ret = check_limits(client);
	if (!ret && !td->o.create_serialize)
		ret = size_files(td, false);
	if (!ret)
		ret = job_result_open(client);
	if (!ret)
		ret = connect_client(client);
	if (!ret)
		ret = place_files(client);
	if (!ret)
		ret = open_log(client);
	if (ret)
		return ret;
	cfg.policy = client->settings.flush;
	cfg.write_op = client->settings.write_op;
	cfg.grain = write_grain(client);
	client->events = calloc(td->o.iodepth, sizeof(struct io_u *));
	if (!client->events)
		return failure_set(EXIT_RUN_FAILED, "open", "out of memory for iodepth=%u",
				   td->o.iodepth);
	if (takes_all(&td->o))
		client->events_least = td->o.iodepth;
	return io_queue_open(&client->io_queue, &cfg);
}

int client_init(struct thread_data *td)
{
	struct client *client = calloc(1, sizeof(*client));

	if (!client) {
		failure_set(EXIT_RUN_FAILED, "open", "out of memory");
		return job_failed(td);
	}
	td->io_ops_data = client; /* client_cleanup() frees it, also half built */
	client->td = td;
	if (!td->o.create_serialize && td->o.use_thread)
		facts_open(td);
	/* at its close fio would sync a file by its descriptor, and there is none */
	td->o.end_fsync |= td->o.fsync_on_close;
	td->o.fsync_on_close = 0;
	if (open_client(client))
		return job_failed(td);
	say_what_it_is(client);
	set_facts(client, false);
	failure_get()->text[0] = '\0';
	return 0;
}

/* Wherever fio has taken the buffers from, they are in one piece. */
int client_post_init(struct thread_data *td)
{
	struct client *client = td->io_ops_data;
	char *begin = NULL, *end = NULL;
	struct io_u *io_u;
	unsigned i;
	int ret = 0;

	io_u_qiter(&td->io_u_all, io_u, i) {
		char *buffer = io_u->buf;

		if (!buffer)
			continue;
		if (!begin || buffer < begin)
			begin = buffer;
		if (!end || buffer + td_max_bs(td) > end)
			end = buffer + td_max_bs(td);
	}
	if (begin)
		ret = job_connection_register_buffers(&client->connection, begin,
						      (size_t)(end - begin));
	if (!ret && (td_trim(td) || td->o.trim_backlog))
		ret = job_connection_make_zeros(&client->connection, td_max_bs(td));
	return ret ? job_failed(td) : 0;
}

/* --- end ------------------------------------------------------------------------- */

static int end_log(const struct client *client)
{
	struct account account = {0};

	if (client->io_queue)
		account = client_account(client);
	return durable_log_end(client->log, account.io.flushes, account_reached(&account));
}

/* If the job's last line reports that all of its writes are. */
static void mark_durable(const struct client *client)
{
	const struct account account = client_account(client);

	if (io_queue_broken(client->io_queue) == 0 && io_queue_out(client->io_queue) == 0 &&
	    account_reached(&account) == REACHED_PERSISTENCE &&
	    account.io.covered == account.io.writes)
		job_connection_mark_durable(&client->connection);
}

void client_cleanup(struct thread_data *td)
{
	struct client *client = td->io_ops_data;

	if (!client)
		return;
	/* or the server would miss a client whose last operation broke the connection */
	if (client->io_queue && io_queue_broken(client->io_queue) && td->o.continue_on_error &&
	    !client->error)
		job_connection_reconnect(&client->connection);
	/* fio forgets an error that it is told to go on after */
	if (client->error && !td->error)
		td->error = client->error;
	if (client->io_queue) {
		say_what_it_did(client);
		set_facts(client, true);
		mark_durable(client);
	}
	if (client->io_queue && job_result_save(client))
		job_failed(td);
	if (client->log && end_log(client) && !client->error)
		job_failed(td);
	io_queue_close(&client->io_queue);
	durable_log_close(&client->log);
	layout_close(&client->layout);
	job_connection_close(&client->connection);
	free(client->events);
	free(client->commits);
	free(client);
	td->io_ops_data = NULL;
}
