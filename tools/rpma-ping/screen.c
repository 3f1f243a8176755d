/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * screen.c -- lines, dots and the summary. What a flood prints is buffered, so
 * that dots cost no system call each.
 */
#include "screen.h"

#include <stdatomic.h>
#include <stdio.h>

#include "common/base/monotonic.h"
#include "common/base/units.h"

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

void screen_begin(const struct client *client)
{
	const struct client *c = client;
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

void screen_ping(const struct client *client, uint64_t number, const struct ping_report *report)
{
	const struct client *c = client;

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

void screen_summary(const struct client *client)
{
	const struct client *c = client;
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
void screen_status(const struct client *client)
{
	const struct client *c = client;
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
