/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fake_peer.h -- a peer that the tests play themselves: it speaks the wire protocol of the device
 * over sockets of its own, well or badly, and claims to be of another host.
 */
#ifndef FAKE_PEER_H
#define FAKE_PEER_H

#include "soft_device/transport/wire.h"
#include "tests/device/end.h"

/* A connection to the process that has this queue pair. */
int fake_peer_connect(uint32_t qp_num);
void fake_peer_send(int fd, const void *bytes, size_t length);
/* Reads exactly that many bytes; false at the end. */
bool fake_peer_receive(int fd, void *bytes, size_t length);
/* Hellos in both directions: how the other side describes itself. */
struct wire_hello fake_peer_handshake(int fd);
void fake_peer_send_carry(int fd);
struct wire_answer fake_peer_receive_answer(int fd);

#endif /* FAKE_PEER_H */
