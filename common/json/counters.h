/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * counters.h -- what an RDMA device counted while something was measured.
 *
 * The kernel shows two folders of counters for each port, those every device
 * of InfiniBand's kind has and those of the driver. Read before and after;
 * what is between the two goes into the result.
 */
#pragma once

#include <jansson.h>

#include "common/host/sysroot.h"

/*
 * {"1/hw_counters/packet_seq_err": 17}: the path below "ports" of the device.
 * Counters that vanish or hold no number are left out. NULL: there are none.
 */
json_t *counters_read(const struct sysroot *root, const char *device);

/*
 * Waits until counters_read() tells all that was counted up to now: the kernel
 * asks a driver once in "lifespan" milliseconds, and else repeats what it knows.
 */
void counters_settle(const struct sysroot *root, const char *device);

/*
 * The difference of two readings, for counters that both have; one that went round
 * at 32 or 64 bits is put right, one that was reset is left out. Takes both;
 * either may be NULL, and then so is what it gives.
 */
json_t *counters_between(json_t *before, json_t *after);
