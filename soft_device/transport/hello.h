/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hello.h -- who this process is, and what another's hello reveals about the way to it.
 */
#ifndef SOFT_TRANSPORT_HELLO_H
#define SOFT_TRANSPORT_HELLO_H

#include <stdbool.h>
#include <sys/socket.h>

#include "wire.h"

/* Fills everything but the name of the unix socket. */
void hello_make(struct wire_hello *hello);

/* Why the two cannot share memory, in a few words; NULL when they may try. */
const char *hello_distance(const struct wire_hello *own, const struct wire_hello *other);

/* By its own account it belongs to another user, where user ids mean the same. */
bool hello_of_other_user(const struct wire_hello *own, const struct wire_hello *other);

/*
 * The connected socket's other end is on this host, in this network namespace,
 * and another user owns it according to the kernel (/proc/net/tcp).
 */
bool hello_socket_of_other_user(int fd);

/* A row of /proc/net/tcp or tcp6: the uid of an established connection from `from` to `to`. */
bool hello_row_uid(const char *row, const struct sockaddr_storage *from,
		   const struct sockaddr_storage *to, unsigned long *uid);

#endif /* SOFT_TRANSPORT_HELLO_H */
