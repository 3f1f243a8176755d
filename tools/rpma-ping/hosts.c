/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hosts.c -- opens a client for each host, lets them ping at the same time, and tells
 * what came of each.
 *
 * All hosts are looked up first, one by one: that may start the tool again on the
 * software device. Only then there are threads, and none where there is one host.
 */

#include <errno.h>
#include <stdlib.h>

#include "client.h"
#include "common/base/failure.h"
#include "common/base/thread.h"
#include "screen.h"

#define TOOL   "rpma-ping"
#define OUTPUT "output" /* a step of no path */

struct host {
	struct client client;
	pthread_t thread;
	bool started;
	uint64_t begun_ns;
	int found; /* what client_find() gave */
};

static int verdict(const struct client *c)
{
	if (cli_signal != 0)
		return 128 + cli_signal;
	if (c->diagnosis.exit_code != EXIT_GOOD)
		return (int)c->diagnosis.exit_code;
	return c->stats.received == 0 ? EXIT_NEGATIVE : EXIT_GOOD;
}

static void judge(struct client *c, int ret)
{
	/* a ping that ended it has said so already */
	if (ret != 0 && ret != -ECANCELED && ret != -EPIPE && c->diagnosis.exit_code == EXIT_GOOD)
		client_diagnose(c, step_name(c->steps.current), NULL);
	if (cli_signal != 0 && c->stats.transmitted == 0)
		c->diagnosis = (struct diagnosis){0};
	if (ret == 0 && c->stats.transmitted == 0) {
		failure_set(EXIT_NEGATIVE, "write", "--deadline passed before the first ping");
		client_diagnose(c, "write", NULL);
	}
	c->exit_code = verdict(c);
}

static void diagnosis_tell(struct client *c)
{
	if (c->diagnosis.exit_code != EXIT_GOOD && !c->told)
		diagnosis_print(&c->diagnosis);
	c->told = true;
}

/* The failure of client_find() is that of the thread that called it. */
static void run(struct host *h)
{
	struct client *c = &h->client;
	int ret = client_connect(c);

	if (ret == 0) {
		screen_begin(c);
		ret = pings_send(c, h->begun_ns);
	}
	judge(c, ret);
	/* others go on, perhaps for long */
	if (c->options->hosts_count > 1)
		diagnosis_tell(c);
	client_leave(c);
}

static void *run_thread(void *host)
{
	run(host);
	return NULL;
}

static void find(struct host *h)
{
	h->found = cli_signal != 0 ? -ECANCELED : client_find(&h->client);
	if (h->found == 0)
		return;
	judge(&h->client, h->found);
	client_leave(&h->client);
}

static void run_all(struct host *hosts, size_t count)
{
	int ret;

	for (size_t i = 0; i < count; i++)
		find(&hosts[i]);
	for (size_t i = 0; i < count; i++) {
		struct host *h = &hosts[i];

		if (h->found != 0) {
			diagnosis_tell(&h->client);
		} else if (count == 1) {
			run(h);
		} else if ((ret = thread_start(&h->thread, run_thread, h)) == 0) {
			h->started = true;
		} else {
			ret = failure_call("start", -ret, "start a thread for %s", h->client.host);
			judge(&h->client, ret);
		}
	}
	for (size_t i = 0; i < count; i++) {
		if (hosts[i].started)
			pthread_join(hosts[i].thread, NULL);
	}
}

static void tell(struct client *c)
{
	screen_summary(c);
	if (screen_broken() && c->diagnosis.exit_code == EXIT_GOOD) {
		failure_set(EXIT_RUN_FAILED, OUTPUT, "cannot write to standard output");
		client_diagnose(c, OUTPUT, NULL);
		c->exit_code = verdict(c);
		c->told = false;
	}
	diagnosis_tell(c);
}

/* One object for one host, an array of them for several. */
static int print_documents(const struct host *hosts, size_t count)
{
	json_t *all = json_array();
	int ret;

	for (size_t i = 0; i < count; i++)
		json_array_append_new(all, document_make(&hosts[i].client));
	ret = result_write(NULL, count == 1 ? json_array_get(all, 0) : all);
	json_decref(all);
	return ret;
}

/* The exit code that all hosts have, else that some of them are not well. */
static int code_of_all(const struct host *hosts, size_t count)
{
	const int first = hosts[0].client.exit_code;

	for (size_t i = 1; i < count; i++) {
		if (hosts[i].client.exit_code != first)
			return EXIT_NEGATIVE;
	}
	return first;
}

static int open_all(struct host *hosts, const struct options *o, const struct steps *steps)
{
	int ret = 0;

	for (size_t i = 0; i < o->hosts_count && ret == 0; i++) {
		hosts[i].begun_ns = steps->begun_ns;
		ret = client_open(&hosts[i].client, o, o->hosts[i], steps);
	}
	return ret;
}

int hosts_ping(const struct options *options, const struct steps *steps)
{
	const size_t count = options->hosts_count;
	struct host *hosts = calloc(count, sizeof(*hosts));
	int ret, code = EXIT_GOOD;

	if (hosts == NULL) {
		failure_set(EXIT_INTERNAL, "parse", "out of memory");
		return cli_report_failure(TOOL);
	}
	ret = open_all(hosts, options, steps);
	if (ret == 0) {
		status_catch();
		run_all(hosts, count);
		for (size_t i = 0; i < count; i++)
			tell(&hosts[i].client);
		if (options->json)
			ret = print_documents(hosts, count);
		code = code_of_all(hosts, count);
	}
	for (size_t i = 0; i < count; i++)
		client_close(&hosts[i].client);
	free(hosts);
	return ret == 0 ? code : cli_report_failure(TOOL);
}
