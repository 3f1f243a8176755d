/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * native.h -- RDMA FLUSH and ATOMIC WRITE (IBTA 1.5 and later) as verbs have them, also for
 * headers that do not know them: what a device can do is found out when the program runs, so
 * it must not depend on the host that the library was built on.
 *
 * The values are ABI: Linux include/uapi/rdma/ib_user_ioctl_verbs.h, and verbs.h of
 * rdma-core, which has the atomic write since release 44 and the flush since 45.
 */
#pragma once

#include <infiniband/verbs.h>
#include <stddef.h>

/* device_cap_flags_ex (enum ib_uverbs_device_cap_flags) */
#define RPMA_DEVICE_FLUSH_GLOBAL     (UINT64_C(1) << 38)
#define RPMA_DEVICE_FLUSH_PERSISTENT (UINT64_C(1) << 39)
#define RPMA_DEVICE_ATOMIC_WRITE     (UINT64_C(1) << 40)

/* IBV_ACCESS_* */
#define RPMA_ACCESS_FLUSH_GLOBAL     (1u << 8)
#define RPMA_ACCESS_FLUSH_PERSISTENT (1u << 9)

/* IBV_QP_EX_WITH_*: a provider that does not know an operation refuses the queue pair */
#define RPMA_QP_EX_WITH_FLUSH	     (UINT64_C(1) << 11)
#define RPMA_QP_EX_WITH_ATOMIC_WRITE (UINT64_C(1) << 12)

/* IBV_FLUSH_*: placement types and levels */
#define RPMA_FLUSH_GLOBAL     1u
#define RPMA_FLUSH_PERSISTENT 2u
#define RPMA_FLUSH_RANGE      0u
#define RPMA_FLUSH_MR	      1u

/* The functions behind wr_abort in struct ibv_qp_ex, valid if their operations were granted. */
struct rpma_native_ops {
	void (*atomic_write)(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
			     const void *data);
	void (*flush)(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, size_t len,
		      uint8_t type, uint8_t level);
};

static inline const struct rpma_native_ops *rpma_native_ops(const struct ibv_qp_ex *qpx)
{
	return (const void *)((const char *)qpx + offsetof(struct ibv_qp_ex, wr_abort) +
			      sizeof(qpx->wr_abort));
}
