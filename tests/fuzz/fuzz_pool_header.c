/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_pool_header.c -- pool headers of any file.
 *
 * What decodes comes back from being encoded, byte for byte; bytes that do not,
 * do after their checksum was made right.
 */
#include "fuzz.h"
#include "tools/rpmemd/pool_header.h"

static void check_header(const uint8_t bytes[POOL_HEADER_BYTES])
{
	uint8_t again[POOL_HEADER_BYTES];
	struct pool_header headers[3];

	if (pool_header_decode("/a", bytes, &headers[0]) != 0)
		return;
	memcpy(again, bytes, sizeof(again));
	pool_header_encode(&headers[0], again);
	hold(memcmp(bytes, again, sizeof(again)) == 0);
	headers[1] = headers[2] = headers[0];
	headers[1].attr.uuid[0] ^= 1;
	headers[2].attr.uuid[0] ^= 2;
	pool_header_change(headers, 3, &headers[0].attr);
	hold(pool_header_verify("/a", headers, 3) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t bytes[POOL_HEADER_BYTES] = {0};
	uint64_t checksum;

	memcpy(bytes, data, size < sizeof(bytes) ? size : sizeof(bytes));
	check_header(bytes);
	checksum = pool_header_checksum(bytes);
	for (size_t i = 0; i < 8; i++)
		bytes[POOL_HEADER_BYTES - 8 + i] = (uint8_t)(checksum >> (8 * i));
	check_header(bytes);
	return 0;
}

size_t fuzz_seed(size_t index, uint8_t input[FUZZ_INPUT_MAX])
{
	struct pool_header header = {.created_s = 1795381922};

	if (index > 1)
		return 0;
	memcpy(header.attr.signature, "PMEMOBJ", 8);
	header.attr.major = 6;
	header.attr.incompat_features = index == 0 ? POOL_HEADER_SHORT_CK : POOL_HEADER_SINGLE;
	memset(header.attr.poolset_uuid, 1, RPMEM_POOL_HDR_UUID_LEN);
	memset(header.attr.uuid, 2, RPMEM_POOL_HDR_UUID_LEN);
	memset(input, 0, POOL_HEADER_BYTES);
	pool_header_encode(&header, input);
	return POOL_HEADER_BYTES;
}
