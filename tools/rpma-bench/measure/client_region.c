/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * client_region.c -- maps, registers and describes the client's memory. It is
 * plain memory: it need not be persistent.
 */
#include "client_region.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "offsets.h"
#include "tools/common/base/failure.h"
#include "tools/common/base/units.h"
#include "tools/common/rdma/connection.h"
#include "tools/common/rdma/librpma_1_4.h"

#define SIZE_MAX_BYTES (64ULL << 20)

static size_t choose_size(const struct params *params, uint64_t target_bytes)
{
	uint64_t least = access_slice_min(params) * params_lanes(params);
	uint64_t most = target_bytes < SIZE_MAX_BYTES ? target_bytes : SIZE_MAX_BYTES;

	return (size_t)(least > most ? least : most);
}

static int map(struct exposed *e)
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

static int enroll(struct exposed *e, struct rpma_peer *peer)
{
	const int usage = RPMA_MR_USAGE_READ_SRC | RPMA_MR_USAGE_WRITE_DST |
			  RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY;
	char size[UNITS_TEXT_BYTES];
	int ret = rpma_mr_reg(peer, e->bytes, e->size_bytes, usage, &e->mr);

	if (ret)
		return failure_because(
			link_cause_of(ret), EXIT_RUN_FAILED, "register",
			"cannot register %s for the server: %s (ulimit -l limits what "
			"may be locked)",
			units_print_size(e->size_bytes, size), link_cause(ret));
	return 0;
}

static int describe(const struct exposed *e, struct message_begin *begin)
{
	struct rpma_peer_cfg *pcfg = NULL;
	size_t mr_bytes = 0, pcfg_bytes = 0;
	int ret;

	if ((ret = rpma_peer_cfg_new(&pcfg)) ||
	    (ret = rpma_peer_cfg_get_descriptor_size(pcfg, &pcfg_bytes)) ||
	    (ret = newest_mr_get_descriptor_size(e->mr, &mr_bytes)))
		goto out;
	if (mr_bytes > sizeof(begin->client_mr_desc) ||
	    pcfg_bytes > sizeof(begin->client_pcfg_desc)) {
		ret = RPMA_E_INVAL;
		goto out;
	}
	begin->client_bytes = e->size_bytes;
	begin->client_mr_desc_bytes = (uint8_t)mr_bytes;
	begin->client_pcfg_desc_bytes = (uint8_t)pcfg_bytes;
	if ((ret = newest_mr_get_descriptor(e->mr, begin->client_mr_desc)) == 0)
		ret = rpma_peer_cfg_get_descriptor(pcfg, begin->client_pcfg_desc);
out:
	rpma_peer_cfg_delete(&pcfg);
	if (ret)
		return failure_set(EXIT_INTERNAL, "register",
				   "cannot describe memory for the server: %s", link_cause(ret));
	return 0;
}

int exposed_make(struct exposed *exposed, struct rpma_peer *peer, uint64_t target_bytes,
		 struct message_begin *begin)
{
	struct exposed e = {.size_bytes = choose_size(&begin->params, target_bytes)};
	int ret = map(&e);

	if (ret == 0)
		ret = enroll(&e, peer);
	if (ret == 0)
		ret = describe(&e, begin);
	if (ret)
		exposed_free(&e);
	else
		*exposed = e;
	return ret;
}

void exposed_free(struct exposed *exposed)
{
	struct failure kept = *failure_get();

	rpma_mr_dereg(&exposed->mr);
	if (exposed->bytes != NULL)
		munmap(exposed->bytes, exposed->size_bytes);
	*exposed = (struct exposed){0};
	*failure_get() = kept;
}
