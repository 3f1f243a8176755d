/* SPDX-License-Identifier: BSD-3-Clause */
/* A child of fork() may open the device for itself, and talk to the parent over it. */
#include "zoo.h"

int main(void)
{
	if (!processes_open(NULL)) {
		receive(&near, 0, 64);
		meet();
		await(near.cq);
		CHECK(is_filled(near.memory, 64, 4));
		return processes_close();
	}
	meet();
	fill(near.memory, 64, 4);
	POST(near, a_send(0, 64));
	await(near.cq);
	return processes_close();
}
