/* SPDX-License-Identifier: BSD-3-Clause */
/* dial.c -- the steps from a host's name to a server's answer. */
#include "dial.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/failure.h"
#include "common/base/monotonic.h"

#define SHARE_MIN_MS 500 /* the least that an address gets, however many there are */

/* The answers of the addresses, and the best of the reasons. */
struct answers {
	size_t count;
	char text[512];
	struct failure best;
};

static void choose(struct dial *dial, size_t at)
{
	dial->at = at;
	memcpy(dial->address, dial->resolved.addresses[at], sizeof(dial->address));
	/* an IPv6 address needs its brackets before a port */
	snprintf(dial->name, sizeof(dial->name),
		 strchr(dial->address, ':') != NULL ? "server [%s]:%u" : "server %s:%u",
		 dial->address, dial->port);
}

/* A caller may have named the server its own way: that name stays with its address. */
static void change_to(struct dial *dial, size_t at)
{
	if (at != dial->at)
		choose(dial, at);
}

int dial_resolve(struct dial *dial, const char *host, uint16_t port)
{
	int ret = resolve_all(host, dial->family,
			      dial->resolve_ms > 0 ? dial->resolve_ms : RESOLVE_TIMEOUT_MS,
			      &dial->resolved);

	dial->port = port;
	dial->address[0] = dial->name[0] = '\0';
	if (ret == 0)
		choose(dial, 0);
	return ret;
}

/* The more a host told, the more it is worth: one that refuses is there. */
static int worth(enum cause cause)
{
	switch (cause) {
	case CAUSE_REFUSED:
	case CAUSE_WRONG_PEER:
	case CAUSE_BUSY:
		return 3;
	case CAUSE_NO_ANSWER:
	case CAUSE_CLOSED:
		return 2;
	default:
		return 1;
	}
}

static void note(struct answers *answers)
{
	const struct failure *failure = failure_get();
	size_t len = strlen(answers->text);

	if (answers->count == 0 || worth(failure->cause) > worth(answers->best.cause))
		answers->best = *failure;
	/* the same for all, as that there is no device: once */
	if (strstr(answers->text, failure->text) == NULL && len < sizeof(answers->text))
		snprintf(answers->text + len, sizeof(answers->text) - len, "%s%.250s",
			 len > 0 ? "; " : "", failure->text);
	answers->count++;
}

/* Stores what all of them answered; one speaks for itself. */
static void tell(const struct answers *answers)
{
	const struct failure *best = &answers->best;

	if (answers->count == 1 || strcmp(answers->text, best->text) == 0)
		*failure_get() = *best;
	else
		failure_because(best->cause, best->code, best->step, "%s", answers->text);
}

/* An interface without its link has no route, which is not what is wrong. */
static void blame_link(const char *device)
{
	struct device *list = NULL;
	char down[256] = "";
	size_t count = 0, n = 0, len = 0;

	if (failure_get()->cause != CAUSE_UNREACHABLE ||
	    device_list(&sysroot_machine, &list, &count) != 0)
		return;
	for (size_t i = 0; i < count && len < sizeof(down); i++) {
		if ((device[0] != '\0' && strcmp(list[i].name, device) != 0) ||
		    !device_is_down(&sysroot_machine, list[i].name))
			continue;
		len += (size_t)snprintf(down + len, sizeof(down) - len, "%s%s", n > 0 ? ", " : "",
					list[i].name);
		n++;
	}
	free(list);
	if (n > 0 && (device[0] != '\0' || n == count))
		failure_because(CAUSE_LINK_DOWN, EXIT_RUN_FAILED, failure_get()->step,
				"no port of the RDMA device %s of this host is active: the link is "
				"down (rdma link, ip link)",
				down);
}

int dial_route(struct dial *dial, const struct endpoint_options *options)
{
	struct answers answers = {.count = 0};
	int ret = 0;

	dial->endpoint = *options;
	for (size_t i = 0; i < dial->resolved.count; i++) {
		choose(dial, i);
		ret = endpoint_route(&sysroot_machine, &dial->endpoint, dial->address, &dial->peer,
				     &dial->device);
		dial->routed = i;
		if (ret == 0 || ret == -ECANCELED)
			return ret;
		blame_link("");
		note(&answers);
	}
	choose(dial, 0);
	tell(&answers);
	return ret;
}

/* Takes the peer of another device; what was registered with the old one moves too. */
static int move_to(struct dial *dial, struct rpma_peer **peer, const struct device *device)
{
	if (dial->move != NULL && dial->move(dial->arg, false) != 0) {
		rpma_peer_delete(peer);
		return failure_because(CAUSE_UNREACHABLE, EXIT_RUN_FAILED, "device",
				       "%s is reached over the RDMA device %s, and memory is "
				       "registered with %s",
				       dial->name, device->name, dial->device.name);
	}
	rpma_peer_delete(&dial->peer);
	dial->peer = *peer;
	dial->device = *device;
	return dial->move != NULL ? dial->move(dial->arg, true) : 0;
}

/* Another address may lead over another device. */
static int route_again(struct dial *dial)
{
	struct rpma_peer *peer = NULL;
	struct device device = {.name = ""};
	int ret;

	if (dial->at == dial->routed)
		return 0;
	ret = endpoint_route(&sysroot_machine, &dial->endpoint, dial->address, &peer, &device);
	if (ret == 0 && strcmp(device.name, dial->device.name) != 0)
		ret = move_to(dial, &peer, &device);
	else
		rpma_peer_delete(&peer);
	if (ret == 0)
		dial->routed = dial->at;
	return ret;
}

static int connect_to(struct connection **connection, const struct dial *dial,
		      const uint8_t handshake[HANDSHAKE_REQUEST_BYTES],
		      const struct connection_cfg *cfg, int timeout_ms)
{
	struct connection_cfg own = *cfg;

	own.peer_name = dial->name;
	own.device = dial->device.name;
	own.timeout_ms = timeout_ms;
	return connection_connect(connection, dial->peer, dial->address, dial->port, &own,
				  handshake, HANDSHAKE_REQUEST_BYTES);
}

/* Each of those that are left has the same share of the time that is left. */
static int share_ms(int64_t limit_ms, int timeout_ms, size_t left)
{
	int64_t share = (limit_ms - monotonic_ms()) / (int64_t)left;

	/* a tick may have passed since the limit was set */
	if (share > timeout_ms - SHARE_MIN_MS)
		return timeout_ms;
	return share > SHARE_MIN_MS ? (int)share : SHARE_MIN_MS;
}

int dial_connect(struct connection **connection, struct dial *dial,
		 const uint8_t handshake[HANDSHAKE_REQUEST_BYTES], const struct connection_cfg *cfg)
{
	const size_t first = dial->at, count = dial->resolved.count;
	const int timeout_ms = cfg->timeout_ms > 0 ? cfg->timeout_ms : CONNECTION_TIMEOUT_MS;
	const int64_t limit = monotonic_ms() + timeout_ms;
	struct answers answers = {.count = 0};
	int ret = 0;

	for (size_t i = 0; i < count; i++) {
		change_to(dial, (first + i) % count);
		ret = route_again(dial);
		if (ret == 0)
			ret = connect_to(connection, dial, handshake, cfg,
					 share_ms(limit, timeout_ms, count - i));
		if (ret == 0) {
			memmove(dial->resolved.addresses[0], dial->address, sizeof(dial->address));
			dial->resolved.count = 1;
			dial->at = dial->routed = 0;
			return 0;
		}
		if (ret == -ECANCELED || failure_get()->code == EXIT_INTERNAL)
			return ret;
		blame_link(dial->device.name);
		note(&answers);
	}
	change_to(dial, first);
	tell(&answers);
	return ret;
}

static int refused(const struct dial *dial, enum handshake_role role,
		   const struct handshake_reply *reply)
{
	static const struct {
		const char *tool;
		const char *server; /* how to start it */
		const char *other;  /* tool whose servers are met in its place */
	} tools[] = {
		[HANDSHAKE_CONTROL] = {"rpma-bench", "rpma-bench server", "rpma-ping"},
		[HANDSHAKE_MEASURE] = {"rpma-bench", "rpma-bench server", "rpma-ping"},
		[HANDSHAKE_PING] = {"rpma-ping", "rpma-ping --server", "rpma-bench"},
		[HANDSHAKE_FIO] = {"fio engine", "a job with role=server", "rpma-bench"},
		[HANDSHAKE_RPMEM] = {"librpmem", "rpmemd", "rpma-bench"},
	};

	switch (reply->answer) {
	case HANDSHAKE_WRONG_VERSION:
		return failure_because(CAUSE_WRONG_PEER, EXIT_RUN_FAILED, "handshake",
				       "%s speaks version %u of the protocol, this %s version %d: "
				       "use the same release on both hosts",
				       dial->name, reply->version, tools[role].tool,
				       HANDSHAKE_VERSION);
	case HANDSHAKE_OTHER_TOOL:
		return failure_because(CAUSE_WRONG_PEER, EXIT_RUN_FAILED, "handshake",
				       "%s is a server of another tool, as %s: start %s there, on "
				       "a port of its own",
				       dial->name, tools[role].other, tools[role].server);
	default:
		return failure_because(CAUSE_BUSY, EXIT_RUN_FAILED, "handshake",
				       "%s has all its slots taken by other clients: try again "
				       "later",
				       dial->name);
	}
}

int dial_answer(const struct dial *dial, const struct connection *connection,
		enum handshake_role role, struct handshake_reply *reply)
{
	const void *bytes;
	size_t len;
	int ret = connection_handshake(connection, &bytes, &len);

	if (ret)
		return ret;
	if (handshake_decode_reply(bytes, len, reply) != 0)
		return failure_because(CAUSE_WRONG_PEER, EXIT_RUN_FAILED, "handshake",
				       "%s answered with a malformed handshake: it is not a "
				       "server of this tool",
				       dial->name);
	return reply->answer == HANDSHAKE_WELCOME ? 0 : refused(dial, role, reply);
}
