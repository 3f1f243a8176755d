/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * client_region.c -- maps, registers and describes the client's memory. It is
 * plain memory: it need not be persistent.
 */
#include "client_region.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "common/base/failure.h"
#include "common/base/units.h"
#include "offsets.h"

#define SIZE_MAX_BYTES (64ULL << 20)

size_t client_region_bytes(const struct params *params, uint64_t target_bytes)
{
	uint64_t least = access_slice_min(params) * params_qps(params);
	uint64_t most = target_bytes < SIZE_MAX_BYTES ? target_bytes : SIZE_MAX_BYTES;

	return (size_t)(least > most ? least : most);
}

static int map(struct client_region *e)
{
	char size[UNITS_TEXT_BYTES];
	void *memory = mmap(NULL, e->size_bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return failure_set(EXIT_RUN_FAILED, "memory", "cannot map %s for the server: %s",
				   units_print_size(e->size_bytes, size), strerror(errno));
	e->bytes = memory;
	memset(memory, 0, e->size_bytes);
	return 0;
}

static void describe(const struct client_region *e, struct message_begin *begin)
{
	begin->client_bytes = e->size_bytes;
	begin->client_mr_desc_bytes = e->region.desc_bytes;
	memcpy(begin->client_mr_desc, e->region.desc, sizeof(begin->client_mr_desc));
	begin->client_pcfg_desc_bytes = e->region.pcfg_desc_bytes;
	memcpy(begin->client_pcfg_desc, e->region.pcfg_desc, sizeof(begin->client_pcfg_desc));
}

int client_region_make(struct client_region *client_region, struct rpma_peer *peer,
		       const char *device, uint64_t target_bytes, struct message_begin *begin)
{
	struct client_region e = {.size_bytes = client_region_bytes(&begin->params, target_bytes)};
	struct region_memory memory = {
		.size = e.size_bytes, .kind = TARGET_DRAM, .of = "memory for the server"};
	int ret = map(&e);

	memory.bytes = e.bytes;
	if (ret == 0)
		ret = region_open(&e.region, peer, device, &memory);
	if (ret) {
		client_region_free(&e);
		return ret;
	}
	describe(&e, begin);
	*client_region = e;
	return 0;
}

void client_region_free(struct client_region *client_region)
{
	struct failure kept = *failure_get();

	region_close(&client_region->region);
	if (client_region->bytes != NULL)
		munmap(client_region->bytes, client_region->size_bytes);
	*client_region = (struct client_region){0};
	*failure_get() = kept;
}
