/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A write on one queue pair, and the message that tells of it on another: between queue pairs no
 * order is promised. Ends with 1 when the message comes first.
 */
#include "zoo.h"

#define COUNT 50u

static struct ibv_qp *messages;

/* A second queue pair beside the first one of this process. */
static void open_messages(void)
{
	struct address mine = end_address(&near), theirs;

	messages = end_make_qp(&near);
	qp_to_init(&near, messages);
	mine.qp_num = messages->qp_num;
	tell(&mine, sizeof(mine));
	hear(&theirs, sizeof(theirs));
	qp_connect(&near, messages, &theirs);
	meet();
}

static void serve(void)
{
	struct ibv_sge sge = piece(&near, SIZE - 64, 64);
	struct ibv_recv_wr recv = {.sg_list = &sge, .num_sge = 1}, *bad;

	for (unsigned i = 1; i <= COUNT; i++) {
		MUST(ibv_post_recv(messages, &recv, &bad));
		meet();
		await(near.cq);
		if (!is_filled(near.memory, PAGE, i)) {
			show("message %u came before the data", i);
			exit(1);
		}
		meet();
	}
}

static void send_all(void)
{
	struct ibv_sge body = piece(&near, 0, PAGE), text = piece(&near, SIZE - 64, 8);
	struct ibv_send_wr write = request(IBV_WR_RDMA_WRITE, &body, there.memory, there.rkey);
	struct ibv_send_wr message = request(IBV_WR_SEND, &text, 0, 0), *bad;

	for (unsigned i = 1; i <= COUNT; i++) {
		meet();
		fill(near.memory, PAGE, i);
		MUST(ibv_post_send(near.qp, &write, &bad));
		MUST(ibv_post_send(messages, &message, &bad));
		await(near.cq);
		await(near.cq);
		meet();
	}
}

int main(void)
{
	const bool is_parent = processes_open(NULL);

	open_messages();
	if (is_parent)
		send_all();
	else
		serve();
	MUST(ibv_destroy_qp(messages));
	return processes_close();
}
