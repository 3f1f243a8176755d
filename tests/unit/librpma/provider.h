/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * provider.h -- a scripted libibverbs and librdmacm.
 *
 * The test executable defines the functions that librpma imports from both, so
 * that every answer a device or a fabric can give is one line in a test. The
 * provider keeps the rules of the real ones (a PD in use is EBUSY, an event
 * must be acked before its id goes), counts what is alive, and remembers the
 * last arguments of each call. Which calls fail is scripted through calls.h.
 */
#pragma once

#include <infiniband/verbs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The ABI of native operations (verbs.h of rdma-core 45), whatever the headers here: bits of
 * device_cap_flags_ex and send_ops_flags, and the two functions that follow wr_abort in struct
 * ibv_qp_ex.
 */
#define CAP_FLUSH_GLOBAL	(UINT64_C(1) << 38)
#define CAP_FLUSH_PERSISTENT	(UINT64_C(1) << 39)
#define CAP_FLUSH		(CAP_FLUSH_GLOBAL | CAP_FLUSH_PERSISTENT)
#define CAP_ATOMIC_WRITE	(UINT64_C(1) << 40)
#define QP_EX_WITH_FLUSH	(UINT64_C(1) << 11)
#define QP_EX_WITH_ATOMIC_WRITE (UINT64_C(1) << 12)
#define PROVIDER_QP_EX_BYTES	384

/* How provider.sends names the two. */
#define PROVIDER_WR_FLUSH	 0xf0
#define PROVIDER_WR_ATOMIC_WRITE 0xf1

#define PROVIDER_MAX_CQS	 4
#define PROVIDER_MAX_SENDS	 32

/* A copy of a work request, made while the pointers in it were valid. */
struct provider_send {
	unsigned posted;
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	unsigned char inline_data[64];
};

struct provider_recv {
	unsigned posted;
	struct ibv_recv_wr wr;
	struct ibv_sge sge;
};

struct provider_conn_param {
	bool given;
	struct rdma_conn_param param;
	unsigned char private_data[UINT8_MAX + 1];
	struct rdma_event_channel *channel; /* the id's at that moment */
};

/* A work request given through the ibv_wr_ API (native flush, atomic write). */
struct provider_native {
	unsigned completed; /* ibv_wr_complete() calls */
	unsigned aborted;
	uint64_t wr_id;
	unsigned wr_flags;
	uint32_t rkey;
	uint64_t remote_addr;
	size_t flush_len;
	unsigned flush_type;
	unsigned flush_level;
	unsigned char atomic_data[8];
};

struct provider {
	struct ibv_context *context; /* the one device */

	/* Alive now; all zero at the end of every test. */
	struct {
		int pd, mr, cq, qp, srq, comp_channel, event_channel, id, addrinfo;
		int unacked_cm_events, unacked_cq_events;
	} live;
	/* The first broken rule of libibverbs or librdmacm; NULL if none. */
	const char *misuse;

	/* Scripted answers. */
	struct ibv_device_attr_ex device_attr;
	enum ibv_transport_type *transport;
	int reg_mr_errno_without_odp; /* plain registration fails with it, ON_DEMAND works */
	int getaddrinfo_answer;	      /* what rdma_getaddrinfo() returns when not 0 */
	int poll_cq_answer;	      /* what ibv_poll_cq() returns when not 0 */
	unsigned addresses;	      /* that a name has, each one above the other; 0: one */
	uint16_t bound_port;	      /* the port that binding to port 0 gives */
	unsigned send_fails_at;	      /* the n-th work request of a list is refused; 0: none */
	int cm_status;		      /* that the next events have */
	uint32_t sends_granted;	      /* slots that a queue pair gets beyond those asked for */
	bool qp_is_extended;	      /* whether ibv_qp_to_qp_ex() gives a handle */
	uint64_t qp_ops_unknown;      /* IBV_QP_EX_WITH_*: a QP with one of these is refused */
	/* Whom connect requests come from. */
	struct sockaddr_storage client_addr;

	/* The objects made last. */
	struct ibv_pd *pd;
	struct rdma_cm_id *id;
	struct rdma_cm_id *listener;
	struct ibv_qp *qp;
	struct ibv_srq *srq;
	struct ibv_cq *cqs[PROVIDER_MAX_CQS]; /* in order of creation */
	unsigned num_cqs;
	struct ibv_cq *foreign_cq; /* belongs to no connection the library knows */

	/* The arguments given last. */
	struct {
		void *addr;
		size_t length;
		int access;
	} reg_mr;
	struct {
		enum ibv_advise_mr_advice advice;
		uint32_t flags;
		struct ibv_sge sge;
		uint32_t num_sge;
	} advise_mr;
	struct {
		int cqe;
		void *cq_context;
		struct ibv_comp_channel *channel;
		int comp_vector;
	} create_cq[PROVIDER_MAX_CQS];
	struct {
		struct ibv_cq *cq;
		int solicited_only;
	} req_notify_cq;
	struct ibv_modify_cq_attr modify_cq;
	struct ibv_srq_init_attr create_srq;
	struct ibv_qp_init_attr_ex create_qp;
	struct {
		char node[64], service[16];
		struct rdma_addrinfo hints;
	} getaddrinfo;
	struct {
		int addr_timeout_ms, route_timeout_ms;
	} resolve;
	struct {
		struct ibv_qp_attr attr;
		int mask;
	} modify_qp;
	uint8_t id_option[16];	/* by RDMA_OPTION_ID_* */
	struct addrinfo lookup; /* the hints */
	int listen_backlog;
	uint8_t reject_private_data_len;
	unsigned char reject_private_data[UINT8_MAX + 1];
	struct provider_conn_param connect, accept;
	struct provider_send send;			  /* the first one of a list */
	struct ibv_send_wr sends[PROVIDER_MAX_SENDS];	  /* those of ibv_wr_*, too */
	unsigned char sends_data[PROVIDER_MAX_SENDS][64]; /* inline bytes */
	uint32_t sends_bytes[PROVIDER_MAX_SENDS];
	unsigned sends_count;
	struct provider_recv recv, srq_recv;
	struct provider_native native;
};

extern struct provider provider;

/* Everything as at the start: one device, nothing alive, nothing scripted. */
void provider_reset(void);

/* The first thing found wrong at the end of a test (a leak, a broken rule); NULL if all is well. */
const char *provider_complaint(void);

/* A peer asks to connect: the listener's channel reports it with this private data. */
void provider_queue_connect_request(const void *private_data, uint8_t len);

/* An event for this id arrives on whatever channel the id has then. */
void provider_queue_cm_event(struct rdma_cm_id *id, enum rdma_cm_event_type type,
			     const void *private_data, uint8_t len);

/* This completion waits in the CQ. */
void provider_queue_wc(struct ibv_cq *cq, const struct ibv_wc *wc);

/* The CQ's channel reports an event of the CQ. */
void provider_queue_cq_event(struct ibv_cq *cq);

/* The channel reports an event of a CQ the library has never seen. */
void provider_queue_foreign_cq_event(struct ibv_comp_channel *channel);
