/* SPDX-License-Identifier: BSD-3-Clause */
/* peer.c -- open and close a protection domain on the caller's device. */
#include "peer.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include "address.h"
#include "log.h"
#include "native.h"

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

static bool odp_capable(const struct ibv_odp_caps *caps)
{
	const uint32_t needed = IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ;

	return (caps->general_caps & IBV_ODP_SUPPORT) != 0 &&
	       (caps->per_transport_caps.rc_odp_caps & needed) == needed;
}

/* Fills *caps. RPMA_E_PROVIDER when the device cannot be queried. */
static int rpma_device_query(struct ibv_context *ibv_ctx, struct rpma_device_caps *caps)
{
	struct ibv_device_attr_ex attr = {0};

	int ret = ibv_query_device_ex(ibv_ctx, NULL, &attr);
	if (ret) {
		RPMA_LOG_ERRNO(ret, "ibv_query_device_ex(%s)", ibv_ctx->device->name);
		return RPMA_E_PROVIDER;
	}

	const uint64_t native = RPMA_NATIVE ? attr.device_cap_flags_ex : 0;
	const uint64_t flush = RPMA_DEVICE_FLUSH_GLOBAL | RPMA_DEVICE_FLUSH_PERSISTENT;
	*caps = (struct rpma_device_caps){
		.flush = (native & flush) == flush,
		.atomic_write = (native & RPMA_DEVICE_ATOMIC_WRITE) != 0,
		.odp = odp_capable(&attr.odp_caps),
		.atomics = attr.orig_attr.atomic_cap != IBV_ATOMIC_NONE,
		.iwarp = ibv_ctx->device->transport_type == IBV_TRANSPORT_IWARP,
	};
	return 0;
}

int rpma_utils_ibv_context_is_odp_capable(struct ibv_context *ibv_ctx, int *is_odp_capable)
{
	struct rpma_device_caps caps;

	if (ibv_ctx == NULL || is_odp_capable == NULL)
		return RPMA_FAIL_NULL(ibv_ctx, is_odp_capable);

	*is_odp_capable = 0;
	int ret = rpma_device_query(ibv_ctx, &caps);
	if (ret)
		return ret;

	*is_odp_capable = caps.odp;
	return 0;
}

int rpma_utils_get_ibv_context(const char *addr, enum rpma_util_ibv_context_type type,
			       struct ibv_context **ibv_ctx_ptr)
{
	struct rdma_addrinfo *info;
	struct rdma_cm_id *id;
	int ret;

	if (addr == NULL || ibv_ctx_ptr == NULL)
		return RPMA_FAIL_NULL(addr, ibv_ctx_ptr);
	if (type != RPMA_UTIL_IBV_CONTEXT_LOCAL && type != RPMA_UTIL_IBV_CONTEXT_REMOTE)
		return RPMA_FAIL(RPMA_E_INVAL,
				 "type is %d, expected RPMA_UTIL_IBV_CONTEXT_LOCAL or _REMOTE",
				 (int)type);

	enum rpma_side side = type == RPMA_UTIL_IBV_CONTEXT_LOCAL ? RPMA_PASSIVE : RPMA_ACTIVE;
	ret = rpma_address_new(addr, NULL, side, &info);
	if (ret)
		return ret;
	ret = rpma_address_create_id(NULL, &id);
	if (ret)
		goto free_info;

	ret = side == RPMA_PASSIVE ? rpma_address_bind(info, id)
				   : rpma_address_resolve(info, id, RPMA_DEFAULT_TIMEOUT_MS);
	if (ret)
		goto destroy_id;
	/* Binding to a loopback address names no device (cma_bind_addr() in the kernel). */
	if (id->verbs == NULL && rpma_address_is_loopback(info))
		ret = rpma_address_resolve_self(info, id, RPMA_DEFAULT_TIMEOUT_MS);
	if (ret)
		goto destroy_id;
	if (id->verbs == NULL) { /* a wildcard address belongs to no device */
		RPMA_LOG_ERROR("the address %s is not bound to one RDMA device", addr);
		ret = RPMA_E_PROVIDER;
		goto destroy_id;
	}
	/* librdmacm keeps its devices open for the life of the process. */
	*ibv_ctx_ptr = id->verbs;

destroy_id:
	(void)rdma_destroy_id(id);
free_info:
	rdma_freeaddrinfo(info);
	return ret;
}

static int pd_alloc(struct ibv_context *ibv_ctx, struct ibv_pd **pd_ptr)
{
	errno = 0;
	*pd_ptr = ibv_alloc_pd(ibv_ctx);
	if (*pd_ptr != NULL)
		return 0;

	switch (errno) {
	case ENOMEM:
		return RPMA_FAIL_WITH(RPMA_E_NOMEM, "ibv_alloc_pd(%s): out of memory",
				      ibv_ctx->device->name);
	case 0:
		RPMA_LOG_ERROR("ibv_alloc_pd(%s) failed and gave no reason", ibv_ctx->device->name);
		return RPMA_E_UNKNOWN;
	default:
		RPMA_LOG_ERRNO(errno, "ibv_alloc_pd(%s)", ibv_ctx->device->name);
		return RPMA_E_PROVIDER;
	}
}

int rpma_peer_new(struct ibv_context *ibv_ctx, struct rpma_peer **peer_ptr)
{
	struct rpma_device_caps caps;
	struct ibv_pd *pd;
	int ret;

	if (ibv_ctx == NULL || peer_ptr == NULL)
		return RPMA_FAIL_NULL(ibv_ctx, peer_ptr);

	ret = rpma_device_query(ibv_ctx, &caps);
	if (ret)
		return ret;
	const char *why = RPMA_NATIVE ? "" : " (librpma was built with RPMA_NATIVE=OFF)";
	if (!caps.atomic_write)
		RPMA_LOG_INFO("no native atomic write: rpma_atomic_write() sends an inline write%s",
			      why);
	if (!caps.flush)
		RPMA_LOG_INFO("no native flush: rpma_flush() reads back%s", why);

	ret = pd_alloc(ibv_ctx, &pd);
	if (ret)
		return ret;

	struct rpma_peer *peer = malloc(sizeof(*peer));
	if (peer == NULL) {
		(void)ibv_dealloc_pd(pd);
		return RPMA_FAIL_NOMEM(sizeof(*peer));
	}
	*peer = (struct rpma_peer){.pd = pd, .caps = caps};
	*peer_ptr = peer;
	return 0;
}

int rpma_peer_delete(struct rpma_peer **peer_ptr)
{
	int ret = 0;

	if (peer_ptr == NULL)
		return RPMA_FAIL_NULL(peer_ptr);
	struct rpma_peer *peer = *peer_ptr;
	if (peer == NULL)
		return 0;

	const char *device = peer->pd->context->device->name;
	int err = ibv_dealloc_pd(peer->pd);
	if (err) {
		RPMA_LOG_ERRNO(err, "ibv_dealloc_pd(%s)", device);
		ret = RPMA_E_PROVIDER;
	}
	free(peer);
	*peer_ptr = NULL;
	return ret;
}

int rpma_peer_get_pd(const struct rpma_peer *peer, struct ibv_pd **pd)
{
	if (peer == NULL || pd == NULL)
		return RPMA_FAIL_NULL(peer, pd);

	*pd = peer->pd;
	return 0;
}

int rpma_peer_next_async_event(struct rpma_peer *peer, struct ibv_async_event *event)
{
	if (peer == NULL || event == NULL)
		return RPMA_FAIL_NULL(peer, event);

	struct ibv_context *ibv_ctx = peer->pd->context;
	struct pollfd fd = {.fd = ibv_ctx->async_fd, .events = POLLIN};
	int ready = poll(&fd, 1, 0);
	if (ready == 0 || (ready < 0 && errno == EINTR))
		return RPMA_E_NO_EVENT;
	if (ready < 0 || ibv_get_async_event(ibv_ctx, event)) {
		RPMA_LOG_ERRNO(errno, "%s of device %s",
			       ready < 0 ? "poll()" : "ibv_get_async_event()",
			       ibv_ctx->device->name);
		return RPMA_E_PROVIDER;
	}
	ibv_ack_async_event(event);
	return 0;
}

int rpma_peer_get_caps(const struct rpma_peer *peer, int *caps)
{
	if (peer == NULL || caps == NULL)
		return RPMA_FAIL_NULL(peer, caps);

	*caps = (peer->caps.odp ? RPMA_PEER_CAP_ODP : 0) |
		(peer->caps.flush ? RPMA_PEER_CAP_NATIVE_FLUSH : 0) |
		(peer->caps.atomic_write ? RPMA_PEER_CAP_NATIVE_ATOMIC_WRITE : 0) |
		(peer->caps.atomics ? RPMA_PEER_CAP_ATOMICS : 0);
	return 0;
}
