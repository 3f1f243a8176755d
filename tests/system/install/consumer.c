/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * consumer.c -- what a user builds against the installed library, as C and as
 * C++. Calls into librpma and prints what its manual promises it returns.
 */
#include <librpma.h>

#include <stdio.h>

int main(void)
{
	return puts(rpma_err_2str(RPMA_E_NOMEM)) < 0;
}
