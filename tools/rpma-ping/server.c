/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * server.c -- offers places in its memory, and starts a session per client.
 */
#include "server.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "session.h"
#include "tools/common/base/error.h"
#include "tools/common/base/units.h"
#include "tools/common/host/memlock.h"
#include "tools/common/rdma/connection.h"
#include "tools/common/rdma/listen.h"
#include "tools/common/rdma/resolve.h"
#include "trouble.h"

struct server {
	const struct options *options;
	struct host host;
	struct sysroot root;
	char address[RESOLVE_ADDRESS_MAX];
	char device[DEVICE_NAME_MAX];
	struct rpma_ep *ep;
	int ep_fd;
	uint16_t port;
};

static int check_allow(const struct options *o)
{
	if (o->allow.count == 0 || allow_works())
		return 0;
	return failure_set(EXIT_RUN_FAILED, "listen",
			   "--allow: this librpma is older than 1.4 and cannot tell who a client "
			   "is: use a firewall");
}

static int open_target(struct server *s)
{
	const struct options *o = s->options;
	const struct target_cfg cfg = {.force = o->force, .node = -1, .stopped = cli_stopped};

	return places_open(&s->host.places, s->host.peer, s->device, o->target, &cfg,
			   o->direct_write_to_pmem);
}

static int set_up(struct server *s)
{
	const struct options *o = s->options;
	const struct endpoint_wish wish = {o->device, o->cli.quiet, o->argv + 1};
	int ret;

	s->host.allow = &o->allow;
	s->host.quiet = o->cli.quiet;
	s->port = o->port;
	if (sysroot_open(&s->root, "/") != 0)
		return failure_set(EXIT_INTERNAL, "start", "cannot open /: %s", strerror(errno));
	if ((ret = check_allow(o)) ||
	    (ret = resolve_host(o->listen, RESOLVE_TIMEOUT_MS, s->address)) ||
	    (ret = endpoint_own(&s->root, &wish, s->address, &s->host.peer, s->device)) ||
	    (ret = open_target(s)))
		return ret;
	return endpoint_listen(s->host.peer, s->address, &s->port, &s->ep, &s->ep_fd);
}

/* A port that nobody was told of is of no use to anybody. */
static int announce(const struct server *s)
{
	const struct places *p = &s->host.places;
	const struct target *t = &p->target;
	char all[UNITS_TEXT_BYTES], each[UNITS_TEXT_BYTES];

	printf("rpma-ping server: listening on %s port %u (%s), for %s; direct write to PMem: %s\n",
	       s->address, s->port, s->device,
	       s->options->allow.count > 0 ? "the addresses of --allow"
					   : "whoever reaches this address",
	       s->options->direct_write_to_pmem ? "stated by the operator" : "no");
	printf("  %u clients at a time, each with %s of %s of %s%s%s for remote read, write and "
	       "flush\n",
	       p->count, units_print_size(p->size_bytes, each),
	       units_print_size(t->size_bytes, all), target_kind_name(t->kind),
	       t->path != NULL ? " " : "", t->path != NULL ? t->path : "");
	if (fflush(stdout) != 0 && s->options->port == 0)
		return failure_set(EXIT_RUN_FAILED, "listen",
				   "--port 0: cannot write which port it is: %s", strerror(errno));
	return 0;
}

static void take_client(void *host, struct rpma_conn_req *req)
{
	session_start(host, req);
}

static int accept_clients(struct server *s)
{
	const struct endpoint_service service = {
		.ep = s->ep,
		.fd = s->ep_fd,
		.enough_fd = -1,
		.lane = &session_queues,
		.take = take_client,
		.host = &s->host,
	};

	return endpoint_serve(&service);
}

static int complain(const struct server *s)
{
	const struct trouble_facts facts = {
		.step = failure_get()->step,
		.code = link_cause_code(),
		.size_bytes = s->host.places.target.size_bytes,
		.target = s->host.places.target.kind,
		.memlock_bytes = memlock_limit(),
	};
	struct trouble trouble;

	trouble_take(&trouble, &facts);
	return trouble_print(&trouble);
}

int server_run(const struct options *options)
{
	struct server s = {.options = options, .root = {.fd = -1}};
	int ret = host_init(&s.host), code = EXIT_GOOD;

	link_cause_clear();
	if (ret == 0)
		ret = set_up(&s);
	if (ret == 0)
		ret = announce(&s);
	if (ret == 0)
		ret = accept_clients(&s);
	/* a signal may also have made the set-up fail */
	if (cli_signal != 0)
		code = 128 + cli_signal;
	else if (ret != 0)
		code = complain(&s);
	session_end_all(&s.host);
	rpma_ep_shutdown(&s.ep);
	host_destroy(&s.host);
	sysroot_close(&s.root);
	return code;
}
