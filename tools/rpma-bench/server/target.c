/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * target.c -- opens a target, registers it, and keeps what a client is told of it.
 */
#include "target.h"

enum { ODP_NO, ODP_YES, ODP_UNKNOWN };

/*
 * Pages of DAX files cannot be pinned for long, so what was registered is paged
 * on demand; of other files some can.
 */
static uint8_t odp_of(enum target_kind kind, bool odp_capable)
{
	if (!odp_capable || (kind != TARGET_FSDAX && !target_is_cached(kind)))
		return ODP_NO;
	return kind == TARGET_FSDAX ? ODP_YES : ODP_UNKNOWN;
}

int offer_open(struct offer *offer, struct rpma_peer *peer, const char *device, bool odp_capable,
	       const char *spec, const struct target_cfg *cfg)
{
	struct offer o = {.region = {.mr = NULL}};
	int ret = target_open(&o.target, spec, cfg);
	struct region_memory memory;

	if (ret)
		return ret;
	memory = (struct region_memory){o.target.memory, o.target.size_bytes, o.target.kind, spec};
	ret = region_open(&o.region, peer, device, &memory);
	if (ret) {
		offer_close(&o);
		return ret;
	}
	o.description = (struct message_target){
		.kind = (uint8_t)o.target.kind,
		.odp = odp_of(o.target.kind, odp_capable),
		.flush_types = o.region.flush_types,
		.numa_node = o.target.numa_node,
		.page_bytes = (uint32_t)o.target.page_bytes,
		.bytes = o.target.size_bytes,
	};
	*offer = o;
	return 0;
}

void offer_close(struct offer *offer)
{
	region_close(&offer->region);
	target_close(&offer->target);
}
