/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * document.c -- all that a client knows at its end; what it does not know is
 * null. The shapes are those of doc/schema/rpma-ping-1.schema.json.
 */
#include "screen.h"

#include "claim.h"
#include "common/base/cli.h"

static const char *const end_names[] = {
	[PING_BACK] = "back",	  [PING_CORRUPT] = "corrupt", [PING_LATE] = "late",
	[PING_FAILED] = "failed", [PING_STOPPED] = "stopped",
};

static json_t *run_block(const struct client *c)
{
	const struct options *o = c->options;
	json_t *argv = json_array();
	const char *status = "complete";
	struct timespec now;

	/* json_string refuses what is not UTF-8 */
	for (int i = 0; i < o->argc; i++)
		json_array_append_new(argv, result_text(i == 0 ? "rpma-ping" : o->argv[i]));
	if (cli_signal != 0)
		status = "interrupted";
	else if (c->diagnosis.exit_code != EXIT_GOOD && c->stats.transmitted == 0)
		status = "failed";
	clock_gettime(CLOCK_REALTIME, &now);
	return json_pack("{s:o, s:o, s:o, s:s, s:i}", "started", result_time(&c->started), "ended",
			 result_time(&now), "argv", argv, "status", status, "exit_code",
			 c->exit_code);
}

static json_t *failure_block(const struct diagnosis *t)
{
	if (t->exit_code == EXIT_GOOD)
		return json_null();
	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "step", t->step, "cause",
			 result_text(cause_name(t->cause)), "text", result_text(t->text), "librpma",
			 result_text(t->librpma), "wc_status", result_text(t->wc_status),
			 "likely_cause", result_text(t->remedy));
}

static json_t *device_block(const struct client *c)
{
	if (c->dial.device.name[0] == '\0')
		return json_null();
	return json_pack("{s:s, s:s, s:o}", "name", c->dial.device.name, "kind",
			 device_kind_name(c->dial.device.kind), "transport",
			 result_text(c->dial.device.transport));
}

static json_t *server_block(const struct client *c)
{
	bool known = c->region.bytes > 0;
	const struct verdict_row *row = known ? claim_decode(c->reply.word) : NULL;
	json_t *types = json_array();

	if (known && (c->region.flush_types & RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY) != 0)
		json_array_append_new(types, json_string("visibility"));
	if (known && (c->region.flush_types & RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT) != 0)
		json_array_append_new(types, json_string("persistent"));
	return json_pack(
		"{s:o, s:o, s:i, s:o, s:o, s:o, s:o}", "host", result_text(c->host), "address",
		result_text(c->dial.address), "port", (int)c->options->port, "place_bytes",
		known ? result_integer(c->region.bytes) : json_null(), "flush_types", types,
		"direct_write_to_pmem",
		known ? json_boolean(c->region.direct_write_to_pmem) : json_null(), "verdict",
		row != NULL ? json_string(readiness_verdict_name(row->verdict)) : json_null());
}

static json_t *settings_block(const struct client *c)
{
	const struct options *o = c->options;
	json_t *sizes = json_array();

	for (size_t i = 0; i < o->sizes_count; i++)
		json_array_append_new(sizes, result_integer(o->sizes[i]));
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:s, s:s, s:b}", "count",
			 o->count > 0 ? result_integer(o->count) : json_null(), "interval_ns",
			 result_integer(o->interval_ns), "size_bytes",
			 result_integer(o->size_bytes), "sizes_bytes", sizes, "deadline_ns",
			 o->deadline_ns > 0 ? result_integer(o->deadline_ns) : json_null(),
			 "timeout_ns", result_integer(o->limit_ns), "flood", o->flood, "flush",
			 options_flush_names[o->flush], "wait", options_wait_names[o->wait],
			 "expect_persistent", o->expect_persistent);
}

static json_t *steps_block(const struct client *c)
{
	json_t *list = json_array();

	for (enum step step = STEP_PARSE; step < STEPS; step++)
		json_array_append_new(list, json_pack("{s:s, s:o}", "name", step_name(step), "ns",
						      result_known(c->steps.ns[step])));
	return list;
}

static json_t *figures(const struct histogram *h)
{
	struct stats_figures f;

	if (h->count == 0)
		return json_null();
	f = stats_figures(h);
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "count",
			 result_integer(h->count), "min_ns", result_integer(f.min_ns), "mean_ns",
			 result_real(f.mean_ns), "p50_ns", result_integer(f.p50_ns), "p99_ns",
			 result_integer(f.p99_ns), "max_ns", result_integer(f.max_ns), "mdev_ns",
			 result_real(f.mdev_ns), "histogram", result_histogram(h));
}

static json_t *latency_block(const struct stats *t)
{
	return json_pack("{s:o, s:o, s:o}", "rtt", figures(t->rtt), "write_flush",
			 figures(t->write_flush), "read", figures(t->read));
}

/* null: there is one size */
static json_t *sizes_block(const struct client *c)
{
	json_t *list;

	if (c->by_size == NULL)
		return json_null();
	list = json_array();
	for (size_t i = 0; i < c->options->sizes_count; i++) {
		const struct stats *t = &c->by_size[i];

		json_array_append_new(
			list, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "size_bytes",
					result_integer(c->options->sizes[i]), "transmitted",
					result_integer(t->transmitted), "received",
					result_integer(t->received), "lost",
					result_integer(t->transmitted - t->received), "corrupt",
					result_integer(t->corrupt), "latency", latency_block(t)));
	}
	return list;
}

static json_t *record(const struct stats_record *r, size_t number)
{
	bool back = r->end == PING_BACK || r->end == PING_CORRUPT;
	json_t *value =
		json_pack("{s:I, s:o, s:s, s:o}", "seq", (json_int_t)number, "size_bytes",
			  result_integer(r->size_bytes), "end", end_names[r->end], "step",
			  r->end == PING_BACK ? json_null() : json_string(step_name(r->step)));

	json_object_set_new(value, "rtt_ns", back ? result_integer(r->rtt_ns) : json_null());
	json_object_set_new(value, "write_ns", back ? result_integer(r->write_ns) : json_null());
	json_object_set_new(value, "flush_ns", back ? result_integer(r->flush_ns) : json_null());
	json_object_set_new(value, "read_ns", back ? result_integer(r->read_ns) : json_null());
	return value;
}

static json_t *pings_block(const struct client *c)
{
	const struct stats *t = &c->stats;
	json_t *list = json_array(), *flush = json_null(), *by = json_null();

	for (size_t i = 0; i < stats_records(t); i++)
		json_array_append_new(list, record(&t->records[i], i + 1));
	if (t->transmitted > 0)
		flush = json_string(c->ping.flush == RPMA_FLUSH_TYPE_PERSISTENT ? "persistent"
										: "visibility");
	if (t->received > 0)
		by = json_string(c->ping.native_flush ? "flush" : "read");
	return json_pack(
		"{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "transmitted",
		result_integer(t->transmitted), "received", result_integer(t->received), "lost",
		result_integer(t->transmitted - t->received), "corrupt", result_integer(t->corrupt),
		"loss_fraction", t->transmitted > 0 ? result_real(stats_loss(t)) : json_null(),
		"flush", flush, "flush_by", by, "elapsed_ns",
		t->transmitted > 0 ? result_integer(c->pings_ns) : json_null(), "first", list);
}

json_t *document_make(const struct client *client)
{
	const struct client *c = client;

	return json_pack("{s:s, s:{s:s, s:s}, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
			 "schema", "rpma-ping/1", "tool", "name", "rpma-ping", "version",
			 RPMA_VERSION, "run", run_block(c), "failure", failure_block(&c->diagnosis),
			 "device", device_block(c), "server", server_block(c), "settings",
			 settings_block(c), "steps", steps_block(c), "pings", pings_block(c),
			 "latency", latency_block(&c->stats), "sizes", sizes_block(c));
}
