/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * region.c -- registers memory for everything a client may ask of it.
 */
#include "region.h"

#include "connection.h"
#include "librpma_1_4.h"
#include "tools/common/base/failure.h"
#include "tools/common/base/units.h"

static int reg(struct region *region, struct rpma_peer *peer, const struct region_memory *memory)
{
	int usage = RPMA_MR_USAGE_READ_SRC | RPMA_MR_USAGE_WRITE_DST;

	if ((region->flush_types & 1 << RPMA_FLUSH_TYPE_VISIBILITY) != 0)
		usage |= RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY;
	if ((region->flush_types & 1 << RPMA_FLUSH_TYPE_PERSISTENT) != 0)
		usage |= RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT;
	return rpma_mr_reg(peer, memory->bytes, memory->size, usage, &region->mr);
}

/*
 * Persistent flush is refused for some memory on some devices. Such memory gets
 * no native flush at all, so a client does not ask in vain.
 */
static int enroll(struct region *region, struct rpma_peer *peer, const char *device,
		  const struct region_memory *memory)
{
	const uint8_t visibility = 1 << RPMA_FLUSH_TYPE_VISIBILITY;
	char size[UNITS_TEXT_BYTES];
	int ret;

	region->flush_types = visibility;
	if (!target_is_memory(memory->kind))
		region->flush_types |= 1 << RPMA_FLUSH_TYPE_PERSISTENT;
	ret = reg(region, peer, memory);
	if (ret != 0 && region->flush_types != visibility) {
		region->flush_types = visibility;
		ret = reg(region, peer, memory);
	}
	if (ret)
		return failure_because(
			link_cause_of(ret), EXIT_RUN_FAILED, "register",
			"cannot register %s of %s at %s: %s (ulimit -l limits what may "
			"be locked; files need a device with on-demand paging)",
			units_print_size(memory->size, size), memory->of, device, link_cause(ret));
	return 0;
}

int region_open(struct region *region, struct rpma_peer *peer, const char *device,
		const struct region_memory *memory)
{
	struct region r = {.mr = NULL};
	size_t bytes = 0;
	int ret = enroll(&r, peer, device, memory);

	if (ret)
		return ret;
	ret = newest_mr_get_descriptor_size(r.mr, &bytes);
	if (ret == 0 && bytes > sizeof(r.desc))
		ret = RPMA_E_INVAL;
	if (ret == 0)
		ret = newest_mr_get_descriptor(r.mr, r.desc);
	if (ret) {
		region_close(&r);
		return failure_set(EXIT_INTERNAL, "register", "cannot describe the target: %s",
				   link_cause(ret));
	}
	r.desc_bytes = (uint8_t)bytes;
	*region = r;
	return 0;
}

void region_close(struct region *region)
{
	rpma_mr_dereg(&region->mr);
}

int region_describe_host(bool direct_write_to_pmem, uint8_t desc[GREETING_PCFG_DESC_MAX],
			 uint8_t *desc_bytes)
{
	struct rpma_peer_cfg *pcfg = NULL;
	size_t bytes = 0;
	int ret;

	if ((ret = rpma_peer_cfg_new(&pcfg)) == 0 &&
	    (ret = rpma_peer_cfg_set_direct_write_to_pmem(pcfg, direct_write_to_pmem)) == 0)
		ret = rpma_peer_cfg_get_descriptor_size(pcfg, &bytes);
	if (ret == 0 && bytes > GREETING_PCFG_DESC_MAX)
		ret = RPMA_E_INVAL;
	if (ret == 0)
		ret = rpma_peer_cfg_get_descriptor(pcfg, desc);
	*desc_bytes = (uint8_t)bytes;
	rpma_peer_cfg_delete(&pcfg);
	if (ret)
		return failure_set(EXIT_INTERNAL, "register", "cannot describe this host: %s",
				   link_cause(ret));
	return 0;
}
