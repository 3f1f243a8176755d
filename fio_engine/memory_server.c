/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory_server.c -- finds the device, maps and registers the memory, and listens.
 */
#include <stdlib.h>

#include "memory_server_private.h"
#include "tools/common/base/failure.h"
#include "tools/common/base/units.h"
#include "tools/common/host/open_files.h"

/* Clients of the other methods need nothing that this host would do to make it durable. */
static int choose_persist(struct memory_server *h)
{
	const enum method method = h->cfg.settings->method;
	int ret = persist_open(&h->persist, &h->target);
	const struct failure kept = *failure_get();

	if (ret == 0 || method == METHOD_APM || method == METHOD_NATIVE)
		return 0;
	return failure_set(EXIT_RUN_FAILED, "persist", "%s: mode=apm and mode=native do without it",
			   kept.text);
}

static int open_region(struct memory_server *h)
{
	const struct target_cfg cfg = {
		.force = true, /* who names a file in a job file means it */
		.node = -1,
		.offset = h->cfg.offset,
		.bytes = h->cfg.bytes,
		.stopped = h->cfg.stopped,
		.arg = h->cfg.arg,
	};
	int ret = target_open(&h->target, h->cfg.target, &cfg);
	struct region_memory memory;

	if (ret == -ECANCELED)
		return failure_set(EXIT_RUN_FAILED, "target", "stopped before %s was mapped",
				   h->cfg.target);
	if (ret || (ret = choose_persist(h)))
		return ret;
	memory = (struct region_memory){.bytes = h->target.memory,
					.size = h->target.size_bytes,
					.kind = h->target.kind,
					.of = h->cfg.target,
					.direct_write_to_pmem =
						h->cfg.settings->direct_write_to_pmem};
	return region_open(&h->region, h->service.peer, h->service.device, &memory);
}

/* The queues are made before it is known what a client wants of them. */
static int set_queues(struct memory_server *h)
{
	uint32_t size;
	int ret = rpma_conn_cfg_new(&h->queues);

	h->depth = h->cfg.depth;
	if (h->depth < HELLO_DEPTH_MIN)
		h->depth = HELLO_DEPTH_MIN;
	else if (h->depth > HELLO_DEPTH_MAX)
		h->depth = HELLO_DEPTH_MAX;
	size = h->depth + 1U; /* answers and a question; requests and a goodbye */
	if (ret == 0 && (ret = rpma_conn_cfg_set_sq_size(h->queues, size)) == 0 &&
	    (ret = rpma_conn_cfg_set_cq_size(h->queues, size)) == 0 &&
	    (ret = rpma_conn_cfg_set_rq_size(h->queues, size)) == 0 &&
	    (ret = rpma_conn_cfg_set_rcq_size(h->queues, size)) == 0)
		ret = rpma_conn_cfg_set_compl_channel(h->queues, true);
	if (ret)
		return failure_set(EXIT_INTERNAL, "connect", "cannot set up connections: %s",
				   link_cause(ret));
	return 0;
}

static void announce(const struct memory_server *h)
{
	const struct settings *s = h->cfg.settings;
	char size[UNITS_TEXT_BYTES];

	session_say("listening on %s port %u (%s), %s: %s of %s%s%s, mode %s, direct write to "
		    "PMem: %s",
		    h->service.address, h->port, h->service.device,
		    s->allow.count > 0 ? "for the addresses of allow="
				       : "for every host that reaches this address",
		    units_print_size(h->target.size_bytes, size), target_kind_name(h->target.kind),
		    h->target.path != NULL ? " " : "", h->target.path != NULL ? h->target.path : "",
		    method_name(s->method),
		    s->direct_write_to_pmem ? "stated by the operator" : "no");
}

static int set_up(struct memory_server *h)
{
	const struct settings *s = h->cfg.settings;
	int ret;

	h->service = (struct service){
		.role = GREETING_FIO,
		.listen = s->address,
		.port = s->port,
		.allow = &s->allow,
		.allow_option = "allow=",
		.endpoint = {.device = NULL, .quiet = true, .argv = NULL},
	};
	if ((ret = service_open(&h->service)) || (ret = open_region(h)) || (ret = set_queues(h)))
		return ret;
	h->session_cfg = (struct session_cfg){h->service.peer, &h->persist, h->depth};
	ret = service_listen(&h->service);
	h->port = h->service.port;
	return ret;
}

int memory_server_open(struct memory_server **server, const struct memory_server_cfg *cfg)
{
	struct memory_server *h = calloc(1, sizeof(*h));
	int ret;

	if (h == NULL)
		return failure_set(EXIT_INTERNAL, "start", "out of memory");
	h->cfg = *cfg;
	h->expected = cfg->settings->clients;
	link_log_to_failures(false);
	open_files_raise();
	ret = set_up(h);
	if (ret) {
		memory_server_close(&h);
		return ret;
	}
	announce(h);
	*server = h;
	return 0;
}

void memory_server_close(struct memory_server **server)
{
	struct memory_server *h = *server;

	*server = NULL;
	if (h == NULL)
		return;
	for (unsigned i = 0; i < h->count; i++)
		session_close(&h->sessions[i]);
	rpma_ep_shutdown(&h->service.ep);
	rpma_conn_cfg_delete(&h->queues);
	region_close(&h->region);
	target_close(&h->target);
	service_close(&h->service);
	free(h);
}
