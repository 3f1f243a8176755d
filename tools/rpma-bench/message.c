/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * message.c -- the codec of the control messages; no I/O, fuzzed as it is.
 *
 * Header: length 4 (of the whole message) | type 2 | version 2; little-endian.
 */
#include "message.h"

#include <errno.h>
#include <string.h>

#include "../common/bytes.h"

#define HEADER_BYTES 8

static void encode_hello(struct bytes_writer *w, const struct message_hello *h)
{
	bytes_put(w, h->run_id, sizeof(h->run_id));
	bytes_put_int(w, h->test, 1);
	bytes_put_int(w, h->op, 1);
	bytes_put_int(w, h->persist, 1);
	bytes_put_int(w, h->completion, 1);
	bytes_put_int(w, h->depth, 4);
	bytes_put_int(w, h->size_bytes, 8);
	bytes_put_int(w, h->threads, 4);
	bytes_put_int(w, h->connections, 4);
	bytes_put_int(w, h->repeat, 4);
	bytes_put_int(w, 0, 4);
	bytes_put_int(w, h->warmup_ns, 8);
	bytes_put_int(w, h->duration_ns, 8);
	bytes_put_int(w, h->limit_ns, 8);
}

static int hello_in_range(const struct message_hello *h)
{
	return h->test < BENCH_TESTS && h->op < BENCH_OPS && h->persist < BENCH_PERSISTS &&
	       h->completion < BENCH_COMPLETIONS && h->size_bytes > 0 &&
	       h->size_bytes <= OPTIONS_SIZE_MAX && h->depth > 0 && h->depth <= OPTIONS_DEPTH_MAX &&
	       h->threads == 1 && h->connections == 1 && h->repeat < OPTIONS_REPEATS_MAX &&
	       h->warmup_ns <= OPTIONS_DURATION_MAX && h->duration_ns > 0 &&
	       h->duration_ns <= OPTIONS_DURATION_MAX && h->limit_ns > 0 &&
	       h->limit_ns <= MESSAGE_LIMIT_MAX_NS;
}

static int decode_hello(struct bytes_reader *r, struct message_hello *h)
{
	bytes_get(r, h->run_id, sizeof(h->run_id));
	h->test = (enum bench_test)bytes_get_int(r, 1);
	h->op = (enum bench_op)bytes_get_int(r, 1);
	h->persist = (enum bench_persist)bytes_get_int(r, 1);
	h->completion = (enum bench_completion)bytes_get_int(r, 1);
	h->depth = (uint32_t)bytes_get_int(r, 4);
	h->size_bytes = bytes_get_int(r, 8);
	h->threads = (uint32_t)bytes_get_int(r, 4);
	h->connections = (uint32_t)bytes_get_int(r, 4);
	h->repeat = (uint32_t)bytes_get_int(r, 4);
	bytes_get_int(r, 4);
	h->warmup_ns = bytes_get_int(r, 8);
	h->duration_ns = bytes_get_int(r, 8);
	h->limit_ns = bytes_get_int(r, 8);
	return !r->bad && hello_in_range(h) ? 0 : -EPROTO;
}

static void encode_welcome(struct bytes_writer *w, const struct message_welcome *m)
{
	size_t len = strnlen(m->refusal, MESSAGE_TEXT_MAX - 1);

	bytes_put_int(w, m->environment_bytes, 4);
	bytes_put_int(w, len, 2);
	bytes_put(w, m->refusal, len);
}

/* The text goes to a terminal: what could steer it is taken out. */
static void disarm(char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)text[i] < 0x20 || (unsigned char)text[i] > 0x7e)
			text[i] = '?';
	}
}

static int decode_welcome(struct bytes_reader *r, struct message_welcome *m)
{
	size_t len;

	m->environment_bytes = (uint32_t)bytes_get_int(r, 4);
	len = bytes_get_int(r, 2);
	if (r->bad || len >= MESSAGE_TEXT_MAX || m->environment_bytes > MESSAGE_ENVIRONMENT_MAX)
		return -EPROTO;
	bytes_get(r, m->refusal, len);
	m->refusal[len] = '\0';
	disarm(m->refusal, len);
	return r->bad ? -EPROTO : 0;
}

static int decode_environment(struct bytes_reader *r, struct message_environment *m)
{
	m->offset = (uint32_t)bytes_get_int(r, 4);
	m->bytes = (uint32_t)bytes_get_int(r, 4);
	m->data = r->at;
	if (r->bad || m->bytes == 0 || m->bytes > MESSAGE_CHUNK_MAX || m->bytes > r->left ||
	    m->offset > MESSAGE_ENVIRONMENT_MAX - m->bytes)
		return -EPROTO;
	return 0;
}

static int decode_report(struct bytes_reader *r, struct message_report *m)
{
	m->elapsed_ns = bytes_get_int(r, 8);
	m->user_ns = bytes_get_int(r, 8);
	m->sys_ns = bytes_get_int(r, 8);
	return r->bad || m->elapsed_ns > MESSAGE_LIMIT_MAX_NS ? -EPROTO : 0;
}

size_t message_encode(const struct message *message, uint8_t bytes[MESSAGE_MAX])
{
	struct bytes_writer w = bytes_write_to(bytes + HEADER_BYTES, MESSAGE_MAX - HEADER_BYTES);
	struct bytes_writer header = bytes_write_to(bytes, HEADER_BYTES);
	size_t len;

	switch (message->type) {
	case MESSAGE_HELLO:
		encode_hello(&w, &message->hello);
		break;
	case MESSAGE_WELCOME:
		encode_welcome(&w, &message->welcome);
		break;
	case MESSAGE_ENVIRONMENT:
		bytes_put_int(&w, message->environment.offset, 4);
		bytes_put_int(&w, message->environment.bytes, 4);
		bytes_put(&w, message->environment.data, message->environment.bytes);
		break;
	case MESSAGE_BYE:
		break;
	case MESSAGE_REPORT:
		bytes_put_int(&w, message->report.elapsed_ns, 8);
		bytes_put_int(&w, message->report.user_ns, 8);
		bytes_put_int(&w, message->report.sys_ns, 8);
		break;
	}
	len = MESSAGE_MAX - w.left;
	bytes_put_int(&header, len, 4);
	bytes_put_int(&header, message->type, 2);
	bytes_put_int(&header, MESSAGE_VERSION, 2);
	return len;
}

static int decode_body(struct bytes_reader *r, struct message *message)
{
	switch (message->type) {
	case MESSAGE_HELLO:
		return decode_hello(r, &message->hello);
	case MESSAGE_WELCOME:
		return decode_welcome(r, &message->welcome);
	case MESSAGE_ENVIRONMENT:
		return decode_environment(r, &message->environment);
	case MESSAGE_BYE:
		return 0;
	case MESSAGE_REPORT:
		return decode_report(r, &message->report);
	default:
		return -EPROTO;
	}
}

int message_decode(const uint8_t *bytes, size_t len, struct message *message)
{
	struct bytes_reader r = {bytes, len, false};
	uint64_t declared = bytes_get_int(&r, 4);
	uint64_t type = bytes_get_int(&r, 2);
	uint64_t version = bytes_get_int(&r, 2);

	if (r.bad || declared != len || len > MESSAGE_MAX)
		return -EPROTO;
	if (version != MESSAGE_VERSION)
		return -EPROTONOSUPPORT;
	memset(message, 0, sizeof(*message));
	message->type = (enum message_type)type;
	return decode_body(&r, message);
}
