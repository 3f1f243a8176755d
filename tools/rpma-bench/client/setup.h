/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * setup.h -- what the client sets up for one repeat: threads on their cores,
 * their memory, the server's side of it, and connected lanes.
 */
#ifndef BENCH_CLIENT_SETUP_H
#define BENCH_CLIENT_SETUP_H

#include "run.h"
#include "tools/rpma-bench/measure/client_region.h"
#include "tools/rpma-bench/measure/lanes.h"
#include "tools/rpma-bench/measure/workers.h"
#include "tools/rpma-bench/protocol/message.h"

struct rig {
	struct run *run;
	const struct remote *remote;
	struct params params;	    /* the target resolved; after rig_open persist as well */
	struct message_begin begin; /* all but params and the client's memory */
	/* from here on by rig_open */
	const struct operation *operation;
	bool native_atomic_write; /* probed if the operation has up_to_atomic_write */
	struct message_ready ready;
	struct workers *workers;
	struct lanes lanes; /* none where a test has none */
	struct exposed exposed;
};

/* What an item of the plan asks for. */
void rig_init(struct rig *rig, struct run *run, const struct plan_item *item, uint64_t seed);

/*
 * Makes both sides ready to begin; auto is decided. When it fails rig_close is still to
 * be called. -ENOTSUP with the sentence stored: the server refused, or persist is native
 * and flushes are reads; the server is ready for another item.
 */
int rig_open(struct rig *rig);
/* Ends what rig_open began on both sides, with nothing measured. */
int rig_give_up(struct rig *rig);
void rig_close(struct rig *rig);

/* Do its threads work on lanes? Else on connections, or it is the server that works. */
bool rig_has_lanes(const struct rig *rig);

#endif /* BENCH_CLIENT_SETUP_H */
