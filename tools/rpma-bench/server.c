/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * server.c -- offers a region of memory and starts a session per connection.
 *
 * It takes nothing but where to listen and what to offer; all else arrives in
 * a client's hello.
 */
#include "server.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../common/environment.h"
#include "../common/resolve.h"
#include "../common/result.h"
#include "../common/soft.h"
#include "../common/target.h"
#include "message.h"
#include "session.h"

#define RESOLVE_TIMEOUT_MS 10000

struct server {
	const struct options *options;
	struct target target;
	struct rpma_peer *peer;
	struct rpma_mr_local *mr;
	struct rpma_ep *ep;
	struct session_host host;
	char address[RESOLVE_ADDRESS_MAX];
	char device[64];
	char *environment; /* malloced */
	uint16_t port;
};

/* Persistent flush is refused for some memory on some devices: then without. */
static int register_target(struct server *s)
{
	const int base = RPMA_MR_USAGE_READ_SRC | RPMA_MR_USAGE_WRITE_DST |
			 RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY;
	char size[UNITS_TEXT_BYTES];
	int ret = rpma_mr_reg(s->peer, s->target.memory, s->target.size_bytes,
			      base | RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT, &s->mr);

	if (ret != 0)
		ret = rpma_mr_reg(s->peer, s->target.memory, s->target.size_bytes, base, &s->mr);
	if (ret)
		return failure_set(EXIT_RUN_FAILED, "register",
				   "cannot register %s of %s at %s: %s (ulimit -l limits what may "
				   "be locked; files need a device with on-demand paging)",
				   units_print_size(s->target.size_bytes, size), s->options->target,
				   s->device, link_cause(ret));
	return 0;
}

static int describe(struct server *s)
{
	struct greeting_reply *reply = &s->host.reply;
	struct rpma_peer_cfg *pcfg = NULL;
	size_t mr_bytes = 0, pcfg_bytes = 0;
	int ret;

	*reply = (struct greeting_reply){
		.version = GREETING_VERSION,
		.target_kind = (uint8_t)s->target.kind,
		.target_numa_node = s->target.numa_node,
		.target_bytes = s->target.size_bytes,
	};
	if ((ret = rpma_peer_cfg_new(&pcfg)) ||
	    (ret = rpma_peer_cfg_set_direct_write_to_pmem(pcfg,
							  s->options->direct_write_to_pmem)) ||
	    (ret = rpma_peer_cfg_get_descriptor_size(pcfg, &pcfg_bytes)) ||
	    (ret = rpma_mr_get_descriptor_size(s->mr, &mr_bytes)))
		goto out;
	if (mr_bytes > sizeof(reply->mr_desc) || pcfg_bytes > sizeof(reply->pcfg_desc)) {
		ret = RPMA_E_INVAL;
		goto out;
	}
	reply->mr_desc_bytes = (uint8_t)mr_bytes;
	reply->pcfg_desc_bytes = (uint8_t)pcfg_bytes;
	if ((ret = rpma_mr_get_descriptor(s->mr, reply->mr_desc)) == 0)
		ret = rpma_peer_cfg_get_descriptor(pcfg, reply->pcfg_desc);
out:
	rpma_peer_cfg_delete(&pcfg);
	if (ret)
		return failure_set(EXIT_INTERNAL, "register", "cannot describe the target: %s",
				   link_cause(ret));
	return 0;
}

static int gather_environment(struct server *s)
{
	struct topology *topology = NULL;
	struct sysroot root;
	json_t *block;

	if (sysroot_open(&root, "/") != 0)
		return failure_set(EXIT_INTERNAL, "environment", "cannot open /: %s",
				   strerror(errno));
	topology_load(&topology);
	block = environment_gather(&root, topology, s->device);
	s->environment = json_dumps(block, JSON_COMPACT);
	json_decref(block);
	topology_free(&topology);
	sysroot_close(&root);
	if (s->environment == NULL || strlen(s->environment) > MESSAGE_ENVIRONMENT_MAX) {
		free(s->environment);
		s->environment = strdup("null");
	}
	s->host.environment = s->environment;
	return s->environment == NULL ? failure_set(EXIT_INTERNAL, "environment", "out of memory")
				      : 0;
}

static int listen_there(struct server *s)
{
	char service[8];
	int ret;

	snprintf(service, sizeof(service), "%u", s->options->port);
	ret = rpma_ep_listen(s->peer, s->address, service, &s->ep);
	if (ret == 0)
		ret = rpma_ep_get_port(s->ep, &s->port);
	if (ret)
		return failure_set(EXIT_RUN_FAILED, "listen", "cannot listen on %s port %u: %s",
				   s->address, s->options->port, link_cause(ret));
	return 0;
}

/* Instead of the failure stored: which addresses would do, or how to get a device. */
static void say_addresses(const struct server *s, const struct sysroot *root)
{
	struct device *list = NULL, any;
	size_t count = 0, at = 0;
	char known[512] = "";

	/* without any device this stores the sentence that says what to do */
	if (device_choose(root, NULL, &any) == 0 && device_list(root, &list, &count) == 0) {
		for (size_t i = 0; i < count && at < sizeof(known); i++)
			at += (size_t)snprintf(known + at, sizeof(known) - at, " %s (%s)",
					       list[i].address, list[i].name);
		failure_set(EXIT_RUN_FAILED, "device",
			    "no RDMA device of this host owns the address %s: --listen takes one "
			    "of%s",
			    s->address, known);
	}
	free(list);
}

static int open_device(struct server *s, const struct sysroot *root)
{
	const struct options *o = s->options;
	struct device device;
	int ret = soft_enter(root, o->device, o->cli.quiet, o->argv);

	if (ret)
		return ret;
	ret = link_open_device(s->address, RPMA_UTIL_IBV_CONTEXT_LOCAL, &s->peer, s->device);
	if (ret)
		say_addresses(s, root);
	else if (o->device != NULL &&
		 (device_find(root, s->device, &device) != 0 || !device_is(&device, o->device)))
		return failure_set(EXIT_NO_DEVICE, "device",
				   "the address %s belongs to the RDMA device %s, not to %s",
				   s->address, s->device, o->device);
	return ret;
}

static int find_device(struct server *s)
{
	struct sysroot root;
	int ret;

	if (sysroot_open(&root, "/") != 0)
		return failure_set(EXIT_INTERNAL, "start", "cannot open /: %s", strerror(errno));
	ret = open_device(s, &root);
	sysroot_close(&root);
	return ret;
}

static int set_up(struct server *s)
{
	const struct options *o = s->options;
	int ret = resolve_host(o->listen, RESOLVE_TIMEOUT_MS, s->address);

	if (ret || (ret = find_device(s)) || (ret = target_open(&s->target, o->target, o->force)) ||
	    (ret = register_target(s)) || (ret = describe(s)) || (ret = gather_environment(s)))
		return ret;
	s->host.peer = s->peer;
	s->host.quiet = o->cli.quiet;
	return listen_there(s);
}

static void tear_down(struct server *s)
{
	struct failure kept = *failure_get();

	session_wait_all(&s->host);
	rpma_ep_shutdown(&s->ep);
	rpma_mr_dereg(&s->mr);
	rpma_peer_delete(&s->peer);
	target_close(&s->target);
	free(s->environment);
	session_host_destroy(&s->host);
	*failure_get() = kept;
}

static void announce(const struct server *s, int ready_fd)
{
	const struct server_ready ready = {.port = s->port};
	char size[UNITS_TEXT_BYTES];

	if (ready_fd >= 0) {
		if (write(ready_fd, &ready, sizeof(ready)) != sizeof(ready))
			fprintf(stderr, "rpma-bench server: nobody waits for its port\n");
		return;
	}
	printf("rpma-bench server: listening on %s port %u (%s): %s of %s for remote read, write "
	       "and flush; direct write to PMem: %s\n",
	       s->address, s->port, s->device, units_print_size(s->target.size_bytes, size),
	       target_kind_name(s->target.kind),
	       s->options->direct_write_to_pmem ? "stated by the operator" : "no");
	fflush(stdout);
}

static void next_client(struct server *s)
{
	const struct link_cfg cfg = {"a client", SESSION_SEND_SLOTS, -1};
	struct rpma_conn_cfg *conn_cfg = NULL;
	struct rpma_conn_req *req = NULL;

	if (link_conn_cfg(&cfg, &conn_cfg) != 0)
		return;
	/* a client that gave up in the meantime is no reason to end */
	if (rpma_ep_next_conn_req(s->ep, conn_cfg, &req) == 0)
		session_start(&s->host, req);
	rpma_conn_cfg_delete(&conn_cfg);
}

static int accept_clients(struct server *s)
{
	struct pollfd fds[] = {{-1, POLLIN, 0},
			       {cli_stop_fd(), POLLIN, 0},
			       {s->options->once ? s->host.ended_fd : -1, POLLIN, 0}};
	int ret = rpma_ep_get_fd(s->ep, &fds[0].fd);

	if (ret)
		return failure_set(EXIT_INTERNAL, "listen", "%s", link_cause(ret));
	while (fds[1].revents == 0 && fds[2].revents == 0) {
		ret = poll(fds, 3, -1);
		if (ret < 0 && errno != EINTR)
			return failure_set(EXIT_INTERNAL, "listen", "poll: %s", strerror(errno));
		if (ret > 0 && fds[0].revents != 0)
			next_client(s);
	}
	return 0;
}

static void raise_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

int server_run(const struct options *options, int ready_fd)
{
	struct server s = {.options = options};
	struct server_ready failed = {0};
	int ret;

	raise_file_limit();
	ret = session_host_init(&s.host);
	if (ret != 0)
		return cli_report_failure("rpma-bench server");
	ret = set_up(&s);
	if (ret == 0) {
		announce(&s, ready_fd);
		ret = accept_clients(&s);
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
