/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * objects.h -- shared by the files of devices, contexts, PDs, MRs, CQs and channels;
 * private to them.
 */
#pragma once

#include <stdint.h>

#include "device.h"
#include "mr.h"

/* ibv_alloc_pd() for the device's own use; NULL with errno. */
struct pd *pd_make(struct context *context);

/* domain.c, reached through the verbs_context; and what ibv_dealloc_pd() does for one of them. */
struct ibv_pd *parent_domain_alloc(struct ibv_context *ibv,
				   struct ibv_parent_domain_init_attr *attr);
void parent_domain_free(struct pd *pd);
struct ibv_td *td_alloc(struct ibv_context *ibv, struct ibv_td_init_attr *attr);
int td_dealloc(struct ibv_td *ibv);
/*
 * Memory of a send queue in this domain, by the program's allocator. *memory is NULL where the
 * device is to use its own; false: there is none.
 */
bool pd_memory_get(struct pd *pd, size_t bytes, void **memory);
void pd_memory_put(struct pd *pd, void *memory); /* NULL is fine */

extern const struct process_part context_part, qp_part, srq_part, cq_part, held_part;

/* async.c: makes context->events and async_fd, 0 or -errno; and closes them, NULL too. */
int async_open(struct context *context);
void async_close(struct context *context);

/* mw.c, reached through the ibv_context */
struct ibv_mw *mw_alloc(struct ibv_pd *ibv, enum ibv_mw_type type);
int mw_dealloc(struct ibv_mw *ibv);
int mw_bind(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind);

/* query.c, reached through the verbs_context */
int query_port(struct ibv_context *ibv, uint8_t port, struct ibv_port_attr *attr, size_t bytes);
int query_device_ex(struct ibv_context *ibv, const struct ibv_query_device_ex_input *input,
		    struct ibv_device_attr_ex *attr, size_t bytes);

/* A process that could push to CQs of ours has ended; no lock held. */
void cq_peer_gone(void);

/* cq.c, reached through the ibv_context */
int cq_arm(struct ibv_cq *ibv, int solicited_only);
int cq_modify(struct ibv_cq *ibv, struct ibv_modify_cq_attr *attr);    /* cq_moderation.c */
int cq_poll_faulty(struct ibv_cq *ibv, int count, struct ibv_wc *wc);  /* with fault_more */
int cq_poll_checked(struct ibv_cq *ibv, int count, struct ibv_wc *wc); /* with checks alone */

/* cq_ex.c, reached through the verbs_context */
struct ibv_cq_ex *cq_create_ex(struct ibv_context *ibv, struct ibv_cq_init_attr_ex *attr);
int query_rt_values(struct ibv_context *ibv, struct ibv_values_ex *values);

/* lacking.c: calls that are refused, where the context has no others. */
void context_fill_lacking(struct verbs_context *verbs);

/* A QP that was destroyed while a peer held it is free now: what it used may be freed, too. */
void cq_let_go(uint32_t index);
void srq_let_go(uint32_t index);
