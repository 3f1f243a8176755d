/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * device_query.c -- tries the ways to name a device, the most exact one first.
 *
 * An IP address is looked for in the GIDs, which are part of a tree too; InfiniBand's
 * GIDs have none, so on the machine itself the interface of the address is looked up.
 */
#include "device_query.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/failure.h"
#include "readiness/gather.h"

#define CLASS	    "sys/class/infiniband/"
#define NET	    "sys/class/net/"
#define ENTRIES_MAX 4096

struct query {
	const struct sysroot *root;
	const char *text;
	unsigned char gid[16]; /* the one that an IP address has */
	bool is_address;
};

typedef bool matcher(const struct query *query, const struct device *device);

/* "0000:17:00.0" of what a link leads to; empty: to no PCI function. */
static void function_of(const struct sysroot *root, const char *class, const char *name,
			char address[16])
{
	char link[FACTS_PATH_MAX], path[FACTS_PATH_MAX];
	const char *slash;

	address[0] = '\0';
	snprintf(link, sizeof(link), "%s%s/device", class, name);
	if (!gather_function_path(root, link, path))
		return;
	slash = strrchr(path, '/');
	snprintf(address, 16, "%.15s", slash != NULL ? slash + 1 : path);
}

static bool by_name(const struct query *q, const struct device *device)
{
	return strcmp(device->name, q->text) == 0;
}

/* The domain may be left out and is 0000 then. */
static bool by_function(const struct query *q, const struct device *device)
{
	char address[16];

	function_of(q->root, CLASS, device->name, address);
	return address[0] != '\0' &&
	       (strcasecmp(address, q->text) == 0 ||
		(strncmp(address, "0000:", 5) == 0 && strcasecmp(address + 5, q->text) == 0));
}

/* True if any file of a directory of a port has the value. */
static bool any_of_ports(const struct query *q, const struct device *device, const char *directory,
			 bool (*is)(const struct query *query, const char *line))
{
	char path[FACTS_PATH_MAX], line[64];
	bool found = false;

	for (int port = 1; port <= FACTS_PORTS_MAX && !found; port++) {
		struct sysroot_walk files;
		const char *name;

		snprintf(path, sizeof(path), CLASS "%s/ports/%d/%s", device->name, port, directory);
		files = sysroot_walk(q->root, ENTRIES_MAX, "%s", path);
		while (!found && (name = sysroot_next(&files)) != NULL)
			found = sysroot_text(q->root, line, "%s/%s", path, name) && is(q, line);
		sysroot_walk_end(&files);
	}
	return found;
}

static bool is_text(const struct query *q, const char *line)
{
	return strcmp(line, q->text) == 0;
}

static bool is_gid(const struct query *q, const char *line)
{
	struct in6_addr gid;

	return inet_pton(AF_INET6, line, &gid) == 1 && memcmp(&gid, q->gid, sizeof(gid)) == 0;
}

/* Is the interface, or one that it is on top of, of the same PCI function? */
static bool shares_function(const struct query *q, const char *netdev, const char *function)
{
	struct sysroot_walk files;
	const char *name;
	char own[16];
	bool found;

	function_of(q->root, NET, netdev, own);
	found = own[0] != '\0' && strcmp(own, function) == 0;
	files = sysroot_walk(q->root, ENTRIES_MAX, NET "%s", netdev);
	while (!found && (name = sysroot_next(&files)) != NULL) {
		if (strncmp(name, "lower_", 6) != 0)
			continue;
		function_of(q->root, NET, name + 6, own);
		found = own[0] != '\0' && strcmp(own, function) == 0;
	}
	sysroot_walk_end(&files);
	return found;
}

static bool by_netdev(const struct query *q, const struct device *device)
{
	char function[16];

	if (any_of_ports(q, device, "gid_attrs/ndevs", is_text) ||
	    strcmp(device->netdev, q->text) == 0)
		return true;
	function_of(q->root, CLASS, device->name, function);
	return function[0] != '\0' && strlen(q->text) < 64 && shares_function(q, q->text, function);
}

static bool by_gid(const struct query *q, const struct device *device)
{
	return q->is_address && any_of_ports(q, device, "gids", is_gid);
}

static bool is_of(const struct sockaddr *address, const struct query *q)
{
	unsigned char mapped[16] = {[10] = 0xff, [11] = 0xff};

	if (address == NULL)
		return false;
	if (address->sa_family == AF_INET6)
		return memcmp(&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr,
			      q->gid, 16) == 0;
	if (address->sa_family != AF_INET)
		return false;
	memcpy(mapped + 12, &((const struct sockaddr_in *)(const void *)address)->sin_addr, 4);
	return memcmp(mapped, q->gid, 16) == 0;
}

/* Only this machine can be asked for its addresses. */
static bool by_interface_address(const struct query *q, const struct device *device)
{
	struct ifaddrs *all = NULL;
	bool found = false;

	if (!q->is_address || !q->root->machine || getifaddrs(&all) != 0)
		return false;
	for (const struct ifaddrs *i = all; i != NULL && !found; i = i->ifa_next) {
		const struct query own = {q->root, i->ifa_name, {0}, false};

		found = is_of(i->ifa_addr, q) && by_netdev(&own, device);
	}
	freeifaddrs(all);
	return found;
}

static void parse_address(struct query *q)
{
	static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};

	memcpy(q->gid, mapped, sizeof(mapped));
	q->is_address = inet_pton(AF_INET, q->text, q->gid + 12) == 1 ||
			inet_pton(AF_INET6, q->text, q->gid) == 1;
}

static void tell_devices(const struct sysroot *root, const char *text, const struct device *list,
			 size_t count)
{
	fprintf(stderr,
		"rpma-ddio-check: --device %s: no RDMA device has this name, PCI address, network "
		"interface or IP address; there %s",
		text,
		count == 0   ? "is none"
		: count == 1 ? "is"
			     : "are");
	for (size_t i = 0; i < count; i++) {
		char function[16];

		function_of(root, CLASS, list[i].name, function);
		fprintf(stderr, "%s %s (%s%s%s)", i > 0 ? "," : "", list[i].name,
			function[0] != '\0' ? function : device_kind_name(list[i].kind),
			list[i].netdev[0] != '\0' ? ", " : "", list[i].netdev);
	}
	fputc('\n', stderr);
}

/* The matches of one way: the first, and how many. */
static size_t match(const struct query *q, matcher *matches, const struct device *list,
		    size_t count, char found[256], char name[DEVICE_NAME_MAX])
{
	size_t n = 0, at = 0;

	for (size_t i = 0; i < count; i++) {
		if (!matches(q, &list[i]))
			continue;
		if (n++ == 0)
			snprintf(name, DEVICE_NAME_MAX, "%s", list[i].name);
		if (at < 256)
			at += (size_t)snprintf(found + at, 256 - at, "%s%s", n > 1 ? ", " : "",
					       list[i].name);
	}
	return n;
}

int device_query(const struct sysroot *root, const char *text, char name[DEVICE_NAME_MAX])
{
	static matcher *const ways[] = {by_name, by_function, by_netdev, by_gid,
					by_interface_address};
	struct query q = {.root = root, .text = text};
	struct device *list = NULL, named;
	char found[256] = "";
	size_t count = 0, n = 0;

	snprintf(name, DEVICE_NAME_MAX, "%s", text);
	/* by its name also where the list is longer than device_list() gives */
	if (device_find(root, text, &named) == 0 || device_list(root, &list, &count) != 0)
		return 0;
	parse_address(&q);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]) && n == 0; i++)
		n = match(&q, ways[i], list, count, found, name);
	if (n == 0)
		tell_devices(root, text, list, count);
	free(list);
	return n <= 1 ? 0
		      : failure_set(EXIT_NO_DEVICE, "options",
				    "--device %s leads to several RDMA devices: expected one of %s",
				    text, found);
}
