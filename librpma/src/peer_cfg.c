/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peer_cfg.c -- the peer configuration and its one-byte descriptor:
 * 0, or 1 when the platform allows direct write to PMem. A longer descriptor
 * is accepted and any byte but 0 means yes, as librpma has always done.
 */
#include "log.h"
#include "peer.h"

#include <stdlib.h>

enum { DESCRIPTOR_SIZE = 1 };

static int peer_cfg_new(bool direct_write_to_pmem, struct rpma_peer_cfg **pcfg_ptr)
{
	struct rpma_peer_cfg *pcfg = malloc(sizeof(*pcfg));
	if (pcfg == NULL)
		return RPMA_FAIL_NOMEM(sizeof(*pcfg));

	atomic_init(&pcfg->direct_write_to_pmem, direct_write_to_pmem);
	*pcfg_ptr = pcfg;
	return 0;
}

int rpma_peer_cfg_new(struct rpma_peer_cfg **pcfg_ptr)
{
	if (pcfg_ptr == NULL)
		return RPMA_FAIL_NULL(pcfg_ptr);

	return peer_cfg_new(false, pcfg_ptr);
}

int rpma_peer_cfg_delete(struct rpma_peer_cfg **pcfg_ptr)
{
	if (pcfg_ptr == NULL)
		return RPMA_FAIL_NULL(pcfg_ptr);

	free(*pcfg_ptr);
	*pcfg_ptr = NULL;
	return 0;
}

int rpma_peer_cfg_set_direct_write_to_pmem(struct rpma_peer_cfg *pcfg, bool supported)
{
	if (pcfg == NULL)
		return RPMA_FAIL_NULL(pcfg);

	atomic_store(&pcfg->direct_write_to_pmem, supported);
	return 0;
}

int rpma_peer_cfg_get_direct_write_to_pmem(const struct rpma_peer_cfg *pcfg, bool *supported)
{
	if (pcfg == NULL || supported == NULL)
		return RPMA_FAIL_NULL(pcfg, supported);

	*supported = atomic_load(&pcfg->direct_write_to_pmem);
	return 0;
}

int rpma_peer_cfg_get_descriptor(const struct rpma_peer_cfg *pcfg, void *desc)
{
	if (pcfg == NULL || desc == NULL)
		return RPMA_FAIL_NULL(pcfg, desc);

	*(uint8_t *)desc = atomic_load(&pcfg->direct_write_to_pmem);
	return 0;
}

int rpma_peer_cfg_get_descriptor_size(const struct rpma_peer_cfg *pcfg, size_t *desc_size)
{
	if (pcfg == NULL || desc_size == NULL)
		return RPMA_FAIL_NULL(pcfg, desc_size);

	*desc_size = DESCRIPTOR_SIZE;
	return 0;
}

int rpma_peer_cfg_from_descriptor(const void *desc, size_t desc_size,
				  struct rpma_peer_cfg **pcfg_ptr)
{
	if (desc == NULL || pcfg_ptr == NULL)
		return RPMA_FAIL_NULL(desc, pcfg_ptr);
	if (desc_size < DESCRIPTOR_SIZE) {
		RPMA_LOG_ERROR("a peer configuration descriptor of %zu bytes, %d needed", desc_size,
			       DESCRIPTOR_SIZE);
		return RPMA_E_INVAL;
	}

	bool direct_write = *(const uint8_t *)desc != 0;
	RPMA_LOG_INFO("the remote peer declares direct write to PMem: %s",
		      direct_write ? "yes" : "no");
	return peer_cfg_new(direct_write, pcfg_ptr);
}
