/* SPDX-License-Identifier: BSD-3-Clause */
/* A receive is posted, and its message comes two seconds later: polling for it is legal. */
#include "zoo.h"

int main(void)
{
	if (!processes_open(NULL)) {
		receive(&near, 0, 64);
		meet();
		await(near.cq);
		CHECK(is_filled(near.memory, 64, 1));
		return processes_close();
	}
	meet();
	sleep(2);
	fill(near.memory, 64, 1);
	POST(near, a_send(0, 64));
	await(near.cq);
	return processes_close();
}
