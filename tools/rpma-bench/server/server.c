/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * server.c -- exports pieces of memory and starts a session per client.
 *
 * It takes nothing but where to listen, whom to take and what to export; all
 * else arrives in the messages of its clients.
 */
#include "server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/thread.h"
#include "common/host/rlimits.h"
#include "common/json/environment.h"
#include "common/json/result.h"
#include "common/rdma/resolve.h"
#include "common/rdma/soft.h"
#include "server_state.h"
#include "tools/rpma-bench/measure/placement.h"

/* The server on one address. */
struct server {
	const struct options *options;
	struct server_state state;
	pthread_t thread; /* all but the first have one */
	int ret;	  /* its end */
	struct failure failure;
};

struct servers {
	const struct options *options;
	int ready_fd;
	bool wildcard;
	struct server *each; /* owned; room for HOST_ADDRESSES_MAX */
	size_t count;
	struct server_budget budget;
};

/* --- what is exported -------------------------------------------------------- */

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

static int open_target(struct server *s, size_t i, const struct target_cfg *cfg)
{
	struct exported_region *exported = &s->state.regions[i];
	int ret = target_open(&exported->target, s->options->targets[i], cfg);

	if (ret == 0 && exported->target.bind_error != 0)
		fprintf(stderr,
			"rpma-bench server: target %zu could not be bound to NUMA node %d: %s\n", i,
			cfg->node, strerror(exported->target.bind_error));
	return ret;
}

/* The memory is opened once; each device has its own registration of it. */
static int open_targets(struct server *s, const struct server *first)
{
	const struct options *o = s->options;
	struct target_cfg cfg = {.force = o->force, .stopped = cli_stopped};
	const struct target_context host = {s->state.service.peer, s->state.service.device,
					    odp_capable(s), o->direct_write_to_pmem};
	int ret = choose_node(s, &cfg.node);

	s->state.owns_targets = first == NULL;
	s->state.owns_regions = true;
	for (size_t i = 0; i < o->targets_count && ret == 0; i++) {
		struct exported_region *exported = &s->state.regions[i];

		if (first != NULL)
			exported->target = first->state.regions[i].target;
		else
			ret = open_target(s, i, &cfg);
		if (ret == 0) {
			s->state.regions_count++;
			ret = exported_region_register(exported, &host, o->targets[i]);
		}
	}
	return ret;
}

/* Memory is registered with a device once, whatever the number of its addresses. */
static bool share_device(struct server *s, const struct server *others, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct server_state *other = &others[i].state;

		if (strcmp(other->service.device, s->state.service.device) != 0)
			continue;
		rpma_peer_delete(&s->state.service.peer);
		s->state.service.peer = other->service.peer;
		s->state.service.same_device = &other->service;
		memcpy(s->state.regions, other->regions, sizeof(s->state.regions));
		s->state.regions_count = other->regions_count;
		return true;
	}
	return false;
}

static int gather_environment(struct server *s)
{
	json_t *block =
		environment_gather(&sysroot_machine, s->state.topology, s->state.service.device);

	json_object_set_new(block, "readiness",
			    regions_readiness(s->state.regions, s->state.regions_count,
					      s->state.service.device));
	if (s->options->anonymous)
		environment_anonymise(block);
	s->state.environment = json_dumps(block, JSON_COMPACT);
	json_decref(block);
	if (s->state.environment == NULL || strlen(s->state.environment) > MESSAGE_TEXT_MAX) {
		free(s->state.environment);
		s->state.environment = strdup("null");
	}
	return s->state.environment != NULL
		       ? 0
		       : failure_set(EXIT_INTERNAL, "environment", "out of memory");
}

/* --- begin and end ----------------------------------------------------------- */

static void init(struct server *s, struct servers *all, const char *address)
{
	const struct options *o = all->options;

	s->options = o;
	s->state = (struct server_state){
		.service = {.name = "rpma-bench server",
			    .role = HANDSHAKE_CONTROL,
			    .listen = address,
			    .port = o->port,
			    .allow = &o->allow,
			    .allow_option = "--allow",
			    .endpoint = {o->device, o->cli.quiet, o->argv},
			    .clients_max = SERVER_SESSIONS_MAX,
			    .serve = session_serve,
			    .server = &s->state},
		.main = &all->each[0].state.service,
		.budget = &all->budget,
		.direct_write_to_pmem = o->direct_write_to_pmem,
		.once = o->once,
		.owned = all->ready_fd >= 0,
		.pin = o->pin,
		.cores_taken = o->cores_taken,
	};
}

/* After service_open(). */
static int set_up(struct server *s, const struct servers *all)
{
	struct server_state *server = &s->state;
	const struct server *first = all->count > 0 ? &all->each[0] : NULL;
	int ret = 0;

	/* without a description of the machine nothing is bound */
	if (topology_load(&server->topology) != 0)
		server->topology = NULL;
	if (!share_device(s, all->each, all->count))
		ret = open_targets(s, first);
	if (ret == 0)
		ret = gather_environment(s);
	return ret;
}

static void tear_down(struct servers *all)
{
	struct failure kept = *failure_get();

	for (size_t i = 0; i < all->count; i++)
		service_end(&all->each[i].state.service);
	/* what the later ones borrow belongs to earlier ones */
	for (size_t i = all->count; i-- > 0;) {
		server_destroy(&all->each[i].state);
		service_close(&all->each[i].state.service);
	}
	pthread_mutex_destroy(&all->budget.lock);
	free(all->each);
	*failure_get() = kept;
}

/* An address without an RDMA device is none of a wildcard's. */
static int add(struct servers *all, const char *address)
{
	struct server *s = &all->each[all->count];
	int ret;

	init(s, all, address);
	ret = service_open(&s->state.service);
	if (ret != 0 && all->wildcard && strcmp(failure_get()->step, "device") == 0) {
		service_close(&s->state.service);
		return 0;
	}
	if (ret == 0)
		ret = set_up(s, all);
	all->count++;
	return ret;
}

/*
 * rdma_bind_addr() of the kernel takes 127.0.0.1 for the wildcard, so nothing else could be
 * bound to the port. The software device has no such rule.
 */
static int add_each(struct servers *all, const struct host_addresses *addresses, bool loopback)
{
	int ret = 0;

	for (size_t i = 0; i < addresses->count && ret == 0; i++) {
		if (host_address_is_loopback(addresses->text[i]) == loopback)
			ret = add(all, addresses->text[i]);
	}
	return ret;
}

static int add_all(struct servers *all)
{
	struct host_addresses addresses = {.count = 0};
	int ret;

	if (!all->wildcard)
		return add(all, all->options->listen);
	ret = host_addresses(&addresses, all->options->listen);
	if (ret == 0)
		ret = add_each(all, &addresses, false);
	if (ret == 0 && (all->count == 0 || soft_active()))
		ret = add_each(all, &addresses, true);
	if (ret == 0 && all->count == 0)
		ret = failure_set(EXIT_NO_DEVICE, "device",
				  "--listen %s: none of the %zu addresses of this host belongs to "
				  "an RDMA device: rdma link shows which interfaces have one",
				  all->options->listen, addresses.count);
	return ret;
}

static int listen_each(struct servers *all)
{
	uint16_t port = all->options->port;
	int ret = 0;

	for (size_t i = 0; i < all->count && ret == 0; i++) {
		struct service *s = &all->each[i].state.service;

		s->port = port;
		ret = service_listen(s);
		port = s->port;
	}
	return ret;
}

#define PORTS_TRIED 32

/* The port that was free on the first address may be taken on another. */
static int listen_all(struct servers *all)
{
	int ret = listen_each(all);

	for (int i = 1; i < PORTS_TRIED && ret != 0 && all->options->port == 0 && all->wildcard;
	     i++) {
		for (size_t k = 0; k < all->count; k++)
			rpma_ep_shutdown(&all->each[k].state.service.ep);
		ret = listen_each(all);
	}
	return ret;
}

/* --- what it prints and does ------------------------------------------------------ */

static void announce_wildcard(const struct servers *all)
{
	const struct service *main = &all->each[0].state.service;
	bool open = main->allow->count == 0;

	printf("rpma-bench server: listening on %s port %u, for %s; direct write to PMem: %s\n",
	       all->options->listen, main->port,
	       open ? "every host that reaches this one" : "the addresses of --allow",
	       all->options->direct_write_to_pmem ? "stated by the operator" : "no");
	for (size_t i = 0; i < all->count; i++)
		printf("  address %s (%s)\n", all->each[i].state.service.address,
		       all->each[i].state.service.device);
	if (open && !all->options->cli.quiet)
		fprintf(stderr,
			"rpma-bench server: warning: every host that reaches one of these "
			"addresses can read and overwrite this memory: --allow ADDR/LEN limits "
			"who may\n");
}

static void announce(const struct servers *all)
{
	const struct server_state *server = &all->each[0].state;
	const struct server_ready ready = {.port = server->service.port};
	char size[UNITS_TEXT_BYTES];

	if (all->ready_fd >= 0) {
		if (write(all->ready_fd, &ready, sizeof(ready)) != sizeof(ready))
			fprintf(stderr, "rpma-bench server: no client waits for its port\n");
		return;
	}
	if (all->wildcard)
		announce_wildcard(all);
	else
		service_announce(&server->service, server->direct_write_to_pmem);
	for (size_t i = 0; i < server->regions_count; i++) {
		const struct target *t = &server->regions[i].target;

		printf("  target %zu: %s of %s%s%s for remote read, write and flush\n", i,
		       units_print_size(t->size_bytes, size), target_kind_name(t->kind),
		       t->path != NULL ? " " : "", t->path != NULL ? t->path : "");
	}
}

/* One that fails ends all. */
static void *run_one(void *server)
{
	struct server *s = server;

	s->ret = service_run(&s->state.service);
	s->failure = *failure_get();
	service_stop(s->state.main);
	return NULL;
}

static int run(struct servers *all)
{
	size_t started = 1;
	int ret = 0;

	while (ret == 0 && started < all->count) {
		ret = thread_start(&all->each[started].thread, run_one, &all->each[started]);
		started += ret == 0;
	}
	if (ret != 0)
		ret = failure_call("listen", -ret, "start a thread");
	else
		ret = service_run(&all->each[0].state.service);
	for (size_t i = 1; i < started; i++) {
		struct server *s = &all->each[i];

		service_stop(&s->state.service);
		pthread_join(s->thread, NULL);
		if (ret == 0 && s->ret != 0) {
			ret = s->ret;
			*failure_get() = s->failure;
		}
	}
	return ret;
}

static int serve(const struct options *options, int ready_fd)
{
	struct servers all = {.options = options,
			      .ready_fd = ready_fd,
			      .wildcard = host_address_is_wildcard(options->listen),
			      .each = calloc(HOST_ADDRESSES_MAX, sizeof(*all.each))};
	int ret;

	if (all.each == NULL)
		return failure_set(EXIT_INTERNAL, "start", "out of memory");
	pthread_mutex_init(&all.budget.lock, NULL);
	ret = add_all(&all);
	if (ret == 0)
		ret = listen_all(&all);
	if (ret == 0) {
		announce(&all);
		ret = run(&all);
	}
	tear_down(&all);
	return ret;
}

int server_run(const struct options *options, int ready_fd)
{
	struct server_ready failed = {0};
	int ret;

	open_files_raise();
	ret = serve(options, ready_fd);
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
