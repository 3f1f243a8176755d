/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rpmem_consumer.c -- what a user builds against the installed librpmem, as C and as
 * C++: prints nothing but what its manual promises.
 */
#include <librpmem.h>

#include <stdio.h>

int main(void)
{
	const char *reason = rpmem_check_version(RPMEM_MAJOR_VERSION, RPMEM_MINOR_VERSION);

	return puts(reason == NULL ? "librpmem 1.3" : reason) < 0;
}
