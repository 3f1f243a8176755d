/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * live_view.h -- --interval: a line on standard error for each interval of a
 * measurement, from what its threads show (measure/live.h).
 */
#ifndef BENCH_CLIENT_LIVE_VIEW_H
#define BENCH_CLIENT_LIVE_VIEW_H

#include "control.h"
#include "tools/rpma-bench/measure/workers.h"

struct live_view {
	struct control_watch watch;
	const struct workers *workers;
	struct live_snapshot *now; /* owned */
	uint64_t interval_ns;
	uint64_t begin_ns;
	uint64_t shown_ns; /* when the last line was printed */
	uint32_t threads;
	bool open_loop;
};

/* Begins with a measurement. Without --interval, or with failure, there are no lines. */
void live_view_open(struct live_view *view, const struct run *run, size_t order,
		    const struct workers *workers);
/* After the measurement: shows the rest. */
void live_view_close(struct live_view *view);

#endif /* BENCH_CLIENT_LIVE_VIEW_H */
