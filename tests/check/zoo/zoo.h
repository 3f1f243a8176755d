/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * zoo.h -- what the programs of the zoo share: two queue pairs that are connected, and the
 * plumbing around them. Verbs and the RDMA CM alone: every program runs on any RDMA device.
 *
 * A program calls pair_open(), processes_open() or cm_open() and drives `near`; `far` is the other
 * end, or in another process, and `there` is what one end has to know of the other. MUST() and
 * await() print what a program without a checker prints, and end it.
 */
#pragma once

#include <errno.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SIZE 65536u /* the memory of an end, in bytes */
#define PAGE 4096u
#define GRH  40u
#define QKEY 0x1234u
#define ACCESS                                                                                     \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |               \
	 IBV_ACCESS_REMOTE_ATOMIC)

struct options {
	enum ibv_qp_type type;
	struct ibv_qp_cap cap;
	int cqe;
	int recv_cqe;	  /* > 0: receives complete into a queue of their own */
	uint32_t srq_wr;  /* > 0: receives are taken from a shared queue */
	bool has_channel; /* completions can be slept for */
	bool sig_all;
	unsigned mr_access;
	unsigned qp_access;
	enum ibv_mtu mtu;
	enum ibv_gid_type gid_type;
	uint8_t retry_cnt;
	uint8_t rnr_retry;
	uint8_t min_rnr_timer;
};

struct end {
	struct options options;
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel; /* NULL unless has_channel */
	struct ibv_cq *cq;
	struct ibv_cq *recv_cq; /* cq, unless recv_cqe */
	struct ibv_srq *srq;	/* NULL unless srq_wr */
	struct ibv_qp *qp;
	struct ibv_mr *mr; /* all of memory */
	unsigned char *memory;
	union ibv_gid gid;
	uint8_t gid_index;
	bool is_of_cm; /* context and qp are the RDMA CM's */
};

struct address {
	union ibv_gid gid;
	uint32_t qp_num;
	uint32_t rkey;
	uint64_t memory;
};

struct cm {
	struct rdma_event_channel *listening, *calling;
	struct rdma_cm_id *listener, *server, *client;
};

extern struct end near, far;
extern struct address there;
extern struct cm cm;

/* --- opening --- */

struct options defaults(void);
/* Both ends in this process; NULL: the defaults. */
void pair_open(const struct options *options);
void pair_open_with(const struct options *of_near, const struct options *of_far);
/* The defaults o but for these: PAIR_OPEN(o.cqe = 4, o.sig_all = true). */
#define PAIR_OPEN(...)                                                                             \
	do {                                                                                       \
		struct options o = defaults();                                                     \
		__VA_ARGS__;                                                                       \
		pair_open(&o);                                                                     \
	} while (0)
void pair_close(void);

/* An end each for two processes, forked before either opens the device. True: the parent. */
bool processes_open(const struct options *options);
void meet(void); /* both come here before either goes on */
void tell(const void *data, size_t size);
void hear(void *data, size_t size);
int processes_close(void); /* the child's exit status, in the parent */

/* `near` is the client and `far` the server, in this process; NULL: what suits most. */
void cm_open(const struct options *options, const struct rdma_conn_param *of_client,
	     const struct rdma_conn_param *of_server);
struct rdma_cm_event *cm_take(struct rdma_event_channel *channel, enum rdma_cm_event_type type);
void cm_pass(struct rdma_event_channel *channel, enum rdma_cm_event_type type);
void cm_close(void);
struct rdma_conn_param cm_param(void);

/* --- parts of an end --- */

void end_open(struct end *end, const struct options *options);
void end_close(struct end *end); /* also where parts are gone already, and NULL */
struct address end_address(const struct end *end);
struct ibv_qp *end_make_qp(const struct end *end);
struct ibv_ah *end_ah(const struct end *from, const struct end *to);
void qp_to_init(const struct end *end, struct ibv_qp *qp);
void qp_connect(const struct end *end, struct ibv_qp *qp, const struct address *peer);
void qp_to(struct ibv_qp *qp, enum ibv_qp_state state); /* RESET or ERR */

/* --- requests --- */

struct ibv_sge piece(const struct end *end, size_t offset, size_t length);
/* The same, kept for as long as 63 others are made. */
struct ibv_sge *one_piece(const struct end *end, size_t offset, size_t length);
struct ibv_sge *keyed_piece(const void *memory, size_t length, uint32_t lkey);
/* A signaled one of this piece, with wr_id 1. */
struct ibv_send_wr request(enum ibv_wr_opcode opcode, struct ibv_sge *sge, uint64_t addr,
			   uint32_t rkey);
/* The same from an offset (0) of near.memory, or by a key, to there.memory or another address. */
struct ibv_send_wr to_peer(enum ibv_wr_opcode opcode, size_t offset, size_t length);
struct ibv_send_wr at_peer(enum ibv_wr_opcode opcode, size_t length, uint64_t addr, uint32_t rkey);
struct ibv_send_wr by_key(enum ibv_wr_opcode opcode, const void *memory, size_t length,
			  uint32_t lkey);
struct ibv_send_wr a_send(size_t offset, size_t length);
struct ibv_send_wr datagram(struct ibv_sge *sge, struct ibv_ah *ah, uint32_t qp_num);
/* In the program's own line: that is what a finding names. */
#define POST(end, ...)                                                                             \
	do {                                                                                       \
		struct ibv_send_wr posted_ = __VA_ARGS__, *bad_;                                   \
		MUST(ibv_post_send((end).qp, &posted_, &bad_));                                    \
	} while (0)
#define POST_RECV(end, sge)                                                                        \
	do {                                                                                       \
		struct ibv_recv_wr wr_ = {.wr_id = 7, .sg_list = (sge), .num_sge = 1}, *bad_;      \
		MUST(ibv_post_recv((end).qp, &wr_, &bad_));                                        \
	} while (0)
/* A receive, also of an SRQ, whose wr_id is the offset. */
void receive(const struct end *end, size_t offset, size_t length);
/* The next completion; next_wc() ends the program after a minute without one. */
struct ibv_wc next_wc(struct ibv_cq *cq);
struct ibv_wc await(struct ibv_cq *cq); /* that is good */
bool next_within(struct ibv_cq *cq, struct ibv_wc *wc, int limit_ms);

/* --- and around them --- */

void fill(void *memory, size_t size, unsigned seed);
bool is_filled(const void *memory, size_t size, unsigned seed);
/* A number of this run, which a checker's finding has to name. */
void names(const char *format, ...) __attribute__((format(printf, 1, 2)));
int64_t now_ms(void);
void show(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The next call may never return: ends the program then. */
void may_hang(void);
void must(int result, const char *call);
void *have(void *object, const char *call);
void check(bool is_so, const char *what);

#define MUST(call)  must((call), #call)
#define HAVE(call)  have((call), #call)
#define CHECK(what) check((what), #what)
