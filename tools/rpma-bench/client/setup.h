/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * setup.h -- what the client sets up for one repeat: threads on their cores,
 * their memory, the server's side of it, and connected queue pairs.
 */
#ifndef BENCH_CLIENT_SETUP_H
#define BENCH_CLIENT_SETUP_H

#include "run.h"
#include "tools/rpma-bench/measure/client_region.h"
#include "tools/rpma-bench/measure/qps.h"
#include "tools/rpma-bench/measure/remote_pool.h"
#include "tools/rpma-bench/measure/workers.h"
#include "tools/rpma-bench/protocol/message.h"

struct repeat_setup {
	struct run *run;
	const struct control *control;
	struct params params; /* the target resolved; after repeat_setup_open persist as well */
	struct message_begin begin; /* all but params and the client's memory */
	/* from here on by repeat_setup_open */
	const struct operation *operation;
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

/* Do its threads work on queue pairs? Else on connections, or it is the server that works. */
bool repeat_setup_has_qps(const struct repeat_setup *setup);

#endif /* BENCH_CLIENT_SETUP_H */
