/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stage.c -- what a repeat needs of the server, from its begin to its report.
 *
 * Everything a client asks for is checked against the target and against what
 * is left to give before anything is made. A stranger who finds the endpoint
 * is turned away, and the place stays free for the lane it belongs to.
 */
#include "stage.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>

#include "../common/clock.h"
#include "../common/counters.h"
#include "../common/failure.h"
#include "../common/persist.h"
#include "../common/thread.h"
#include "../common/units.h"
#include "access.h"
#include "load.h"
#include "placement.h"
#include "registration.h"
#include "responder.h"
#include "reverse.h"

#define WARNINGS_MAX 8

struct stage {
	struct host *host;
	struct message_begin begin;
	const struct offer *offer;
	struct persist persist;
	struct host_share share;
	bool share_taken;
	struct rpma_ep *ep; /* NULL: no lanes are awaited */
	int ep_fd;
	uint16_t port;
	uint64_t token;
	struct link **lanes;
	uint32_t lanes_wanted;
	uint32_t lanes_there;
	struct link_lane queues;       /* of a lane without a responder */
	struct responder **responders; /* one a thread of the client; NULL: none is needed */
	struct reverse *reverse;       /* owns the lanes then; NULL: one direction */
	struct registration *registration;
	struct load *load;
	struct placement placement; /* of the threads that answer or measure */
	/* what the report says */
	bool measuring;
	uint64_t begin_ns;
	struct rusage before;
	json_t *counters;
	uint64_t elapsed_ns;
	uint64_t user_ns;
	uint64_t sys_ns;
	uint64_t requests;
	double load_fraction;
	bool shared; /* somebody else used the target meanwhile */
	bool verified;
	struct access_check check;
	json_t *reverse_figures;
	char reverse_failure[sizeof(((struct failure *)0)->text)]; /* empty: none */
};

static const struct params *params_of(const struct stage *s)
{
	return &s->begin.params;
}

/* --- what the client asks for --------------------------------------------- */

static int check_target(struct stage *s)
{
	const struct params *p = params_of(s);
	char size[UNITS_TEXT_BYTES], room[UNITS_TEXT_BYTES];
	uint64_t least;

	if (p->target >= s->host->offers_count)
		return failure_set(EXIT_RUN_FAILED, "begin",
				   "it has no target %u: it offers %zu, numbered from 0", p->target,
				   s->host->offers_count);
	s->offer = &s->host->offers[p->target];
	least = p->test == BENCH_REGISTER ? p->size_bytes : access_slice_min(p) * params_lanes(p);
	if (p->op == BENCH_SEND || p->test == BENCH_CONNECT)
		least = 0; /* the target is not touched */
	if (least > s->offer->target.size_bytes)
		return failure_set(EXIT_RUN_FAILED, "begin",
				   "%u lanes with operations of %s do not fit its target of %s",
				   params_lanes(p), units_print_size(p->size_bytes, size),
				   units_print_size(s->offer->target.size_bytes, room));
	if (p->persist == BENCH_GPSPM || p->persist == BENCH_GPSPM_RT)
		return persist_open(&s->persist, &s->offer->target);
	return 0;
}

static int take_share(struct stage *s)
{
	const struct params *p = params_of(s);
	char size[UNITS_TEXT_BYTES];

	s->share = (struct host_share){.lanes = s->lanes_wanted, .target = p->target};
	if (responder_needed(p))
		s->share.buffer_bytes = responder_buffer_bytes(p) * params_lanes(p);
	else if (p->bidirectional)
		s->share.buffer_bytes = reverse_buffer_bytes(p);
	s->share_taken = host_take(s->host, &s->share);
	if (!s->share_taken)
		return failure_set(EXIT_RUN_FAILED, "begin",
				   "%u lanes with %s of message buffers are more than it has left "
				   "for all its clients together",
				   s->share.lanes, units_print_size(s->share.buffer_bytes, size));
	return 0;
}

/* --- set up ---------------------------------------------------------------- */

static int listen_for_lanes(struct stage *s)
{
	int ret = rpma_ep_listen(s->host->peer, s->host->address, "0", &s->ep);

	if ((ret == 0 && (ret = rpma_ep_get_port(s->ep, &s->port))) ||
	    (ret == 0 && (ret = rpma_ep_get_fd(s->ep, &s->ep_fd))) || ret)
		return failure_set(EXIT_RUN_FAILED, "begin", "it cannot listen for lanes: %s",
				   link_cause(ret));
	/* a client that gives up between the event and the call must not hold the session */
	if (fcntl(s->ep_fd, F_SETFL, fcntl(s->ep_fd, F_GETFL) | O_NONBLOCK) != 0)
		return failure_set(EXIT_INTERNAL, "begin", "fcntl: %s", strerror(errno));
	return 0;
}

static int make_responders(struct stage *s)
{
	const struct params *p = params_of(s);
	int ret = 0;

	s->queues = (struct link_lane){.sq_size = 1, .cq_size = 2, .rq_size = 1};
	if (!responder_needed(p))
		return 0;
	s->responders = calloc(p->threads, sizeof(struct responder *));
	if (s->responders == NULL)
		return failure_set(EXIT_INTERNAL, "begin", "out of memory");
	for (uint32_t i = 0; i < p->threads && ret == 0; i++)
		ret = responder_new(&s->responders[i], s->host->peer, p, &s->persist);
	return ret;
}

static uint32_t threads_of(const struct params *p)
{
	return responder_needed(p) || p->bidirectional || p->test == BENCH_REGISTER ? p->threads
										    : 0;
}

/* Near the device and the target; too few cores are no reason to refuse a client. */
static int place(struct stage *s)
{
	struct host *host = s->host;

	s->placement.node = s->offer->target.numa_node;
	s->placement.policy = "none";
	for (uint32_t i = 0; i < PARAMS_THREADS_MAX; i++)
		s->placement.cpus[i] = -1;
	if (host->topology == NULL || !topology_is_this_machine(host->topology))
		return 0;
	return placement_choose(
		&s->placement, host->topology,
		&(struct placement_wish){.pin = host->pin,
					 .mem_node = "none",
					 .near = {host->device, s->offer->target.numa_node},
					 .threads = threads_of(params_of(s)),
					 .skip = host->cores_taken,
					 .lenient = true});
}

static int set_up(struct stage *s)
{
	const struct params *p = params_of(s);
	int ret = check_target(s);

	s->lanes_wanted = p->test == BENCH_REGISTER ? 0 : params_lanes(p);
	if (ret || (ret = take_share(s)) || (ret = place(s)) || (ret = make_responders(s)))
		return ret;
	if (p->bidirectional &&
	    (ret = reverse_new(&s->reverse, s->host, &s->begin, s->placement.cpus)))
		return ret;
	if (getrandom(&s->token, sizeof(s->token), 0) != sizeof(s->token))
		return failure_set(EXIT_INTERNAL, "begin", "the kernel gave no random bytes");
	s->lanes = calloc(s->lanes_wanted + 1, sizeof(struct link *));
	if (s->lanes == NULL)
		return failure_set(EXIT_INTERNAL, "begin", "out of memory");
	if (p->server_load_millionths > 0 &&
	    (ret = load_start(&s->load, s->offer->target.numa_node, p->server_load_millionths)))
		return ret;
	return s->lanes_wanted > 0 ? listen_for_lanes(s) : 0;
}

int stage_open(struct stage **stage, struct host *host, const struct message_begin *begin)
{
	struct stage *s = calloc(1, sizeof(*s));
	int ret;

	if (s == NULL)
		return failure_set(EXIT_INTERNAL, "begin", "out of memory");
	s->host = host;
	s->begin = *begin;
	s->ep_fd = -1;
	s->check = ACCESS_CHECK_NONE;
	ret = set_up(s);
	if (ret) {
		stage_close(&s);
		return ret;
	}
	*stage = s;
	return 0;
}

void stage_describe(const struct stage *stage, struct message_ready *ready)
{
	ready->port = stage->port;
	ready->token = stage->token;
}

static void stop_responders(struct stage *s)
{
	s->requests = 0;
	for (uint32_t i = 0; s->responders != NULL && i < params_of(s)->threads; i++) {
		if (s->responders[i] != NULL)
			s->requests += responder_stop(s->responders[i]);
	}
}

void stage_close(struct stage **stage)
{
	struct stage *s = *stage;
	struct failure kept = *failure_get();

	*stage = NULL;
	if (s == NULL)
		return;
	rpma_ep_shutdown(&s->ep);
	load_stop(&s->load);
	registration_stop(&s->registration);
	stop_responders(s);
	reverse_delete(&s->reverse);
	for (uint32_t i = 0; s->lanes != NULL && i < s->lanes_wanted; i++)
		link_close(&s->lanes[i]);
	for (uint32_t i = 0; s->responders != NULL && i < params_of(s)->threads; i++)
		responder_delete(&s->responders[i]);
	if (s->share_taken)
		host_give(s->host, &s->share);
	json_decref(s->counters);
	json_decref(s->reverse_figures);
	free(s->responders);
	free(s->lanes);
	free(s);
	*failure_get() = kept;
}

/* --- lanes ------------------------------------------------------------------ */

void stage_fds(const struct stage *stage, struct pollfd fds[STAGE_FDS])
{
	bool connects = params_of(stage)->test == BENCH_CONNECT;

	fds[0] = (struct pollfd){stage->ep_fd, POLLIN, 0};
	fds[1] = (struct pollfd){-1, POLLIN, 0};
	if (stage->lanes_there == stage->lanes_wanted)
		fds[0].fd = -1;
	if (connects && stage->lanes_there > 0)
		fds[1].fd = link_event_fd(stage->lanes[0]);
	else if (stage->registration != NULL)
		fds[1].fd = registration_done_fd(stage->registration);
}

/* Is it the lane that comes next? */
static bool expected(const struct stage *s, const struct rpma_conn_req *req)
{
	struct rpma_conn_private_data pdata = {NULL, 0};
	struct greeting_request request;

	return host_allows(s->host, req) && rpma_conn_req_get_private_data(req, &pdata) == 0 &&
	       pdata.ptr != NULL && greeting_decode_request(pdata.ptr, pdata.len, &request) == 0 &&
	       request.version == GREETING_VERSION && request.role == GREETING_MEASURE &&
	       request.token == s->token && request.lane == s->lanes_there;
}

static const struct link_lane *queues_of(const struct stage *s, uint32_t lane)
{
	uint32_t connections = params_of(s)->connections;

	if (s->reverse != NULL)
		return reverse_lane(s->reverse);
	return s->responders == NULL
		       ? &s->queues
		       : responder_lane(s->responders[lane / connections], lane % connections);
}

/* Who uses the lane from now on; on failure it is closed. */
static int hand_over(struct stage *s, uint32_t lane)
{
	uint32_t connections = params_of(s)->connections;
	struct link *link = s->lanes[lane];

	if (s->reverse != NULL) {
		s->lanes[lane] = NULL;
		return reverse_attach(s->reverse, lane, link);
	}
	if (s->responders == NULL)
		return 0;
	return responder_attach(s->responders[lane / connections], lane % connections, link);
}

static int accept_lane(struct stage *s, const struct link_cfg *cfg, struct rpma_conn_req **req)
{
	struct greeting_reply reply = {
		.version = GREETING_VERSION,
		.answer = GREETING_WELCOME,
		.mr_desc_bytes = s->offer->mr_desc_bytes,
		.pcfg_desc_bytes = s->host->pcfg_desc_bytes,
	};
	uint32_t lane = s->lanes_there;
	uint8_t bytes[GREETING_REPLY_BYTES];
	int ret;

	memcpy(reply.mr_desc, s->offer->mr_desc, sizeof(reply.mr_desc));
	memcpy(reply.pcfg_desc, s->host->pcfg_desc, sizeof(reply.pcfg_desc));
	greeting_encode_reply(&reply, bytes);
	ret = link_accept(&s->lanes[lane], s->host->peer, req, cfg, bytes, sizeof(bytes));
	if (ret == 0)
		ret = hand_over(s, lane);
	if (ret == 0)
		s->lanes_there++;
	else
		link_close(&s->lanes[lane]);
	return ret;
}

static int all_there(struct stage *s)
{
	int ret = 0;

	/* whoever comes now is refused at once; connects come one after the other */
	if (params_of(s)->test != BENCH_CONNECT) {
		rpma_ep_shutdown(&s->ep);
		s->ep_fd = -1;
	}
	for (uint32_t i = 0; s->responders != NULL && i < params_of(s)->threads && ret == 0; i++)
		ret = responder_start(s->responders[i], s->host->topology, s->placement.cpus[i]);
	return ret;
}

static int next_lane(struct stage *s)
{
	const struct link_cfg cfg = {
		.peer_name = "a client",
		.stop_fd = s->host->stop_fd,
		.lane = queues_of(s, s->lanes_there),
	};
	struct rpma_conn_cfg *conn_cfg = NULL;
	struct rpma_conn_req *req = NULL;
	int ret = link_conn_cfg(&cfg, &conn_cfg);

	if (ret)
		return ret;
	/* what comes to nothing leaves the place free: the client will say that it gives up */
	if (rpma_ep_next_conn_req(s->ep, conn_cfg, &req) == 0) {
		if (!expected(s, req)) {
			rpma_conn_req_delete(&req);
			host_say(s->host, "turned a stranger away from a client's lanes");
		} else if (accept_lane(s, &cfg, &req) == 0 && s->lanes_there == s->lanes_wanted) {
			ret = all_there(s);
		}
	}
	rpma_conn_cfg_delete(&conn_cfg);
	return ret;
}

int stage_look(struct stage *stage, const struct pollfd fds[STAGE_FDS])
{
	/* that registrations are done is for stage_is_done to tell */
	if (stage->registration == NULL && fds[1].fd >= 0 && fds[1].revents != 0 &&
	    !link_alive(stage->lanes[0], 0)) {
		link_close(&stage->lanes[0]);
		stage->lanes_there = 0;
		return 0;
	}
	return fds[0].fd >= 0 && fds[0].revents != 0 ? next_lane(stage) : 0;
}

/* --- phases ----------------------------------------------------------------- */

static json_t *read_counters(const struct stage *s)
{
	struct sysroot root;
	json_t *counters;

	if (sysroot_open(&root, "/") != 0)
		return NULL;
	counters = counters_read(&root, s->host->device);
	sysroot_close(&root);
	return counters;
}

static void start_measuring(struct stage *s)
{
	json_decref(s->counters);
	s->counters = read_counters(s);
	if (s->load != NULL)
		load_mark(s->load);
	getrusage(RUSAGE_SELF, &s->before);
	s->begin_ns = clock_raw_ns();
	s->measuring = true;
}

int stage_start(struct stage *stage, enum message_phase phase)
{
	if (params_of(stage)->test != BENCH_CONNECT && stage->lanes_there < stage->lanes_wanted)
		return failure_set(EXIT_RUN_FAILED, "start",
				   "a client starts to measure with %u of %u lanes",
				   stage->lanes_there, stage->lanes_wanted);
	stage->shared = stage->shared || host_target_shared(stage->host, stage->share.target);
	if (phase == PHASE_MEASURE)
		start_measuring(stage);
	if (stage->reverse != NULL)
		return reverse_start(stage->reverse, phase);
	if (phase == PHASE_MEASURE && params_of(stage)->test == BENCH_REGISTER &&
	    stage->registration == NULL)
		return registration_start(&stage->registration, stage->host, &stage->begin,
					  stage->placement.cpus[0]);
	return 0;
}

static void stop_measuring(struct stage *s)
{
	struct rusage after;

	s->measuring = false;
	s->elapsed_ns = clock_raw_ns() - s->begin_ns;
	getrusage(RUSAGE_SELF, &after);
	s->user_ns = thread_time_ns(after.ru_utime) - thread_time_ns(s->before.ru_utime);
	s->sys_ns = thread_time_ns(after.ru_stime) - thread_time_ns(s->before.ru_stime);
	if (s->load != NULL)
		s->load_fraction = load_measured(s->load);
	s->counters = counters_between(s->counters, read_counters(s));
}

static void verify(struct stage *s, const struct message_end *end)
{
	const struct target *t = &s->offer->target;
	struct access access;

	for (uint32_t lane = 0; lane < end->lanes_count; lane++) {
		access_init(&access, params_of(s), t->size_bytes, lane, s->begin.seed);
		access_verify(&access, params_of(s), t->memory, end->touched[lane], &s->check);
	}
	s->verified = true;
}

static bool checks_content(const struct stage *s)
{
	const struct params *p = params_of(s);

	return s->begin.verify != 0 && params_writes(p) && p->test != BENCH_CONNECT &&
	       p->test != BENCH_REGISTER;
}

int stage_end(struct stage *stage, const struct message_end *end)
{
	if (params_of(stage)->test != BENCH_CONNECT && end->lanes_count != stage->lanes_wanted)
		return failure_set(EXIT_RUN_FAILED, "end",
				   "a client of %u lanes says what %u of them did",
				   stage->lanes_wanted, end->lanes_count);
	/* of registrations the end is theirs to say */
	if (stage->registration != NULL)
		return 0;
	if (stage->reverse != NULL && stage->measuring) {
		stage->reverse_figures = reverse_end(stage->reverse);
		if (stage->reverse_figures == NULL)
			snprintf(stage->reverse_failure, sizeof(stage->reverse_failure), "%s",
				 failure_get()->text);
	}
	if (stage->measuring)
		stop_measuring(stage);
	load_stop(&stage->load);
	stop_responders(stage);
	stage->shared = stage->shared || host_target_shared(stage->host, stage->share.target);
	if (checks_content(stage))
		verify(stage, end);
	return 0;
}

bool stage_is_done(const struct stage *stage)
{
	return stage->registration == NULL || registration_is_done(stage->registration);
}

/* --- the report --------------------------------------------------------------- */

static json_t *number(uint64_t value)
{
	return json_integer(value <= INT64_MAX ? (json_int_t)value : INT64_MAX);
}

static json_t *verify_json(const struct stage *s)
{
	const struct access_check *c = &s->check;
	json_t *object;

	if (!s->verified)
		return json_null();
	object = json_object();
	json_object_set_new(object, "checked_bytes", number(c->checked_bytes));
	json_object_set_new(object, "mismatches", number(c->mismatches));
	json_object_set_new(object, "first_offset",
			    c->mismatches > 0 ? number(c->first_offset) : json_null());
	json_object_set_new(object, "method",
			    json_string(params_of(s)->persist == BENCH_NONE
						? "server_compare"
						: "server_compare_after_flush"));
	return object;
}

static void warn(json_t *list, const char *code, const char *text)
{
	json_array_append_new(list, json_pack("{s:s, s:s}", "code", code, "text", text));
}

static json_t *warnings_json(const struct stage *s)
{
	json_t *list = json_array();

	if (s->shared)
		warn(list, "TARGET_SHARED",
		     "another client used the same target meanwhile: figures and the check of its "
		     "content are not of this client alone");
	if (s->reverse_failure[0] != '\0')
		warn(list, "REVERSE_FAILED", s->reverse_failure);
	if (s->placement.shared_warning[0] != '\0')
		warn(list, "PIN_SHARED_CORE", s->placement.shared_warning);
	return list;
}

/* Of registrations without figures there is nothing to report. */
static int add_registration(struct stage *s, json_t *report)
{
	json_t *figures;

	if (s->registration == NULL)
		return 0;
	figures = registration_figures(s->registration);
	if (figures == NULL)
		return -EIO;
	return json_object_set_new(report, "registration", figures);
}

json_t *stage_report(struct stage *stage)
{
	const struct params *p = params_of(stage);
	json_t *report = json_object();

	if (stage->measuring)
		stop_measuring(stage);
	if (add_registration(stage, report) != 0) {
		json_decref(report);
		return NULL;
	}
	if (stage->reverse_figures != NULL)
		json_object_set(report, "reverse", stage->reverse_figures);
	json_object_set_new(report, "placement", placement_json(&stage->placement));
	json_object_set_new(report, "elapsed_ns", number(stage->elapsed_ns));
	json_object_set_new(report, "user_ns", number(stage->user_ns));
	json_object_set_new(report, "sys_ns", number(stage->sys_ns));
	json_object_set_new(report, "load_fraction_measured",
			    p->server_load_millionths > 0 ? json_real(stage->load_fraction)
							  : json_null());
	json_object_set_new(report, "requests",
			    stage->responders != NULL ? number(stage->requests) : json_null());
	json_object_set(report, "counters",
			stage->counters != NULL ? stage->counters : json_null());
	json_object_set_new(report, "verify", verify_json(stage));
	if (p->persist == BENCH_GPSPM || p->persist == BENCH_GPSPM_RT)
		json_object_set_new(report, "persist_method",
				    json_string(persist_method_name(stage->persist.method)));
	if (json_object_set_new(report, "warnings", warnings_json(stage)) != 0) {
		json_decref(report);
		failure_set(EXIT_INTERNAL, "report", "out of memory");
		return NULL;
	}
	return report;
}
