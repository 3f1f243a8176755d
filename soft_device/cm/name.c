/* SPDX-License-Identifier: BSD-3-Clause */
/* name.c -- ids and their states in messages: an id has no number, so its addresses name it. */
#include <arpa/inet.h>
#include <stdio.h>

#include "cm.h"

#define ADDRESS_BYTES (INET6_ADDRSTRLEN + sizeof("[]:65535"))

static void put(const struct sockaddr_storage *address, char text[ADDRESS_BYTES])
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)address;
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)address;
	char host[INET6_ADDRSTRLEN] = "";

	if (address->ss_family == AF_INET)
		inet_ntop(AF_INET, &in->sin_addr, host, sizeof(host));
	else if (address->ss_family == AF_INET6)
		inet_ntop(AF_INET6, &in6->sin6_addr, host, sizeof(host));
	snprintf(text, ADDRESS_BYTES, address->ss_family == AF_INET6 ? "[%s]:%u" : "%s:%u", host,
		 cm_address_port(address));
}

const char *cm_id_name(const struct cm_id *id, char name[CM_NAME_BYTES])
{
	char local[ADDRESS_BYTES], remote[ADDRESS_BYTES];

	put(&id->local, local);
	put(&id->remote, remote);
	if (id->remote.ss_family != AF_UNSPEC)
		snprintf(name, CM_NAME_BYTES, "%s to %s",
			 id->local.ss_family == AF_UNSPEC ? "(unbound)" : local, remote);
	else
		snprintf(name, CM_NAME_BYTES, "%s",
			 id->local.ss_family == AF_UNSPEC ? "(unbound)" : local);
	return name;
}

const char *cm_state_name(enum cm_state state)
{
	static const char *const names[] = {
		[CM_IDLE] = "IDLE",
		[CM_BOUND] = "BOUND",
		[CM_ADDR_RESOLVED] = "ADDR_RESOLVED",
		[CM_ROUTE_RESOLVED] = "ROUTE_RESOLVED",
		[CM_LISTENING] = "LISTENING",
		[CM_REQ_SENT] = "REQ_SENT",
		[CM_REP_RECEIVED] = "REP_RECEIVED",
		[CM_REQ_RECEIVED] = "REQ_RECEIVED",
		[CM_REP_SENT] = "REP_SENT",
		[CM_ESTABLISHED] = "ESTABLISHED",
		[CM_DREQ_SENT] = "DREQ_SENT",
		[CM_DREQ_RECEIVED] = "DREQ_RECEIVED",
		[CM_TIMEWAIT] = "TIMEWAIT",
		[CM_ENDED] = "ENDED",
	};

	return (unsigned)state < sizeof(names) / sizeof(names[0]) ? names[state] : "unknown";
}
