/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * exchange.c -- encodes and sends, receives and decodes, and reports in a
 * error message what was wrong with what came.
 */
#include "exchange.h"

#include <errno.h>

#include "common/base/failure.h"

int exchange_send(struct connection *connection, const struct message *message)
{
	struct exchange_buffer buffer;
	size_t len = message_encode(message, buffer.bytes);

	return connection_send(connection, buffer.bytes, len);
}

int exchange_receive_any(struct connection *connection, int timeout_ms,
			 struct exchange_buffer *buffer, struct message *message)
{
	size_t len = sizeof(buffer->bytes);
	int ret = connection_receive(connection, buffer->bytes, &len, timeout_ms);

	if (ret)
		return ret;
	ret = message_decode(buffer->bytes, len, message);
	if (ret == -EPROTONOSUPPORT)
		return failure_set(EXIT_RUN_FAILED, "handshake",
				   "%s speaks another version of the protocol: use the same "
				   "release of rpma-bench on both hosts",
				   connection_peer_name(connection));
	return ret;
}

static int unexpected_message(const struct connection *connection)
{
	return failure_set(EXIT_RUN_FAILED, "handshake", "%s sent an unexpected message",
			   connection_peer_name(connection));
}

int exchange_receive(struct connection *connection, enum message_type type, int timeout_ms,
		     struct exchange_buffer *buffer, struct message *message)
{
	int ret;

	do {
		ret = exchange_receive_any(connection, timeout_ms, buffer, message);
	} while (ret == 0 && message->type == MESSAGE_ALIVE);
	if (ret == -EPROTO || (ret == 0 && message->type != type))
		return unexpected_message(connection);
	return ret;
}

int exchange_drain(struct connection *connection)
{
	const struct failure kept = *failure_get();
	struct exchange_buffer buffer;
	struct message message;
	int ret;

	do {
		ret = exchange_receive_any(connection, 0, &buffer, &message);
	} while (ret == 0 && message.type == MESSAGE_ALIVE);
	if (ret == -ETIMEDOUT) {
		*failure_get() = kept;
		return 0;
	}
	return ret == 0 || ret == -EPROTO ? unexpected_message(connection) : ret;
}
