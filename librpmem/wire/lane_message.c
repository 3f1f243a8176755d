/* SPDX-License-Identifier: BSD-3-Clause */
/* lane_message.c -- the codec of lane requests and their answers. */
#include "lane_message.h"

#include <errno.h>

#include "common/base/bytes.h"

void lane_encode_request(const struct lane_request *request, uint8_t bytes[LANE_REQUEST_BYTES])
{
	struct bytes_writer w = bytes_write_to(bytes, LANE_REQUEST_BYTES);

	bytes_put_int(&w, request->op, 4);
	bytes_put_int(&w, request->slot, 4);
	bytes_put_int(&w, request->offset, 8);
	bytes_put_int(&w, request->length, 8);
}

int lane_decode_request(const uint8_t bytes[LANE_REQUEST_BYTES], struct lane_request *request)
{
	struct bytes_reader r = {bytes, LANE_REQUEST_BYTES, false};
	uint64_t op = bytes_get_int(&r, 4);

	request->slot = (uint32_t)bytes_get_int(&r, 4);
	request->offset = bytes_get_int(&r, 8);
	request->length = bytes_get_int(&r, 8);
	if (op < LANE_PERSIST || op >= LANE_OPS)
		return -EPROTO;
	request->op = (enum lane_op)op;
	switch (request->op) {
	case LANE_PERSIST_DATA:
		return request->length <= LANE_DATA_MAX ? 0 : -EPROTO;
	case LANE_PERSIST_RANGES:
		return request->length <= LANE_DATA_MAX && request->length % LANE_RANGE_BYTES == 0
			       ? 0
			       : -EPROTO;
	default:
		return 0;
	}
}

void lane_encode_range(const struct lane_range *range, uint8_t bytes[LANE_RANGE_BYTES])
{
	struct bytes_writer w = bytes_write_to(bytes, LANE_RANGE_BYTES);

	bytes_put_int(&w, range->offset, 8);
	bytes_put_int(&w, range->length, 8);
}

struct lane_range lane_decode_range(const uint8_t bytes[LANE_RANGE_BYTES])
{
	struct bytes_reader r = {bytes, LANE_RANGE_BYTES, false};
	struct lane_range range;

	range.offset = bytes_get_int(&r, 8);
	range.length = bytes_get_int(&r, 8);
	return range;
}

void lane_encode_answer(const struct lane_answer *answer, uint8_t bytes[LANE_ANSWER_BYTES])
{
	struct bytes_writer w = bytes_write_to(bytes, LANE_ANSWER_BYTES);

	bytes_put_int(&w, answer->slot, 4);
	bytes_put_int(&w, answer->status, 4);
}

int lane_decode_answer(const uint8_t bytes[LANE_ANSWER_BYTES], struct lane_answer *answer)
{
	struct bytes_reader r = {bytes, LANE_ANSWER_BYTES, false};
	uint64_t status;

	answer->slot = (uint32_t)bytes_get_int(&r, 4);
	status = bytes_get_int(&r, 4);
	if (status >= PERSIST_STATUSES)
		return -EPROTO;
	answer->status = (enum persist_status)status;
	return 0;
}
