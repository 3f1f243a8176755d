/* SPDX-License-Identifier: BSD-3-Clause */
/* One thread drives both ends: each polls its own queue for the message of the other, and few sends
 * are signaled. A hundred rounds take no half second each. */
#include "zoo.h"

#define ROUNDS 100u

static void send_from(struct end *end, unsigned round)
{
	struct ibv_sge sge = piece(end, 0, 64);
	struct ibv_send_wr wr = request(IBV_WR_SEND, &sge, 0, 0), *bad;

	wr.send_flags = round % 8 == 7 ? IBV_SEND_SIGNALED : 0;
	fill(end->memory, 64, round);
	MUST(ibv_post_send(end->qp, &wr, &bad));
}

static void take(const struct end *end, unsigned round)
{
	while (await(end->cq).opcode != IBV_WC_RECV)
		;
	CHECK(is_filled(end->memory + PAGE, 64, round));
}

int main(void)
{
	const int64_t start_ms = now_ms();

	pair_open(NULL);
	for (unsigned round = 0; round < ROUNDS; round++) {
		receive(&near, PAGE, 64);
		receive(&far, PAGE, 64);
		send_from(&near, round);
		take(&far, round);
		send_from(&far, round);
		take(&near, round);
	}
	CHECK(now_ms() - start_ms < 60000); /* a net */
	pair_close();
	return 0;
}
