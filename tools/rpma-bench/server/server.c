/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * server.c -- offers pieces of memory and starts a session per client.
 *
 * It takes nothing but where to listen, whom to take and what to offer; all
 * else arrives in the messages of its clients.
 */
#include "server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "session.h"
#include "tools/common/host/open_files.h"
#include "tools/common/json/environment.h"
#include "tools/common/json/result.h"
#include "tools/common/rdma/connection.h"
#include "tools/common/rdma/listen.h"
#include "tools/rpma-bench/measure/placement.h"

struct server {
	const struct options *options;
	struct host host;
	struct rpma_ep *ep;
	int ep_fd;
	uint16_t port;
};

/* --- what is offered --------------------------------------------------------- */

static bool odp_capable(const struct server *s)
{
	struct ibv_context *context = NULL;
	int capable = 0;

	return rpma_utils_get_ibv_context(s->host.address, RPMA_UTIL_IBV_CONTEXT_LOCAL, &context) ==
		       0 &&
	       rpma_utils_ibv_context_is_odp_capable(context, &capable) == 0 && capable != 0;
}

/* Anonymous memory goes near the device, or where the operator says. */
static int choose_node(const struct server *s, int *node)
{
	const struct options *o = s->options;
	struct placement placement;
	int ret;

	*node = -1;
	if (s->host.topology == NULL || !topology_is_this_machine(s->host.topology))
		return 0;
	ret = placement_choose(&placement, s->host.topology,
			       &(struct placement_wish){.pin = o->pin,
							.mem_node = o->mem_node,
							.near = {s->host.device, -1},
							.lenient = true});
	if (ret == 0)
		*node = placement.node;
	return ret;
}

static int open_targets(struct server *s)
{
	const struct options *o = s->options;
	struct target_cfg cfg = {.force = o->force, .stopped = cli_stopped};
	const struct offer_host host = {s->host.peer, s->host.device, odp_capable(s),
					o->direct_write_to_pmem};
	int ret = choose_node(s, &cfg.node);

	for (size_t i = 0; i < o->targets_count && ret == 0; i++) {
		struct offer *offer = &s->host.offers[i];

		ret = offer_open(offer, &host, o->targets[i], &cfg);
		if (ret)
			break;
		s->host.offers_count++;
		if (offer->target.bind_error != 0)
			fprintf(stderr,
				"rpma-bench server: target %zu could not be bound to NUMA node "
				"%d: %s\n",
				i, cfg.node, strerror(offer->target.bind_error));
	}
	return ret;
}

static int gather_environment(struct server *s)
{
	struct sysroot root;
	json_t *block;

	if (sysroot_open(&root, "/") != 0)
		return failure_set(EXIT_INTERNAL, "environment", "cannot open /: %s",
				   strerror(errno));
	block = environment_gather(&root, s->host.topology, s->host.device);
	json_object_set_new(
		block, "readiness",
		offers_readiness(s->host.offers, s->host.offers_count, &root, s->host.device));
	if (s->options->anonymous)
		environment_anonymise(block);
	s->host.environment = json_dumps(block, JSON_COMPACT);
	json_decref(block);
	sysroot_close(&root);
	if (s->host.environment == NULL || strlen(s->host.environment) > MESSAGE_TEXT_MAX) {
		free(s->host.environment);
		s->host.environment = strdup("null");
	}
	return s->host.environment != NULL
		       ? 0
		       : failure_set(EXIT_INTERNAL, "environment", "out of memory");
}

/* --- where it listens -------------------------------------------------------- */

static int listen_there(struct server *s)
{
	s->port = s->options->port;
	return endpoint_listen(s->host.peer, s->host.address, &s->port, &s->ep, &s->ep_fd);
}

static int find_device(struct server *s)
{
	const struct endpoint_wish wish = {s->options->device, s->options->cli.quiet,
					   s->options->argv};
	struct sysroot root;
	int ret;

	if (sysroot_open(&root, "/") != 0)
		return failure_set(EXIT_INTERNAL, "start", "cannot open /: %s", strerror(errno));
	ret = endpoint_own(&root, &wish, s->host.address, &s->host.peer, s->host.device);
	sysroot_close(&root);
	return ret;
}

static int set_up(struct server *s)
{
	const struct options *o = s->options;
	int ret = resolve_host(o->listen, RESOLVE_TIMEOUT_MS, s->host.address);

	s->host.allow = &o->allow;
	s->host.quiet = o->cli.quiet;
	s->host.pin = o->pin;
	s->host.direct_write_to_pmem = o->direct_write_to_pmem;
	s->host.cores_taken = o->cores_taken;
	if (ret || (ret = find_device(s)))
		return ret;
	/* without a description of the machine nothing is bound */
	if (topology_load(&s->host.topology) != 0)
		s->host.topology = NULL;
	if ((ret = open_targets(s)) || (ret = gather_environment(s)))
		return ret;
	return listen_there(s);
}

static void tear_down(struct server *s)
{
	struct failure kept = *failure_get();

	eventfd_write(s->host.stop_fd, 1);
	session_wait_all(&s->host);
	rpma_ep_shutdown(&s->ep);
	host_destroy(&s->host);
	*failure_get() = kept;
}

/* A port that nobody was told of is of no use to anybody. */
static int announce(const struct server *s, int ready_fd)
{
	const struct server_ready ready = {.port = s->port};
	char size[UNITS_TEXT_BYTES];

	if (ready_fd >= 0) {
		if (write(ready_fd, &ready, sizeof(ready)) != sizeof(ready))
			fprintf(stderr, "rpma-bench server: nobody waits for its port\n");
		return 0;
	}
	printf("rpma-bench server: listening on %s port %u (%s), for %s; direct write to PMem: "
	       "%s\n",
	       s->host.address, s->port, s->host.device,
	       s->options->allow.count > 0 ? "the addresses of --allow"
					   : "whoever reaches this address",
	       s->options->direct_write_to_pmem ? "stated by the operator" : "no");
	for (size_t i = 0; i < s->host.offers_count; i++) {
		const struct target *t = &s->host.offers[i].target;

		printf("  target %zu: %s of %s%s%s for remote read, write and flush\n", i,
		       units_print_size(t->size_bytes, size), target_kind_name(t->kind),
		       t->path != NULL ? " " : "", t->path != NULL ? t->path : "");
	}
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
		.enough_fd = s->options->once ? s->host.ended_fd : -1,
		.take = take_client,
		.host = &s->host,
	};

	return endpoint_serve(&service);
}

int server_run(const struct options *options, int ready_fd)
{
	struct server s = {.options = options};
	struct server_ready failed = {0};
	int ret;

	open_files_raise();
	ret = host_init(&s.host);
	if (ret != 0)
		return cli_report_failure("rpma-bench server");
	ret = set_up(&s);
	if (ret == 0)
		ret = announce(&s, ready_fd);
	if (ret == 0)
		ret = accept_clients(&s);
	tear_down(&s);
	/* a signal may also have made the set-up fail */
	if (cli_signal != 0)
		return 128 + cli_signal;
	if (ret == 0)
		return EXIT_GOOD;
	if (ready_fd < 0)
		return cli_report_failure("rpma-bench server");
	failed.failure = *failure_get();
	if (write(ready_fd, &failed, sizeof(failed)) != sizeof(failed))
		return cli_report_failure("rpma-bench server");
	return (int)failed.failure.code;
}
