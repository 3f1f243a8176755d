/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * local_handshake.h -- what this process tells of itself, and why it cannot share memory with
 * another.
 */
#pragma once

#include "wire.h"

/* For a process of this host and user: everything but the token. */
void local_handshake_make(struct wire_handshake *handshake);

/* Why the two cannot share memory, in a few words; NULL when they may try. */
const char *local_handshake_distance(const struct wire_handshake *own,
				     const struct wire_handshake *other);
