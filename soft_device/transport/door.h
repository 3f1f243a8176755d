/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * door.h -- how a process of this host proves who it is before it connects over TCP.
 *
 * Beside each TCP listener is a unix socket, the door, whose abstract name is the listener's
 * address and port. Both ends learn the other's user from the kernel (SO_PEERCRED). Who connects
 * leaves a token there; a TCP connection from an address of this host must show one. So a process
 * of another user gets no further, and learns nothing, and the check costs the same however many
 * sockets the host has.
 */
#ifndef SOFT_TRANSPORT_DOOR_H
#define SOFT_TRANSPORT_DOOR_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "wire.h"

/* For the listener at this address (all 0: any of its family) and port; NULL with errno. */
struct door;
struct door *door_open(const union ibv_gid *gid, uint16_t port);
/* As agent_unwatch(): callers hold no lock that the agent's callbacks take. NULL is fine. */
void door_close(struct door *door);

/*
 * Connects to the door of a process of this host: a nonblocking socket, and the pid (0: in another
 * pid namespace). -ECONNREFUSED: nothing listens there; -EACCES: it is another user's;
 * -EAGAIN: too many wait there now; or -errno.
 */
int door_connect(const union ibv_gid *gid, uint16_t port, pid_t *pid);

/* Leaves a token at the door of a process, which may listen at any address; 0 or as above. */
int door_knock(const union ibv_gid *gid, uint16_t port,
	       const unsigned char token[WIRE_TOKEN_BYTES]);

/* What a process of the same user has left; the agent's. */
struct visitor {
	unsigned char token[WIRE_TOKEN_BYTES];
	unsigned char answer[WIRE_TOKEN_BYTES]; /* what we show it in return */
	uint64_t identity;
	pid_t pid; /* the kernel tells it, as to door_connect() */
	uint64_t until_ns;
};
void door_visited(const struct visitor *visitor);
/* Takes it; looks at what waits at the doors first. False: none has left this token. Agent only. */
bool door_take(const unsigned char token[WIRE_TOKEN_BYTES], struct visitor *visitor);

/* Those that were turned away: counted, and named with `verbose`. */
enum stranger {
	STRANGER_USER,	   /* at a door: another user */
	STRANGER_UNPROVEN, /* over TCP: of this host, without a token */
	STRANGER_REQUEST,  /* a request for a QP that is connected to another process */
	STRANGER_CROWD,	   /* too many at a time */
	STRANGER_SECRET,   /* over TCP: of another host, with another secret or none */
	STRANGERS,
};
void door_stranger(enum stranger kind, const union ibv_gid *from);

#endif /* SOFT_TRANSPORT_DOOR_H */
