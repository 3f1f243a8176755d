/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * server_repeat.c -- what a repeat needs of the server, from its begin to its report.
 *
 * Everything a client asks for is checked against the target and against what
 * is left to give before anything is made. An unexpected client at the endpoint
 * is turned away, and the slot stays free for the queue pair it belongs to.
 */
#include "server_repeat.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/failure.h"
#include "common/base/units.h"
#include "common/host/rlimits.h"
#include "common/rdma/gpspm.h"
#include "cpu_load.h"
#include "qp_listener.h"
#include "report.h"
#include "responder.h"
#include "reverse.h"
#include "test_register.h"

struct server_repeat {
	struct server_state *server;
	struct message_begin begin;
	const struct exported_region *exported;
	struct persist persist;
	struct server_share share;
	bool share_taken;
	struct qp_listener listener;
	struct connection **qps;
	uint32_t qps_wanted;
	size_t files; /* open before the first queue pair */
	uint32_t qps_there;
	struct connection_queues queues; /* for queue pairs that this end does not use */
	struct responder **responders;	 /* one a thread of the client; NULL: none is needed */
	struct reverse *reverse;	 /* owns the queue pairs then; NULL: one direction */
	struct registration *registration;
	struct load *load;
	struct placement placement; /* for the threads that answer or measure */
	struct server_report report;
};

static const struct params *params_of(const struct server_repeat *s)
{
	return &s->begin.params;
}

/* --- what the client asks for --------------------------------------------- */

static int check_target(struct server_repeat *s)
{
	const struct params *p = params_of(s);
	char size[UNITS_TEXT_BYTES], room[UNITS_TEXT_BYTES];
	uint64_t least;

	if (p->target >= s->server->regions_count) {
		failure_set(EXIT_RUN_FAILED, "begin",
			    "it has no target %u: it offers %zu, numbered from 0", p->target,
			    s->server->regions_count);
		return -EIO;
	}
	s->exported = &s->server->regions[p->target];
	least = p->test == BENCH_REGISTER ? p->size_bytes : access_slice_min(p) * params_qps(p);
	if (p->op == BENCH_SEND || p->test == BENCH_CONNECT)
		least = 0; /* the target is not touched */
	if (least > s->exported->target.size_bytes)
		return failure_set(
			EXIT_RUN_FAILED, "begin",
			"%u connections with operations of %s do not fit its target of %s",
			params_qps(p), units_print_size(p->size_bytes, size),
			units_print_size(s->exported->target.size_bytes, room));
	if (params_gpspm(p))
		return persist_open(&s->persist, &s->exported->target);
	return 0;
}

static int take_share(struct server_repeat *s)
{
	const struct params *p = params_of(s);
	char size[UNITS_TEXT_BYTES];

	s->share = (struct server_share){.qps = s->qps_wanted, .target = p->target};
	if (responder_needed(p))
		s->share.buffer_bytes = responder_buffer_bytes(p) * params_qps(p);
	else if (p->bidirectional)
		s->share.buffer_bytes = reverse_buffer_bytes(p);
	s->share_taken = server_take(s->server, &s->share);
	if (!s->share_taken)
		return failure_set(
			EXIT_RUN_FAILED, "begin",
			"%u connections with %s of message buffers are more than it has left "
			"for all its clients together",
			s->share.qps, units_print_size(s->share.buffer_bytes, size));
	return 0;
}

/* --- set up ---------------------------------------------------------------- */

static int make_responders(struct server_repeat *s)
{
	const struct params *p = params_of(s);
	int ret = 0;

	s->queues = (struct connection_queues){.sq_size = 1, .cq_size = 2, .rq_size = 1};
	if (!responder_needed(p))
		return 0;
	s->responders = calloc(p->threads, sizeof(struct responder *));
	if (s->responders == NULL)
		return failure_set(EXIT_INTERNAL, "begin", "out of memory");
	for (uint32_t i = 0; i < p->threads && ret == 0; i++)
		ret = responder_new(&s->responders[i], s->server->service.peer, p, &s->persist);
	return ret;
}

static uint32_t threads_of(const struct params *p)
{
	return responder_needed(p) || p->bidirectional || p->test == BENCH_REGISTER ? p->threads
										    : 0;
}

/* Near the device and the target; too few cores are no reason to refuse a client. */
static int choose_cpus(struct server_repeat *s)
{
	const struct placement_request request = {
		.pin = s->server->pin,
		.mem_node = "none",
		.near = {s->server->service.device, s->exported->target.numa_node},
		.threads = threads_of(params_of(s)),
		.skip = s->server->cores_taken,
		.lenient = true,
	};
	const struct topology *topology = s->server->topology;
	int ret = 0;

	s->placement = (struct placement){.policy = "none", .node = -1, .memory_node = -1};
	for (uint32_t i = 0; i < PARAMS_THREADS_MAX; i++)
		s->placement.cpus[i] = -1;
	if (topology != NULL && topology_is_this_machine(topology))
		ret = placement_choose(&s->placement, topology, &request);
	if (ret == 0)
		placement_memory_made(&s->placement, s->exported->target.memory);
	return ret;
}

static int set_up(struct server_repeat *s)
{
	const struct params *p = params_of(s);
	int ret = check_target(s);

	s->qps_wanted = p->test == BENCH_REGISTER ? 0 : params_qps(p);
	if (ret || (ret = take_share(s)) || (ret = choose_cpus(s)) || (ret = make_responders(s)))
		return ret;
	if (p->bidirectional &&
	    (ret = reverse_new(&s->reverse, s->server, &s->begin, s->placement.cpus)))
		return ret;
	s->qps = calloc(s->qps_wanted + 1, sizeof(struct connection *));
	if (s->qps == NULL)
		return failure_set(EXIT_INTERNAL, "begin", "out of memory");
	if (p->server_load_millionths > 0 &&
	    (ret = load_start(&s->load, s->exported->target.numa_node, p->server_load_millionths)))
		return ret;
	if (s->qps_wanted > 0 &&
	    (ret = qp_listener_open(&s->listener, s->server, s->exported, &s->begin.knobs)))
		return ret;
	s->files = open_files_count();
	return 0;
}

int server_repeat_open(struct server_repeat **repeat, struct server_state *server,
		       const struct message_begin *begin)
{
	struct server_repeat *s = calloc(1, sizeof(*s));
	int ret;

	if (s == NULL)
		return failure_set(EXIT_INTERNAL, "begin", "out of memory");
	s->server = server;
	s->begin = *begin;
	s->listener.fd = -1;
	s->report.check = ACCESS_CHECK_NONE;
	ret = set_up(s);
	if (ret) {
		server_repeat_close(&s);
		return ret;
	}
	*repeat = s;
	return 0;
}

void server_repeat_describe(const struct server_repeat *repeat, struct message_ready *ready)
{
	ready->port = repeat->listener.port;
	ready->token = repeat->listener.token;
}

static void stop_responders(struct server_repeat *s)
{
	s->report.requests = 0;
	for (uint32_t i = 0; s->responders != NULL && i < params_of(s)->threads; i++) {
		if (s->responders[i] != NULL)
			s->report.requests += responder_stop(s->responders[i]);
	}
}

void server_repeat_close(struct server_repeat **repeat)
{
	struct server_repeat *s = *repeat;
	struct failure kept = *failure_get();

	*repeat = NULL;
	if (s == NULL)
		return;
	qp_listener_close(&s->listener);
	load_stop(&s->load);
	registration_stop(&s->registration);
	stop_responders(s);
	reverse_delete(&s->reverse);
	for (uint32_t i = 0; s->qps != NULL && i < s->qps_wanted; i++)
		connection_close(&s->qps[i]);
	for (uint32_t i = 0; s->responders != NULL && i < params_of(s)->threads; i++)
		responder_delete(&s->responders[i]);
	if (s->share_taken)
		server_give(s->server, &s->share);
	server_report_clear(&s->report);
	free(s->responders);
	free(s->qps);
	free(s);
	*failure_get() = kept;
}

/* --- queue pairs ------------------------------------------------------------------ */

void server_repeat_fds(const struct server_repeat *repeat, struct pollfd fds[SERVER_REPEAT_FDS])
{
	bool connects = params_of(repeat)->test == BENCH_CONNECT;

	fds[0] = (struct pollfd){repeat->listener.fd, POLLIN, 0};
	fds[1] = (struct pollfd){-1, POLLIN, 0};
	if (repeat->qps_there == repeat->qps_wanted)
		fds[0].fd = -1;
	if (connects && repeat->qps_there > 0)
		fds[1].fd = connection_event_fd(repeat->qps[0]);
	else if (repeat->registration != NULL)
		fds[1].fd = registration_done_fd(repeat->registration);
}

static const struct connection_queues *queues_of(const struct server_repeat *s, uint32_t qp)
{
	uint32_t connections = params_of(s)->connections;

	if (s->reverse != NULL)
		return reverse_qp(s->reverse);
	return s->responders == NULL
		       ? &s->queues
		       : responder_qp(s->responders[qp / connections], qp % connections);
}

/* Hands the queue pair to its user; on failure it is closed. */
static int hand_over(struct server_repeat *s, uint32_t qp)
{
	uint32_t connections = params_of(s)->connections;
	struct connection *connection = s->qps[qp];

	if (s->reverse != NULL) {
		s->qps[qp] = NULL;
		return reverse_attach(s->reverse, qp, connection);
	}
	if (s->responders != NULL)
		responder_attach(s->responders[qp / connections], qp % connections, connection);
	return 0;
}

static int all_there(struct server_repeat *s)
{
	int ret = 0;

	/* a connection that comes now is refused at once; connects come one after the other */
	if (params_of(s)->test != BENCH_CONNECT)
		qp_listener_close(&s->listener);
	for (uint32_t i = 0; s->responders != NULL && i < params_of(s)->threads && ret == 0; i++)
		ret = responder_start(s->responders[i], s->server->topology, s->placement.cpus[i]);
	return ret;
}

/* Better now than in the middle of all those to come. */
static int check_files(const struct server_repeat *s)
{
	char what[64];

	snprintf(what, sizeof(what), "%u connections of a client", s->qps_wanted);
	return open_files_check(what, s->files, s->qps_wanted);
}

static int next_qp(struct server_repeat *s)
{
	uint32_t qp = s->qps_there;
	int ret = qp_listener_accept(&s->listener, qp, queues_of(s, qp), &s->qps[qp]);

	if (ret || s->qps[qp] == NULL)
		return ret;
	if (qp + 1 == OPEN_FILES_SAMPLE && (ret = check_files(s)))
		return ret;
	/* one that cannot be used leaves its slot free: the client reports that it gives up */
	if (hand_over(s, qp) != 0) {
		connection_close(&s->qps[qp]);
		return 0;
	}
	return ++s->qps_there == s->qps_wanted ? all_there(s) : 0;
}

int server_repeat_poll(struct server_repeat *repeat, const struct pollfd fds[SERVER_REPEAT_FDS])
{
	/* that registrations are done is for server_repeat_is_done to tell */
	if (repeat->registration == NULL && fds[1].fd >= 0 && fds[1].revents != 0 &&
	    !connection_alive(repeat->qps[0], 0)) {
		connection_close(&repeat->qps[0]);
		repeat->qps_there = 0;
		return 0;
	}
	return fds[0].fd >= 0 && fds[0].revents != 0 ? next_qp(repeat) : 0;
}

/* --- phases ----------------------------------------------------------------- */

static void note_sharing(struct server_repeat *s)
{
	if (server_target_shared(s->server, s->share.target))
		s->report.shared = true;
}

static void start_measuring(struct server_repeat *s)
{
	if (s->load != NULL)
		load_mark(s->load);
	server_report_begin(&s->report, s->server->service.device);
}

int server_repeat_start(struct server_repeat *repeat, enum message_phase phase)
{
	if (params_of(repeat)->test != BENCH_CONNECT && repeat->qps_there < repeat->qps_wanted)
		return failure_set(EXIT_RUN_FAILED, "start",
				   "a client starts to measure with %u of %u connections",
				   repeat->qps_there, repeat->qps_wanted);
	note_sharing(repeat);
	if (phase == PHASE_MEASURE)
		start_measuring(repeat);
	if (repeat->reverse != NULL)
		return reverse_start(repeat->reverse, phase);
	if (phase == PHASE_MEASURE && params_of(repeat)->test == BENCH_REGISTER &&
	    repeat->registration == NULL)
		return registration_start(&repeat->registration, repeat->server, &repeat->begin,
					  repeat->placement.cpus[0]);
	return 0;
}

static void stop_measuring(struct server_repeat *s)
{
	server_report_end(&s->report, s->server->service.device);
	s->report.loaded = s->load != NULL;
	if (s->load != NULL)
		s->report.load_fraction = load_measured(s->load);
}

/* The check sees the last write to each slot; a client may send any number. */
static uint64_t overwritten(const struct access *access, uint64_t size, uint64_t touched)
{
	uint64_t bytes = 0;

	if (touched > access->slots &&
	    __builtin_mul_overflow(touched - access->slots, size, &bytes))
		return UINT64_MAX;
	return bytes;
}

static void verify(struct server_repeat *s, const struct message_end *end,
		   const struct access_keepalive *keepalive)
{
	const struct params *p = params_of(s);
	const struct target *t = &s->exported->target;
	struct server_report *report = &s->report;
	struct access access;

	for (uint32_t qp = 0; qp < end->qps_count; qp++) {
		uint64_t touched = end->touched[qp], over;

		access_init(&access, p, t->size_bytes, qp, s->begin.seed);
		access_verify(&access, p, t->memory, touched, &report->check, keepalive);
		over = overwritten(&access, p->size_bytes, touched);
		if (__builtin_add_overflow(report->overwritten_bytes, over,
					   &report->overwritten_bytes))
			report->overwritten_bytes = UINT64_MAX;
	}
	report->verify_method =
		p->persist == BENCH_NONE ? "server_compare" : "server_compare_after_flush";
}

static bool checks_content(const struct server_repeat *s)
{
	return s->begin.verify != 0 && params_verifiable(params_of(s));
}

static void end_reverse(struct server_repeat *s)
{
	s->report.reverse = reverse_end(s->reverse);
	if (s->report.reverse == NULL)
		snprintf(s->report.reverse_failure, sizeof(s->report.reverse_failure), "%s",
			 failure_get()->text);
}

int server_repeat_end(struct server_repeat *repeat, const struct message_end *end,
		      const struct access_keepalive *keepalive)
{
	if (params_of(repeat)->test != BENCH_CONNECT && end->qps_count != repeat->qps_wanted)
		return failure_set(EXIT_RUN_FAILED, "end",
				   "a client of %u connections reports on %u of them",
				   repeat->qps_wanted, end->qps_count);
	/* registrations end by themselves */
	if (repeat->registration != NULL)
		return 0;
	if (repeat->reverse != NULL && repeat->report.measuring)
		end_reverse(repeat);
	if (repeat->report.measuring)
		stop_measuring(repeat);
	load_stop(&repeat->load);
	stop_responders(repeat);
	note_sharing(repeat);
	if (checks_content(repeat))
		verify(repeat, end, keepalive);
	return 0;
}

bool server_repeat_is_done(const struct server_repeat *repeat)
{
	return repeat->registration == NULL || registration_is_done(repeat->registration);
}

/* Notes which threads and memory could be bound. */
static void note_placement(struct server_repeat *s)
{
	int bind_error = s->exported->target.bind_error, cpu = -1;

	for (uint32_t i = 0; s->responders != NULL && i < params_of(s)->threads; i++) {
		int error = responder_unbound(s->responders[i], &cpu);

		if (error != 0) {
			placement_pin_refused(&s->placement, cpu, error);
			s->placement.cpus[i] = -1;
		}
	}
	if (bind_error != 0)
		placement_memory_refused(&s->placement, -bind_error);
}

/* Registrations without figures have nothing to report. */
json_t *server_repeat_report(struct server_repeat *repeat)
{
	const struct params *p = params_of(repeat);

	if (repeat->registration != NULL) {
		stop_measuring(repeat);
		repeat->report.registration = registration_figures(repeat->registration);
		if (repeat->report.registration == NULL)
			return NULL;
	}
	repeat->report.answered = repeat->responders != NULL;
	if (params_gpspm(p))
		repeat->report.persist_method = persist_method_name(repeat->persist.method);
	note_placement(repeat);
	return server_report_json(&repeat->report, &repeat->placement);
}
