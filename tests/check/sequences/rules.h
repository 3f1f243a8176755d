/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rules.h -- the rules that illegal sequences break, and what they have in common. illegal.c has
 * the rules about queues, memory_rules.c those about memory and its keys.
 */
#pragma once

#include "sequence.h"

struct rule {
	const char *name;
	const char *kind;
	void (*prepare)(struct options *of_near, struct options *of_far);
	void (*break_it)(void);
};

#define MEMORY_RULES 12
extern const struct rule memory_rules[MEMORY_RULES];

/*
 * Take the next completion and note its status. OF names the row of the table of what rxe answers
 * differently, or is empty.
 */
void note_next(const struct end *end, struct ibv_cq *cq, const char *of);
void note_failed(const struct end *end); /* that it is in ERR, now or soon */
void post_near(struct ibv_send_wr *wr);	 /* an error is noted */
/* A write or read of any length, between any places. */
struct ibv_send_wr any_request(enum ibv_wr_opcode opcode);
enum ibv_wr_opcode any_one_sided(void);
