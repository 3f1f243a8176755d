/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cpu_load.h -- burns a fraction of the cores near the target, so that its effect
 * on remote access can be measured, and tells how much it truly burned.
 */
#pragma once

#include <stdint.h>

struct load;

/* One thread on each core of a NUMA node, or of all that may be used; node -1: unknown. */
int load_start(struct load **load, int node, uint32_t millionths);
/* Only what is burned from now on counts. */
void load_mark(struct load *load);
/* The part of the loaded cores' time that was burned since then; at most 1. */
double load_measured(const struct load *load);
/* NULL is fine. */
void load_stop(struct load **load);
