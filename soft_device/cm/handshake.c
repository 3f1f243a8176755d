/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * handshake.c -- how two ids of different hosts prove to each other that they have the secret, on
 * their connection and before the request. Without a secret there is nothing of it.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "cm.h"
#include "soft_device/process/process.h"
#include "soft_device/transport/address.h"
#include "soft_device/transport/admission.h"
#include "soft_device/transport/secret.h"

static int say(const struct cm_stream *stream, const void *bytes, size_t length)
{
	return send(stream->fd, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)length
		       ? 0
		       : -ECONNRESET;
}

static void warn(const struct cm_stream *stream, const char *reason)
{
	union ibv_gid own, remote;
	char address[INET6_ADDRSTRLEN] = "";

	if (gid_of_socket(stream->fd, &own, &remote) == 0)
		inet_ntop(AF_INET6, remote.raw, address, sizeof(address));
	process_warn("%s port %u: refused, %s", address, cm_address_port(&stream->id->remote),
		     reason);
}

/* 1: there is one; 0: the other end is of this host, or there is no secret; or -errno. */
static int begin(struct cm_stream *stream, enum handshake_side side)
{
	union ibv_gid own, remote;
	int error;

	if (!secret_is_set())
		return 0;
	error = gid_of_socket(stream->fd, &own, &remote);
	if (error != 0 || gid_is_of_this_host(&remote))
		return error;
	stream->handshake = calloc(1, sizeof(*stream->handshake));
	if (stream->handshake == NULL)
		return -ENOMEM;
	error = handshake_begin(&stream->handshake->state, side, process_current->segment->identity,
				&own, &remote);
	return error != 0 ? error : 1;
}

int cm_handshake_connected(struct cm_stream *stream)
{
	unsigned char bytes[WIRE_HANDSHAKE_MESSAGE];
	const int result = begin(stream, HANDSHAKE_CLIENT);

	if (result < 0)
		return result;
	if (result == 0)
		return say(stream, stream->bytes, stream->length);
	stream->handshake->request_length = stream->length;
	memcpy(stream->handshake->request, stream->bytes, stream->length);
	handshake_put_first(&stream->handshake->state, bytes);
	return say(stream, bytes, sizeof(bytes));
}

int cm_handshake_accepted(struct cm_stream *stream)
{
	const int result = begin(stream, HANDSHAKE_SERVER);

	return result < 0 ? result : 0;
}

/* Its side is done: the request goes out, or may come. */
static int finish(struct cm_stream *stream)
{
	struct cm_handshake *handshake = stream->handshake;
	int error = 0;

	stream->handshake = NULL;
	if (handshake->request_length > 0)
		error = say(stream, handshake->request, handshake->request_length);
	free(handshake);
	return error;
}

static int take(struct cm_stream *stream, size_t length)
{
	unsigned char bytes[HANDSHAKE_MESSAGE];
	size_t answer;
	int result = handshake_take(&stream->handshake->state, stream->bytes + WIRE_HEADER_BYTES,
				    length, bytes, &answer);

	if (answer > 0 && say(stream, bytes, answer) != 0)
		return -ECONNRESET;
	return result;
}

/* A request without a handshake: the other end has no secret, and is told that it needs one. */
static int refuse_request(const struct cm_stream *stream)
{
	unsigned char bytes[WIRE_HANDSHAKE_MESSAGE];

	handshake_put_first(&stream->handshake->state, bytes);
	say(stream, bytes, sizeof(bytes));
	return -ENOKEY;
}

static void tell(const struct cm_stream *stream, int error)
{
	union ibv_gid own, remote;

	if (handshake_describe(error) == NULL)
		return;
	if (stream->id != NULL)
		warn(stream, handshake_describe(error));
	else if (gid_of_socket(stream->fd, &own, &remote) == 0)
		admission_refuse(REFUSED_SECRET, &remote);
}

int cm_handshake_take(struct cm_stream *stream)
{
	struct wire_header header;
	size_t whole;
	int result;

	if (stream->length < WIRE_HEADER_BYTES)
		return 0;
	if (wire_get_header(stream->bytes, &header) != 0)
		return -EPROTO;
	whole = WIRE_HEADER_BYTES + (size_t)header.length;
	if (cm_kind_asks((enum cm_kind)header.kind) && stream->id == NULL)
		result = refuse_request(stream);
	else if (header.kind != handshake_expects(&stream->handshake->state))
		result = -EPROTO;
	else if (stream->length < whole)
		return 0;
	else
		result = take(stream, header.length);
	if (result < 0) {
		tell(stream, result);
		return result;
	}
	stream->length -= whole;
	memmove(stream->bytes, stream->bytes + whole, stream->length);
	if (result > 0)
		result = finish(stream);
	return result < 0 ? result : (int)whole;
}

void cm_handshake_missing(const struct cm_stream *stream)
{
	struct wire_header header;

	if (!secret_is_set() && stream->length >= WIRE_HEADER_BYTES &&
	    wire_get_header(stream->bytes, &header) == 0 && header.kind == WIRE_HANDSHAKE)
		warn(stream, handshake_describe(-ENOKEY));
}

void cm_handshake_broken(const struct cm_stream *stream)
{
	if (stream->handshake == NULL || stream->id == NULL)
		return;
	/* one that has no secret hangs up on the first message */
	warn(stream, handshake_describe(stream->handshake->state.met ? -EKEYREJECTED : -ENOKEY));
}
