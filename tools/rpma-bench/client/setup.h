/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * setup.h -- what the client sets up for one repeat: threads on their cores,
 * their memory, the server's side of it, and connected queue pairs.
 */
#pragma once

#include "common/rdma/region.h"
#include "run.h"
#include "tools/rpma-bench/measure/qps.h"
#include "tools/rpma-bench/measure/remote_pool.h"
#include "tools/rpma-bench/measure/workers.h"
#include "tools/rpma-bench/protocol/message.h"
#include "tools/rpma-bench/result/record.h"

/* The client's memory that the server measures: plain, it need not be persistent. */
struct client_region {
	void *bytes;
	size_t size_bytes;
	struct region region;
};

/* The strongest flush that the server's word and its memory allow. */
enum rpma_flush_type persisting_flush(const struct message_welcome *welcome, uint32_t target);

/*
 * The persistence that auto tries first on the target: native, or what it has to be
 * with the reason stored in *choice.
 */
enum bench_persist persisting_first(const struct message_welcome *welcome, uint32_t target,
				    struct persist_choice *choice);
/* Settles *choice by what the first flush was. */
void persisting_settle(struct persist_choice *choice, bool native);

/*
 * 0, or -ENOTSUP with the error message set: it needs a flush that the target does not take.
 * who names the server, here and below.
 */
int persisting_check(const struct message_welcome *welcome, const struct operation *operation,
		     uint32_t target, const char *who);
/* -ENOTSUP with the error message set: --persist native where flushes are reads. */
int persisting_not_native(const char *who);

struct repeat_setup {
	struct run *run;
	const struct control *control;
	/* its target is resolved; repeat_setup_open() settles persist and the client's memory */
	struct message_begin begin;
	const struct operation *operation; /* by op and persist; NULL as long as that is auto */
	const struct operation *reads;	   /* the other operation of a mix; else NULL */
	/* from here on by repeat_setup_open */
	bool native_atomic_write; /* probed if the operation has up_to_atomic_write */
	struct message_ready ready;
	struct workers *workers;
	struct qps qps; /* none where a test has none */
	struct client_region client_region;
	struct remote_pool *pool; /* librpmem's; NULL: nothing is persisted by it */
};

/* Fills in what a trial of the plan asks for. */
void repeat_setup_init(struct repeat_setup *setup, struct run *run, const struct plan_trial *trial,
		       uint64_t seed);

/*
 * Makes both sides ready to begin; auto is decided. When it fails repeat_setup_close is still to
 * be called. -ENOTSUP with the error message set: the server refused, or persist is native
 * and flushes are reads; the server is ready for another trial.
 */
int repeat_setup_open(struct repeat_setup *setup);
/* Ends what repeat_setup_open began on both sides, with nothing measured. */
int repeat_setup_give_up(struct repeat_setup *setup);
void repeat_setup_close(struct repeat_setup *setup);
