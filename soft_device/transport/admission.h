/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * admission.h -- how a process of this host proves who it is before it connects over TCP.
 *
 * Beside each TCP listener is a unix socket, the admission socket, whose abstract name is the
 * listener's address and port. Both ends learn the other's user from the kernel (SO_PEERCRED). Who
 * connects leaves a token there; a TCP connection from an address of this host must show one. So a
 * process of another user gets no further, and learns nothing, and the check costs the same however
 * many sockets the host has.
 */
#pragma once

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "wire.h"

/* For the listener at this address (all 0: any of its family) and port; NULL with errno. */
struct admission;
struct admission *admission_open(const union ibv_gid *gid, uint16_t port);
/* Like agent_unwatch(): callers hold no lock that the agent's callbacks take. NULL is fine. */
void admission_close(struct admission *admission);

/*
 * Connects to the socket of a process of this host: a nonblocking socket, and the pid (0: in
 * another pid namespace). -ECONNREFUSED: nothing listens there; -EACCES: it is another user's;
 * -EAGAIN: too many wait there now; or -errno.
 */
int admission_connect(const union ibv_gid *gid, uint16_t port, pid_t *pid);

/* Leaves a token with a process, which may listen at any address; 0 or as above. */
int admission_leave_token(const union ibv_gid *gid, uint16_t port,
			  const unsigned char token[WIRE_TOKEN_BYTES]);

/* A process of the same user that has left a token; the agent's. */
struct admitted {
	unsigned char token[WIRE_TOKEN_BYTES];
	unsigned char answer[WIRE_TOKEN_BYTES]; /* what we show it in return */
	uint64_t identity;
	pid_t pid; /* the kernel tells it, as to admission_connect() */
	uint64_t until_ns;
};
void admission_add(const struct admitted *admitted);
/* Takes it; looks at what waits at the sockets first. False: none has left this token. Agent only.
 */
bool admission_take(const unsigned char token[WIRE_TOKEN_BYTES], struct admitted *admitted);

/* Reasons to refuse a peer: counted, and named with `verbose`. */
enum refused {
	REFUSED_USER,	  /* at the unix socket: another user */
	REFUSED_UNPROVEN, /* over TCP: of this host, without a token */
	REFUSED_REQUEST,  /* a request for a QP that is connected to another process */
	REFUSED_CROWD,	  /* too many at a time */
	REFUSED_SECRET,	  /* over TCP: of another host, with another secret or none */
	REFUSED_KINDS,
};
void admission_refuse(enum refused kind, const union ibv_gid *from);
