/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_hello.c -- what a client of the fio engine sends, and what it gets.
 *
 * What decodes must be within its ranges, and come back from being encoded.
 */
#include <stdlib.h>
#include <string.h>

#include "fio_engine/hello.h"
#include "fuzz.h"

static void hold(int condition)
{
	if (!condition)
		abort();
}

static void try_hello(const uint8_t *data, size_t size)
{
	uint8_t bytes[HANDSHAKE_REQUEST_BYTES];
	enum handshake_answer answer;
	struct hello hello;

	if (hello_decode(data, size, &hello, &answer) != 0)
		return;
	if (answer != HANDSHAKE_WELCOME) {
		hold(answer == HANDSHAKE_WRONG_VERSION || answer == HANDSHAKE_OTHER_TOOL);
		return;
	}
	hold(hello.method > METHOD_ANY && hello.method < METHODS);
	hold(hello.job < hello.jobs);
	hold(hello.imm_bytes == 0 || (hello.method == METHOD_GPSPM && hello.depth > 0));
	hello_encode(&hello, bytes);
	/* the one byte of the handshake that is not read */
	hold(size >= sizeof(bytes) && memcmp(bytes, data, 11) == 0 &&
	     memcmp(bytes + 12, data + 12, sizeof(bytes) - 12) == 0);
}

static void try_offer(const uint8_t *data, size_t size)
{
	struct offer offer;
	uint64_t word;

	if (size != sizeof(word))
		return;
	memcpy(&word, data, sizeof(word));
	if (offer_decode(word, &offer) != 0)
		return;
	hold(offer.refusal < REFUSALS && offer.method < METHODS && offer.kind < TARGET_KINDS &&
	     offer.persist < PERSIST_METHODS);
	hold(offer_encode(&offer) == word);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	try_hello(data, size);
	try_offer(data, size);
	return 0;
}

size_t fuzz_seed(size_t index, uint8_t input[FUZZ_INPUT_MAX])
{
	const struct hello hello = {METHOD_GPSPM, 1, 4, 77, false, 32, 4096};
	const struct offer offer = {.method = METHOD_APM, .kind = TARGET_FSDAX, .depth = 512};
	const uint64_t word = offer_encode(&offer);

	switch (index) {
	case 0:
		hello_encode(&hello, input);
		return HANDSHAKE_REQUEST_BYTES;
	case 1:
		memcpy(input, &word, sizeof(word));
		return sizeof(word);
	default:
		return 0;
	}
}
