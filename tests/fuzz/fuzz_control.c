/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_control.c -- the messages of librpmem and rpmemd over ssh.
 *
 * What decodes must be within its ranges, and come back as the same bytes from being
 * encoded.
 */
#include "fuzz.h"
#include "librpmem/wire/control.h"

static uint8_t frame[CONTROL_HEADER_BYTES + CONTROL_BODY_MAX];

static void expect_body(size_t frame_bytes, const uint8_t *body, size_t len)
{
	hold(frame_bytes == CONTROL_HEADER_BYTES + len);
	hold(len == 0 || memcmp(frame + CONTROL_HEADER_BYTES, body, len) == 0);
}

static void try_pool_request(enum control_type type, const uint8_t *body, size_t len)
{
	struct control_pool_request request;

	if (control_decode_pool_request(type, body, len, &request) != 0)
		return;
	hold(request.pool_size > 0 && request.nlanes > 0);
	hold(request.transport == CONTROL_RDMA || request.transport == CONTROL_TCP);
	hold(type == CONTROL_CREATE || !request.has_attr);
	hold(request.name[0] != '\0' && memchr(request.name, '\0', sizeof(request.name)) != NULL);
	expect_body(control_encode_pool_request(type, &request, frame, sizeof(frame)), body, len);
}

static void try_pool_reply(enum control_type type, const uint8_t *body, size_t len)
{
	struct control_pool_reply reply;

	if (control_decode_pool_reply(body, len, &reply) != 0)
		return;
	hold(reply.pool_size > 0 && reply.nlanes > 0 && reply.port > 0);
	hold(reply.method == CONTROL_GPSPM || reply.method == CONTROL_APM);
	hold(memchr(reply.address, '\0', sizeof(reply.address)) != NULL);
	expect_body(control_encode_pool_reply(type, &reply, frame, sizeof(frame)), body, len);
}

static void try_reason(const struct control_header *header, const uint8_t *body, size_t len)
{
	char reason[CONTROL_REASON_MAX];
	size_t got;

	control_decode_reason(body, len, reason);
	got = strlen(reason);
	hold(got < sizeof(reason) && got <= len);
	hold(control_encode_plain(header->type, header->is_reply, header->status, reason, frame,
				  sizeof(frame)) ==
	     CONTROL_HEADER_BYTES + (header->status != 0 ? got : 0));
}

static void try_others(const uint8_t *body, size_t len)
{
	struct rpmem_pool_attr attr;
	uint32_t flags;

	if (control_decode_set_attr(body, len, &attr) == 0)
		expect_body(control_encode_set_attr(&attr, frame, sizeof(frame)), body, len);
	if (control_decode_close(body, len, &flags) == 0)
		expect_body(control_encode_close(flags, frame, sizeof(frame)), body, len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct control_header header;
	const uint8_t *body = data + CONTROL_HEADER_BYTES;
	size_t len = size - CONTROL_HEADER_BYTES;

	control_may_begin(data, size);
	if (size < CONTROL_HEADER_BYTES || control_decode_header(data, &header) != 0)
		return 0;
	hold(header.type >= CONTROL_STARTED && header.type < CONTROL_TYPES);
	hold(header.status <= CONTROL_STATUS_MAX && header.body_bytes <= CONTROL_BODY_MAX);
	hold(header.is_reply || header.type == CONTROL_STARTED || header.status == 0);
	try_pool_request(CONTROL_CREATE, body, len);
	try_pool_request(CONTROL_OPEN, body, len);
	try_pool_reply(header.type, body, len);
	try_reason(&header, body, len);
	try_others(body, len);
	return 0;
}

size_t fuzz_seed(size_t index, uint8_t input[FUZZ_INPUT_MAX])
{
	const struct control_pool_request request = {
		.pool_size = 8 << 20,
		.nlanes = 16,
		.transport = CONTROL_TCP,
		.has_attr = true,
		.attr = {.signature = "PMEMOBJ", .major = 6},
		.name = "pool.set",
	};
	const struct control_pool_reply reply = {
		.nlanes = 16,
		.port = 7204,
		.address = "192.0.2.1",
		.method = CONTROL_APM,
		.has_headers = true,
		.pool_size = 8 << 20,
		.token = 1,
	};

	switch (index) {
	case 0:
		return control_encode_pool_request(CONTROL_CREATE, &request, input, FUZZ_INPUT_MAX);
	case 1:
		return control_encode_pool_reply(CONTROL_OPEN, &reply, input, FUZZ_INPUT_MAX);
	case 2:
		return control_encode_set_attr(&request.attr, input, FUZZ_INPUT_MAX);
	case 3:
		return control_encode_close(CONTROL_CLOSE_REMOVE, input, FUZZ_INPUT_MAX);
	case 4:
		return control_encode_plain(CONTROL_STARTED, false, 2, "no such set", input,
					    FUZZ_INPUT_MAX);
	default:
		return 0;
	}
}
