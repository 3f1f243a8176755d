/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * step.h -- what a client does, step by step: each has a name and a time.
 */
#ifndef STEP_H
#define STEP_H

#include <stdint.h>

enum step {
	STEP_PARSE,
	STEP_RESOLVE,
	STEP_DEVICE,
	STEP_REQUEST, /* address and route, by the RDMA CM */
	STEP_CONNECT,
	STEP_HELLO,
	STEP_REGION,
	STEP_REGISTER,
	/* a ping's; their times are those of the first one that came back */
	STEP_WRITE,
	STEP_FLUSH,
	STEP_READ,
	STEP_COMPARE,
	STEP_DISCONNECT,
	STEPS,
};

struct steps {
	enum step current;
	uint64_t begun_ns;
	int64_t ns[STEPS]; /* -1: not done */
};

const char *step_name(enum step step);

void steps_init(struct steps *steps);
void steps_begin(struct steps *steps, enum step step);
void steps_done(struct steps *steps);

#endif /* STEP_H */
