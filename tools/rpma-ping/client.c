/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * client.c -- connects step by step, pings, and tells what came of it.
 */
#include "client.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>

#include "document.h"
#include "screen.h"
#include "tools/common/base/failure.h"
#include "tools/common/base/monotonic.h"
#include "tools/common/base/units.h"
#include "tools/common/host/memlock.h"

#define OUTPUT "output" /* a step of no path */

/* --- up to the first ping ------------------------------------------------------ */

static int resolve(struct client *c)
{
	return dial_resolve(&c->dial, c->options->host, c->options->port);
}

static int find_device(struct client *c)
{
	const struct options *o = c->options;
	const struct endpoint_options options = {o->device, o->cli.quiet, o->argv + 1};

	return dial_route(&c->dial, &options);
}

/* Two steps in one call: the stamp between them shows which of the two failed. */
static int connect_server(struct client *c)
{
	const struct greeting_request request = {GREETING_VERSION, GREETING_PING, 0,
						 c->options->size_bytes};
	/* a queue of no receives is no queue to some devices */
	const struct link_lane queues = {
		.sq_size = PING_WORK_REQUESTS, .cq_size = PING_WORK_REQUESTS + 1, .rq_size = 1};
	struct timespec requested = {0};
	const struct link_cfg cfg = {
		.stop_fd = cli_stop_fd(), .lane = &queues, .requested = &requested};
	uint8_t greeting[GREETING_REQUEST_BYTES];
	uint64_t at;
	int ret;

	greeting_encode_request(&request, greeting);
	ret = dial_connect(&c->link, &c->dial, greeting, &cfg);
	at = (uint64_t)requested.tv_sec * 1000000000ULL + (uint64_t)requested.tv_nsec;
	if (at != 0) {
		c->steps.ns[STEP_REQUEST] = (int64_t)(at - c->steps.begun_ns);
		c->steps.begun_ns = at;
		c->steps.current = STEP_CONNECT;
	}
	return ret;
}

static int hello(struct client *c)
{
	int ret = dial_answer(&c->dial, c->link, GREETING_PING, &c->reply);

	if (ret == 0 && c->reply.mr_desc_bytes == 0)
		ret = failure_because(
			CAUSE_WRONG_PEER, EXIT_RUN_FAILED, "hello",
			"%s welcomes without describing its memory: it is no server of "
			"rpma-ping",
			c->dial.name);
	return ret;
}

static int take_region(struct client *c)
{
	const struct greeting_reply *r = &c->reply;
	const struct region_desc desc = {r->mr_desc, r->mr_desc_bytes, r->pcfg_desc,
					 r->pcfg_desc_bytes};
	int ret = region_take(&c->region, &desc, link_conn(c->link));

	if (ret)
		return failure_set(EXIT_RUN_FAILED, "region",
				   "%s describes its memory in a way librpma refuses: %s",
				   c->dial.name, link_cause(ret));
	return 0;
}

static int choose_flush(struct client *c)
{
	bool persistent = (c->region.flush_types & RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT) != 0;
	bool visibility = (c->region.flush_types & RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY) != 0;
	enum flush_choice flush = c->options->flush;

	if (flush == FLUSH_PERSISTENT && !persistent)
		return failure_set(EXIT_RUN_FAILED, "region",
				   "--flush persistent: the memory of %s is not registered for it: "
				   "start it with a --target on persistent memory",
				   c->dial.name);
	if (flush == FLUSH_PERSISTENT && !c->region.direct_write_to_pmem)
		return failure_set(
			EXIT_RUN_FAILED, "region",
			"--flush persistent: %s does not state that writes reach the "
			"persistence domain: start it with --direct-write-to-pmem, where "
			"rpma-ddio-check reports that they do",
			c->dial.name);
	if (flush == FLUSH_AUTO && persistent && c->region.direct_write_to_pmem)
		flush = FLUSH_PERSISTENT;
	if (flush != FLUSH_PERSISTENT && !visibility)
		return failure_set(EXIT_RUN_FAILED, "region",
				   "the memory of %s is not registered for a flush to visibility",
				   c->dial.name);
	c->ping.flush =
		flush == FLUSH_PERSISTENT ? RPMA_FLUSH_TYPE_PERSISTENT : RPMA_FLUSH_TYPE_VISIBILITY;
	return 0;
}

static int check_region(struct client *c)
{
	char slot[UNITS_TEXT_BYTES], size[UNITS_TEXT_BYTES];
	int ret = take_region(c);

	if (ret)
		return ret;
	if (c->region.bytes < c->options->size_bytes)
		return failure_set(EXIT_RUN_FAILED, "region",
				   "a ping of %s does not fit: %s has %s for each client (a "
				   "smaller --size, or a larger --target there)",
				   units_print_size(c->options->size_bytes, size), c->dial.name,
				   units_print_size(c->region.bytes, slot));
	return choose_flush(c);
}

static int register_memory(struct client *c)
{
	const struct options *o = c->options;
	struct ping *p = &c->ping;
	int ret = client_memory_open(&c->memory, c->dial.peer, c->dial.device.name, o->size_bytes);

	if (ret)
		return ret;
	p->link = c->link;
	p->conn = link_conn(c->link);
	p->cq = link_cq(c->link);
	p->remote = c->region.mr;
	p->mr = c->memory.mr;
	p->memory = c->memory.bytes;
	p->stride_bytes = c->memory.stride_bytes;
	p->size_bytes = o->size_bytes;
	p->by_event = o->wait == WAIT_EVENT;
	p->limit_ns = o->limit_ns;
	ret = rpma_cq_get_fd(p->cq, &p->cq_fd);
	return ret == 0 ? 0
			: failure_set(EXIT_INTERNAL, "register", "%s: %s", c->dial.name,
				      link_cause(ret));
}

static int get_ready(struct client *c)
{
	static const struct {
		enum step step;
		int (*take)(struct client *c);
	} course[] = {
		{STEP_RESOLVE, resolve},	{STEP_DEVICE, find_device},
		{STEP_REQUEST, connect_server}, {STEP_HELLO, hello},
		{STEP_REGION, check_region},	{STEP_REGISTER, register_memory},
	};
	int ret = 0;

	for (size_t i = 0; i < sizeof(course) / sizeof(course[0]) && ret == 0; i++) {
		link_cause_clear();
		steps_begin(&c->steps, course[i].step);
		ret = course[i].take(c);
		if (ret == 0)
			steps_done(&c->steps);
		if (ret == 0 && cli_signal != 0)
			ret = -ECANCELED;
	}
	return ret;
}

/* --- the pings ------------------------------------------------------------------ */

static void diagnose(struct client *c, const char *step, const struct ping_report *r)
{
	const struct diagnosis_facts facts = {
		.step = step,
		.code = r != NULL ? r->code : link_cause_code(),
		.wc_status = r != NULL ? r->wc_status : IBV_WC_SUCCESS,
		.any_back = c->stats.received > 0,
		.size_bytes = r != NULL ? c->options->size_bytes : c->memory.size_bytes,
		.device = c->dial.device.kind,
		.target = TARGET_DRAM,
		.memlock_bytes = memlock_limit(),
	};

	diagnosis_take(&c->diagnosis, &facts);
}

/* The message tells how the connection ended: it gets when. */
static void name_ping(uint64_t number)
{
	const struct failure f = *failure_get();

	failure_because(f.cause, EXIT_NEGATIVE, f.step, "%s at ping %llu", f.text,
			(unsigned long long)number);
}

/* Reports a ping after which there can be no other. */
static void failed(struct client *c, uint64_t number, struct ping_report *r)
{
	const struct ibv_wc wc = {.status = r->wc_status};
	const char *step = step_name(r->step);
	char what[LINK_PEER_MAX + 64];

	snprintf(what, sizeof(what), "ping %llu to %s: the %s", (unsigned long long)number,
		 c->dial.name, step);
	if (r->wc_status != IBV_WC_SUCCESS)
		link_work_failed(c->link, step, what, &wc);
	else if (!r->ended)
		failure_because(link_cause_of(r->code), EXIT_NEGATIVE, step, "%s failed: %s", what,
				link_cause(r->code));
	failure_get()->code = EXIT_NEGATIVE;
	if (!link_alive(c->link, 0))
		name_ping(number);
	diagnose(c, step, r);
}

/* Reports the last ping that was lost or corrupt while the connection is there. */
static void spoilt(struct client *c, uint64_t number, const struct ping_report *r)
{
	const struct pattern_difference *d = &r->difference;
	char limit[UNITS_TEXT_BYTES];

	if (r->end == PING_CORRUPT)
		failure_because(
			CAUSE_CORRUPT, EXIT_NEGATIVE, step_name(r->step),
			"ping %llu to %s came back corrupt: %llu of %zu bytes differ, the first "
			"at offset %llu: 0x%02x instead of 0x%02x",
			(unsigned long long)number, c->dial.name, (unsigned long long)d->bytes,
			c->ping.size_bytes, (unsigned long long)d->first, d->found, d->expected);
	else
		failure_because(CAUSE_NO_ANSWER, EXIT_NEGATIVE, step_name(r->step),
				"ping %llu to %s is lost: no completion of the %s within %s",
				(unsigned long long)number, c->dial.name, step_name(r->step),
				units_print_duration((double)c->options->limit_ns, limit));
	diagnose(c, step_name(r->step), r);
}

static void note_steps(struct client *c, const struct ping_report *r)
{
	int64_t *ns = c->steps.ns;

	if (ns[STEP_COMPARE] >= 0 || (r->end != PING_BACK && r->end != PING_CORRUPT))
		return;
	ns[STEP_WRITE] = (int64_t)r->write_ns;
	ns[STEP_FLUSH] = (int64_t)r->flush_ns;
	ns[STEP_READ] = (int64_t)r->read_ns;
	ns[STEP_COMPARE] = (int64_t)r->compare_ns;
}

/* False: the peer left meanwhile. A signal or the deadline end the pause too. */
static bool pause_until(struct client *c, uint64_t at_ns)
{
	struct pollfd fds[] = {{link_event_fd(c->link), POLLIN, 0}, {cli_stop_fd(), POLLIN, 0}};
	uint64_t now;

	while (cli_signal == 0 && (now = monotonic_ns()) < at_ns) {
		const struct timespec left = {(time_t)((at_ns - now) / 1000000000),
					      (long)((at_ns - now) % 1000000000)};

		screen_flush();
		if (ppoll(fds, 2, &left, NULL) > 0 && fds[0].revents != 0 &&
		    !link_alive(c->link, 0))
			return false;
	}
	return true;
}

/* One ping and what is to be told of it. Negative: there can be no other. */
static int ping_number(struct client *c, uint64_t number, bool connected)
{
	struct ping_report r = {.end = PING_FAILED, .step = STEP_WRITE, .ended = true};

	screen_before(c);
	if (connected)
		ping_once(&c->ping, &r);
	stats_add(&c->stats, &r);
	if (r.end == PING_STOPPED)
		return -ECANCELED;
	note_steps(c, &r);
	if (r.end == PING_FAILED)
		failed(c, number, &r);
	else if (r.end != PING_BACK)
		spoilt(c, number, &r);
	screen_ping(c, number, &r);
	if (screen_broken())
		return -EPIPE;
	return r.end == PING_FAILED ? -EIO : 0;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static int ping_all(struct client *c, uint64_t begun_ns)
{
	const struct options *o = c->options;
	uint64_t deadline = o->deadline_ns > 0 ? begun_ns + o->deadline_ns : UINT64_MAX;
	uint64_t first = monotonic_ns(), number = 0, begin;
	bool connected = true;
	int ret = 0;

	link_cause_clear();
	while (ret == 0 && cli_signal == 0 && (begin = monotonic_ns()) < deadline) {
		ret = ping_number(c, ++number, connected);
		if (ret != 0 || number == o->count)
			break;
		connected = pause_until(c, earlier(begin + o->interval_ns, deadline));
	}
	c->pings_ns = monotonic_ns() - first;
	return ret == 0 && cli_signal != 0 ? -ECANCELED : ret;
}

/* --- the end -------------------------------------------------------------------- */

static void leave(struct client *c)
{
	if (c->link != NULL) {
		steps_begin(&c->steps, STEP_DISCONNECT);
		link_close(&c->link);
		steps_done(&c->steps);
	}
	rpma_mr_remote_delete(&c->region.mr);
	client_memory_close(&c->memory);
	rpma_peer_delete(&c->dial.peer);
}

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
		diagnose(c, step_name(c->steps.current), NULL);
	if (cli_signal != 0 && c->stats.transmitted == 0)
		c->diagnosis = (struct diagnosis){0};
	if (ret == 0 && c->stats.transmitted == 0) {
		failure_set(EXIT_NEGATIVE, "write", "--deadline passed before the first ping");
		diagnose(c, "write", NULL);
	}
	c->exit_code = verdict(c);
}

static int tell(struct client *c)
{
	json_t *document;
	int ret = 0;

	screen_summary(c);
	if (screen_broken() && c->diagnosis.exit_code == EXIT_GOOD) {
		failure_set(EXIT_RUN_FAILED, OUTPUT, "cannot write to standard output");
		diagnose(c, OUTPUT, NULL);
		c->exit_code = verdict(c);
	}
	if (c->diagnosis.exit_code != EXIT_GOOD)
		diagnosis_print(&c->diagnosis);
	if (!c->options->json)
		return c->exit_code;
	document = document_make(c);
	ret = result_print(document);
	json_decref(document);
	return ret == 0 ? c->exit_code : cli_report_failure("rpma-ping");
}

int client_run(const struct options *options, const struct steps *steps)
{
	struct client c = {.options = options, .steps = *steps};
	int ret = stats_init(&c.stats), code;

	clock_gettime(CLOCK_REALTIME, &c.started);
	if (ret != 0)
		return cli_report_failure("rpma-ping");
	ret = get_ready(&c);
	if (ret == 0) {
		screen_begin(&c);
		ret = ping_all(&c, steps->begun_ns);
	}
	judge(&c, ret);
	leave(&c);
	code = tell(&c);
	stats_free(&c.stats);
	return code;
}
