/* SPDX-License-Identifier: BSD-3-Clause */
/* A record may be read while its owner changes it, if its sum tells when the copy is torn. */
#include "zoo.h"

#define WORDS 16

static uint64_t sum_of(const uint64_t *words)
{
	uint64_t sum = 14695981039346656037u;

	for (int i = 0; i < WORDS - 1; i++)
		sum = (sum ^ words[i]) * 1099511628211u;
	return sum;
}

static void change(volatile uint64_t *record, uint64_t round)
{
	uint64_t words[WORDS];

	for (int i = 0; i < WORDS - 1; i++)
		words[i] = round * 1000 + (uint64_t)i;
	words[WORDS - 1] = sum_of(words);
	for (int i = 0; i < WORDS; i++)
		record[i] = words[i];
}

int main(void)
{
	const bool is_reader = processes_open(NULL);
	uint64_t *record = (uint64_t *)near.memory;
	struct ibv_send_wr wr, *bad;
	int good = 0;

	change(record, 1);
	meet();
	if (!is_reader) {
		for (uint64_t round = 2; round < 20000; round++)
			change(record, round);
		return processes_close();
	}
	wr = request(IBV_WR_RDMA_READ, one_piece(&near, PAGE, WORDS * sizeof(uint64_t)),
		     there.memory, there.rkey);
	record = (uint64_t *)(near.memory + PAGE);
	while (good < 50) {
		MUST(ibv_post_send(near.qp, &wr, &bad));
		await(near.cq);
		if (sum_of(record) == record[WORDS - 1]) /* else it is read again */
			good++;
	}
	return processes_close();
}
