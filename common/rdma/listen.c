/* SPDX-License-Identifier: BSD-3-Clause */
/* listen.c -- finds the RDMA device of an address, and listens there. */
#include "listen.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/failure.h"
#include "librpma_1_4.h"
#include "soft.h"

#define RDMA_CM "dev/infiniband/rdma_cm"
#define CLASS	"sys/class/infiniband_verbs"

int device_files_check(const struct sysroot *root)
{
	int error = sysroot_access(root, RDMA_CM);

	if (error == 0)
		return 0;
	if (error == ENOENT)
		return failure_because(
			CAUSE_NO_DEVICE, EXIT_NO_DEVICE, "device",
			"this host has RDMA devices, but not /" RDMA_CM ": load the module "
			"(modprobe rdma_ucm), give the container /dev/infiniband, or ask for the "
			"software device (--device soft, or rpma-soft COMMAND)");
	return failure_because(CAUSE_NO_PERMISSION, EXIT_NO_DEVICE, "device",
			       "this user cannot open /" RDMA_CM
			       " (%s): give access to it, or ask for the "
			       "software device (--device soft, or rpma-soft COMMAND)",
			       strerror(error));
}

/* Counts the devices that may be opened; of the first other one the file, the name and why. */
struct refused {
	size_t opens;
	int error;
	char file[64];
	char device[64];
};

static void ask(const struct sysroot *root, const char *name, struct refused *r)
{
	char file[64];
	int error;

	if (snprintf(file, sizeof(file), "dev/infiniband/%s", name) >= (int)sizeof(file))
		return;
	error = sysroot_access(root, file);
	if (error == 0) {
		r->opens++;
	} else if (r->error == 0) {
		r->error = error;
		snprintf(r->file, sizeof(r->file), "%s", file);
		if (!sysroot_text(root, r->device, CLASS "/%s/ibdev", name))
			snprintf(r->device, sizeof(r->device), "?");
	}
}

int device_files_blame(const struct sysroot *root, const char *address)
{
	struct sysroot_walk class = sysroot_walk(root, SIZE_MAX, CLASS);
	struct refused r = {0};
	const char *name;

	while ((name = sysroot_next(&class)) != NULL) {
		if (strncmp(name, "uverbs", 6) == 0)
			ask(root, name, &r);
	}
	if (r.error == 0)
		return 0;
	return failure_because(CAUSE_NO_PERMISSION, EXIT_NO_DEVICE, "device",
			       "this user cannot open /%s of the RDMA device %s (%s)%s%s", r.file,
			       r.device, strerror(r.error),
			       r.opens > 0 ? ", or no other device has the address or a route to "
					   : ": give access to it",
			       r.opens > 0 ? address : "");
}

/* Instead of the failure stored: which addresses would do, or how to get a device. */
static void say_addresses(const struct sysroot *root, const char *address)
{
	struct device *list = NULL, any;
	size_t count = 0, at = 0;
	char known[512] = "";

	/* without any device this sets the error message with the remedy */
	if (device_choose(root, NULL, &any) == 0 && device_list(root, &list, &count) == 0) {
		for (size_t i = 0; i < count && at < sizeof(known); i++)
			at += (size_t)snprintf(known + at, sizeof(known) - at, " %s (%s)",
					       list[i].address, list[i].name);
		failure_set(EXIT_RUN_FAILED, "device",
			    "no RDMA device of this host owns the address %s: expected one of%s",
			    address, known);
	}
	free(list);
}

/* A device of this host that cannot be opened must not pass for none. */
static int check_files(const struct sysroot *root)
{
	struct device *list = NULL;
	size_t count = 0;

	if (soft_active() || device_list(root, &list, &count) != 0)
		return 0;
	free(list);
	return count > 0 ? device_files_check(root) : 0;
}

int endpoint_own(const struct sysroot *root, const struct endpoint_options *options,
		 const char *address, struct rpma_peer **peer, char device[DEVICE_NAME_MAX])
{
	struct device own;
	int ret = soft_enter(root, options->device, options->quiet, options->argv);

	if (ret || (ret = check_files(root)))
		return ret;
	ret = connection_open_device(address, RPMA_UTIL_IBV_CONTEXT_LOCAL, peer, device);
	if (ret && device_files_blame(root, address) == 0)
		say_addresses(root, address);
	else if (options->device != NULL &&
		 (device_find(root, device, &own) != 0 || !device_is(&own, options->device)))
		return failure_because(CAUSE_NO_DEVICE, EXIT_NO_DEVICE, "device",
				       "the address %s belongs to the RDMA device %s, not to %s",
				       address, device, options->device);
	return ret;
}

int endpoint_route(const struct sysroot *root, const struct endpoint_options *options,
		   const char *address, struct rpma_peer **peer, struct device *device)
{
	struct device *list = NULL, any;
	char name[DEVICE_NAME_MAX] = "";
	size_t count = 0;
	int ret = soft_enter(root, options->device, options->quiet, options->argv);

	if (ret)
		return ret;
	ret = device_list(root, &list, &count);
	free(list);
	/* without any device this sets the error message with the remedy */
	if (ret != 0 || count == 0)
		return device_choose(root, NULL, &any);
	if ((ret = check_files(root)))
		return ret;
	ret = connection_open_device(address, RPMA_UTIL_IBV_CONTEXT_REMOTE, peer, name);
	if (ret) {
		device_files_blame(root, address);
		return ret;
	}
	if (device_find(root, name, device) != 0)
		return failure_set(EXIT_RUN_FAILED, "device", "nothing is known of the device %s",
				   name);
	if (!device_is(device, options->device))
		return failure_because(CAUSE_NO_DEVICE, EXIT_NO_DEVICE, "device",
				       "the route to %s leads over the RDMA device %s, not over %s",
				       address, name, options->device);
	return 0;
}

int endpoint_listen(struct rpma_peer *peer, const char *address, uint16_t *port,
		    struct rpma_ep **ep, int *fd)
{
	const struct librpma_1_4 newer = librpma_1_4_calls();
	char service[8];
	int ret;

	if (*port == 0 && newer.ep_get_port == NULL)
		return failure_set(EXIT_RUN_FAILED, "listen",
				   "--port 0: this librpma is older than 1.4 and cannot tell "
				   "which port is free: name one");
	snprintf(service, sizeof(service), "%u", *port);
	ret = rpma_ep_listen(peer, address, service, ep);
	if (ret == 0 && *port == 0)
		ret = newer.ep_get_port(*ep, port);
	if (ret == 0)
		ret = rpma_ep_get_fd(*ep, fd);
	if (ret)
		return librpma_failed(ret, "listen", "cannot listen on %s port %u: %s%s", address,
				      *port, connection_cause(ret),
				      connection_cause_of(ret) == CAUSE_ADDRESS_IN_USE
					      ? " (another server listens there: choose another "
						"port, or 0 for a free one)"
					      : "");
	/* a client that gives up between the event and the call must not hold all others */
	if (fcntl(*fd, F_SETFL, fcntl(*fd, F_GETFL) | O_NONBLOCK) != 0)
		return failure_set(EXIT_INTERNAL, "listen", "fcntl: %s", strerror(errno));
	return 0;
}

int endpoint_lost(int rpma_code)
{
	/* before 1.4 a client that gave up was told in the same way */
	if (rpma_code != RPMA_E_INVAL || librpma_1_4_calls().ep_get_port == NULL)
		return 0;
	failure_because(CAUSE_DEVICE_GONE, EXIT_RUN_FAILED, "listen",
			"no client can connect any more: the RDMA device of this host was removed "
			"or reset");
	return -ENODEV;
}

int endpoint_next(struct rpma_ep *ep, const struct connection_queues *queues,
		  const struct connection_knobs *knobs, struct rpma_conn_req **req)
{
	const struct connection_cfg end = {.stop_fd = -1, .queues = queues, .knobs = knobs};
	struct rpma_conn_cfg *cfg = NULL;
	int ret = connection_conn_cfg(&end, &cfg);

	*req = NULL;
	if (ret)
		return ret;
	ret = rpma_ep_next_conn_req(ep, cfg, req);
	rpma_conn_cfg_delete(&cfg);
	if (ret == 0)
		return 0;
	*req = NULL;
	if (ret != RPMA_E_PROVIDER && ret != RPMA_E_NOMEM)
		return endpoint_lost(ret);
	librpma_failed(ret, "listen", "cannot prepare the connection of a client: %s",
		       connection_cause(ret));
	return -ECONNABORTED;
}
