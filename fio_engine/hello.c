/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hello.c -- the codec of hello and offer; numbers in, values out, no I/O.
 *
 * lane:  job 16 | jobs 16
 * token: imm bytes 32 | depth 16 | method 7 | again 1 | tag 8
 * word:  depth 16 | refusal 8 | method 8 | kind 8 | persist 8 | direct write 8 | mark 8
 * each from its lowest bit on. The mark tells an offer from the 0 that other
 * tools reply.
 */
#include "hello.h"

#include <errno.h>

#define OFFER_MARK 0xf1u

const char *method_name(enum method method)
{
	static const char *const names[METHODS] = {"any", "apm", "gpspm", "native"};

	return names[method];
}

void hello_encode(const struct hello *hello, uint8_t bytes[HANDSHAKE_REQUEST_BYTES])
{
	const struct handshake_request request = {
		.version = HANDSHAKE_VERSION,
		.role = HANDSHAKE_FIO,
		.lane = (uint32_t)hello->jobs << 16 | hello->job,
		.token = (uint64_t)hello->tag << 56 | (uint64_t)hello->again << 55 |
			 (uint64_t)hello->method << 48 | (uint64_t)hello->depth << 32 |
			 hello->imm_bytes,
	};

	handshake_encode_request(&request, bytes);
}

static int check_hello(const struct hello *h)
{
	if (h->method <= METHOD_ANY || h->method >= METHODS || h->job >= h->jobs)
		return -EPROTO;
	if (h->depth == 0 && (h->method == METHOD_GPSPM || h->imm_bytes != 0))
		return -EPROTO;
	return h->imm_bytes != 0 && h->method != METHOD_GPSPM ? -EPROTO : 0;
}

int hello_decode(const void *bytes, size_t len, struct hello *hello, enum handshake_answer *answer)
{
	struct handshake_request request;
	struct hello got;
	int ret = handshake_judge_request(bytes, len, HANDSHAKE_FIO, &request, answer);

	if (ret || *answer != HANDSHAKE_WELCOME)
		return ret;
	got = (struct hello){
		.method = (enum method)(request.token >> 48 & 0x7f),
		.job = (uint16_t)request.lane,
		.jobs = (uint16_t)(request.lane >> 16),
		.tag = (uint8_t)(request.token >> 56),
		.again = (request.token >> 55 & 1) != 0,
		.depth = (uint16_t)(request.token >> 32),
		.imm_bytes = (uint32_t)request.token,
	};
	if (check_hello(&got) != 0)
		return -EPROTO;
	*hello = got;
	return 0;
}

uint64_t offer_encode(const struct offer *offer)
{
	return (uint64_t)OFFER_MARK << 56 | (uint64_t)offer->direct_write_to_pmem << 48 |
	       (uint64_t)offer->persist << 40 | (uint64_t)offer->kind << 32 |
	       (uint64_t)offer->method << 24 | (uint64_t)offer->refusal << 16 | offer->depth;
}

int offer_decode(uint64_t word, struct offer *offer)
{
	const uint64_t direct = word >> 48 & 0xff, persist = word >> 40 & 0xff,
		       kind = word >> 32 & 0xff, method = word >> 24 & 0xff,
		       refusal = word >> 16 & 0xff;

	if (word >> 56 != OFFER_MARK || direct > 1 || persist >= PERSIST_METHODS ||
	    kind >= TARGET_KINDS || method >= METHODS || refusal >= REFUSALS)
		return -EPROTO;
	*offer = (struct offer){
		.refusal = (enum refusal)refusal,
		.method = (enum method)method,
		.kind = (enum target_kind)kind,
		.persist = (enum persist_method)persist,
		.direct_write_to_pmem = direct != 0,
		.depth = (uint16_t)word,
	};
	return 0;
}
