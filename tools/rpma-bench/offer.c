/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * offer.c -- opens a target, registers it for everything a client may ask for,
 * and keeps what a client is told of it.
 */
#include "offer.h"

#include <string.h>

#include "../common/failure.h"
#include "../common/link.h"
#include "../common/units.h"

enum { ODP_NO, ODP_YES, ODP_UNKNOWN };

/*
 * Pages of DAX files cannot be pinned for long, so what was registered is paged
 * on demand; of other files some can.
 */
static uint8_t odp_of(enum target_kind kind, bool odp_capable)
{
	if (!odp_capable || (kind != TARGET_FSDAX && kind != TARGET_FILE))
		return ODP_NO;
	return kind == TARGET_FSDAX ? ODP_YES : ODP_UNKNOWN;
}

static int reg(struct offer *offer, struct rpma_peer *peer, int flush_types)
{
	int usage = RPMA_MR_USAGE_READ_SRC | RPMA_MR_USAGE_WRITE_DST;

	if ((flush_types & 1 << RPMA_FLUSH_TYPE_VISIBILITY) != 0)
		usage |= RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY;
	if ((flush_types & 1 << RPMA_FLUSH_TYPE_PERSISTENT) != 0)
		usage |= RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT;
	return rpma_mr_reg(peer, offer->target.memory, offer->target.size_bytes, usage, &offer->mr);
}

/*
 * Persistent flush is refused for some memory on some devices, and what was to
 * have it then has no native flush at all: it is not asked for in vain.
 */
static int register_target(struct offer *offer, struct rpma_peer *peer, const char *device,
			   const char *spec, int *flush_types)
{
	const struct target *t = &offer->target;
	char size[UNITS_TEXT_BYTES];
	int ret;

	*flush_types = 1 << RPMA_FLUSH_TYPE_VISIBILITY;
	if (t->kind != TARGET_DRAM && t->kind != TARGET_HUGEPAGES)
		*flush_types |= 1 << RPMA_FLUSH_TYPE_PERSISTENT;
	ret = reg(offer, peer, *flush_types);
	if (ret != 0 && *flush_types != 1 << RPMA_FLUSH_TYPE_VISIBILITY) {
		*flush_types = 1 << RPMA_FLUSH_TYPE_VISIBILITY;
		ret = reg(offer, peer, *flush_types);
	}
	if (ret)
		return failure_set(EXIT_RUN_FAILED, "register",
				   "cannot register %s of %s at %s: %s (ulimit -l limits what may "
				   "be locked; files need a device with on-demand paging)",
				   units_print_size(t->size_bytes, size), spec, device,
				   link_cause(ret));
	return 0;
}

static int describe(struct offer *offer)
{
	size_t bytes = 0;
	int ret = rpma_mr_get_descriptor_size(offer->mr, &bytes);

	if (ret == 0 && bytes > sizeof(offer->mr_desc))
		ret = RPMA_E_INVAL;
	if (ret == 0)
		ret = rpma_mr_get_descriptor(offer->mr, offer->mr_desc);
	if (ret)
		return failure_set(EXIT_INTERNAL, "register", "cannot describe the target: %s",
				   link_cause(ret));
	offer->mr_desc_bytes = (uint8_t)bytes;
	return 0;
}

int offer_open(struct offer *offer, struct rpma_peer *peer, const char *device, bool odp_capable,
	       const char *spec, const struct target_cfg *cfg)
{
	struct offer o = {.mr = NULL};
	int flush_types = 0;
	int ret = target_open(&o.target, spec, cfg);

	if (ret)
		return ret;
	if ((ret = register_target(&o, peer, device, spec, &flush_types)) || (ret = describe(&o))) {
		offer_close(&o);
		return ret;
	}
	o.description = (struct message_target){
		.kind = (uint8_t)o.target.kind,
		.odp = odp_of(o.target.kind, odp_capable),
		.flush_types = (uint8_t)flush_types,
		.numa_node = o.target.numa_node,
		.page_bytes = (uint32_t)o.target.page_bytes,
		.bytes = o.target.size_bytes,
	};
	*offer = o;
	return 0;
}

void offer_close(struct offer *offer)
{
	rpma_mr_dereg(&offer->mr);
	target_close(&offer->target);
}
