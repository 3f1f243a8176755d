/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_address.c -- lists the addresses of this host's interfaces.
 *
 * A server takes them one by one: memory is registered with one device, and a request that
 * came to a wildcard over another device could not use it.
 */
#include "host_address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>

#include "common/base/failure.h"

bool host_address_is_wildcard(const char *address)
{
	struct in6_addr six;
	struct in_addr four;

	if (inet_pton(AF_INET, address, &four) == 1)
		return four.s_addr == htonl(INADDR_ANY);
	return inet_pton(AF_INET6, address, &six) == 1 && IN6_IS_ADDR_UNSPECIFIED(&six);
}

bool host_address_is_loopback(const char *address)
{
	struct in6_addr six;
	struct in_addr four;

	if (inet_pton(AF_INET, address, &four) == 1)
		return ntohl(four.s_addr) >> 24 == IN_LOOPBACKNET;
	return inet_pton(AF_INET6, address, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

static bool print(const struct sockaddr *address, bool six, char text[RESOLVE_ADDRESS_MAX])
{
	const struct sockaddr_in *of_4 = (const void *)address;
	const struct sockaddr_in6 *of_6 = (const void *)address;

	if (address != NULL && address->sa_family == AF_INET)
		return inet_ntop(AF_INET, &of_4->sin_addr, text, RESOLVE_ADDRESS_MAX) != NULL;
	if (!six || address == NULL || address->sa_family != AF_INET6 ||
	    IN6_IS_ADDR_LINKLOCAL(&of_6->sin6_addr))
		return false;
	return inet_ntop(AF_INET6, &of_6->sin6_addr, text, RESOLVE_ADDRESS_MAX) != NULL;
}

static bool has(const struct host_addresses *addresses, const char *text)
{
	for (size_t i = 0; i < addresses->count; i++) {
		if (strcmp(addresses->text[i], text) == 0)
			return true;
	}
	return false;
}

void host_addresses_take(struct host_addresses *addresses, const char *wildcard,
			 const struct ifaddrs *list)
{
	bool six = strchr(wildcard, ':') != NULL;
	char text[RESOLVE_ADDRESS_MAX];

	addresses->count = 0;
	for (; list != NULL && addresses->count < HOST_ADDRESSES_MAX; list = list->ifa_next) {
		if ((list->ifa_flags & IFF_UP) != 0 && print(list->ifa_addr, six, text) &&
		    !has(addresses, text))
			memcpy(addresses->text[addresses->count++], text, sizeof(text));
	}
}

int host_addresses(struct host_addresses *addresses, const char *wildcard)
{
	struct ifaddrs *list = NULL;

	if (getifaddrs(&list) != 0)
		return failure_set(EXIT_RUN_FAILED, "listen",
				   "cannot list the addresses of this host: %s", strerror(errno));
	host_addresses_take(addresses, wildcard, list);
	freeifaddrs(list);
	return 0;
}
