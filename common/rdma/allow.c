/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * allow.c -- networks as people write them, and whether an address is of one.
 *
 * An IPv4 address is the IPv6 address it is mapped to, so there is one
 * comparison for both.
 */
#include "allow.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "common/base/cli.h"
#include "common/base/units.h"
#include "librpma_1_4.h"

#define MAPPED_BITS 96

static void map(const struct in_addr *in, struct in6_addr *out)
{
	*out = (struct in6_addr){.s6_addr = {[10] = 0xff, [11] = 0xff}};
	memcpy(out->s6_addr + 12, in, sizeof(*in));
}

static bool parse_address(const char *text, struct allow_rule *rule)
{
	struct in_addr in;

	if (inet_pton(AF_INET6, text, &rule->network) == 1) {
		rule->bits = 0;
		return true;
	}
	rule->bits = MAPPED_BITS;
	if (inet_pton(AF_INET, text, &in) != 1)
		return false;
	map(&in, &rule->network);
	return true;
}

static bool equal(const struct in6_addr *a, const struct in6_addr *b, unsigned bits)
{
	unsigned rest = bits % 8;
	uint8_t mask = (uint8_t)(0xff00U >> rest);

	return memcmp(a, b, bits / 8) == 0 &&
	       (rest == 0 || ((a->s6_addr[bits / 8] ^ b->s6_addr[bits / 8]) & mask) == 0);
}

int allow_add(struct allow *allow, const char *text)
{
	char address[INET6_ADDRSTRLEN];
	const char *slash = strchr(text, '/');
	size_t len = slash != NULL ? (size_t)(slash - text) : strlen(text);
	struct allow_rule rule;
	uint64_t bits = 0;

	if (len >= sizeof(address))
		return -EINVAL;
	snprintf(address, sizeof(address), "%.*s", (int)len, text);
	if (!parse_address(address, &rule))
		return -EINVAL;
	if (slash == NULL)
		bits = 128 - rule.bits;
	else if (units_parse_number(slash + 1, &bits) != 0 || bits > 128 - rule.bits)
		return -EINVAL;
	rule.bits += (unsigned)bits;
	if (allow->count == ALLOW_MAX)
		return -ENOSPC;
	allow->rules[allow->count++] = rule;
	return 0;
}

error_t allow_option(const char *option, const char *arg, void *allow)
{
	if (allow_add(allow, arg) == 0)
		return 0;
	return cli_wrong_value(option, arg, "an address or network, as 192.0.2.0/24, 32 at most");
}

bool allow_has(const struct allow *allow, const struct sockaddr_storage *address)
{
	struct in6_addr of;

	if (allow->count == 0)
		return true;
	if (address->ss_family == AF_INET)
		map(&((const struct sockaddr_in *)address)->sin_addr, &of);
	else if (address->ss_family == AF_INET6)
		of = ((const struct sockaddr_in6 *)address)->sin6_addr;
	else
		return false;
	for (size_t i = 0; i < allow->count; i++) {
		if (equal(&allow->rules[i].network, &of, allow->rules[i].bits))
			return true;
	}
	return false;
}

bool allow_works(void)
{
	return librpma_1_4_calls().conn_req_get_peer_addr != NULL;
}

bool allow_request(const struct allow *allow, const struct rpma_conn_req *req)
{
	struct sockaddr_storage address = {0};

	if (allow->count == 0)
		return true;
	return allow_works() && librpma_1_4_calls().conn_req_get_peer_addr(req, &address) == 0 &&
	       allow_has(allow, &address);
}
