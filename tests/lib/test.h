/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test.h -- cmocka, the headers that most tests need, random numbers that are the same on every
 * run, and tests that are listed where they are defined:
 *
 *	TEST(name) { ... }
 *	TEST(name, setup, teardown) { ... }
 *
 * They run in the order of the file. RPMA_TEST_CASE=NAME in the environment runs one alone; it
 * may be a pattern of a shell. A program has the main() of test.c unless it defines its own, which
 * calls test_run(); a room may define test_start().
 */
#pragma once

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/lib/random.h"

#define TEST(name, ...)                                                                            \
	static void name(void **state);                                                            \
	TEST_AGAIN(name, ##__VA_ARGS__)                                                            \
	static void name(void **state)

/* The test runs once more, after another setup. */
#define TEST_AGAIN(name, ...)			     TEST_ADD(name, __COUNTER__, ##__VA_ARGS__, NULL, NULL, )

#define TEST_ADD(name, number, setup, teardown, ...) TEST_ADD_AS(name, number, setup, teardown)
#define TEST_ADD_AS(name, number, setup, teardown)                                                 \
	__attribute__((constructor)) static void add_##number##_##name(void)                       \
	{                                                                                          \
		test_add(#name, name, setup, teardown);                                            \
	}

void test_add(const char *name, CMUnitTestFunction test, CMFixtureFunction setup,
	      CMFixtureFunction teardown);

/* What main() does first with its arguments: -1 to run the tests, else the exit status. */
int test_start(int argc, char **argv);

/* Run all tests, between a setup and a teardown of the whole program. */
int test_run(CMFixtureFunction setup, CMFixtureFunction teardown);
