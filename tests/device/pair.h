/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pair.h -- two connected ends: `w.near`, which a test drives with verbs, and the
 * far one, which the far_...() calls reach wherever it is. With
 * RPMA_TEST_PROCESSES=2 it is in a process of its own, else in this one.
 */
#pragma once

#include "partner.h"

#include <sys/types.h>

struct pair {
	struct end near;
	struct end_address far;
	unsigned char *far_memory; /* to look at, in both cases */
	/* not for tests: */
	struct partner partner; /* in this process */
	pid_t process;		/* 0: in this process */
	int socket;
	size_t mapped;
};

extern struct pair w;

int setup_pair(void **unused);		/* with default options */
int setup_two_processes(void **unused); /* the far end in another process in any case */
int setup_nothing(void **unused);
int teardown_pair(void **unused);

/* For options of one's own, in a test after setup_nothing(). */
void pair_make(const struct end_options *near, const struct end_options *far);
/* Both with the defaults o but for these: PAIR_MAKE(o.timeout = 12, o.retry_cnt = 2). */
#define PAIR_MAKE(...)                                                                             \
	do {                                                                                       \
		struct end_options o = end_defaults();                                             \
		__VA_ARGS__;                                                                       \
		pair_make(&o, &o);                                                                 \
	} while (0)

#define PAIR_TEST(name)		 TEST(name, setup_pair, teardown_pair)
#define OWN_PAIR_TEST(name)	 TEST(name, setup_nothing, teardown_pair)
#define TWO_PROCESSES_TEST(name) TEST(name, setup_two_processes, teardown_pair)

/* A signaled request of LENGTH bytes at NEAR_OFFSET of our memory, for FAR_OFFSET
 * of theirs; wr_id is 1. To change and to post; valid until 8 more were made. */
struct ibv_send_wr *work(enum ibv_wr_opcode opcode, size_t near_offset, size_t length,
			 size_t far_offset);
void post(struct ibv_send_wr *wr);
/* Post it and take its completion. */
void done(struct ibv_send_wr *wr);
/* A receive of our own. */
void recv_near(uint64_t wr_id, size_t offset, size_t length);

void far_recv(uint64_t wr_id, size_t offset, size_t length);
void far_send(uint64_t wr_id, size_t offset, size_t length);
void far_send_solicited(uint64_t wr_id, size_t offset, size_t length);
struct ibv_wc far_wc(void);
struct ibv_wc far_expect(uint64_t wr_id, enum ibv_wc_status status);
void far_expect_nothing(void);
uint32_t far_reg(size_t offset, size_t length, int access);
void far_dereg(void); /* what far_reg() made, or else all its memory */
uint32_t far_bind_mw(enum ibv_mw_type type, size_t offset, size_t length, int access);
void far_invalidate_mw(void);
void far_dealloc_mw(void);
enum ibv_qp_state far_state(void);
void far_expect_error(void); /* now or soon, see end_expect_error() */
void far_expect_async(enum ibv_event_type type);
void far_to_error(void);
void far_destroy_qp(void);
void far_die(void); /* SIGKILL; two processes only */

/* For a partner process that does something else than being the far end. */
void partner_start(void);
struct partner_answer far_do(const struct partner_order *order);
void far_leave(void); /* it ends without releasing anything */
