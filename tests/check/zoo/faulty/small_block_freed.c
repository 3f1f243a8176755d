/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: memory-freed; at drop; region */
/* SHOWS: nothing */
/* A novice freed a message in its destructor and left the region to a later clean-up. */
#include "zoo.h"

struct message {
	struct ibv_mr *mr;
	char *text;
};

static void drop(struct message *message)
{
	free(message->text); /* HERE */
	message->text = NULL;
}

int main(void)
{
	struct message message = {.text = HAVE(malloc(256))};
	uint64_t addr = (uintptr_t)message.text;

	pair_open(NULL);
	message.mr = HAVE(ibv_reg_mr(far.pd, message.text, 256, ACCESS));
	names("%#x", message.mr->rkey);
	drop(&message);
	POST(near,
	     request(IBV_WR_RDMA_WRITE, one_piece(&near, 0, 64), addr + 64, message.mr->rkey));
	await(near.cq);
	MUST(ibv_dereg_mr(message.mr));
	_exit(0); /* the heap is damaged */
}
