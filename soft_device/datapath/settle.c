/* SPDX-License-Identifier: BSD-3-Clause */
/* settle.c -- see settle.h. A request is executed under the lock of its queue pair. */
#include "settle.h"

#include "soft_device/process/process.h"

bool settle_qps(uint32_t *settled, uint64_t deadline_ns)
{
	struct segment *segment = process_current->segment;

	for (; *settled < SEGMENT_QPS; ++*settled) {
		const struct shared_qp *qp = &segment->qp[*settled];

		/* only blocks with a listener have queue pairs */
		if (atomic_load(&segment->block[*settled / 256].port) == 0)
			*settled |= 255;
		else if (atomic_load(&qp->lock.holder) != 0 &&
			 !shared_lock_settle(&qp->lock, deadline_ns))
			return false;
	}
	return true;
}
