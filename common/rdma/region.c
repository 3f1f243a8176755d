/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * region.c -- registers memory for everything the other host may ask of it, and
 * takes what that host registered.
 */
#include "region.h"

#include <string.h>

#include "common/base/bytes.h"
#include "common/base/failure.h"
#include "common/base/units.h"
#include "common/host/rlimits.h"
#include "connection.h"
#include "librpma_1_4.h"

/* The software device has it, and no other one: rpma-soft(1), CHECKS. */
void rpma_soft_durable_at_peer(uint32_t qp_num, uint64_t addr, size_t length) __attribute__((weak));

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
	char size[UNITS_TEXT_BYTES], limit[UNITS_TEXT_BYTES];
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
		return librpma_failed(
			ret, "register",
			"cannot register %s of %s at %s: %s (this process may lock %s: see ulimit "
			"-l; files need a device with on-demand paging)",
			units_print_size(memory->size, size), memory->of, device,
			connection_cause(ret), memlock_print_limit(limit));
	return 0;
}

static int describe(struct region *region)
{
	size_t bytes = 0;
	int ret = newest_mr_get_descriptor_size(region->mr, &bytes);

	if (ret == 0 && bytes > sizeof(region->desc.mr))
		ret = RPMA_E_INVAL;
	if (ret == 0)
		ret = newest_mr_get_descriptor(region->mr, region->desc.mr);
	region->desc.mr_bytes = (uint8_t)bytes;
	return ret == 0 ? 0
			: failure_set(EXIT_INTERNAL, "register", "cannot describe the target: %s",
				      connection_cause(ret));
}

/* This host's description of itself as a peer. */
static int describe_host(bool direct_write_to_pmem, struct region_desc *desc)
{
	struct rpma_peer_cfg *pcfg = NULL;
	size_t bytes = 0;
	int ret;

	if ((ret = rpma_peer_cfg_new(&pcfg)) == 0 &&
	    (ret = rpma_peer_cfg_set_direct_write_to_pmem(pcfg, direct_write_to_pmem)) == 0)
		ret = rpma_peer_cfg_get_descriptor_size(pcfg, &bytes);
	if (ret == 0 && bytes > sizeof(desc->pcfg))
		ret = RPMA_E_INVAL;
	if (ret == 0)
		ret = rpma_peer_cfg_get_descriptor(pcfg, desc->pcfg);
	desc->pcfg_bytes = (uint8_t)bytes;
	rpma_peer_cfg_delete(&pcfg);
	if (ret)
		return failure_set(EXIT_INTERNAL, "register", "cannot describe this host: %s",
				   connection_cause(ret));
	return 0;
}

int region_open(struct region *region, struct rpma_peer *peer, const char *device,
		const struct region_memory *memory)
{
	struct region r = {.mr = NULL};
	int ret;

	if ((ret = enroll(&r, peer, device, memory)) || (ret = describe(&r)) ||
	    (ret = describe_host(memory->direct_write_to_pmem, &r.desc))) {
		region_close(&r);
		return ret;
	}
	*region = r;
	return 0;
}

void region_close(struct region *region)
{
	rpma_mr_dereg(&region->mr);
}

void region_encode_reply(const struct region *region, enum handshake_answer answer, uint64_t word,
			 uint8_t bytes[HANDSHAKE_REPLY_BYTES])
{
	struct handshake_reply reply = {
		.version = HANDSHAKE_VERSION, .answer = answer, .word = word};

	if (region != NULL)
		reply.desc = region->desc;
	handshake_encode_reply(&reply, bytes);
}

/* librpma's descriptors begin with it (librpma/src/mr_desc.c). */
static uint64_t addr_of(const struct region_desc *desc)
{
	struct bytes_reader r = {desc->mr, desc->mr_bytes, false};

	return bytes_get_int(&r, 8);
}

int region_take(struct region_remote *remote, const struct region_desc *desc,
		struct rpma_conn *conn)
{
	struct rpma_peer_cfg *pcfg = NULL;
	int ret = rpma_mr_remote_from_descriptor(desc->mr, desc->mr_bytes, &remote->mr);

	if (ret == 0)
		remote->addr = addr_of(desc);
	if (ret == 0)
		ret = rpma_peer_cfg_from_descriptor(desc->pcfg, desc->pcfg_bytes, &pcfg);
	if (ret == 0)
		ret = rpma_peer_cfg_get_direct_write_to_pmem(pcfg, &remote->direct_write_to_pmem);
	if (ret == 0)
		ret = rpma_conn_apply_remote_peer_cfg(conn, pcfg);
	if (ret == 0)
		ret = rpma_mr_remote_get_flush_type(remote->mr, &remote->flush_types);
	if (ret == 0)
		ret = rpma_mr_remote_get_size(remote->mr, &remote->bytes);
	rpma_peer_cfg_delete(&pcfg);
	return ret;
}

bool region_marks_are_heard(void)
{
	return rpma_soft_durable_at_peer != NULL;
}

void region_mark_durable(const struct rpma_conn *conn, uint64_t addr, size_t length)
{
	uint32_t number;

	if (rpma_soft_durable_at_peer != NULL && rpma_conn_get_qp_num(conn, &number) == 0)
		rpma_soft_durable_at_peer(number, addr, length);
}
