/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sequence.h -- sequences of verbs and calls of the RDMA CM that are made from a seed, on the ends
 * of ../zoo/zoo.h. What they print is the same on every device: results by name, completions in
 * the order of each queue, digests of memory; no keys, numbers of queue pairs, addresses or times.
 */
#pragma once

#include "zoo.h"

#define SLOT  4096u /* the piece of memory that one request uses at each end */
#define SLOTS (SIZE / SLOT)

struct sequence {
	uint64_t random;
	unsigned seed;
	unsigned step;
	bool is_on_rxe;
	bool is_of_cm;	/* the RDMA CM has made the two ends */
	unsigned depth; /* receives that each end can hold */
};

extern struct sequence sequence;

/* --- random choices --- */

unsigned any(unsigned low, unsigned high); /* both included */
bool one_in(unsigned n);
uint64_t any_word(void);

/* --- the transcript --- */

/* A line of it, behind the numbers of the sequence and of the step. */
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
void step(const char *name); /* begins the next step */
/* "ok" or the errno: of a verb, which returns it, or of a call that returns -1. */
const char *result_name(int result);
const char *pointer_result(const void *object); /* the same of a call that makes an object */
const char *status_name(enum ibv_wc_status status);
const char *opcode_name(enum ibv_wc_opcode opcode);
void note_memory(void);
void note_states(void);
const char *end_name(const struct end *end); /* "near" or "far" */

/* --- limits of time --- */

/* A machine that stands still in a wait, however long, uses up a moment of its limit. */
struct limit {
	int64_t seen_ms;
	int64_t left_ms;
};

struct limit limit_of(int64_t limit_ms);
bool is_left(struct limit *limit); /* to be asked all the time */
bool becomes_readable(int fd, int64_t limit_ms);

/* --- steps --- */

struct options any_options(enum ibv_qp_type type);
unsigned end_depth(const struct end *end); /* how many receives it can hold */

/* Requests of both ends, receives for them, and their completions. */
void traffic(void);
/* Take so many completions of each kind of END and note them in order. */
void drain(const struct end *end, unsigned sends, unsigned receives);
#define OF_RECEIVE (1ull << 32) /* the wr_id of a receive has this bit */
void post_receive(const struct end *end, unsigned number, size_t offset, size_t length);
bool is_of_receive(const struct ibv_wc *wc);

void window_step(void); /* a memory window is bound, used and taken back */
void error_step(void);	/* both queue pairs to ERR, what is posted is flushed, and again to RTS */
void states_step(void); /* another queue pair is modified in any way */
void cm_step(void);	/* calls of the RDMA CM on other identifiers, in any order */

/* A whole sequence. */
void legal_sequence(void);
/* One with a broken rule at its end, which every device answers alike. */
void illegal_sequence(void);
