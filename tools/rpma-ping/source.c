/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * source.c -- connects a datagram socket, which sends nothing, and looks at its own end.
 */
#include "source.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/failure.h"

#define STEP	 "device"
#define TEXT_MAX 64

struct address {
	struct sockaddr_storage storage;
	socklen_t length;
};

static bool parse(const char *text, struct address *address)
{
	const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_DGRAM};
	struct addrinfo *found = NULL;

	if (getaddrinfo(text, "9", &hints, &found) != 0)
		return false;
	memcpy(&address->storage, found->ai_addr, found->ai_addrlen);
	address->length = found->ai_addrlen;
	freeaddrinfo(found);
	return true;
}

static bool print(const struct sockaddr *address, char text[TEXT_MAX])
{
	socklen_t length = address->sa_family == AF_INET ? sizeof(struct sockaddr_in)
							 : sizeof(struct sockaddr_in6);

	return getnameinfo(address, length, text, TEXT_MAX, NULL, 0, NI_NUMERICHOST) == 0;
}

/* The local address of the route, as text. */
static int find_local(const char *address, char text[TEXT_MAX])
{
	struct address to = {.length = 0}, own = {.length = sizeof(own.storage)};
	int fd = -1, ret = -1;

	if (parse(address, &to))
		fd = socket(to.storage.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&to.storage, to.length) == 0 &&
	    getsockname(fd, (struct sockaddr *)&own.storage, &own.length) == 0 &&
	    print((struct sockaddr *)&own.storage, text))
		ret = 0;
	if (ret != 0)
		failure_because(CAUSE_UNREACHABLE, EXIT_RUN_FAILED, STEP, "no route to %s: %s",
				address, strerror(errno));
	if (fd >= 0)
		close(fd);
	return ret;
}

/* The interface that has the address; empty: none. */
static void find_interface(const char *address, char name[IF_NAMESIZE])
{
	struct ifaddrs *all = NULL;
	char text[TEXT_MAX];

	name[0] = '\0';
	if (getifaddrs(&all) != 0)
		return;
	for (const struct ifaddrs *i = all; i != NULL && name[0] == '\0'; i = i->ifa_next) {
		if (i->ifa_addr == NULL ||
		    (i->ifa_addr->sa_family != AF_INET && i->ifa_addr->sa_family != AF_INET6))
			continue;
		if (print(i->ifa_addr, text) && strcmp(text, address) == 0)
			snprintf(name, IF_NAMESIZE, "%s", i->ifa_name);
	}
	freeifaddrs(all);
}

int source_check(const char *source, const char *address)
{
	char local[TEXT_MAX], asked[TEXT_MAX] = "", interface[IF_NAMESIZE];
	struct address own;

	if (find_local(address, local) != 0)
		return -EIO;
	find_interface(local, interface);
	if (strcmp(source, interface) == 0)
		return 0;
	/* an address has many spellings */
	if (parse(source, &own) && print((struct sockaddr *)&own.storage, asked) &&
	    strcmp(asked, local) == 0)
		return 0;
	if (asked[0] == '\0' && if_nametoindex(source) == 0)
		return failure_set(EXIT_RUN_FAILED, STEP,
				   "--interface %s: this host has no such interface, and it is not "
				   "an address",
				   source);
	return failure_because(CAUSE_UNREACHABLE, EXIT_RUN_FAILED, STEP,
			       "--interface %s: the route to %s leaves from %s of the interface "
			       "%s (ip route get %s)",
			       source, address, local, interface[0] != '\0' ? interface : "unknown",
			       address);
}
