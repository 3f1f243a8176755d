/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job_handshake.c -- the codec of a job's request and reply; numbers in, values out, no I/O.
 *
 * number: job 16 | jobs 16
 * token:  imm bytes 32 | depth 16 | method 7 | again 1 | tag 8
 * word:   depth 16 | refusal 8 | method 8 | kind 8 | persist 8 | direct write 8 | mark 8
 * each from its lowest bit on. The mark tells a reply from the 0 that other
 * tools reply.
 */
#include "job_handshake.h"

#include <errno.h>

#define REPLY_MARK 0xf1u

const char *method_name(enum method method)
{
	static const char *const names[METHODS] = {"any", "apm", "gpspm", "native"};

	return names[method];
}

void job_request_encode(const struct job_request *job_request,
			uint8_t bytes[HANDSHAKE_REQUEST_BYTES])
{
	const struct handshake_request request = {
		.version = HANDSHAKE_VERSION,
		.role = HANDSHAKE_FIO,
		.number = (uint32_t)job_request->jobs << 16 | job_request->job,
		.token = (uint64_t)job_request->tag << 56 | (uint64_t)job_request->again << 55 |
			 (uint64_t)job_request->method << 48 | (uint64_t)job_request->depth << 32 |
			 job_request->imm_bytes,
	};

	handshake_encode_request(&request, bytes);
}

static int check_job_request(const struct job_request *h)
{
	if (h->method <= METHOD_ANY || h->method >= METHODS || h->job >= h->jobs)
		return -EPROTO;
	if (h->depth == 0 && (h->method == METHOD_GPSPM || h->imm_bytes != 0))
		return -EPROTO;
	return h->imm_bytes != 0 && h->method != METHOD_GPSPM ? -EPROTO : 0;
}

int job_request_decode(const void *bytes, size_t len, struct job_request *job_request,
		       enum handshake_answer *answer)
{
	struct handshake_request request;
	struct job_request got;
	int ret = handshake_judge_request(bytes, len, HANDSHAKE_FIO, &request, answer);

	if (ret || *answer != HANDSHAKE_WELCOME)
		return ret;
	got = (struct job_request){
		.method = (enum method)(request.token >> 48 & 0x7f),
		.job = (uint16_t)request.number,
		.jobs = (uint16_t)(request.number >> 16),
		.tag = (uint8_t)(request.token >> 56),
		.again = (request.token >> 55 & 1) != 0,
		.depth = (uint16_t)(request.token >> 32),
		.imm_bytes = (uint32_t)request.token,
	};
	if (check_job_request(&got) != 0)
		return -EPROTO;
	*job_request = got;
	return 0;
}

uint64_t job_reply_encode(const struct job_reply *job_reply)
{
	return (uint64_t)REPLY_MARK << 56 | (uint64_t)job_reply->direct_write_to_pmem << 48 |
	       (uint64_t)job_reply->persist << 40 | (uint64_t)job_reply->kind << 32 |
	       (uint64_t)job_reply->method << 24 | (uint64_t)job_reply->refusal << 16 |
	       job_reply->depth;
}

int job_reply_decode(uint64_t word, struct job_reply *job_reply)
{
	const uint64_t direct = word >> 48 & 0xff, persist = word >> 40 & 0xff,
		       kind = word >> 32 & 0xff, method = word >> 24 & 0xff,
		       refusal = word >> 16 & 0xff;

	if (word >> 56 != REPLY_MARK || direct > 1 || persist >= PERSIST_METHODS ||
	    kind >= TARGET_KINDS || method >= METHODS || refusal >= REFUSALS)
		return -EPROTO;
	*job_reply = (struct job_reply){
		.refusal = (enum refusal)refusal,
		.method = (enum method)method,
		.kind = (enum target_kind)kind,
		.persist = (enum persist_method)persist,
		.direct_write_to_pmem = direct != 0,
		.depth = (uint16_t)word,
	};
	return 0;
}
