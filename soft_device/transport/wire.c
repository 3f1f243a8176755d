/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wire.c -- messages to bytes and back: a cursor that writes or reads big-endian
 * numbers, and one pair of functions a message.
 */
#include "wire.h"

#include <errno.h>
#include <string.h>

static unsigned char *put_16(unsigned char *at, uint16_t value)
{
	at[0] = (unsigned char)(value >> 8);
	at[1] = (unsigned char)value;
	return at + 2;
}

static unsigned char *put_32(unsigned char *at, uint32_t value)
{
	return put_16(put_16(at, (uint16_t)(value >> 16)), (uint16_t)value);
}

static unsigned char *put_64(unsigned char *at, uint64_t value)
{
	return put_32(put_32(at, (uint32_t)(value >> 32)), (uint32_t)value);
}

static unsigned char *put_bytes(unsigned char *at, const void *bytes, size_t length)
{
	memcpy(at, bytes, length);
	return at + length;
}

static uint16_t get_16(const unsigned char **at)
{
	const unsigned char *bytes = *at;

	*at += 2;
	return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

static uint32_t get_32(const unsigned char **at)
{
	const uint32_t high = get_16(at);

	return high << 16 | get_16(at);
}

static uint64_t get_64(const unsigned char **at)
{
	const uint64_t high = get_32(at);

	return high << 32 | get_32(at);
}

static uint8_t get_8(const unsigned char **at)
{
	return *(*at)++;
}

static void get_bytes(const unsigned char **at, void *bytes, size_t length)
{
	memcpy(bytes, *at, length);
	*at += length;
}

/* The least and the most bytes of a body of this kind. */
static bool length_fits(uint16_t kind, uint32_t length)
{
	switch (kind) {
	case WIRE_HANDSHAKE:
		return length == WIRE_HANDSHAKE_BYTES;
	case WIRE_CARRY:
		return length == 0;
	case WIRE_REQUEST:
		return length >= WIRE_REQUEST_BYTES &&
		       length <= WIRE_REQUEST_BYTES + SOFT_MAX_MESSAGE;
	case WIRE_ANSWER:
		return length >= WIRE_ANSWER_BYTES &&
		       length <= WIRE_ANSWER_BYTES + SOFT_MAX_MESSAGE;
	case WIRE_CHANNEL_NEW:
	case WIRE_CHANNEL_GONE:
		return length == WIRE_CHANNEL_BYTES;
	case WIRE_PROOF:
		return length == WIRE_PROOF_BYTES;
	default:
		return kind >= WIRE_CM_FIRST && kind <= WIRE_CM_LAST && length <= WIRE_CM_MAX;
	}
}

int wire_get_header(const unsigned char bytes[WIRE_HEADER_BYTES], struct wire_header *header)
{
	const unsigned char *at = bytes;
	const uint32_t magic = get_32(&at);
	const uint16_t version = get_16(&at);
	const uint16_t kind = get_16(&at);
	const uint32_t length = get_32(&at);

	if (magic != WIRE_MAGIC || version != WIRE_VERSION || !length_fits(kind, length))
		return -EPROTO;
	header->kind = (enum wire_kind)kind;
	header->length = length;
	return 0;
}

void wire_put_header(unsigned char bytes[WIRE_HEADER_BYTES], enum wire_kind kind, uint32_t length)
{
	unsigned char *at = put_32(bytes, WIRE_MAGIC);

	at = put_16(at, WIRE_VERSION);
	at = put_16(at, (uint16_t)kind);
	put_32(at, length);
}

void wire_put_handshake(unsigned char bytes[WIRE_HANDSHAKE_MESSAGE],
			const struct wire_handshake *handshake)
{
	unsigned char *at = bytes + WIRE_HEADER_BYTES;

	wire_put_header(bytes, WIRE_HANDSHAKE, WIRE_HANDSHAKE_BYTES);
	at = put_32(at, handshake->layout);
	at = put_64(at, handshake->identity);
	at = put_64(at, handshake->probe);
	at = put_64(at, handshake->pid_namespace);
	put_bytes(at, handshake->token, sizeof(handshake->token));
}

int wire_get_handshake(const unsigned char *body, size_t length, struct wire_handshake *handshake)
{
	const unsigned char *at = body;

	if (length != WIRE_HANDSHAKE_BYTES)
		return -EPROTO;
	handshake->layout = get_32(&at);
	handshake->identity = get_64(&at);
	handshake->probe = get_64(&at);
	handshake->pid_namespace = get_64(&at);
	get_bytes(&at, handshake->token, sizeof(handshake->token));
	return handshake->identity != 0 ? 0 : -EPROTO;
}

void wire_put_proof(unsigned char bytes[WIRE_PROOF_MESSAGE],
		    const unsigned char proof[WIRE_PROOF_BYTES])
{
	wire_put_header(bytes, WIRE_PROOF, WIRE_PROOF_BYTES);
	put_bytes(bytes + WIRE_HEADER_BYTES, proof, WIRE_PROOF_BYTES);
}

uint32_t wire_payload(const struct request *request)
{
	switch (request->op) {
	case REQUEST_WRITE:
	case REQUEST_WRITE_IMM:
	case REQUEST_SEND:
	case REQUEST_SEND_IMM:
	case REQUEST_SEND_INV:
	case REQUEST_DATAGRAM:
	case REQUEST_DATAGRAM_IMM:
		return request->length;
	default:
		return 0;
	}
}

uint32_t wire_answer_data(const struct request *request)
{
	return request->op == REQUEST_READ ? request->length : 0;
}

void wire_put_request(unsigned char bytes[WIRE_REQUEST_START], uint32_t number, uint32_t after,
		      const union ibv_gid *gid, uint32_t qpn, const struct request *request)
{
	unsigned char *at = bytes + WIRE_HEADER_BYTES;

	wire_put_header(bytes, WIRE_REQUEST, WIRE_REQUEST_BYTES + wire_payload(request));
	at = put_32(at, number);
	at = put_32(at, after);
	at = put_32(at, qpn);
	at = put_bytes(at, gid, sizeof(*gid));
	at = put_32(at, request->src_qpn);
	at = put_bytes(at, &request->src_gid, sizeof(request->src_gid));
	*at++ = (unsigned char)request->op;
	*at++ = request->solicited;
	*at++ = request->flush_type;
	*at++ = request->flush_level;
	*at++ = request->framing;
	at = put_bytes(at, &request->imm_data, sizeof(request->imm_data));
	at = put_32(at, request->rkey);
	at = put_32(at, request->length);
	if (request_is_datagram(request->op)) {
		at = put_bytes(at, &request->to, sizeof(request->to));
	} else {
		at = put_64(at, request->remote_addr);
		at = put_64(at, request->compare_add);
	}
	put_64(at, request->swap);
}

/* The codes of a request, and the length its operation moves. */
static bool request_is_sound(const struct request *request, size_t payload)
{
	if (request->op < REQUEST_WRITE || request->op >= REQUEST_OPS ||
	    request->framing > (FRAMING_ROCE_V1 | IBV_MTU_4096) ||
	    (request->framing & FRAMING_MTU) > IBV_MTU_4096)
		return false;
	if (request_is_datagram(request->op))
		return request->length <= SOFT_MAX_DATAGRAM && payload == request->length;
	if ((request->flush_type & ~(SOFT_FLUSH_GLOBAL | SOFT_FLUSH_PERSISTENT)) != 0 ||
	    request->flush_level > SOFT_FLUSH_MR)
		return false;
	if (request->op != REQUEST_FLUSH && request->length > SOFT_MAX_MESSAGE)
		return false;
	return payload == wire_payload(request);
}

int wire_get_request(const unsigned char *body, size_t length, struct wire_request *request)
{
	const unsigned char *at = body;
	struct request *one = &request->request;
	uint8_t solicited;

	if (length < WIRE_REQUEST_BYTES)
		return -EPROTO;
	request->number = get_32(&at);
	request->after = get_32(&at);
	request->qpn = get_32(&at);
	get_bytes(&at, &request->gid, sizeof(request->gid));
	one->src_qpn = get_32(&at);
	get_bytes(&at, &one->src_gid, sizeof(one->src_gid));
	one->op = (enum request_op)get_8(&at);
	solicited = get_8(&at);
	one->solicited = solicited != 0;
	one->flush_type = get_8(&at);
	one->flush_level = get_8(&at);
	one->framing = get_8(&at);
	get_bytes(&at, &one->imm_data, sizeof(one->imm_data));
	one->rkey = get_32(&at);
	one->length = get_32(&at);
	if (request_is_datagram(one->op)) {
		get_bytes(&at, &one->to, sizeof(one->to));
	} else {
		one->remote_addr = get_64(&at);
		one->compare_add = get_64(&at);
	}
	one->swap = get_64(&at);
	if (solicited > 1 || !request_is_sound(one, length - WIRE_REQUEST_BYTES))
		return -EPROTO;
	return 0;
}

void wire_put_answer(unsigned char bytes[WIRE_ANSWER_START], const struct wire_answer *answer)
{
	unsigned char *at = bytes + WIRE_HEADER_BYTES;

	wire_put_header(bytes, WIRE_ANSWER, WIRE_ANSWER_BYTES + answer->bytes);
	at = put_32(at, answer->number);
	*at++ = (unsigned char)answer->outcome.kind;
	*at++ = (unsigned char)answer->outcome.status;
	*at++ = answer->outcome.rnr_timer;
	*at++ = answer->outcome.vendor_err;
	put_64(at, answer->outcome.before);
}

static bool may_have_data(const struct wire_answer *answer)
{
	const struct outcome *outcome = &answer->outcome;

	return outcome->kind == OUTCOME_DONE &&
	       (outcome->status == IBV_WC_SUCCESS ||
		(outcome->status == IBV_WC_REM_ACCESS_ERR && answer->bytes == WIRE_REGION_BYTES));
}

static bool is_printable(char byte)
{
	return byte >= ' ' && byte <= '~';
}

int wire_get_answer(const unsigned char *body, size_t length, struct wire_answer *answer)
{
	const unsigned char *at = body;
	uint8_t kind, status, rnr_timer, vendor_err;

	if (length < WIRE_ANSWER_BYTES || length > WIRE_ANSWER_BYTES + SOFT_MAX_MESSAGE)
		return -EPROTO;
	answer->number = get_32(&at);
	kind = get_8(&at);
	status = get_8(&at);
	rnr_timer = get_8(&at);
	vendor_err = get_8(&at);
	answer->outcome.before = get_64(&at);
	answer->bytes = (uint32_t)(length - WIRE_ANSWER_BYTES);
	if (kind > OUTCOME_ABSENT || status > IBV_WC_TM_RNDV_INCOMPLETE || rnr_timer > 31 ||
	    vendor_err >= VENDOR_ERRS)
		return -EPROTO;
	answer->outcome.kind = (enum outcome_kind)kind;
	answer->outcome.status = (enum ibv_wc_status)status;
	answer->outcome.rnr_timer = rnr_timer;
	answer->outcome.vendor_err = vendor_err;
	if (answer->bytes > 0 && !may_have_data(answer))
		return -EPROTO;
	return 0;
}

/* A character that cannot be printed becomes a question mark. */
static unsigned char *put_place(unsigned char *at, const char *place)
{
	size_t length = strnlen(place, WIRE_PLACE_BYTES - 1);

	memset(at, 0, WIRE_PLACE_BYTES);
	for (size_t i = 0; i < length; i++)
		at[i] = is_printable(place[i]) ? (unsigned char)place[i] : '?';
	return at + WIRE_PLACE_BYTES;
}

/* False: no encoder made it. */
static bool get_place(const unsigned char **at, char place[WIRE_PLACE_BYTES])
{
	size_t length = 0;

	get_bytes(at, place, WIRE_PLACE_BYTES);
	while (length < WIRE_PLACE_BYTES && is_printable(place[length]))
		length++;
	for (size_t i = length; i < WIRE_PLACE_BYTES; i++)
		if (place[i] != '\0')
			return false;
	return length < WIRE_PLACE_BYTES;
}

void wire_put_region(unsigned char bytes[WIRE_REGION_BYTES], const struct wire_region *region)
{
	unsigned char *at = put_32(bytes, region->key);

	at = put_32(at, region->pid);
	at = put_32(at, region->pd);
	at = put_32(at, region->access);
	*at++ = region->is_gone;
	at = put_64(at, region->addr);
	at = put_64(at, region->length);
	put_place(put_place(at, region->made_at), region->gone_at);
}

int wire_get_region(const unsigned char *bytes, size_t length, struct wire_region *region)
{
	const unsigned char *at = bytes;
	uint8_t is_gone;

	if (length != WIRE_REGION_BYTES)
		return -EPROTO;
	region->key = get_32(&at);
	region->pid = get_32(&at);
	region->pd = get_32(&at);
	region->access = get_32(&at);
	is_gone = get_8(&at);
	region->is_gone = is_gone != 0;
	region->addr = get_64(&at);
	region->length = get_64(&at);
	if (is_gone > 1 || region->length > UINT64_MAX - region->addr ||
	    !get_place(&at, region->made_at) || !get_place(&at, region->gone_at))
		return -EPROTO;
	return 0;
}

void wire_put_channel(unsigned char bytes[WIRE_CHANNEL_MESSAGE], enum wire_kind kind,
		      const struct wire_channel *channel)
{
	wire_put_header(bytes, kind, WIRE_CHANNEL_BYTES);
	put_32(put_32(bytes + WIRE_HEADER_BYTES, channel->slot), channel->id);
}

int wire_get_channel(const unsigned char *body, size_t length, struct wire_channel *channel)
{
	const unsigned char *at = body;

	if (length != WIRE_CHANNEL_BYTES)
		return -EPROTO;
	channel->slot = get_32(&at);
	channel->id = get_32(&at);
	return channel->id != 0 ? 0 : -EPROTO;
}
