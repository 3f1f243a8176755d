/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * newer.c -- functions of libibverbs and librdmacm after rdma-core 44, and those that libibverbs
 * gives to providers such as libmlx5, which programs link with.
 *
 * The device has nothing behind them. They are here because the real libraries are not loaded:
 * without them the loader refuses to start the program, or a call is made through NULL. Nothing
 * is read of the arguments, and headers that declare a function differently do no harm, as the
 * name in C is another one.
 */
#include <errno.h>
#include <stddef.h>

#include "soft_device/process/process.h"

#define FUNCTION(type, name)                                                                       \
	SOFT_EXPORT type newer_##name(void) __asm__(#name);                                        \
	type newer_##name(void)

#define REFUSED(name) REFUSE(EOPNOTSUPP, #name, "not supported")

/* How a function fails: with the error; with NULL, or -1, and errno; or it cannot. */
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
#define VOID(name)                                                                                 \
	FUNCTION(void, name)                                                                       \
	{                                                                                          \
	}

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
ERROR(ibv_cmd_advise_mr)
ERROR(ibv_cmd_alloc_dm)
ERROR(ibv_cmd_alloc_dmah)
ERROR(ibv_cmd_alloc_mw)
ERROR(ibv_cmd_alloc_pd)
ERROR(ibv_cmd_attach_mcast)
ERROR(ibv_cmd_close_xrcd)
ERROR(ibv_cmd_create_ah)
ERROR(ibv_cmd_create_comp_cntr)
ERROR(ibv_cmd_create_counters)
ERROR(ibv_cmd_create_cq)
ERROR(ibv_cmd_create_cq_ex)
ERROR(ibv_cmd_create_cq_ex2)
ERROR(ibv_cmd_create_flow)
ERROR(ibv_cmd_create_flow_action_esp)
ERROR(ibv_cmd_create_qp)
ERROR(ibv_cmd_create_qp_ex)
ERROR(ibv_cmd_create_qp_ex2)
ERROR(ibv_cmd_create_rwq_ind_table)
ERROR(ibv_cmd_create_srq)
ERROR(ibv_cmd_create_srq_ex)
ERROR(ibv_cmd_create_wq)
ERROR(ibv_cmd_dealloc_mw)
ERROR(ibv_cmd_dealloc_pd)
ERROR(ibv_cmd_dereg_mr)
ERROR(ibv_cmd_destroy_ah)
ERROR(ibv_cmd_destroy_comp_cntr)
ERROR(ibv_cmd_destroy_counters)
ERROR(ibv_cmd_destroy_cq)
ERROR(ibv_cmd_destroy_flow)
ERROR(ibv_cmd_destroy_flow_action)
ERROR(ibv_cmd_destroy_qp)
ERROR(ibv_cmd_destroy_rwq_ind_table)
ERROR(ibv_cmd_destroy_srq)
ERROR(ibv_cmd_destroy_wq)
ERROR(ibv_cmd_detach_mcast)
ERROR(ibv_cmd_export_dmabuf_fd)
ERROR(ibv_cmd_free_dm)
ERROR(ibv_cmd_free_dmah)
ERROR(ibv_cmd_get_context)
ERROR(ibv_cmd_inc_comp_cntr)
ERROR(ibv_cmd_inc_err_comp_cntr)
ERROR(ibv_cmd_modify_cq)
ERROR(ibv_cmd_modify_flow_action_esp)
ERROR(ibv_cmd_modify_qp)
ERROR(ibv_cmd_modify_qp_ex)
ERROR(ibv_cmd_modify_srq)
ERROR(ibv_cmd_modify_wq)
ERROR(ibv_cmd_open_qp)
ERROR(ibv_cmd_open_xrcd)
ERROR(ibv_cmd_poll_cq)
ERROR(ibv_cmd_post_recv)
ERROR(ibv_cmd_post_send)
ERROR(ibv_cmd_post_srq_recv)
ERROR(ibv_cmd_qp_attach_comp_cntr)
ERROR(ibv_cmd_query_comp_cntr_caps)
ERROR(ibv_cmd_query_context)
ERROR(ibv_cmd_query_device_any)
ERROR(ibv_cmd_query_mr)
ERROR(ibv_cmd_query_port)
ERROR(ibv_cmd_query_port_speed)
ERROR(ibv_cmd_query_qp)
ERROR(ibv_cmd_query_srq)
ERROR(ibv_cmd_read_comp_cntr)
ERROR(ibv_cmd_read_counters)
ERROR(ibv_cmd_read_err_comp_cntr)
ERROR(ibv_cmd_reg_dm_mr)
ERROR(ibv_cmd_reg_dmabuf_mr)
ERROR(ibv_cmd_reg_mr)
ERROR(ibv_cmd_reg_mr_ex)
ERROR(ibv_cmd_req_notify_cq)
ERROR(ibv_cmd_rereg_mr)
ERROR(ibv_cmd_resize_cq)
ERROR(ibv_cmd_set_comp_cntr)
ERROR(ibv_cmd_set_err_comp_cntr)

SOFT_EXPORT extern bool verbs_allow_disassociate_destroy;
bool verbs_allow_disassociate_destroy;

#define DRIVER(number) VOID(verbs_register_driver_##number)
DRIVER(34)
DRIVER(57)
DRIVER(58)
DRIVER(59)
DRIVER(60)
DRIVER(61)
DRIVER(62)
DRIVER(63)
DRIVER(64)
DRIVER(65)
DRIVER(66)
DRIVER(67)
DRIVER(68)
DRIVER(69)
DRIVER(70)
DRIVER(71)
DRIVER(72)
DRIVER(73)
DRIVER(74)
DRIVER(75)
DRIVER(76)
DRIVER(77)
DRIVER(78)
DRIVER(79)
DRIVER(80)
DRIVER(81)
DRIVER(82)
DRIVER(83)
DRIVER(84)
DRIVER(85)
DRIVER(86)
DRIVER(87)
DRIVER(88)
DRIVER(89)
DRIVER(90)
DRIVER(91)
DRIVER(92)
DRIVER(93)
DRIVER(94)
DRIVER(95)
DRIVER(96)
DRIVER(97)
DRIVER(98)
DRIVER(99)
