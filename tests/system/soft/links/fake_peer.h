/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fake_peer.h -- a peer that the tests play themselves: it speaks the wire protocol of the device
 * over sockets of its own, well or badly.
 */
#pragma once

#include "soft_device/transport/wire.h"
#include "tests/device/end.h"

/* A connection to the process that has this queue pair. */
int fake_peer_connect(uint32_t qp_num);
void fake_peer_send(int fd, const void *bytes, size_t length);
/* Reads exactly that many bytes; false at the end. */
bool fake_peer_receive(int fd, void *bytes, size_t length);
#define FAKE_IDENTITY 0x5417
void fake_peer_say(int fd, const struct wire_handshake *handshake);

/* A connection to the unix socket beside its listener, with a handshake message if there is one. */
int fake_peer_connect_unix(uint32_t qp_num, const struct wire_handshake *handshake);
/* Handshake messages in both directions, there and over TCP: how the other side describes itself.
 */
struct wire_handshake fake_peer_handshake(int fd, uint32_t qp_num);
/* A process that others find at this port, and one that has found it; it shares no memory. */
struct fake_listener {
	int tcp;
	int unix_fd;
	uint16_t port;
};
struct fake_listener fake_peer_listen(void);
/* The next connection at this socket, once it has said who it is. */
int fake_peer_meet(int listener);
int fake_peer_accept(const struct fake_listener *listener);
void fake_peer_send_carry(int fd);
struct wire_answer fake_peer_receive_answer(int fd);

/* TCP connections that have nothing to do with the device; one end of each, or NULL: left open. */
void fake_peer_open_idle(int *fds, int count);
