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
#include <unistd.h>

#include "session.h"
#include "tools/common/host/open_files.h"
#include "tools/common/json/environment.h"
#include "tools/common/json/result.h"
#include "tools/rpma-bench/measure/placement.h"

struct server {
	const struct options *options;
	struct server_state state;
};

/* --- what is offered --------------------------------------------------------- */

static bool odp_capable(const struct server *s)
{
	struct ibv_context *context = NULL;
	int capable = 0;

	return rpma_utils_get_ibv_context(s->state.service.address, RPMA_UTIL_IBV_CONTEXT_LOCAL,
					  &context) == 0 &&
	       rpma_utils_ibv_context_is_odp_capable(context, &capable) == 0 && capable != 0;
}

/* Anonymous memory goes near the device, or where the operator wants it. */
static int choose_node(const struct server *s, int *node)
{
	const struct options *o = s->options;
	struct placement placement;
	int ret;

	*node = -1;
	if (s->state.topology == NULL || !topology_is_this_machine(s->state.topology))
		return 0;
	ret = placement_choose(&placement, s->state.topology,
			       &(struct placement_request){.pin = o->pin,
							   .mem_node = o->mem_node,
							   .near = {s->state.service.device, -1},
							   .lenient = true});
	if (ret == 0)
		*node = placement.node;
	return ret;
}

static int open_targets(struct server *s)
{
	const struct options *o = s->options;
	struct target_cfg cfg = {.force = o->force, .stopped = cli_stopped};
	const struct target_context host = {s->state.service.peer, s->state.service.device,
					    odp_capable(s), o->direct_write_to_pmem};
	int ret = choose_node(s, &cfg.node);

	for (size_t i = 0; i < o->targets_count && ret == 0; i++) {
		struct offered_target *offer = &s->state.offers[i];

		ret = offered_target_open(offer, &host, o->targets[i], &cfg);
		if (ret)
			break;
		s->state.offers_count++;
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
	block = environment_gather(&root, s->state.topology, s->state.service.device);
	json_object_set_new(block, "readiness",
			    offers_readiness(s->state.offers, s->state.offers_count, &root,
					     s->state.service.device));
	if (s->options->anonymous)
		environment_anonymise(block);
	s->state.environment = json_dumps(block, JSON_COMPACT);
	json_decref(block);
	sysroot_close(&root);
	if (s->state.environment == NULL || strlen(s->state.environment) > MESSAGE_TEXT_MAX) {
		free(s->state.environment);
		s->state.environment = strdup("null");
	}
	return s->state.environment != NULL
		       ? 0
		       : failure_set(EXIT_INTERNAL, "environment", "out of memory");
}

/* --- begin and end ----------------------------------------------------------- */

static int set_up(struct server *s)
{
	const struct options *o = s->options;
	struct server_state *server = &s->state;
	int ret;

	*server = (struct server_state){
		.service = {.name = "rpma-bench server",
			    .role = GREETING_CONTROL,
			    .listen = o->listen,
			    .port = o->port,
			    .allow = &o->allow,
			    .allow_option = "--allow",
			    .endpoint = {o->device, o->cli.quiet, o->argv},
			    .clients_max = SERVER_SESSIONS_MAX,
			    .serve = session_serve,
			    .server = server},
		.direct_write_to_pmem = o->direct_write_to_pmem,
		.once = o->once,
		.pin = o->pin,
		.cores_taken = o->cores_taken,
	};
	ret = service_open(&server->service);
	if (ret)
		return ret;
	/* without a description of the machine nothing is bound */
	if (topology_load(&server->topology) != 0)
		server->topology = NULL;
	if ((ret = open_targets(s)) || (ret = gather_environment(s)))
		return ret;
	return service_listen(&server->service);
}

static void tear_down(struct server *s)
{
	struct failure kept = *failure_get();

	service_end(&s->state.service);
	server_destroy(&s->state);
	service_close(&s->state.service);
	*failure_get() = kept;
}

static void announce(const struct server_state *server, int ready_fd)
{
	const struct server_ready ready = {.port = server->service.port};
	char size[UNITS_TEXT_BYTES];

	if (ready_fd >= 0) {
		if (write(ready_fd, &ready, sizeof(ready)) != sizeof(ready))
			fprintf(stderr, "rpma-bench server: no client waits for its port\n");
		return;
	}
	service_announce(&server->service, server->direct_write_to_pmem);
	for (size_t i = 0; i < server->offers_count; i++) {
		const struct target *t = &server->offers[i].target;

		printf("  target %zu: %s of %s%s%s for remote read, write and flush\n", i,
		       units_print_size(t->size_bytes, size), target_kind_name(t->kind),
		       t->path != NULL ? " " : "", t->path != NULL ? t->path : "");
	}
}

int server_run(const struct options *options, int ready_fd)
{
	struct server s = {.options = options};
	struct server_ready failed = {0};
	int ret;

	open_files_raise();
	ret = set_up(&s);
	if (ret == 0) {
		announce(&s.state, ready_fd);
		ret = service_run(&s.state.service);
	}
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
