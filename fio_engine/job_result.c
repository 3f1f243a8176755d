/* SPDX-License-Identifier: BSD-3-Clause */
/* job_result.c -- see job_result.h. */
#include "job_result.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "common/base/failure.h"
#include "common/json/result.h"

/*
 * fio prints its list of options when all jobs have ended, from its main
 * process; what a job stands for is known to the job, which may be another
 * process by then. So the text is in memory that both share. As fio gives it to
 * free(), it is a block of malloc's whose pages are mapped again, shared.
 */

#define NAME "librpma"

static char *shared_text(size_t bytes)
{
	char *text = aligned_alloc(bytes, bytes);

	if (text && mmap(text, bytes, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) {
		free(text);
		return NULL;
	}
	return text;
}

static char *find(struct thread_data *td)
{
	struct flist_head *entry;

	flist_for_each(entry, &td->opt_list)
	{
		struct print_option *option = flist_entry(entry, struct print_option, list);

		if (!strcmp(option->name, NAME))
			return option->value;
	}
	return NULL;
}

bool facts_open(struct thread_data *td)
{
	struct print_option *option;

	if (find(td))
		return true;
	option = calloc(1, sizeof(*option));
	if (!option)
		return false;
	option->name = strdup(NAME);
	option->value = shared_text((size_t)sysconf(_SC_PAGESIZE));
	if (!option->name || !option->value) {
		free(option->name);
		free(option->value);
		free(option);
		return false;
	}
	memcpy(option->value, "unknown", sizeof("unknown"));
	flist_add_tail(&option->list, &td->opt_list);
	return true;
}

void facts_set(struct thread_data *td, const char *text)
{
	char *value = find(td);

	if (value)
		snprintf(value, (size_t)sysconf(_SC_PAGESIZE), "%s", text);
}

#define ID_BYTES 8

const char *job_result_run_id(void)
{
	static char text[2 * ID_BYTES + 1];
	uint8_t id[ID_BYTES];

	if (text[0] != '\0' || getrandom(id, sizeof(id), 0) != (ssize_t)sizeof(id))
		return text;
	for (size_t i = 0; i < sizeof(id); i++)
		snprintf(text + 2 * i, 3, "%02x", id[i]);
	return text;
}

static int file_name(const struct client *client, char path[PATH_MAX])
{
	if (job_file_name(client->td, client->settings.result, path, PATH_MAX) == 0)
		return 0;
	return failure_usage("result=%s: too long", client->settings.result);
}

int job_result_open(struct client *client)
{
	char path[PATH_MAX];
	int ret;

	if (!client->settings.result)
		return 0;
	ret = file_name(client, path);
	if (!ret)
		ret = result_check_writable(path);
	if (ret)
		return ret;
	client->commits = histogram_new();
	return client->commits ? 0
			       : failure_set(EXIT_RUN_FAILED, "open", "out of memory for result=");
}

/* --- the document ------------------------------------------------------------------ */

static const char *method_of_flush(enum method method)
{
	if (method == METHOD_GPSPM)
		return "message";
	return method == METHOD_NATIVE ? "native" : "read";
}

static json_t *flush_object(const struct client *client)
{
	static const char *const types[] = {[FLUSH_TYPE_AUTO] = "auto",
					    [FLUSH_TYPE_PERSISTENT] = "persistent",
					    [FLUSH_TYPE_VISIBILITY] = "visibility"};
	static const char *const reached[] = {[REACHED_NOTHING] = "nothing",
					      [REACHED_VISIBILITY] = "visibility",
					      [REACHED_PERSISTENCE] = "persistence"};
	const struct settings *settings = &client->settings;
	const struct account account = client_account(client);

	return json_pack(
		"{s:s, s:s, s:s, s:s, s:o, s:o, s:o}", "policy", flush_policy_name(settings->flush),
		"method", method_of_flush(settings->method), "asked", types[settings->flush_type],
		"reached", reached[account_reached(&account)], "count",
		result_integer(account.io.flushes), "writes", result_integer(account.io.writes),
		"covered", result_integer(account.io.covered));
}

static json_t *syncs_object(const struct sync_counts *syncs)
{
	return json_pack("{s:o, s:o, s:o}", "flushed", result_integer(syncs->flushed), "empty",
			 result_integer(syncs->empty), "failed", result_integer(syncs->failed));
}

static const char *commit_kind(const struct client *client)
{
	if (client->settings.flush == FLUSH_NONE)
		return NULL;
	return client->claims ? "write" : "sync";
}

/* From a write's post until its flush is done, or how long an fsync took. */
static json_t *commits_object(const struct client *client)
{
	return json_pack("{s:o, s:o, s:o}", "kind", result_text(commit_kind(client)), "count",
			 result_integer(client->commits->count), "latency",
			 result_latency(client->commits));
}

static json_t *target_object(const struct job_connection *connection)
{
	const struct job_reply *job_reply = &connection->job_reply;

	return json_pack("{s:s, s:o, s:b, s:s}", "kind", target_kind_name(job_reply->kind),
			 "size_bytes", result_integer(connection->remote_bytes),
			 "direct_write_to_pmem", job_reply->direct_write_to_pmem,
			 "server_persists_by", persist_method_name(job_reply->persist));
}

static json_t *device_object(const struct device *device)
{
	return json_pack("{s:s, s:s, s:o, s:b}", "name", device->name, "kind",
			 device_kind_name(device->kind), "transport",
			 result_text(device->transport), "software",
			 device->kind != DEVICE_HARDWARE);
}

static json_t *job_object(const struct client *client)
{
	const struct thread_data *td = client->td;

	return json_pack("{s:o, s:i, s:i}", "name", result_text(td->o.name), "number",
			 (int)td->subjob_number, "jobs", (int)options_numjobs(td));
}

static json_t *make(const struct client *client)
{
	static const char *const write_ops[] = {
		[WRITE_PLAIN] = "write", [WRITE_IMM] = "write-imm", [WRITE_ATOMIC] = "atomic"};
	const struct job_connection *connection = &client->connection;
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return json_pack("{s:s, s:{s:s, s:s, s:s}, s:s, s:o, s:o, s:s, s:s, s:s, s:o, s:o, s:n, "
			 "s:o, s:{s:s, s:i}, s:o, s:o}",
			 "schema", "fio-sidecar/1", "tool", "name", "fio-librpma", "version",
			 RPMA_VERSION, "fio", FIO_HEADERS_VERSION, "run", job_result_run_id(),
			 "ended", result_time(&now), "job", job_object(client), "status",
			 client->error || client->td->error ? "failed" : "complete", "mode",
			 method_name(client->settings.method), "write_op",
			 write_ops[client->settings.write_op], "flush", flush_object(client),
			 "target", target_object(connection), "readiness", "device",
			 device_object(&connection->dial.device), "server", "address",
			 connection->dial.address, "port", (int)connection->dial.port, "syncs",
			 syncs_object(&client->syncs), "commits", commits_object(client));
}

int job_result_save(const struct client *client)
{
	json_t *document;
	char path[PATH_MAX];
	int ret;

	if (!client->settings.result)
		return 0;
	ret = file_name(client, path);
	if (ret)
		return ret;
	document = make(client);
	if (!document)
		return failure_set(EXIT_RUN_FAILED, "result", "out of memory for result=");
	ret = result_write(path, document);
	json_decref(document);
	return ret;
}
