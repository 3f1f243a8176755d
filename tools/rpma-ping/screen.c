/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * screen.c -- lines, dots and the summary, and the result as JSON. What a flood prints is buffered,
 * so that dots cost no system call each.
 */
#include "screen.h"

#include <stdatomic.h>
#include <stdio.h>

#include "claim.h"
#include "common/base/cli.h"
#include "common/base/monotonic.h"
#include "common/base/units.h"

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
		result_text(c->dial.address), "port", (int)c->options->port, "slot_bytes",
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

json_t *document_make(const struct client *c)
{
	return json_pack("{s:s, s:{s:s, s:s}, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
			 "schema", "rpma-ping/1", "tool", "name", "rpma-ping", "version",
			 RPMA_VERSION, "run", run_block(c), "failure", failure_block(&c->diagnosis),
			 "device", device_block(c), "server", server_block(c), "settings",
			 settings_block(c), "steps", steps_block(c), "pings", pings_block(c),
			 "latency", latency_block(&c->stats), "sizes", sizes_block(c));
}

#define FLUSH_EVERY_NS 20000000ULL

static bool silent(const struct client *c)
{
	return c->options->json || c->options->cli.quiet;
}

static const char *flush_name(const struct client *c)
{
	return c->ping.flush == RPMA_FLUSH_TYPE_PERSISTENT ? "persistent" : "visibility";
}

static void print_steps(const struct client *c)
{
	char text[UNITS_TEXT_BYTES];

	for (enum step step = STEP_PARSE; step < STEP_WRITE; step++) {
		const char *before = step == STEP_PARSE	    ? "  "
				     : step == STEP_CONNECT ? ",\n  "
							    : ", ";

		printf("%s%s %s", before, step_name(step),
		       units_print_duration((double)c->steps.ns[step], text));
	}
	putchar('\n');
}

void screen_begin(const struct client *c)
{
	const struct options *o = c->options;
	char size[UNITS_TEXT_BYTES], largest[UNITS_TEXT_BYTES];
	bool several = o->sizes_count > 1;

	if (silent(c))
		return;
	flockfile(stdout);
	printf("PING %s (%s) port %u over %s: %s%s%s\n"
	       "  flush to %s, wait by %s; time = write + flush + read back\n",
	       c->host, c->dial.address, o->port, c->dial.device.name,
	       units_print_size(o->sizes[0], size), several ? " to " : "",
	       several ? units_print_size(o->size_bytes, largest) : "", flush_name(c),
	       options_wait_names[o->wait]);
	print_steps(c);
	fflush(stdout);
	funlockfile(stdout);
}

void screen_before(const struct client *client)
{
	if (client->options->flood && !silent(client))
		putchar('.');
}

static void print_flood(const struct ping_report *r)
{
	static atomic_ullong shown_ns; /* what all hosts print is in one buffer */
	uint64_t now;

	if (r->end == PING_BACK)
		putchar('\b');
	else if (r->end == PING_CORRUPT)
		fputs("\bC", stdout);
	now = monotonic_ns();
	if (now - shown_ns >= FLUSH_EVERY_NS) {
		fflush(stdout);
		shown_ns = now;
	}
}

static void print_timestamp(const struct client *c)
{
	struct timespec now;

	if (!c->options->timestamps)
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	printf("[%lld.%06ld] ", (long long)now.tv_sec, now.tv_nsec / 1000);
}

static void print_back(const struct client *c, uint64_t number, const struct ping_report *r)
{
	char rtt[UNITS_TEXT_BYTES], write[UNITS_TEXT_BYTES], flush[UNITS_TEXT_BYTES],
		read[UNITS_TEXT_BYTES];

	printf("%zu bytes from %s: seq=%llu flush=%s time=%s (write %s, flush %s, read %s)%s\n",
	       c->ping.size_bytes, c->dial.address, (unsigned long long)number, flush_name(c),
	       units_print_duration((double)r->rtt_ns, rtt),
	       units_print_duration((double)r->write_ns, write),
	       units_print_duration((double)r->flush_ns, flush),
	       units_print_duration((double)r->read_ns, read),
	       r->end == PING_CORRUPT ? " CORRUPT" : "");
	if (r->end == PING_CORRUPT)
		printf("  seq=%llu: %llu of %zu bytes differ, the first at offset %llu: 0x%02x "
		       "instead of 0x%02x\n",
		       (unsigned long long)number, (unsigned long long)r->difference.bytes,
		       c->ping.size_bytes, (unsigned long long)r->difference.first,
		       r->difference.found, r->difference.expected);
}

static void print_lost(const struct client *c, uint64_t number, const struct ping_report *r)
{
	const char *status = c->diagnosis.wc_status;

	printf("%s%sseq=%llu lost at %s%s%s\n", c->options->hosts_count > 1 ? c->host : "",
	       c->options->hosts_count > 1 ? ": " : "", (unsigned long long)number,
	       step_name(r->step), status != NULL ? ": " : "", status != NULL ? status : "");
	fflush(stdout); /* a pipe's reader would see it only after many more */
}

void screen_ping(const struct client *c, uint64_t number, const struct ping_report *report)
{
	if (silent(c))
		return;
	flockfile(stdout);
	if (c->options->flood) {
		print_flood(report);
	} else {
		print_timestamp(c);
		if (report->end == PING_BACK || report->end == PING_CORRUPT)
			print_back(c, number, report);
		else
			print_lost(c, number, report);
	}
	funlockfile(stdout);
}

/* A row of the table: 80 columns. */
static void print_figures(const char *what, const struct histogram *h)
{
	const struct stats_figures f = stats_figures(h);
	const double ns[] = {(double)f.min_ns, f.mean_ns,	 (double)f.p50_ns,
			     (double)f.p99_ns, (double)f.max_ns, f.mdev_ns};
	char text[UNITS_TEXT_BYTES];

	printf("%-26s", what);
	for (size_t i = 0; i < sizeof(ns) / sizeof(ns[0]); i++)
		printf(" %8s", units_print_duration(ns[i], text));
	putchar('\n');
}

/* Programs that read ping(8) of iputils read these: its words, its order, its digits. */
static void print_counts(const struct client *c)
{
	const struct stats *t = &c->stats;

	printf("%llu packets transmitted, %llu received", (unsigned long long)t->transmitted,
	       (unsigned long long)t->received);
	if (t->corrupt > 0)
		printf(", +%llu corrupted", (unsigned long long)t->corrupt);
	if (t->transmitted > 0)
		printf(", %g%% packet loss, time %llums", 100 * stats_loss(t),
		       (unsigned long long)((c->pings_ns + 500000) / 1000000));
	putchar('\n');
}

static void print_like_ping(const struct client *c)
{
	const struct stats *t = &c->stats;
	struct stats_figures f;

	/* the line of a flood has no end, and what is above is not of the statistics */
	printf("%s--- %s ping statistics ---\n", silent(c) ? "" : "\n", c->host);
	print_counts(c);
	if (t->received == 0)
		return;
	f = stats_figures(t->rtt);
	printf("rtt min/avg/max/mdev = %.3f/%.3f/%.3f/%.3f ms\n", (double)f.min_ns / 1e6,
	       f.mean_ns / 1e6, (double)f.max_ns / 1e6, f.mdev_ns / 1e6);
}

static void print_sizes(const struct client *c)
{
	char size[UNITS_TEXT_BYTES], what[64];

	for (size_t i = 0; c->by_size != NULL && i < c->options->sizes_count; i++) {
		const struct stats *t = &c->by_size[i];

		snprintf(what, sizeof(what), "%s: %llu of %llu back",
			 units_print_size(c->options->sizes[i], size),
			 (unsigned long long)t->received, (unsigned long long)t->transmitted);
		if (t->received > 0)
			print_figures(what, t->rtt);
		else
			puts(what);
	}
}

void screen_summary(const struct client *c)
{
	const struct stats *t = &c->stats;
	char text[UNITS_TEXT_BYTES];

	if (c->options->json || (t->transmitted == 0 && c->options->hosts_count == 1))
		return;
	print_like_ping(c);
	if (t->received > 0) {
		printf("%-26s %8s %8s %8s %8s %8s %8s\n", "", "min", "avg", "p50", "p99", "max",
		       "mdev");
		print_figures("write + flush + read back", t->rtt);
		print_figures("write + flush", t->write_flush);
		print_figures("read back", t->read);
	}
	print_sizes(c);
	if (t->received > 0)
		printf("flush to %s by %s\n", flush_name(c),
		       c->ping.native_flush ? "the device's flush" : "a read");
	if (c->steps.ns[STEP_DISCONNECT] >= 0)
		printf("disconnect %s\n",
		       units_print_duration((double)c->steps.ns[STEP_DISCONNECT], text));
	fflush(stdout);
}

/* The line of ping(8), whose first character takes back the ^\ of the terminal. */
void screen_status(const struct client *c)
{
	const struct stats *t = &c->stats;
	struct stats_figures f;

	flockfile(stderr);
	fprintf(stderr, "\r%s%s%llu/%llu packets, %d%% loss",
		c->options->hosts_count > 1 ? c->host : "", c->options->hosts_count > 1 ? ": " : "",
		(unsigned long long)t->received, (unsigned long long)t->transmitted,
		(int)(100 * stats_loss(t)));
	if (t->received > 0) {
		f = stats_figures(t->rtt);
		fprintf(stderr, ", min/avg/ewma/max = %.3f/%.3f/%.3f/%.3f ms",
			(double)f.min_ns / 1e6, f.mean_ns / 1e6, t->ewma_ns / 1e6,
			(double)f.max_ns / 1e6);
	}
	fputc('\n', stderr);
	funlockfile(stderr);
}

void screen_flush(void)
{
	fflush(stdout);
}

bool screen_broken(void)
{
	return ferror(stdout) != 0;
}
