/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * settle.h -- waiting for the requests that are being executed on the queue pairs of this process,
 * by whichever process: what they have checked holds for them until they are done.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * No request that was under way on the QPs from *settled on, a table index, is under way any
 * more; false at `deadline_ns`, and *settled is the QP that is still in use. No lock needed, but
 * for a caller that took a key out of force: it does so before, with a fence.
 */
bool settle_qps(uint32_t *settled, uint64_t deadline_ns);
