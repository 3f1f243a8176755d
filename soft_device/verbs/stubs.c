/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stubs.c -- functions of libibverbs and librdmacm that this device has nothing behind: of those
 * that programs call some, those after rdma-core 44, and those that libibverbs gives to providers
 * such as libmlx5, which programs link with.
 *
 * They have to be here all the same: one that is missing would be the real library's, which takes
 * our objects for its own and crashes, or where that is not loaded, the loader refuses to start the
 * program, or a call is made through NULL. Each fails in the way that its manual has for it.
 * Nothing is read of the arguments, and headers that declare a function differently do no harm, as
 * the name in C is another one.
 */
#include <errno.h>
#include <infiniband/sa.h>
#include <infiniband/verbs.h>
#include <rdma/ib_user_sa.h>
#include <string.h>

#include "soft_device/process/process.h"

#define FUNCTION(type, name)                                                                       \
	SOFT_EXPORT type stub_##name(void) __asm__(#name);                                         \
	type stub_##name(void)

#define REFUSED(name) REFUSE(EOPNOTSUPP, #name, "not supported")

/* How a function ends: with the error; with NULL, or -1, and errno; well; or it cannot fail. */
#define ERROR(name)                                                                                \
	FUNCTION(int, name)                                                                        \
	{                                                                                          \
		return REFUSED(name);                                                              \
	}
#define NOTHING(name)                                                                              \
	FUNCTION(void *, name)                                                                     \
	{                                                                                          \
		errno = REFUSED(name);                                                             \
		return NULL;                                                                       \
	}
#define MINUS(name)                                                                                \
	FUNCTION(int, name)                                                                        \
	{                                                                                          \
		errno = REFUSED(name);                                                             \
		return -1;                                                                         \
	}
#define ZERO(name)                                                                                 \
	FUNCTION(int, name)                                                                        \
	{                                                                                          \
		return 0;                                                                          \
	}
#define VOID(name)                                                                                 \
	FUNCTION(void, name)                                                                       \
	{                                                                                          \
	}

/* There is no Ethernet below. */
FUNCTION(int, ibv_resolve_eth_l2_from_gid)
{
	return -REFUSED(ibv_resolve_eth_l2_from_gid);
}

/* No kernel object stands behind ours that another process could import. */
NOTHING(ibv_import_device)
NOTHING(ibv_import_pd)
VOID(ibv_unimport_pd)
NOTHING(ibv_import_mr)
VOID(ibv_unimport_mr)
NOTHING(ibv_import_dm)
VOID(ibv_unimport_dm)

NOTHING(ibv_reg_dmabuf_mr)
ERROR(ibv_set_ece)
ERROR(ibv_query_ece)

/* A copy's last 64 bytes come last; nothing more is promised. */
ZERO(ibv_query_qp_data_in_order)

/* Registered memory is reached in the process itself: a fork() does no harm to it. */
ZERO(ibv_fork_init)
ZERO(ibv_dontfork_range)
ZERO(ibv_dofork_range)

SOFT_EXPORT enum ibv_fork_status ibv_is_fork_initialized(void)
{
	return IBV_FORK_UNNEEDED;
}

/* For providers of old, which have nothing to provide here. */
VOID(ibv_register_driver)

/* Between the kernel's structures and those of verbs.h: there is no kernel that fills them. */
/* NOLINTBEGIN(bugprone-macro-parentheses): type is a type */
#define CLEARED(name, type)                                                                        \
	SOFT_EXPORT void stub_##name(type *dst) __asm__(#name);                                    \
	void stub_##name(type *dst)                                                                \
	{                                                                                          \
		memset(dst, 0, sizeof(*dst));                                                      \
	}
/* NOLINTEND(bugprone-macro-parentheses) */
CLEARED(ibv_copy_ah_attr_from_kern, struct ibv_ah_attr)
CLEARED(ibv_copy_qp_attr_from_kern, struct ibv_qp_attr)
CLEARED(ibv_copy_path_rec_from_kern, struct ibv_sa_path_rec)
CLEARED(ibv_copy_path_rec_to_kern, struct ib_user_path_rec)

/* IBVERBS_1.15 to 1.18 */
NOTHING(ibv_alloc_buf)
NOTHING(ibv_alloc_dmah)
NOTHING(ibv_create_comp_cntr)
NOTHING(ibv_reg_buf_mr)
NOTHING(ibv_reg_mr_ex)
ERROR(_ibv_query_comp_cntr_caps)
ERROR(ibv_dealloc_dmah)
ERROR(ibv_destroy_comp_cntr)
ERROR(ibv_inc_comp_cntr)
ERROR(ibv_inc_err_comp_cntr)
ERROR(ibv_qp_attach_comp_cntr)
ERROR(ibv_query_port_speed)
ERROR(ibv_read_comp_cntr)
ERROR(ibv_read_err_comp_cntr)
ERROR(ibv_set_comp_cntr)
ERROR(ibv_set_err_comp_cntr)
MINUS(ibv_dm_export_dmabuf_fd)
MINUS(ibv_export_buf_dmabuf_fd)
VOID(ibv_free_buf)

/* RDMACM_1.4, 1.5 */
MINUS(rdma_query_addrinfo)
MINUS(rdma_resolve_addrinfo)
MINUS(rdma_write_cm_event)
MINUS(repoll_create)
MINUS(repoll_ctl)
MINUS(repoll_wait)

/*
 * For providers. What they register is never asked for a device, so of the rest nothing is called
 * by them. The name of the first has rdma-core's number of this interface: 34 until 56, then the
 * release in which it last changed.
 */
NOTHING(_verbs_init_and_alloc_context)
NOTHING(verbs_open_device)
NOTHING(ibv_dmabuf_heap_alloc)
MINUS(ibv_read_ibdev_sysfs_file)
VOID(__verbs_log)
VOID(verbs_init_cq)
VOID(verbs_set_ops)
VOID(verbs_uninit_context)
VOID(ibv_dmabuf_heap_free)
VOID(ibv_dmabuf_heap_destroy)
ERROR(__ioctl_final_num_attrs)
ERROR(execute_ioctl)
ERROR(ibv_dmabuf_heap_cc_shared_init)

/* These are all ibv_cmd_NAME. */
#define COMMAND(name)		ERROR(ibv_cmd_##name)
#define COMMANDS(a, b, c, d, e) COMMAND(a) COMMAND(b) COMMAND(c) COMMAND(d) COMMAND(e)
COMMANDS(advise_mr, alloc_dm, alloc_dmah, alloc_mw, alloc_pd)
COMMANDS(attach_mcast, close_xrcd, create_ah, create_comp_cntr, create_counters)
COMMANDS(create_cq, create_cq_ex, create_cq_ex2, create_flow, create_flow_action_esp)
COMMANDS(create_qp, create_qp_ex, create_qp_ex2, create_rwq_ind_table, create_srq)
COMMANDS(create_srq_ex, create_wq, dealloc_mw, dealloc_pd, dereg_mr)
COMMANDS(destroy_ah, destroy_comp_cntr, destroy_counters, destroy_cq, destroy_flow)
COMMANDS(destroy_flow_action, destroy_qp, destroy_rwq_ind_table, destroy_srq, destroy_wq)
COMMANDS(detach_mcast, export_dmabuf_fd, free_dm, free_dmah, get_context)
COMMANDS(inc_comp_cntr, inc_err_comp_cntr, modify_cq, modify_flow_action_esp, modify_qp)
COMMANDS(modify_qp_ex, modify_srq, modify_wq, open_qp, open_xrcd)
COMMANDS(poll_cq, post_recv, post_send, post_srq_recv, qp_attach_comp_cntr)
COMMANDS(query_comp_cntr_caps, query_context, query_device_any, query_mr, query_port)
COMMANDS(query_port_speed, query_qp, query_srq, read_comp_cntr, read_counters)
COMMANDS(read_err_comp_cntr, reg_dm_mr, reg_dmabuf_mr, reg_mr, reg_mr_ex)
COMMANDS(req_notify_cq, rereg_mr, resize_cq, set_comp_cntr, set_err_comp_cntr)

SOFT_EXPORT extern bool verbs_allow_disassociate_destroy;
bool verbs_allow_disassociate_destroy;

#define DRIVER(number)	       VOID(verbs_register_driver_##number)
#define DRIVERS(a, b, c, d, e) DRIVER(a) DRIVER(b) DRIVER(c) DRIVER(d) DRIVER(e)
DRIVER(34)
DRIVER(57)
DRIVER(58)
DRIVER(59)
DRIVERS(60, 61, 62, 63, 64)
DRIVERS(65, 66, 67, 68, 69)
DRIVERS(70, 71, 72, 73, 74)
DRIVERS(75, 76, 77, 78, 79)
DRIVERS(80, 81, 82, 83, 84)
DRIVERS(85, 86, 87, 88, 89)
DRIVERS(90, 91, 92, 93, 94)
DRIVERS(95, 96, 97, 98, 99)
