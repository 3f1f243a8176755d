/* SPDX-License-Identifier: BSD-3-Clause */
/* The buffer of a receive is used only from its completion until it is posted again. */
#include "zoo.h"

int main(void)
{
	unsigned char copy[64];

	if (!processes_open(NULL)) {
		receive(&near, 0, 64);
		meet();
		for (unsigned i = 0; i < 30; i++) {
			await(near.cq);
			memcpy(copy, near.memory, sizeof(copy));
			CHECK(is_filled(near.memory, 64, i));
			memset(near.memory, 0, 64);
			receive(&near, 0, 64);
			CHECK(is_filled(copy, 64, i));
		}
		return processes_close();
	}
	meet();
	for (unsigned i = 0; i < 30; i++) {
		fill(near.memory, 64, i);
		POST(near, a_send(0, 64));
		await(near.cq);
	}
	return processes_close();
}
