/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fake_device.h -- a connection without a device, for the tests of io_queue: it
 * takes work requests, keeps the rules of their queues, and carries them out in
 * their order when it is let.
 *
 * The server behind it answers what gpspm asks, and gives credit for immediate
 * data that it does not answer. Every byte of the region knows
 * whether it was written and not flushed since, and a flush of a range that is
 * not wholly so fails the test. Linked with --wrap for what it replaces.
 */
#pragma once

#include "fio_engine/io_queue.h"
#include "fio_engine/io_queue_private.h"
#include "tests/lib/test.h"

#define FAKE_REGION 4096
#define FAKE_MEMORY 65536 /* the job's */
#define FAKE_WORKS  256
#define FAKE_DEPTH  16

struct fake_work {
	char letter;	/* r w i a z f s: read, write, imm, atomic, zeros, flush, send */
	uint64_t begin; /* in the region */
	uint64_t end;
	size_t local;
	uint8_t data[8]; /* an atomic write's; a request's bytes are taken when it is sent */
	uint32_t imm;
	uint64_t context;
	bool signalled;
};

struct fake {
	struct job_connection connection;
	struct settings settings;
	uint8_t memory[FAKE_MEMORY];
	uint8_t messages[2 * FAKE_DEPTH * 32];
	uint8_t region[FAKE_REGION];
	bool unflushed[FAKE_REGION];
	/* the queues */
	struct fake_work works[FAKE_WORKS]; /* a ring: posted */
	uint64_t posted, executed, reclaimed, unsignalled;
	uint64_t waiting;	       /* posted with RPMA_F_MORE, and nothing behind them yet */
	struct ibv_wc wcs[FAKE_WORKS]; /* a ring */
	uint64_t completed, polled;
	bool armed, told;		   /* the next completion makes an event; there is one */
	uint64_t wc_works[FAKE_WORKS];	   /* how many works the completion stands for */
	uint64_t receives[FAKE_DEPTH * 2]; /* a ring of contexts */
	uint64_t received, receives_posted;
	struct persist_answer answers[FAKE_DEPTH]; /* to be sent, a ring */
	uint64_t asked, answered;
	uint64_t numbers, credits; /* received; given back, in halves of the depth */
	/* what is to happen */
	unsigned pace;	       /* works that a poll carries out; 0: all */
	bool silent;	       /* nothing is carried out */
	bool deaf;	       /* the server does not answer */
	char refuse;	       /* the letter that cannot be posted, */
	unsigned refuse_after; /* when so many of it were */
	char fail;	       /* the letter whose work fails, */
	unsigned fail_after;
	enum ibv_wc_status status; /* with this */
	enum ibv_wc_opcode flush_opcode;
	void (*forge)(struct persist_answer *answer, uint32_t *bytes, enum ibv_wc_opcode *opcode);
	bool poll_fails, receive_fails, gone;
	bool vast; /* the region is larger than what is here of it */
	/* what did happen */
	char log[4096]; /* "w0+8 f0+8! ": of each post the letter, the range, ! if signalled */
	unsigned flushes, waits, goodbyes, doorbells;
	uint64_t now_ns;
	uint64_t tick_ns; /* that looking at the clock takes; 0: little */
	bool disconnected;
};

extern struct fake fake;

/* A connection by this method with queues for this depth; the server answers so many. */
void fake_begin(enum method method, uint32_t depth);
struct io_queue *fake_io_queue(enum flush_policy policy, enum write_op write_op, uint32_t depth);
/* Forgets what was logged. */
void fake_forget(void);
/* Carries works out, as many as there are. */
void fake_run(unsigned works);
/* Nothing of the region is dirty. */
void fake_all_flushed(void);

/* Adds one, at the same place in the memory of the job. */
struct operation *fake_add(struct io_queue *q, uint32_t number, enum operation_kind kind,
			   uint64_t begin, uint32_t bytes);
/* Hands back all that is done: "0 2 1x ", the numbers, x: with an error. */
const char *fake_done(struct io_queue *q);

/* A function that makes another answer of one. */
#define FORGE(name, expression)                                                                    \
	static void name(struct persist_answer *answer, uint32_t *bytes,                           \
			 enum ibv_wc_opcode *opcode)                                               \
	{                                                                                          \
		expression;                                                                        \
	}

/* The queue of a test, closed after it. */
static struct io_queue *io_queue;

static inline int queue_teardown(void **state)
{
	io_queue_close(&io_queue);
	return 0;
}

#define QUEUE_TEST(name) TEST(name, NULL, queue_teardown)
