/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dial.c -- the steps from a host's name to a server's answer.
 */
#include "dial.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tools/common/base/failure.h"

int dial_resolve(struct dial *dial, const char *host, uint16_t port)
{
	int ret = resolve_family(host, dial->family, RESOLVE_TIMEOUT_MS, dial->address);

	dial->port = port;
	/* an IPv6 address needs its brackets before a port */
	snprintf(dial->name, sizeof(dial->name),
		 strchr(dial->address, ':') != NULL ? "server [%s]:%u" : "server %s:%u",
		 dial->address, port);
	return ret;
}

int dial_route(struct dial *dial, const struct endpoint_options *options)
{
	struct sysroot root;
	int ret;

	if (sysroot_open(&root, "/") != 0)
		return failure_set(EXIT_INTERNAL, "device", "cannot open /: %s", strerror(errno));
	ret = endpoint_route(&root, options, dial->address, &dial->peer, &dial->device);
	sysroot_close(&root);
	return ret;
}

int dial_connect(struct link **link, const struct dial *dial,
		 const uint8_t greeting[GREETING_REQUEST_BYTES], const struct link_cfg *cfg)
{
	struct link_cfg own = *cfg;

	own.peer_name = dial->name;
	own.device = dial->device.name;
	return link_connect(link, dial->peer, dial->address, dial->port, &own, greeting,
			    GREETING_REQUEST_BYTES);
}

static int refused(const struct dial *dial, enum greeting_role role,
		   const struct greeting_reply *reply)
{
	static const struct {
		const char *tool;
		const char *server; /* how to start it */
		const char *other;  /* tool whose servers are met in its place */
	} tools[] = {
		[GREETING_CONTROL] = {"rpma-bench", "rpma-bench server", "rpma-ping"},
		[GREETING_MEASURE] = {"rpma-bench", "rpma-bench server", "rpma-ping"},
		[GREETING_PING] = {"rpma-ping", "rpma-ping --server", "rpma-bench"},
		[GREETING_FIO] = {"fio engine", "a job with role=server", "rpma-bench"},
		[GREETING_RPMEM] = {"librpmem", "rpmemd", "rpma-bench"},
	};

	switch (reply->answer) {
	case GREETING_WRONG_VERSION:
		return failure_because(CAUSE_WRONG_PEER, EXIT_RUN_FAILED, "hello",
				       "%s speaks version %u of the protocol, this %s version %d: "
				       "use the same release on both hosts",
				       dial->name, reply->version, tools[role].tool,
				       GREETING_VERSION);
	case GREETING_OTHER_TOOL:
		return failure_because(CAUSE_WRONG_PEER, EXIT_RUN_FAILED, "hello",
				       "%s is a server of another tool, as %s: start %s there, on "
				       "a port of its own",
				       dial->name, tools[role].other, tools[role].server);
	default:
		return failure_because(CAUSE_BUSY, EXIT_RUN_FAILED, "hello",
				       "%s has all its places taken by other clients: try again "
				       "later",
				       dial->name);
	}
}

int dial_answer(const struct dial *dial, const struct link *link, enum greeting_role role,
		struct greeting_reply *reply)
{
	const void *bytes;
	size_t len;
	int ret = link_greeting(link, &bytes, &len);

	if (ret)
		return ret;
	if (greeting_decode_reply(bytes, len, reply) != 0)
		return failure_because(CAUSE_WRONG_PEER, EXIT_RUN_FAILED, "hello",
				       "%s answered with a greeting that makes no sense: it is no "
				       "server of this tool",
				       dial->name);
	return reply->answer == GREETING_WELCOME ? 0 : refused(dial, role, reply);
}
