/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hello.h -- what this process tells of itself, and why it cannot share memory with another.
 */
#ifndef SOFT_TRANSPORT_HELLO_H
#define SOFT_TRANSPORT_HELLO_H

#include "wire.h"

/* For a process of this host and user: everything but the token. */
void hello_make(struct wire_hello *hello);

/* Why the two cannot share memory, in a few words; NULL when they may try. */
const char *hello_distance(const struct wire_hello *own, const struct wire_hello *other);

#endif /* SOFT_TRANSPORT_HELLO_H */
