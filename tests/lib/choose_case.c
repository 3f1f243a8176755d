/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * choose_case.c -- part of every cmocka program: RPMA_TEST_CASE=NAME in the environment runs that
 * case alone; * and ? match as in a shell.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

__attribute__((constructor)) static void choose_case(void)
{
	const char *name = getenv("RPMA_TEST_CASE");

	if (name != NULL)
		cmocka_set_test_filter(name);
}
