/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * screen.c -- lines, dots and the summary. What a flood prints is buffered, so
 * that dots cost no system call each.
 */
#include "screen.h"

#include <stdio.h>

#include "tools/common/base/monotonic.h"
#include "tools/common/base/units.h"

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

	for (enum step step = STEP_PARSE; step < STEP_WRITE; step++)
		printf("%s%s %s", step == STEP_PARSE ? "  " : ", ", step_name(step),
		       units_print_duration((double)c->steps.ns[step], text));
	putchar('\n');
}

void screen_begin(const struct client *client)
{
	const struct client *c = client;
	char size[UNITS_TEXT_BYTES];

	if (silent(c))
		return;
	printf("PING %s (%s) port %u over %s: %s, flush to %s, wait by %s; time = write + flush + "
	       "read back\n",
	       c->options->host, c->dial.address, c->options->port, c->dial.device.name,
	       units_print_size(c->options->size_bytes, size), flush_name(c),
	       options_wait_names[c->options->wait]);
	print_steps(c);
	fflush(stdout);
}

void screen_before(const struct client *client)
{
	if (client->options->flood && !silent(client))
		putchar_unlocked('.');
}

static void print_flood(const struct ping_report *r)
{
	static uint64_t shown_ns;
	uint64_t now;

	if (r->end == PING_BACK)
		putchar_unlocked('\b');
	else if (r->end == PING_CORRUPT)
		fputs("\bC", stdout);
	now = monotonic_ns();
	if (now - shown_ns >= FLUSH_EVERY_NS) {
		fflush(stdout);
		shown_ns = now;
	}
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
		       "instead "
		       "of 0x%02x\n",
		       (unsigned long long)number, (unsigned long long)r->difference.bytes,
		       c->ping.size_bytes, (unsigned long long)r->difference.first,
		       r->difference.found, r->difference.expected);
}

void screen_ping(const struct client *client, uint64_t number, const struct ping_report *report)
{
	const struct client *c = client;

	if (silent(c))
		return;
	if (c->options->flood) {
		print_flood(report);
		return;
	}
	if (report->end == PING_BACK || report->end == PING_CORRUPT) {
		print_back(c, number, report);
		return;
	}
	printf("seq=%llu lost at %s%s%s\n", (unsigned long long)number, step_name(report->step),
	       c->diagnosis.wc_status != NULL ? ": " : "",
	       c->diagnosis.wc_status != NULL ? c->diagnosis.wc_status : "");
	fflush(stdout); /* a pipe's reader would see it only after many more */
}

static void print_figures(const char *what, const struct histogram *h)
{
	struct stats_figures f = stats_figures(h);

	printf("%s min/avg/p50/p99/max/mdev = %.3f/%.3f/%.3f/%.3f/%.3f/%.3f us\n", what,
	       (double)f.min_ns / 1e3, f.mean_ns / 1e3, (double)f.p50_ns / 1e3,
	       (double)f.p99_ns / 1e3, (double)f.max_ns / 1e3, f.mdev_ns / 1e3);
}

void screen_summary(const struct client *client)
{
	const struct client *c = client;
	const struct stats *t = &c->stats;
	char text[UNITS_TEXT_BYTES], what[64];

	if (c->options->json || t->transmitted == 0)
		return;
	printf("%s--- %s rpma-ping statistics ---\n", c->options->flood ? "\n" : "",
	       c->options->host);
	printf("%llu pings transmitted, %llu received, %llu corrupt, %.6g%% loss, time %s\n",
	       (unsigned long long)t->transmitted, (unsigned long long)t->received,
	       (unsigned long long)t->corrupt, 100 * stats_loss(t),
	       units_print_duration((double)c->pings_ns, text));
	if (t->received > 0) {
		print_figures("rtt (write + flush + read back)", t->rtt);
		snprintf(what, sizeof(what), "write + flush to %s by %s", flush_name(c),
			 c->ping.native_flush ? "the device's flush" : "a read");
		print_figures(what, t->write_flush);
		print_figures("read back", t->read);
	}
	if (c->steps.ns[STEP_DISCONNECT] >= 0)
		printf("disconnect %s\n",
		       units_print_duration((double)c->steps.ns[STEP_DISCONNECT], text));
	fflush(stdout);
}

void screen_flush(void)
{
	fflush(stdout);
}

bool screen_broken(void)
{
	return ferror(stdout) != 0;
}
