/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test.h -- cmocka, the headers that most tests need, random numbers that are the same on every
 * run, and tests that are listed where they are defined:
 *
 *	TEST(name) { ... }
 *	TEST(name, setup, teardown) { ... }
 *
 * Conditions are cmocka's assertions, or several in one line:
 *
 *	EQUAL((ops, 3), (name, "soft0"), (failure, HAS("no such device")));
 *
 * Tests run in the order of the file. RPMA_TEST_CASE=NAME in the environment runs one alone; it
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

/* Reads the arguments of main(): -1 to run the tests, else the exit status. */
int test_start(int argc, char **argv);

/* Run all tests, between a setup and a teardown of the whole program. */
int test_run(CMFixtureFunction setup, CMFixtureFunction teardown);

/*
 * Each pair is looked at in this order, and once: what is so, then what is to be. Texts are
 * compared as such, and all else as cmocka's assert_int_equal() does. The message names the
 * expression.
 */
#define EQUAL(...)                                                                                 \
	(EQUAL_CHOOSE(__VA_ARGS__, EQUAL_10, EQUAL_9, EQUAL_8, EQUAL_7, EQUAL_6, EQUAL_5, EQUAL_4, \
		      EQUAL_3, EQUAL_2, EQUAL_1, )(__VA_ARGS__))

/* A text that has these words. */
#define HAS(words) TEST_HAS words
#define TEST_HAS   "\001"

/* EQUAL() is one of these, by its number of pairs. */
#define EQUAL_1(pair)	    EQUAL_PAIR pair
#define EQUAL_2(pair, ...)  EQUAL_PAIR pair, EQUAL_1(__VA_ARGS__)
#define EQUAL_3(pair, ...)  EQUAL_PAIR pair, EQUAL_2(__VA_ARGS__)
#define EQUAL_4(pair, ...)  EQUAL_PAIR pair, EQUAL_3(__VA_ARGS__)
#define EQUAL_5(pair, ...)  EQUAL_PAIR pair, EQUAL_4(__VA_ARGS__)
#define EQUAL_6(pair, ...)  EQUAL_PAIR pair, EQUAL_5(__VA_ARGS__)
#define EQUAL_7(pair, ...)  EQUAL_PAIR pair, EQUAL_6(__VA_ARGS__)
#define EQUAL_8(pair, ...)  EQUAL_PAIR pair, EQUAL_7(__VA_ARGS__)
#define EQUAL_9(pair, ...)  EQUAL_PAIR pair, EQUAL_8(__VA_ARGS__)
#define EQUAL_10(pair, ...) EQUAL_PAIR pair, EQUAL_9(__VA_ARGS__)
/* The eleventh word. */
#define EQUAL_CHOOSE(p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, macro, ...) macro

#define EQUAL_PAIR(actual, expected)                                                               \
	test_equal(#actual, TEST_NUMBER(actual), TEST_TEXT(actual), TEST_NUMBER(expected),         \
		   TEST_TEXT(expected), __FILE__, __LINE__)

#define TEST_NUMBER(value)                                                                         \
	(uint64_t)(_Generic((value), char * : 0, const char * : 0, default : (value)))
#define TEST_TEXT(value)                                                                           \
	_Generic((value), char * : (value), const char * : (value), default : (const char *)NULL)

void test_equal(const char *what, uint64_t number, const char *text, uint64_t expected,
		const char *expected_text, const char *file, int line);
