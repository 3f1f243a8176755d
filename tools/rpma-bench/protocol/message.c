/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * message.c -- the codec of the control messages; no I/O, fuzzed as it is.
 *
 * Header: length 4 (of the whole message) | type 2 | version 2; little-endian.
 * An enum goes as one byte, a flag as one byte that is 0 or 1, a text as its
 * length in two bytes and its characters.
 */
#include "message.h"

#include <errno.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/rdma/target.h"

#define HEADER_BYTES 8

static void put_flag(struct bytes_writer *w, bool flag)
{
	bytes_put_int(w, flag, 1);
}

static bool get_flag(struct bytes_reader *r)
{
	uint64_t value = bytes_get_int(r, 1);

	r->bad = r->bad || value > 1;
	return value == 1;
}

static void put_refusal(struct bytes_writer *w, const char text[MESSAGE_REFUSAL_MAX])
{
	size_t len = strnlen(text, MESSAGE_REFUSAL_MAX - 1);

	bytes_put_int(w, len, 2);
	bytes_put(w, text, len);
}

/* The text goes to a terminal: what could steer it is taken out. */
static void get_refusal(struct bytes_reader *r, char text[MESSAGE_REFUSAL_MAX])
{
	size_t len = bytes_get_int(r, 2);

	if (len >= MESSAGE_REFUSAL_MAX) {
		r->bad = true;
		return;
	}
	bytes_get(r, text, len);
	text[len] = '\0';
	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)text[i] < 0x20 || (unsigned char)text[i] > 0x7e)
			text[i] = '?';
	}
}

static void encode_target(struct bytes_writer *w, const struct message_target *t)
{
	bytes_put_int(w, t->kind, 1);
	bytes_put_int(w, t->odp, 1);
	bytes_put_int(w, t->flush_types, 1);
	bytes_put_int(w, (uint64_t)(int64_t)t->numa_node + 1, 2);
	bytes_put_int(w, t->page_bytes, 4);
	bytes_put_int(w, t->bytes, 8);
}

/* JSON integers end at 2^63 - 1. */
static bool target_in_range(const struct message_target *t)
{
	return t->kind < TARGET_KINDS && t->odp <= 2 && t->flush_types <= 3 && t->bytes > 0 &&
	       t->bytes <= INT64_MAX;
}

static void decode_target(struct bytes_reader *r, struct message_target *t)
{
	t->kind = (uint8_t)bytes_get_int(r, 1);
	t->odp = (uint8_t)bytes_get_int(r, 1);
	t->flush_types = (uint8_t)bytes_get_int(r, 1);
	t->numa_node = (int)bytes_get_int(r, 2) - 1;
	t->page_bytes = (uint32_t)bytes_get_int(r, 4);
	t->bytes = bytes_get_int(r, 8);
	r->bad = r->bad || !target_in_range(t);
}

static void encode_welcome(struct bytes_writer *w, const struct message_welcome *m)
{
	bytes_put_int(w, m->environment_bytes, 4);
	put_flag(w, m->direct_write_to_pmem != 0);
	put_refusal(w, m->refusal);
	bytes_put_int(w, m->targets_count, 1);
	for (uint8_t i = 0; i < m->targets_count; i++)
		encode_target(w, &m->targets[i]);
}

/* A welcome offers something; a refusal nothing. */
static int decode_welcome(struct bytes_reader *r, struct message_welcome *m)
{
	m->environment_bytes = (uint32_t)bytes_get_int(r, 4);
	m->direct_write_to_pmem = get_flag(r);
	get_refusal(r, m->refusal);
	m->targets_count = (uint8_t)bytes_get_int(r, 1);
	if (r->bad || m->environment_bytes > MESSAGE_TEXT_MAX ||
	    m->targets_count > PARAMS_TARGETS_MAX ||
	    (m->targets_count == 0) != (m->refusal[0] != '\0'))
		return -EPROTO;
	for (uint8_t i = 0; i < m->targets_count; i++)
		decode_target(r, &m->targets[i]);
	return r->bad ? -EPROTO : 0;
}

static void encode_text(struct bytes_writer *w, const struct message_text *m)
{
	bytes_put_int(w, m->total, 4);
	bytes_put_int(w, m->offset, 4);
	bytes_put_int(w, m->bytes, 4);
	bytes_put(w, m->data, m->bytes);
}

static int decode_text(struct bytes_reader *r, struct message_text *m)
{
	m->total = (uint32_t)bytes_get_int(r, 4);
	m->offset = (uint32_t)bytes_get_int(r, 4);
	m->bytes = (uint32_t)bytes_get_int(r, 4);
	m->data = r->at;
	if (r->bad || m->total == 0 || m->total > MESSAGE_TEXT_MAX || m->offset >= m->total ||
	    m->bytes == 0 || m->bytes > MESSAGE_CHUNK_MAX || m->bytes > r->left ||
	    m->bytes > m->total - m->offset)
		return -EPROTO;
	return 0;
}

static void encode_params(struct bytes_writer *w, const struct params *p)
{
	bytes_put_int(w, p->test, 1);
	bytes_put_int(w, p->op, 1);
	bytes_put_int(w, p->persist, 1);
	bytes_put_int(w, p->completion, 1);
	/* where an operation goes, the client alone decides */
	bytes_put_int(w, params_zipf(p) ? BENCH_RAND : p->pattern.kind, 1);
	put_flag(w, p->bidirectional);
	put_flag(w, p->srq);
	bytes_put_int(w, p->size_bytes, 8);
	bytes_put_int(w, p->depth, 4);
	bytes_put_int(w, p->threads, 4);
	bytes_put_int(w, p->connections, 4);
	bytes_put_int(w, p->signal_every, 4);
	bytes_put_int(w, p->rate_per_s, 8);
	bytes_put_int(w, p->read_millionths, 4);
	bytes_put_int(w, p->server_load_millionths, 4);
	bytes_put_int(w, p->target, 4);
}

static void decode_params(struct bytes_reader *r, struct params *p)
{
	p->test = (enum bench_test)bytes_get_int(r, 1);
	p->op = (enum bench_op)bytes_get_int(r, 1);
	p->persist = (enum bench_persist)bytes_get_int(r, 1);
	p->completion = (enum bench_completion)bytes_get_int(r, 1);
	p->pattern = (struct variant){(uint32_t)bytes_get_int(r, 1), 0};
	p->bidirectional = get_flag(r);
	p->srq = get_flag(r);
	p->size_bytes = bytes_get_int(r, 8);
	p->depth = (uint32_t)bytes_get_int(r, 4);
	p->threads = (uint32_t)bytes_get_int(r, 4);
	p->connections = (uint32_t)bytes_get_int(r, 4);
	p->signal_every = (uint32_t)bytes_get_int(r, 4);
	p->rate_per_s = bytes_get_int(r, 8);
	p->read_millionths = (uint32_t)bytes_get_int(r, 4);
	p->server_load_millionths = (uint32_t)bytes_get_int(r, 4);
	p->target = (uint32_t)bytes_get_int(r, 4);
}

static void encode_begin(struct bytes_writer *w, const struct message_begin *m)
{
	encode_params(w, &m->params);
	bytes_put_int(w, m->repeat, 4);
	bytes_put_int(w, m->seed, 8);
	bytes_put_int(w, m->warmup_ns, 8);
	bytes_put_int(w, m->duration_ns, 8);
	bytes_put_int(w, m->ops, 8);
	put_flag(w, m->verify != 0);
	bytes_put_int(w, m->client_bytes, 8);
	bytes_put_int(w, m->client_desc.mr_bytes, 1);
	bytes_put(w, m->client_desc.mr, sizeof(m->client_desc.mr));
	bytes_put_int(w, m->client_desc.pcfg_bytes, 1);
	bytes_put(w, m->client_desc.pcfg, sizeof(m->client_desc.pcfg));
	bytes_put_int(w, m->params.batch, 4);
	for (int i = 0; i < CONNECTION_KNOBS; i++) {
		if (connection_knob_rows[i].mirrored)
			bytes_put_int(w, m->knobs.value[i], 4);
	}
}

/* A client that has none ends before them. */
static void decode_knobs(struct bytes_reader *r, struct connection_knobs *knobs)
{
	connection_knobs_init(knobs);
	for (int i = 0; i < CONNECTION_KNOBS && r->left > 0; i++) {
		if (connection_knob_rows[i].mirrored)
			knobs->value[i] = (uint32_t)bytes_get_int(r, 4);
	}
}

/* A client's memory is described where it is used, and nowhere else. */
static bool client_memory_in_range(const struct message_begin *m)
{
	if (!m->params.bidirectional)
		return m->client_bytes == 0 && m->client_desc.mr_bytes == 0 &&
		       m->client_desc.pcfg_bytes == 0;
	return m->client_bytes > 0 && m->client_bytes <= INT64_MAX && m->client_desc.mr_bytes > 0 &&
	       m->client_desc.mr_bytes <= HANDSHAKE_MR_DESC_MAX && m->client_desc.pcfg_bytes > 0 &&
	       m->client_desc.pcfg_bytes <= HANDSHAKE_PCFG_DESC_MAX;
}

static bool begin_in_range(const struct message_begin *m)
{
	return m->params.persist != BENCH_AUTO && params_conflict(&m->params) == NULL &&
	       m->repeat < MESSAGE_REPEAT_MAX && m->warmup_ns <= MESSAGE_DURATION_MAX &&
	       m->duration_ns > 0 && m->duration_ns <= MESSAGE_DURATION_MAX &&
	       m->ops <= INT64_MAX && client_memory_in_range(m) &&
	       connection_knobs_check(&m->knobs) == 0;
}

static int decode_begin(struct bytes_reader *r, struct message_begin *m)
{
	decode_params(r, &m->params);
	m->repeat = (uint32_t)bytes_get_int(r, 4);
	m->seed = bytes_get_int(r, 8);
	m->warmup_ns = bytes_get_int(r, 8);
	m->duration_ns = bytes_get_int(r, 8);
	m->ops = bytes_get_int(r, 8);
	m->verify = get_flag(r);
	m->client_bytes = bytes_get_int(r, 8);
	m->client_desc.mr_bytes = (uint8_t)bytes_get_int(r, 1);
	bytes_get(r, m->client_desc.mr, sizeof(m->client_desc.mr));
	m->client_desc.pcfg_bytes = (uint8_t)bytes_get_int(r, 1);
	bytes_get(r, m->client_desc.pcfg, sizeof(m->client_desc.pcfg));
	/* a client that has no batches ends here */
	m->params.batch = r->left == 0 ? 1 : (uint32_t)bytes_get_int(r, 4);
	decode_knobs(r, &m->knobs);
	return !r->bad && begin_in_range(m) ? 0 : -EPROTO;
}

static void encode_ready(struct bytes_writer *w, const struct message_ready *m)
{
	bytes_put_int(w, m->port, 2);
	bytes_put_int(w, m->token, 8);
	put_refusal(w, m->refusal);
}

static int decode_ready(struct bytes_reader *r, struct message_ready *m)
{
	m->port = (uint16_t)bytes_get_int(r, 2);
	m->token = bytes_get_int(r, 8);
	get_refusal(r, m->refusal);
	return r->bad ? -EPROTO : 0;
}

static int decode_start(struct bytes_reader *r, struct message_start *m)
{
	m->phase = (enum message_phase)bytes_get_int(r, 1);
	return !r->bad && m->phase < PHASES ? 0 : -EPROTO;
}

static void encode_end(struct bytes_writer *w, const struct message_end *m)
{
	bytes_put_int(w, m->qps_count, 4);
	for (uint32_t i = 0; i < m->qps_count; i++)
		bytes_put_int(w, m->touched[i], 8);
}

static int decode_end(struct bytes_reader *r, struct message_end *m)
{
	m->qps_count = (uint32_t)bytes_get_int(r, 4);
	if (r->bad || m->qps_count > PARAMS_QPS_MAX)
		return -EPROTO;
	for (uint32_t i = 0; i < m->qps_count; i++)
		m->touched[i] = bytes_get_int(r, 8);
	return r->bad ? -EPROTO : 0;
}

static void encode_body(struct bytes_writer *w, const struct message *message)
{
	switch (message->type) {
	case MESSAGE_HELLO:
		bytes_put(w, message->hello.run_id, sizeof(message->hello.run_id));
		break;
	case MESSAGE_WELCOME:
		encode_welcome(w, &message->welcome);
		break;
	case MESSAGE_TEXT:
		encode_text(w, &message->text);
		break;
	case MESSAGE_BEGIN:
		encode_begin(w, &message->begin);
		break;
	case MESSAGE_READY:
		encode_ready(w, &message->ready);
		break;
	case MESSAGE_START:
		bytes_put_int(w, message->start.phase, 1);
		break;
	case MESSAGE_END:
		encode_end(w, &message->end);
		break;
	case MESSAGE_BYE:
	case MESSAGE_ALIVE:
		break;
	}
}

size_t message_encode(const struct message *message, uint8_t bytes[MESSAGE_MAX])
{
	struct bytes_writer w = bytes_write_to(bytes + HEADER_BYTES, MESSAGE_MAX - HEADER_BYTES);
	struct bytes_writer header = bytes_write_to(bytes, HEADER_BYTES);
	size_t len;

	encode_body(&w, message);
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
		bytes_get(r, message->hello.run_id, sizeof(message->hello.run_id));
		return r->bad ? -EPROTO : 0;
	case MESSAGE_WELCOME:
		return decode_welcome(r, &message->welcome);
	case MESSAGE_TEXT:
		return decode_text(r, &message->text);
	case MESSAGE_BEGIN:
		return decode_begin(r, &message->begin);
	case MESSAGE_READY:
		return decode_ready(r, &message->ready);
	case MESSAGE_START:
		return decode_start(r, &message->start);
	case MESSAGE_END:
		return decode_end(r, &message->end);
	case MESSAGE_BYE:
	case MESSAGE_ALIVE:
		return 0;
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
