/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * device.c -- find the RDMA device that serves an address, and ask what it
 * can do.
 */
#include "device.h"
#include "address.h"
#include "log.h"
#include "native.h"

#include <errno.h>

static bool odp_capable(const struct ibv_odp_caps *caps)
{
	const uint32_t needed = IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ;

	return (caps->general_caps & IBV_ODP_SUPPORT) != 0 &&
	       (caps->per_transport_caps.rc_odp_caps & needed) == needed;
}

int rpma_device_query(struct ibv_context *ibv_ctx, struct rpma_device_caps *caps)
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
				 "type is %d, expected RPMA_UTIL_IBV_CONTEXT_LOCAL "
				 "or _REMOTE",
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
