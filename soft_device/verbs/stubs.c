/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stubs.c -- the public functions of libibverbs that this device has nothing behind.
 *
 * They have to be here all the same: one that is missing would be the real library's, which
 * takes our objects for its own and crashes. Each fails in the way that its manual has for it.
 */
#include <errno.h>
#include <infiniband/sa.h>
#include <infiniband/verbs.h>
#include <rdma/ib_user_sa.h>
#include <string.h>

#include "soft_device/faults/call.h"
#include "soft_device/process/process.h"

#define UNUSED __attribute__((unused))

/* Pointers fail with NULL and errno. */
#define UNSUPPORTED()	   REFUSE(EOPNOTSUPP, __func__, "not supported")
#define UNSUPPORTED_NULL() call_failed_null(UNSUPPORTED())

/* There is no Ethernet below. */
SOFT_EXPORT int ibv_resolve_eth_l2_from_gid(UNUSED struct ibv_context *context,
					    UNUSED struct ibv_ah_attr *attr,
					    UNUSED uint8_t eth_mac[ETHERNET_LL_SIZE],
					    UNUSED uint16_t *vid)
{
	return -UNSUPPORTED();
}

/* No kernel object stands behind ours that another process could import. */
SOFT_EXPORT struct ibv_context *ibv_import_device(UNUSED int cmd_fd)
{
	return UNSUPPORTED_NULL();
}

SOFT_EXPORT struct ibv_pd *ibv_import_pd(UNUSED struct ibv_context *context,
					 UNUSED uint32_t pd_handle)
{
	return UNSUPPORTED_NULL();
}

SOFT_EXPORT void ibv_unimport_pd(UNUSED struct ibv_pd *pd)
{
}

SOFT_EXPORT struct ibv_mr *ibv_import_mr(UNUSED struct ibv_pd *pd, UNUSED uint32_t mr_handle)
{
	return UNSUPPORTED_NULL();
}

SOFT_EXPORT void ibv_unimport_mr(UNUSED struct ibv_mr *mr)
{
}

SOFT_EXPORT struct ibv_dm *ibv_import_dm(UNUSED struct ibv_context *context,
					 UNUSED uint32_t dm_handle)
{
	return UNSUPPORTED_NULL();
}

SOFT_EXPORT void ibv_unimport_dm(UNUSED struct ibv_dm *dm)
{
}

SOFT_EXPORT int ibv_set_ece(UNUSED struct ibv_qp *qp, UNUSED struct ibv_ece *ece)
{
	return UNSUPPORTED();
}

SOFT_EXPORT int ibv_query_ece(UNUSED struct ibv_qp *qp, UNUSED struct ibv_ece *ece)
{
	return UNSUPPORTED();
}

/* A copy's last 64 bytes come last; nothing more is promised. */
SOFT_EXPORT int ibv_query_qp_data_in_order(UNUSED struct ibv_qp *qp, UNUSED enum ibv_wr_opcode op,
					   UNUSED uint32_t flags)
{
	return 0;
}

/* Registered memory is reached in the process itself: a fork() does no harm to it. */
SOFT_EXPORT int ibv_fork_init(void)
{
	return 0;
}

SOFT_EXPORT enum ibv_fork_status ibv_is_fork_initialized(void)
{
	return IBV_FORK_UNNEEDED;
}

SOFT_EXPORT int ibv_dontfork_range(void *base, size_t size);
int ibv_dontfork_range(UNUSED void *base, UNUSED size_t size)
{
	return 0;
}

SOFT_EXPORT int ibv_dofork_range(void *base, size_t size);
int ibv_dofork_range(UNUSED void *base, UNUSED size_t size)
{
	return 0;
}

/* For providers of old, which have nothing to provide here. */
SOFT_EXPORT void ibv_register_driver(const char *name, void *init_func);
void ibv_register_driver(UNUSED const char *name, UNUSED void *init_func)
{
}

/* Between the kernel's structures and those of verbs.h: there is no kernel that fills them. */
struct ib_uverbs_ah_attr;
struct ib_uverbs_qp_attr;

SOFT_EXPORT void ibv_copy_ah_attr_from_kern(struct ibv_ah_attr *dst, struct ib_uverbs_ah_attr *src);
void ibv_copy_ah_attr_from_kern(struct ibv_ah_attr *dst, UNUSED struct ib_uverbs_ah_attr *src)
{
	memset(dst, 0, sizeof(*dst));
}

SOFT_EXPORT void ibv_copy_qp_attr_from_kern(struct ibv_qp_attr *dst, struct ib_uverbs_qp_attr *src);
void ibv_copy_qp_attr_from_kern(struct ibv_qp_attr *dst, UNUSED struct ib_uverbs_qp_attr *src)
{
	memset(dst, 0, sizeof(*dst));
}

SOFT_EXPORT void ibv_copy_path_rec_from_kern(struct ibv_sa_path_rec *dst,
					     struct ib_user_path_rec *src);
void ibv_copy_path_rec_from_kern(struct ibv_sa_path_rec *dst, UNUSED struct ib_user_path_rec *src)
{
	memset(dst, 0, sizeof(*dst));
}

SOFT_EXPORT void ibv_copy_path_rec_to_kern(struct ib_user_path_rec *dst,
					   struct ibv_sa_path_rec *src);
void ibv_copy_path_rec_to_kern(struct ib_user_path_rec *dst, UNUSED struct ibv_sa_path_rec *src)
{
	memset(dst, 0, sizeof(*dst));
}
