/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * probe.h -- do writes of the RDMA device reach memory? Seen, not deduced.
 *
 * A window that is smaller than the cache is written again and again. Where
 * the cache takes these writes, the memory controllers see few of them. Another
 * program's writes must not pass for ours: traffic alternates with silence, and its
 * speed changes, which what is written to memory has to follow.
 */
#ifndef PROBE_H
#define PROBE_H

#include "readiness/facts.h"

#define PROBE_PHASES 6 /* phases of traffic: three at full speed, three slow ones */

/* One phase of traffic; bytes per second of the idle machine, before and after. */
struct probe_figures {
	double rdma_bytes;
	double written_bytes;
	double seconds;
	double idle_bytes_per_s[2];
};

/* The device is hardware. 0, also where the probe cannot tell and reports why; -ECANCELED. */
int probe_run(const struct sysroot *root, const struct facts_device *device,
	      struct answers_probe *probe);

/* Notes the figures of all phases if they allow a statement, else why they do not. */
void probe_judge(const struct probe_figures *figures, size_t count, struct answers_probe *probe);

#endif /* PROBE_H */
