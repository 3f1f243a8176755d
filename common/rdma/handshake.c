/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * handshake.c -- the codec of the private data; bytes in, values out, no I/O.
 *
 * request: magic 8 | version 2 | role 1 | zero 1 | number 4 | token 8
 * reply:   magic 8 | version 2 | answer 1 | mr desc length 1 | pcfg desc length 1 | zero 3 |
 *          word 8 | mr desc 32 | pcfg desc 8
 */
#include "handshake.h"

#include <errno.h>

#include "common/base/bytes.h"

static const uint8_t magic[8] = {'r', 'p', 'm', 'a', 't', 'o', 'o', 'l'};

static bool get_magic(struct bytes_reader *r)
{
	uint8_t got[sizeof(magic)];

	bytes_get(r, got, sizeof(got));
	return !r->bad && memcmp(got, magic, sizeof(magic)) == 0;
}

void handshake_encode_request(const struct handshake_request *request,
			      uint8_t bytes[HANDSHAKE_REQUEST_BYTES])
{
	struct bytes_writer w = bytes_write_to(bytes, HANDSHAKE_REQUEST_BYTES);

	bytes_put(&w, magic, sizeof(magic));
	bytes_put_int(&w, request->version, 2);
	bytes_put_int(&w, request->role, 1);
	bytes_put_int(&w, 0, 1);
	bytes_put_int(&w, request->number, 4);
	bytes_put_int(&w, request->token, 8);
}

int handshake_decode_request(const void *bytes, size_t len, struct handshake_request *request)
{
	struct bytes_reader r = {bytes, len, false};
	struct handshake_request got = {0};

	if (!get_magic(&r))
		return -EPROTO;
	got.version = (uint16_t)bytes_get_int(&r, 2);
	got.role = (enum handshake_role)bytes_get_int(&r, 1);
	bytes_get_int(&r, 1);
	/* another version may number its roles differently, and say other things */
	if (got.version == HANDSHAKE_VERSION) {
		got.number = (uint32_t)bytes_get_int(&r, 4);
		got.token = bytes_get_int(&r, 8);
		if (got.role < HANDSHAKE_CONTROL || got.role > HANDSHAKE_RPMEM)
			return -EPROTO;
	}
	if (r.bad)
		return -EPROTO;
	*request = got;
	return 0;
}

int handshake_judge_request(const void *bytes, size_t len, enum handshake_role role,
			    struct handshake_request *request, enum handshake_answer *answer)
{
	int ret = handshake_decode_request(bytes, len, request);

	if (ret)
		return ret;
	*answer = HANDSHAKE_WELCOME;
	if (request->version != HANDSHAKE_VERSION)
		*answer = HANDSHAKE_WRONG_VERSION;
	else if (request->role != role)
		*answer = HANDSHAKE_OTHER_TOOL;
	return 0;
}

void handshake_encode_reply(const struct handshake_reply *reply,
			    uint8_t bytes[HANDSHAKE_REPLY_BYTES])
{
	struct bytes_writer w = bytes_write_to(bytes, HANDSHAKE_REPLY_BYTES);

	bytes_put(&w, magic, sizeof(magic));
	bytes_put_int(&w, reply->version, 2);
	bytes_put_int(&w, reply->answer, 1);
	bytes_put_int(&w, reply->desc.mr_bytes, 1);
	bytes_put_int(&w, reply->desc.pcfg_bytes, 1);
	bytes_put_int(&w, 0, 3);
	bytes_put_int(&w, reply->word, 8);
	bytes_put(&w, reply->desc.mr, sizeof(reply->desc.mr));
	bytes_put(&w, reply->desc.pcfg, sizeof(reply->desc.pcfg));
}

const char *handshake_refusal(enum handshake_answer answer)
{
	switch (answer) {
	case HANDSHAKE_WRONG_VERSION:
		return "it speaks another version";
	case HANDSHAKE_BUSY:
		return "too many at once";
	case HANDSHAKE_OTHER_TOOL:
		return "it is of another tool";
	default:
		return "none";
	}
}

static bool reply_in_range(const struct handshake_reply *reply)
{
	return reply->version == HANDSHAKE_VERSION &&
	       reply->desc.mr_bytes <= HANDSHAKE_MR_DESC_MAX &&
	       reply->desc.pcfg_bytes <= HANDSHAKE_PCFG_DESC_MAX &&
	       (reply->desc.mr_bytes == 0) == (reply->desc.pcfg_bytes == 0);
}

int handshake_decode_reply(const void *bytes, size_t len, struct handshake_reply *reply)
{
	struct bytes_reader r = {bytes, len, false};
	struct handshake_reply got = {0};

	if (!get_magic(&r))
		return -EPROTO;
	got.version = (uint16_t)bytes_get_int(&r, 2);
	got.answer = (enum handshake_answer)bytes_get_int(&r, 1);
	if (r.bad || got.answer > HANDSHAKE_OTHER_TOOL)
		return -EPROTO;
	if (got.answer == HANDSHAKE_WELCOME) {
		got.desc.mr_bytes = (uint8_t)bytes_get_int(&r, 1);
		got.desc.pcfg_bytes = (uint8_t)bytes_get_int(&r, 1);
		bytes_get_int(&r, 3);
		got.word = bytes_get_int(&r, 8);
		bytes_get(&r, got.desc.mr, sizeof(got.desc.mr));
		bytes_get(&r, got.desc.pcfg, sizeof(got.desc.pcfg));
		if (r.bad || !reply_in_range(&got))
			return -EPROTO;
	}
	*reply = got;
	return 0;
}
