/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * soft.c -- starts a tool again on the software RDMA device.
 *
 * The loader tells whether it is loaded already, not the environment: a
 * variable that is set somewhere must not make hardware count as software.
 */
#include "soft.h"

#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/failure.h"

static void read_address(const union ibv_gid *gid, char address[DEVICE_ADDRESS_MAX])
{
	struct in6_addr ip;

	memcpy(&ip, gid->raw, sizeof(ip));
	if (IN6_IS_ADDR_V4MAPPED(&ip))
		inet_ntop(AF_INET, &ip.s6_addr[12], address, DEVICE_ADDRESS_MAX);
	else
		inet_ntop(AF_INET6, &ip, address, DEVICE_ADDRESS_MAX);
}

static int read_device(struct ibv_device *ibv, struct device *device)
{
	struct ibv_context *context = ibv_open_device(ibv);
	struct ibv_device_attr attr;
	struct ibv_port_attr port;
	union ibv_gid gid;

	if (context == NULL)
		return -ENODEV;
	memset(device, 0, sizeof(*device));
	snprintf(device->name, sizeof(device->name), "%s", ibv_get_device_name(ibv));
	device->kind = DEVICE_SOFT;
	if (ibv_query_device(context, &attr) == 0)
		snprintf(device->firmware, sizeof(device->firmware), "%s", attr.fw_ver);
	if (ibv_query_port(context, 1, &port) == 0)
		device->transport = port.link_layer == IBV_LINK_LAYER_ETHERNET ? "roce" : "ib";
	if (ibv_query_gid(context, 1, 0, &gid) == 0)
		read_address(&gid, device->address);
	ibv_close_device(context);
	return 0;
}

int soft_list(struct device **devices, size_t *count)
{
	int known = 0;
	struct ibv_device **all = ibv_get_device_list(&known);
	struct device *list = calloc((size_t)known + 1, sizeof(*list));
	size_t n = 0;

	for (int i = 0; list != NULL && i < known; i++) {
		if (read_device(all[i], &list[n]) == 0)
			n++;
	}
	if (all != NULL)
		ibv_free_device_list(all);
	if (list == NULL)
		return -ENOMEM;
	*devices = list;
	*count = n;
	return 0;
}

int soft_find(const char *name, struct device *device)
{
	struct device *list = NULL;
	size_t count = 0;
	int ret = soft_list(&list, &count);

	if (ret == 0)
		ret = -ENOENT;
	for (size_t i = 0; i < count; i++) {
		if (strcmp(list[i].name, name) == 0) {
			*device = list[i];
			ret = 0;
		}
	}
	free(list);
	return ret;
}

#define LIBRARY		  "librpma-soft.so"
#define LAUNCHER	  "rpma-soft"

#define LAUNCHER_PATH_MAX (PATH_MAX + 64)

static int is_device(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	(void)arg;
	return strstr(info->dlpi_name, "/" LIBRARY) != NULL;
}

bool soft_active(void)
{
	return dl_iterate_phdr(is_device, NULL) != 0;
}

/* "soft", or "soft0" as the device names itself. */
static bool is_name(const char *device)
{
	return strncmp(device, "soft", 4) == 0 &&
	       device[4 + strspn(device + 4, "0123456789")] == '\0';
}

/* Why the RDMA devices of this host do not do; NULL if one does. */
static const char *why_none(const struct sysroot *root)
{
	struct device *list = NULL;
	const char *reason = "this host has no RDMA device";
	size_t count = 0;

	if (device_list(root, &list, &count) != 0)
		return NULL;
	if (count > 0)
		reason = "no RDMA device of this host has an IP address";
	for (size_t i = 0; i < count; i++) {
		if (list[i].address[0] != '\0')
			reason = NULL;
	}
	free(list);
	return reason;
}

/* Beside this program, in its build tree, or in PATH; false: nowhere. */
static bool find_launcher(const char *self, char path[LAUNCHER_PATH_MAX])
{
	static const char *const launchers[] = {LAUNCHER, "../../soft_device/" LAUNCHER};
	int folder = (int)(strrchr(self, '/') - self) + 1;
	const char *list = getenv("PATH");

	for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++) {
		snprintf(path, LAUNCHER_PATH_MAX, "%.*s%s", folder, self, launchers[i]);
		if (access(path, X_OK) == 0)
			return true;
	}
	while (list != NULL && *list != '\0') {
		int len = (int)strcspn(list, ":");

		if (len > 0 && len < PATH_MAX) {
			snprintf(path, LAUNCHER_PATH_MAX, "%.*s/" LAUNCHER, len, list);
			if (access(path, X_OK) == 0)
				return true;
		}
		list += len;
		list += *list == ':';
	}
	errno = ENOENT;
	return false;
}

static int cannot_start(const char *reason, const char *self)
{
	return failure_set(EXIT_NO_DEVICE, "device",
			   "%s: " LAUNCHER ", which has the software device, cannot be started: %s "
			   "(it is looked for beside %s and in PATH)",
			   reason, strerror(errno), self);
}

static int restart(const char *reason, bool quiet, char *const *argv)
{
	char self[PATH_MAX], launcher[LAUNCHER_PATH_MAX], end_of_options[] = "--";
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	size_t count = 0;
	char **words;

	self[len > 0 ? len : 0] = '\0';
	if (self[0] != '/')
		return failure_set(EXIT_INTERNAL, "device", "cannot read /proc/self/exe: %s",
				   strerror(errno));
	if (!find_launcher(self, launcher))
		return cannot_start(reason, self);
	while (argv[count] != NULL)
		count++;
	words = calloc(count + 4, sizeof(*words));
	if (words == NULL)
		return failure_set(EXIT_INTERNAL, "device", "out of memory");
	words[0] = launcher;
	words[1] = end_of_options;
	words[2] = self;
	memcpy(&words[3], argv, count * sizeof(*argv));
	if (!quiet)
		fprintf(stderr,
			"%s: %s: running on the software device, whose timings do not predict "
			"hardware\n",
			program_invocation_short_name, reason);
	execv(launcher, words);
	free(words);
	return cannot_start(reason, self);
}

int soft_enter(const struct sysroot *root, const char *device, bool quiet, char *const *argv)
{
	const char *preload = getenv("LD_PRELOAD");
	const char *reason = NULL;

	if (soft_active() || (device != NULL && !is_name(device)))
		return 0;
	if (device == NULL)
		reason = why_none(root);
	else if (device_find(root, device, &(struct device){.name = ""}) != 0)
		reason = "--device soft";
	if (reason == NULL)
		return 0;
	/* never a second time */
	if (preload != NULL && strstr(preload, LIBRARY) != NULL)
		return failure_set(EXIT_NO_DEVICE, "device",
				   "%s: the software one in LD_PRELOAD (%s) was not loaded", reason,
				   preload);
	if (argv == NULL)
		return failure_set(EXIT_NO_DEVICE, "device",
				   "%s: " LAUNCHER " %s ... runs it on the software device", reason,
				   program_invocation_short_name);
	return restart(reason, quiet, argv);
}
