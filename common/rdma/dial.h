/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dial.h -- how a client reaches a server of this toolkit: its address, the
 * device of this host with the route to it, the connection, and the answer.
 *
 * Each step is a function, because rpma-ping times them one by one. Each wait has
 * a limit; a failure sets its error message, step and cause. A name may have several
 * addresses: they are tried in order within one limit of time, and when none does, the
 * message has what each answered.
 */
#pragma once

#include <stdbool.h>

#include "connection.h"
#include "device.h"
#include "handshake.h"
#include "listen.h"
#include "resolve.h"

struct dial {
	int family;		  /* set by the caller: which addresses do; AF_UNSPEC: either */
	int resolve_ms;		  /* set by the caller; 0: RESOLVE_TIMEOUT_MS */
	struct resolved resolved; /* once connected, the one that answered alone */
	size_t at;		  /* which of them is meant by address */
	size_t routed;		  /* which of them device and peer are for */
	/*
	 * Set by a caller who registers memory with the peer: called before that goes, with
	 * false, and once there is another, with true. Not 0: it cannot go.
	 */
	int (*move)(void *arg, bool moved);
	void *arg;
	struct endpoint_options endpoint;
	char address[RESOLVE_ADDRESS_MAX]; /* numeric; empty: not resolved */
	uint16_t port;
	char name[CONNECTION_PEER_MAX]; /* for error messages: "server 192.0.2.1:7204" */
	struct device device;		/* this host's; its name is empty: not found */
	struct rpma_peer *peer;		/* for that device; the caller deletes it */
};

/* Sets address, port and name, to the first. */
int dial_resolve(struct dial *dial, const char *host, uint16_t port);
/*
 * Sets device and peer, for the first address with a route; may start the tool again, as
 * endpoint_route().
 */
int dial_route(struct dial *dial, const struct endpoint_options *options);
/*
 * Connects to the address with the route, or to another of the name, which may change
 * device and peer. peer_name and device of cfg are not used.
 */
int dial_connect(struct connection **connection, struct dial *dial,
		 const uint8_t handshake[HANDSHAKE_REQUEST_BYTES],
		 const struct connection_cfg *cfg);
/*
 * Reads what the server answered to a client of this role. Fails, too, if it
 * refused: it is busy, or of another version or tool.
 */
int dial_answer(const struct dial *dial, const struct connection *connection,
		enum handshake_role role, struct handshake_reply *reply);
