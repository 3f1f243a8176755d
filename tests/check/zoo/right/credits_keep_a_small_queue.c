/* SPDX-License-Identifier: BSD-3-Clause */
/* Queues of 32 and 32 share a completion queue of 8: credits let no more than 8 be outstanding. */
#include "zoo.h"

#define CREDITS 4

int main(void)
{
	struct options options = defaults();

	options.cqe = 2 * CREDITS;
	options.cap.max_send_wr = options.cap.max_recv_wr = 32;
	pair_open(&options);
	for (unsigned round = 0; round < 20; round++) {
		for (size_t i = 0; i < CREDITS; i++)
			receive(&far, 64 * i, 64);
		for (unsigned i = 0; i < CREDITS; i++) {
			fill(near.memory + 64 * i, 64, round + i);
			POST(near, a_send(64 * i, 64));
		}
		for (unsigned i = 0; i < CREDITS; i++) {
			await(near.cq);
			CHECK(is_filled(far.memory + await(far.cq).wr_id, 64, round + i));
		}
	}
	pair_close();
	return 0;
}
