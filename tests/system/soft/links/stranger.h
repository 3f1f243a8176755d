/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stranger.h -- a peer that the tests play themselves: it speaks the wire protocol of the device
 * over sockets of its own, well or badly, and claims to be of another host.
 */
#ifndef STRANGER_H
#define STRANGER_H

#include "soft_device/transport/wire.h"
#include "tests/device/end.h"

/* A connection to the process that has this queue pair. */
int stranger_connect(uint32_t qp_num);
void stranger_say(int fd, const void *bytes, size_t length);
/* Reads exactly so much; false at the end. */
bool stranger_hear(int fd, void *bytes, size_t length);
/* Hellos in both directions: how the other side describes itself. */
struct wire_hello stranger_meet(int fd);
void stranger_say_carry(int fd);
struct wire_answer stranger_hear_answer(int fd);

#endif /* STRANGER_H */
