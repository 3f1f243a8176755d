/* SPDX-License-Identifier: BSD-3-Clause */
/* ssh_target.c -- takes a target apart, and refuses what is dangerous in it. */
#include "ssh_target.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/failure.h"

/* A piece of the text: not terminated. */
struct span {
	const char *at;
	size_t len;
};

static int refuse(const char *text, const char *why)
{
	failure_set(EXIT_WRONG_USAGE, "target", "target '%.300s': %s", text, why);
	return -EINVAL;
}

/* Refuses what OpenSSH 9.6 does (ssh.c, valid_hostname and valid_ruser), and blanks. */
static bool is_harmless(struct span span)
{
	for (size_t i = 0; i < span.len; i++) {
		unsigned char c = (unsigned char)span.at[i];

		if (c <= ' ' || c == 0x7f || strchr("'`\"$\\;&<>|(){}[]@", c) != NULL)
			return false;
	}
	return span.len == 0 || span.at[0] != '-';
}

static bool is_ipv6(const char *host)
{
	char address[SSH_HOST_MAX];
	struct in6_addr parsed;
	size_t len = strcspn(host, "%"); /* the zone of a link-local address */

	memcpy(address, host, len);
	address[len] = '\0';
	return inet_pton(AF_INET6, address, &parsed) == 1 &&
	       (host[len] == '\0' || host[len + 1] != '\0');
}

static int take_user(const char *text, struct span *rest, char user[SSH_USER_MAX])
{
	const char *at = memchr(rest->at, '@', rest->len);
	struct span span = {rest->at, 0};

	user[0] = '\0';
	if (at == NULL)
		return 0;
	span.len = (size_t)(at - rest->at);
	if (span.len == 0)
		return refuse(text, "expected a user before '@'");
	if (span.len >= SSH_USER_MAX)
		return refuse(text, "the user has more than 32 characters");
	if (!is_harmless(span))
		return refuse(text, "no user is called that");
	memcpy(user, span.at, span.len);
	user[span.len] = '\0';
	*rest = (struct span){at + 1, rest->len - span.len - 1};
	return 0;
}

static int take_port(const char *text, struct span span, char port[8])
{
	unsigned long value;

	if (span.len == 0 || span.len > 5)
		return refuse(text, "expected a port of 1 to 65535 behind ':'");
	for (size_t i = 0; i < span.len; i++)
		if (!isdigit((unsigned char)span.at[i]))
			return refuse(text, "the port is not a number");
	value = strtoul(span.at, NULL, 10);
	if (value < 1 || value > 65535)
		return refuse(text, "expected a port of 1 to 65535 behind ':'");
	snprintf(port, 8, "%lu", value);
	return 0;
}

/* Splits "[HOST]", "[HOST]:PORT", "HOST:PORT" or "HOST"; port->at is NULL without one. */
static int split(const char *text, struct span rest, struct span *host, struct span *port)
{
	const char *colon = memchr(rest.at, ':', rest.len);
	const char *end = rest.at + rest.len;

	*host = rest;
	*port = (struct span){NULL, 0};
	if (rest.len > 0 && rest.at[0] == '[') {
		const char *bracket = memchr(rest.at, ']', rest.len);

		if (bracket == NULL)
			return refuse(text, "'[' without ']'");
		*host = (struct span){rest.at + 1, (size_t)(bracket - rest.at - 1)};
		if (bracket + 1 == end)
			return 0;
		if (bracket[1] != ':')
			return refuse(text, "expected ':' and a port behind ']'");
		*port = (struct span){bracket + 2, (size_t)(end - bracket - 2)};
	} else if (colon != NULL && memchr(colon + 1, ':', (size_t)(end - colon - 1)) == NULL) {
		host->len = (size_t)(colon - rest.at);
		*port = (struct span){colon + 1, (size_t)(end - colon - 1)};
	}
	return 0;
}

static int take_host(const char *text, struct span span, struct ssh_target *target)
{
	if (span.len == 0)
		return refuse(text, "expected a host");
	if (span.len >= SSH_HOST_MAX)
		return refuse(text, "the host has more than 255 characters");
	if (!is_harmless(span))
		return refuse(text, "no host is called that");
	memcpy(target->host, span.at, span.len);
	target->host[span.len] = '\0';
	target->is_ipv6 = is_ipv6(target->host);
	if (!target->is_ipv6 &&
	    (strchr(target->host, ':') != NULL || (span.at > text && span.at[-1] == '[')))
		return refuse(text, "expected an IPv6 address");
	return 0;
}

int ssh_target_parse(const char *text, struct ssh_target *target)
{
	struct ssh_target parsed = {.port = ""};
	struct span rest = {text, strlen(text)}, host, port;
	int ret;

	ret = take_user(text, &rest, parsed.user);
	if (ret == 0)
		ret = split(text, rest, &host, &port);
	if (ret == 0)
		ret = take_host(text, host, &parsed);
	if (ret == 0 && port.at != NULL)
		ret = take_port(text, port, parsed.port);
	if (ret == 0)
		*target = parsed;
	return ret;
}
