/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_descriptor.c -- the descriptors that librpma takes from a peer: a
 * region's, and a peer's configuration.
 */
#include <librpma.h>

#include "fuzz.h"

static void quiet(enum rpma_log_level level, const char *file_name, const int line_no,
		  const char *function_name, const char *message_format, ...)
{
	(void)level;
	(void)file_name;
	(void)line_no;
	(void)function_name;
	(void)message_format;
}

/* The length is bytes 8 to 15, little-endian; bits 4 and 5 of byte 20 are flush types. */
static void try_region(const uint8_t *data, size_t size)
{
	struct rpma_mr_remote *mr = NULL;
	uint64_t declared = 0;
	size_t bytes = 0;
	int types = -1;

	if (rpma_mr_remote_from_descriptor(data, size, &mr) != 0) {
		hold(mr == NULL);
		return;
	}
	hold(size >= 21);
	for (size_t i = 0; i < 8; i++)
		declared |= (uint64_t)data[8 + i] << (8 * i);
	hold(rpma_mr_remote_get_size(mr, &bytes) == 0 && bytes == declared);
	hold(rpma_mr_remote_get_flush_type(mr, &types) == 0);
	hold(types == (data[20] & (RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY |
				   RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT)));
	hold(rpma_mr_remote_delete(&mr) == 0 && mr == NULL);
}

static void try_peer(const uint8_t *data, size_t size)
{
	struct rpma_peer_cfg *pcfg = NULL;
	bool direct = false;

	if (rpma_peer_cfg_from_descriptor(data, size, &pcfg) != 0) {
		hold(pcfg == NULL);
		return;
	}
	hold(size >= 1);
	hold(rpma_peer_cfg_get_direct_write_to_pmem(pcfg, &direct) == 0);
	hold(direct == (data[0] != 0));
	hold(rpma_peer_cfg_delete(&pcfg) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	rpma_log_set_function(quiet);
	try_region(data, size);
	try_peer(data, size);
	return 0;
}

/* Two seeds: with and without the byte for "native flush too". */
size_t fuzz_seed(size_t index, uint8_t input[FUZZ_INPUT_MAX])
{
	if (index > 1)
		return 0;
	memset(input, 0, 22);
	input[6] = 0x7f;
	input[9] = 0x10;
	input[16] = 0x77;
	input[20] = 0x39;
	input[21] = 1;
	return 21 + index;
}
