/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory_server.c -- finds the device, maps and registers the memory, and listens.
 */
#include <stdlib.h>

#include "common/base/failure.h"
#include "common/base/units.h"
#include "common/host/open_files.h"
#include "memory_server_private.h"

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
