/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory_server.c -- finds the device, maps and registers the memory, listens, and
 * judges who wants to come in.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/failure.h"
#include "common/base/units.h"
#include "common/host/rlimits.h"
#include "memory_server_private.h"

/*
 * Admission of clients.
 *
 * A client that speaks our protocol gets an answer, if only why it is refused;
 * junk gets none, nor does a host that is not allowed.
 */

struct applicant {
	struct rpma_conn_req *req;
	char from[SERVICE_CLIENT_MAX]; /* "client 10.0.0.2" */
	char name[SESSION_NAME_MAX];
	enum handshake_answer answer;
	enum refusal refusal;
	bool welcome;
	struct job_request job_request;
	struct session **before; /* this client's earlier connections, which it replaces */
};

/* The same client, back after its connection broke; that may not have been seen here yet. */
static bool is_again(const struct session *s, const struct applicant *a)
{
	return a->job_request.again && s->welcome && s->job_request.tag == a->job_request.tag &&
	       s->job_request.job == a->job_request.job &&
	       s->job_request.jobs == a->job_request.jobs && strcmp(s->name, a->name) == 0;
}

static enum refusal judge(struct memory_server *m, struct applicant *a)
{
	const enum method method = m->cfg.settings->method;

	if (method != METHOD_ANY && a->job_request.method != method)
		return REFUSAL_METHOD;
	if (a->job_request.depth > m->depth)
		return REFUSAL_DEPTH;
	for (unsigned i = 0; i < m->count && a->before == NULL; i++) {
		if (is_again(m->sessions[i], a))
			a->before = &m->sessions[i];
	}
	if (a->before != NULL)
		return REFUSAL_NONE;
	if ((m->expected > 0 && m->come >= m->expected) || m->count >= SERVER_CLIENTS_MAX)
		return REFUSAL_FULL;
	return REFUSAL_NONE;
}

static void say_refusal(const struct memory_server *m, const struct applicant *a)
{
	if (a->answer != HANDSHAKE_WELCOME)
		session_say("refused %s: %s", a->from, handshake_refusal(a->answer));
	else if (a->refusal == REFUSAL_METHOD)
		session_say("refused %s: it has mode=%s, this server mode=%s", a->name,
			    method_name(a->job_request.method),
			    method_name(m->cfg.settings->method));
	else if (a->refusal == REFUSAL_DEPTH)
		session_say("refused %s: it sends %u messages at once, there is room for %u "
			    "(iodepth= of the server, %u at most)",
			    a->name, a->job_request.depth, m->depth, JOB_DEPTH_MAX);
	else
		session_say("refused %s: already served all %u expected clients (clients=)",
			    a->name, m->come);
}

static void make_reply(const struct memory_server *m, const struct applicant *a,
		       uint8_t bytes[HANDSHAKE_REPLY_BYTES])
{
	const struct job_reply job_reply = {
		.refusal = a->refusal,
		.method = m->cfg.settings->method,
		.kind = m->target.kind,
		.persist = m->persist.method,
		.direct_write_to_pmem = m->cfg.settings->direct_write_to_pmem,
		.depth = m->depth,
	};

	region_encode_reply(a->welcome ? &m->region : NULL, a->answer, job_reply_encode(&job_reply),
			    bytes);
}

/* A client of a run of several tells how many will come. */
static void count(struct memory_server *m, const struct applicant *a)
{
	if (a->before != NULL)
		return;
	if (m->expected == 0)
		m->expected = a->job_request.jobs;
	m->come++;
}

static void answer(struct memory_server *m, struct applicant *a, int64_t now_ms)
{
	struct session **slot = a->before;
	uint8_t reply[HANDSHAKE_REPLY_BYTES];
	struct session *s = NULL;

	a->welcome = a->answer == HANDSHAKE_WELCOME && a->refusal == REFUSAL_NONE;
	make_reply(m, a, reply);
	if (!a->welcome)
		say_refusal(m, a);
	if (session_open(&s, &m->session_cfg, &a->req, a->welcome ? &a->job_request : NULL,
			 a->answer == HANDSHAKE_WELCOME ? a->name : a->from, reply, now_ms) != 0) {
		session_say("rejected %s: %s", a->from, failure_get()->text);
		return;
	}
	if (a->welcome)
		count(m, a);
	s->came = slot != NULL;
	if (slot != NULL)
		session_close(slot);
	else
		slot = &m->sessions[m->count++];
	*slot = s;
}

static void reject(struct applicant *a, const char *why)
{
	session_say("rejected %s: %s", a->from, why);
	rpma_conn_req_delete(&a->req);
}

/* -EACCES, or -EPROTO for what no client of the engine sends. */
static int read_handshake(const struct memory_server *m, struct applicant *a)
{
	struct rpma_conn_private_data pdata;
	int ret = service_handshake(m->service.allow, a->req, &pdata);

	return ret ? ret : job_request_decode(pdata.ptr, pdata.len, &a->job_request, &a->answer);
}

int memory_server_admit(struct memory_server *m, int64_t now_ms)
{
	struct applicant a = {.req = NULL};
	int ret = rpma_ep_next_conn_req(m->service.ep, m->queues, &a.req);

	if (ret == RPMA_E_NO_EVENT)
		return 0;
	if (endpoint_lost(ret) != 0)
		return -ENODEV;
	if (ret != 0) {
		session_say("rejected a client: %s", connection_cause(ret));
		return 0;
	}
	service_client_name(a.req, a.from);
	ret = read_handshake(m, &a);
	if (ret == -EACCES) {
		reject(&a, "its address is not in allow=");
	} else if (ret != 0) {
		reject(&a, "it is not a client of this engine");
	} else if (m->count >= SERVER_SESSIONS_MAX) {
		reject(&a, "too many at once");
	} else {
		snprintf(a.name, sizeof(a.name), "%s, job %u of %u", a.from, a.job_request.job + 1U,
			 a.job_request.jobs);
		if (a.answer == HANDSHAKE_WELCOME)
			a.refusal = judge(m, &a);
		answer(m, &a, now_ms);
	}
	return 0;
}

/* Clients of the other methods need nothing that this host would do to make it durable. */
static int choose_persist(struct memory_server *m)
{
	const enum method method = m->cfg.settings->method;
	int ret = persist_open(&m->persist, &m->target);
	const struct failure kept = *failure_get();

	if (ret == 0 || method == METHOD_APM || method == METHOD_NATIVE)
		return 0;
	return failure_set(EXIT_RUN_FAILED, "persist", "%s: mode=apm and mode=native do without it",
			   kept.text);
}

static int open_region(struct memory_server *m)
{
	const struct target_cfg cfg = {
		.force = true, /* who names a file in a job file means it */
		.node = -1,
		.offset = m->cfg.offset,
		.bytes = m->cfg.bytes,
		.stopped = m->cfg.stopped,
		.arg = m->cfg.arg,
	};
	int ret = target_open(&m->target, m->cfg.target, &cfg);
	struct region_memory memory;

	if (ret == -ECANCELED)
		return failure_set(EXIT_RUN_FAILED, "target", "stopped before %s was mapped",
				   m->cfg.target);
	if (ret || (ret = choose_persist(m)))
		return ret;
	memory = (struct region_memory){.bytes = m->target.memory,
					.size = m->target.size_bytes,
					.kind = m->target.kind,
					.of = m->cfg.target,
					.direct_write_to_pmem =
						m->cfg.settings->direct_write_to_pmem};
	return region_open(&m->region, m->service.peer, m->service.device, &memory);
}

/* The queues are made before it is known what a client wants of them. */
static int set_queues(struct memory_server *m)
{
	uint32_t size;
	int ret = rpma_conn_cfg_new(&m->queues);

	m->depth = m->cfg.depth;
	if (m->depth < JOB_DEPTH_MIN)
		m->depth = JOB_DEPTH_MIN;
	else if (m->depth > JOB_DEPTH_MAX)
		m->depth = JOB_DEPTH_MAX;
	size = m->depth + 1U; /* answers and a question; requests and a goodbye */
	if (ret == 0 && (ret = rpma_conn_cfg_set_sq_size(m->queues, size)) == 0 &&
	    (ret = rpma_conn_cfg_set_cq_size(m->queues, size)) == 0 &&
	    (ret = rpma_conn_cfg_set_rq_size(m->queues, size)) == 0 &&
	    (ret = rpma_conn_cfg_set_rcq_size(m->queues, size)) == 0)
		ret = rpma_conn_cfg_set_compl_channel(m->queues, true);
	if (ret)
		return failure_set(EXIT_INTERNAL, "connect", "cannot set up connections: %s",
				   connection_cause(ret));
	return 0;
}

static void announce(const struct memory_server *m)
{
	const struct settings *s = m->cfg.settings;
	char size[UNITS_TEXT_BYTES];

	session_say("listening on %s port %u (%s), %s: %s of %s%s%s, mode %s, direct write to "
		    "PMem: %s",
		    m->service.address, m->port, m->service.device,
		    s->allow.count > 0 ? "for the addresses of allow="
				       : "for every host that reaches this address",
		    units_print_size(m->target.size_bytes, size), target_kind_name(m->target.kind),
		    m->target.path != NULL ? " " : "", m->target.path != NULL ? m->target.path : "",
		    method_name(s->method),
		    s->direct_write_to_pmem ? "stated by the operator" : "no");
}

static int set_up(struct memory_server *m)
{
	const struct settings *s = m->cfg.settings;
	int ret;

	m->service = (struct service){
		.role = HANDSHAKE_FIO,
		.listen = s->address,
		.port = s->port,
		.allow = &s->allow,
		.allow_option = "allow=",
		.endpoint = {.device = NULL, .quiet = true, .argv = NULL},
	};
	if ((ret = service_open(&m->service)) || (ret = open_region(m)) || (ret = set_queues(m)))
		return ret;
	m->session_cfg = (struct session_cfg){m->service.peer, &m->persist, m->depth};
	ret = service_listen(&m->service);
	m->port = m->service.port;
	return ret;
}

int memory_server_open(struct memory_server **memory_server, const struct memory_server_cfg *cfg)
{
	struct memory_server *m = calloc(1, sizeof(*m));
	int ret;

	if (m == NULL)
		return failure_set(EXIT_INTERNAL, "start", "out of memory");
	m->cfg = *cfg;
	m->expected = cfg->settings->clients;
	connection_log_to_failures(false);
	open_files_raise();
	ret = set_up(m);
	if (ret) {
		memory_server_close(&m);
		return ret;
	}
	announce(m);
	*memory_server = m;
	return 0;
}

void memory_server_close(struct memory_server **memory_server)
{
	struct memory_server *m = *memory_server;

	*memory_server = NULL;
	if (m == NULL)
		return;
	for (unsigned i = 0; i < m->count; i++)
		session_close(&m->sessions[i]);
	rpma_ep_shutdown(&m->service.ep);
	rpma_conn_cfg_delete(&m->queues);
	region_close(&m->region);
	target_close(&m->target);
	service_close(&m->service);
	free(m);
}
