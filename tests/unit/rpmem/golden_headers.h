/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * golden_headers.h -- pool headers as Debian's pmdk-tools 1.12.1 wrote them:
 * `pmempool create obj` with OPTION SINGLEHDR, and with three parts; the one with the checksum
 * of 4088 bytes after `pmempool feature --disable SHUTDOWN_STATE` and `CKSUM_2K`.
 * Then one of a remote part that libpmemobj 1.12.1 made through librpmem.
 */
#pragma once

#include <stdint.h>
#include <string.h>

enum golden {
	GOLDEN_FIRST_2K,
	GOLDEN_FIRST_4K,
	GOLDEN_RING_2K_1,
	GOLDEN_RING_2K_2,
	GOLDEN_RING_2K_3,
	GOLDEN_REMOTE,
	GOLDEN_HEADERS
};

/* Bytes 144 to 4087 are zeros, then comes the checksum. */
static const struct {
	const char *fields;
	uint64_t checksum;
} golden_headers[GOLDEN_HEADERS] = {
	{
		"504d454d4f424a0006000000010000000700000000000000daa9430d2bb28844a901c017"
		"75896c2e690451b63a1e5f4a99ccd38cab0b88ae690451b63a1e5f4a99ccd38cab0b88ae"
		"690451b63a1e5f4a99ccd38cab0b88ae690451b63a1e5f4a99ccd38cab0b88ae690451b6"
		"3a1e5f4a99ccd38cab0b88ae3afc036b0000000010737737f70700000201000000003e00",
		0x9bb6c59ab47dd596ULL,
	},
	{
		"504d454d4f424a0006000000010000000100000000000000daa9430d2bb28844a901c017"
		"75896c2e690451b63a1e5f4a99ccd38cab0b88ae690451b63a1e5f4a99ccd38cab0b88ae"
		"690451b63a1e5f4a99ccd38cab0b88ae690451b63a1e5f4a99ccd38cab0b88ae690451b6"
		"3a1e5f4a99ccd38cab0b88ae3afc036b0000000010737737f70700000201000000003e00",
		0x9bb6adb2b47dd590ULL,
	},
	{
		"504d454d4f424a00060000000100000006000000000000004917770e0eac08459f229fad"
		"6b494bda673aeefc1ecd1647b7572a83d9958893ffe49fa8f85f8e4787e77b75210f9c51"
		"82989821986d8543a5a2cd8275d37067673aeefc1ecd1647b7572a83d9958893673aeefc"
		"1ecd1647b7572a83d995889339fc036b0000000010737737f70700000201000000003e00",
		0x3a8574e3e27dce61ULL,
	},
	{
		"504d454d4f424a00060000000100000006000000000000004917770e0eac08459f229fad"
		"6b494bda82989821986d8543a5a2cd8275d37067673aeefc1ecd1647b7572a83d9958893"
		"ffe49fa8f85f8e4787e77b75210f9c51673aeefc1ecd1647b7572a83d9958893673aeefc"
		"1ecd1647b7572a83d995889339fc036b0000000010737737f70700000201000000003e00",
		0x6d7093b3e27dce61ULL,
	},
	{
		"504d454d4f424a00060000000100000006000000000000004917770e0eac08459f229fad"
		"6b494bdaffe49fa8f85f8e4787e77b75210f9c5182989821986d8543a5a2cd8275d37067"
		"673aeefc1ecd1647b7572a83d9958893673aeefc1ecd1647b7572a83d9958893673aeefc"
		"1ecd1647b7572a83d995889339fc036b0000000010737737f70700000201000000003e00",
		0x7f50ab87e27dce61ULL,
	},
	{
		"504d454d4f424a000600000001000000060000000000000070bc130d8e319e4fbb189f65"
		"f1bb274fea338724b647aa4891ebe79afaa93597ea338724b647aa4891ebe79afaa93597"
		"ea338724b647aa4891ebe79afaa935971481ba0388ff1a43a359c6ea57925c661481ba03"
		"88ff1a43a359c6ea57925c66a25a036b0000000010737737f70700000201000000003e00",
		0x843ccd7a0f9f35aeULL,
	},
};

static inline uint8_t golden_nibble(char digit)
{
	return (uint8_t)(strchr("0123456789abcdef", digit) - "0123456789abcdef");
}

static inline void golden_header(enum golden which, uint8_t bytes[4096])
{
	const char *digits = golden_headers[which].fields;

	memset(bytes, 0, 4096);
	for (size_t i = 0; i < 144; i++)
		bytes[i] = (uint8_t)(golden_nibble(digits[2 * i]) << 4 |
				     golden_nibble(digits[2 * i + 1]));
	for (size_t i = 0; i < 8; i++)
		bytes[4088 + i] = (uint8_t)(golden_headers[which].checksum >> (8 * i));
}
