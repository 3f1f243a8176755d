/* SPDX-License-Identifier: BSD-3-Clause */
/* exchange.h -- typed control messages over a connection. */
#pragma once

#include "common/rdma/connection.h"
#include "message.h"

struct exchange_buffer {
	uint8_t bytes[MESSAGE_MAX];
};

int exchange_send(struct connection *connection, const struct message *message);

/* Waits for a message of any type; it may borrow from the buffer. */
int exchange_receive_any(struct connection *connection, int timeout_ms,
			 struct exchange_buffer *buffer, struct message *message);

/*
 * Waits for a message of this type; it may borrow from the buffer. A sign of
 * life is passed over, and what comes after it has the whole time again.
 */
int exchange_receive(struct connection *connection, enum message_type type, int timeout_ms,
		     struct exchange_buffer *buffer, struct message *message);

/* Takes the signs of life that are there, and waits for nothing. */
int exchange_drain(struct connection *connection);
