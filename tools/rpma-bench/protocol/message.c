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

/* The text goes to a terminal: what could steer it is taken out. */
static void code_refusal(struct bytes_codec *c, char text[MESSAGE_REFUSAL_MAX])
{
	size_t len = bytes_code_value(c, strnlen(text, MESSAGE_REFUSAL_MAX - 1), 2);

	if (len >= MESSAGE_REFUSAL_MAX) {
		c->r.bad = true;
		return;
	}
	bytes_code(c, text, len);
	text[len] = '\0';
	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)text[i] < 0x20 || (unsigned char)text[i] > 0x7e)
			text[i] = '?';
	}
}

/* JSON integers end at 2^63 - 1. */
static bool target_in_range(const struct message_target *t)
{
	return t->kind < TARGET_KINDS && t->odp <= 2 && t->flush_types <= 3 && t->bytes > 0 &&
	       t->bytes <= INT64_MAX;
}

static void code_target(struct bytes_codec *c, struct message_target *t)
{
	bytes_code_int(c, t->kind, 1);
	bytes_code_int(c, t->odp, 1);
	bytes_code_int(c, t->flush_types, 1);
	t->numa_node = (int)bytes_code_value(c, (uint64_t)(int64_t)t->numa_node + 1, 2) - 1;
	bytes_code_int(c, t->page_bytes, 4);
	bytes_code_int(c, t->bytes, 8);
	c->r.bad = c->r.bad || !target_in_range(t);
}

/* A welcome offers something; a refusal nothing. */
static void code_welcome(struct bytes_codec *c, struct message_welcome *m)
{
	bytes_code_int(c, m->environment_bytes, 4);
	m->direct_write_to_pmem = bytes_code_flag(c, m->direct_write_to_pmem != 0);
	code_refusal(c, m->refusal);
	bytes_code_int(c, m->targets_count, 1);
	c->r.bad = c->r.bad || m->environment_bytes > MESSAGE_TEXT_MAX ||
		   m->targets_count > PARAMS_TARGETS_MAX ||
		   (m->targets_count == 0) != (m->refusal[0] != '\0');
	for (uint8_t i = 0; i < m->targets_count && !c->r.bad; i++)
		code_target(c, &m->targets[i]);
}

static void code_text(struct bytes_codec *c, struct message_text *m)
{
	bytes_code_int(c, m->total, 4);
	bytes_code_int(c, m->offset, 4);
	bytes_code_int(c, m->bytes, 4);
	if (c->writes)
		bytes_put(&c->w, m->data, m->bytes);
	else
		m->data = c->r.at;
	c->r.bad = c->r.bad || m->total == 0 || m->total > MESSAGE_TEXT_MAX ||
		   m->offset >= m->total || m->bytes == 0 || m->bytes > MESSAGE_CHUNK_MAX ||
		   m->bytes > c->r.left || m->bytes > m->total - m->offset;
}

static void code_params(struct bytes_codec *c, struct params *p)
{
	bytes_code_int(c, p->test, 1);
	bytes_code_int(c, p->op, 1);
	bytes_code_int(c, p->persist, 1);
	bytes_code_int(c, p->completion, 1);
	/* where an operation goes, the client alone decides */
	p->pattern = (struct variant){.kind = params_zipf(p) ? BENCH_RAND : p->pattern.kind};
	bytes_code_int(c, p->pattern.kind, 1);
	p->bidirectional = bytes_code_flag(c, p->bidirectional);
	p->srq = bytes_code_flag(c, p->srq);
	bytes_code_int(c, p->size_bytes, 8);
	bytes_code_int(c, p->depth, 4);
	bytes_code_int(c, p->threads, 4);
	bytes_code_int(c, p->connections, 4);
	bytes_code_int(c, p->signal_every, 4);
	bytes_code_int(c, p->rate_per_s, 8);
	bytes_code_int(c, p->read_millionths, 4);
	bytes_code_int(c, p->server_load_millionths, 4);
	bytes_code_int(c, p->target, 4);
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

static void code_begin(struct bytes_codec *c, struct message_begin *m)
{
	code_params(c, &m->params);
	bytes_code_int(c, m->repeat, 4);
	bytes_code_int(c, m->seed, 8);
	bytes_code_int(c, m->warmup_ns, 8);
	bytes_code_int(c, m->duration_ns, 8);
	bytes_code_int(c, m->ops, 8);
	m->verify = bytes_code_flag(c, m->verify != 0);
	bytes_code_int(c, m->client_bytes, 8);
	bytes_code_int(c, m->client_desc.mr_bytes, 1);
	bytes_code(c, m->client_desc.mr, sizeof(m->client_desc.mr));
	bytes_code_int(c, m->client_desc.pcfg_bytes, 1);
	bytes_code(c, m->client_desc.pcfg, sizeof(m->client_desc.pcfg));
	bytes_code_int(c, m->params.batch, 4);
	for (int i = 0; i < CONNECTION_KNOBS; i++) {
		if (connection_knob_rows[i].mirrored)
			bytes_code_int(c, m->knobs.value[i], 4);
		else
			m->knobs.value[i] = CONNECTION_KNOB_UNSET;
	}
	c->r.bad = c->r.bad || !begin_in_range(m);
}

static void code_end(struct bytes_codec *c, struct message_end *m)
{
	bytes_code_int(c, m->qps_count, 4);
	c->r.bad = c->r.bad || m->qps_count > PARAMS_QPS_MAX;
	for (uint32_t i = 0; i < m->qps_count && !c->r.bad; i++)
		bytes_code_int(c, m->touched[i], 8);
}

static void code_body(struct bytes_codec *c, struct message *message)
{
	switch (message->type) {
	case MESSAGE_RUN:
		bytes_code(c, message->run.run_id, sizeof(message->run.run_id));
		break;
	case MESSAGE_WELCOME:
		code_welcome(c, &message->welcome);
		break;
	case MESSAGE_TEXT:
		code_text(c, &message->text);
		break;
	case MESSAGE_BEGIN:
		code_begin(c, &message->begin);
		break;
	case MESSAGE_READY:
		bytes_code_int(c, message->ready.port, 2);
		bytes_code_int(c, message->ready.token, 8);
		code_refusal(c, message->ready.refusal);
		break;
	case MESSAGE_START:
		bytes_code_int(c, message->start.phase, 1);
		c->r.bad = c->r.bad || message->start.phase >= PHASES;
		break;
	case MESSAGE_END:
		code_end(c, &message->end);
		break;
	case MESSAGE_BYE:
	case MESSAGE_ALIVE:
		break;
	default:
		c->r.bad = true;
	}
}

size_t message_encode(const struct message *message, uint8_t bytes[MESSAGE_MAX])
{
	struct bytes_codec body = bytes_writing(bytes + HEADER_BYTES, MESSAGE_MAX - HEADER_BYTES);
	struct bytes_writer header = bytes_write_to(bytes, HEADER_BYTES);
	struct message copy = *message;
	size_t len;

	code_body(&body, &copy);
	len = MESSAGE_MAX - body.w.left;
	bytes_put_int(&header, len, 4);
	bytes_put_int(&header, message->type, 2);
	bytes_put_int(&header, MESSAGE_VERSION, 2);
	return len;
}

int message_decode(const uint8_t *bytes, size_t len, struct message *message)
{
	struct bytes_codec c = bytes_reading(bytes, len);
	uint64_t declared = bytes_get_int(&c.r, 4);
	uint64_t type = bytes_get_int(&c.r, 2);
	uint64_t version = bytes_get_int(&c.r, 2);

	if (c.r.bad || declared != len || len > MESSAGE_MAX)
		return -EPROTO;
	if (version != MESSAGE_VERSION)
		return -EPROTONOSUPPORT;
	memset(message, 0, sizeof(*message));
	message->type = (enum message_type)type;
	code_body(&c, message);
	return c.r.bad ? -EPROTO : 0;
}
