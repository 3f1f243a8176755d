/* SPDX-License-Identifier: BSD-3-Clause */
/* test.c -- see test.h; part of every cmocka program. */
#define _GNU_SOURCE /* program_invocation_name */
#include "tests/lib/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static struct CMUnitTest cases[200];
static size_t count;

void test_add(const char *name, CMUnitTestFunction test, CMFixtureFunction setup,
	      CMFixtureFunction teardown)
{
	if (count == sizeof(cases) / sizeof(cases[0])) {
		fprintf(stderr, "%s: more than %zu tests\n", program_invocation_name, count);
		abort();
	}
	cases[count++] = (struct CMUnitTest){name, test, setup, teardown, NULL};
}

int test_run(CMFixtureFunction setup, CMFixtureFunction teardown)
{
	if (count == 0)
		return EXIT_FAILURE;
	return _cmocka_run_group_tests(program_invocation_short_name, cases, count, setup,
				       teardown);
}

void test_equal(const char *what, uint64_t number, const char *text, uint64_t expected,
		const char *expected_text, const char *file, int line)
{
	if (text == NULL && expected_text == NULL) {
		if (number == expected)
			return;
		print_error("%s is %lld (%#llx), expected %lld (%#llx)\n", what, (long long)number,
			    (unsigned long long)number, (long long)expected,
			    (unsigned long long)expected);
	} else {
		const bool part = expected_text != NULL && *expected_text == *TEST_HAS;

		if (text != NULL && expected_text != NULL &&
		    (part ? strstr(text, expected_text + 1) != NULL
			  : strcmp(text, expected_text) == 0))
			return;
		print_error("%s is \"%s\", expected %s\"%s\"\n", what,
			    text != NULL ? text : "(null)", part ? "the words " : "",
			    expected_text != NULL ? expected_text + part : "(null)");
	}
	_fail(file, line);
}

__attribute__((constructor)) static void choose_case(void)
{
	const char *name = getenv("RPMA_TEST_CASE");

	if (name != NULL)
		cmocka_set_test_filter(name);
}

__attribute__((weak)) int test_start(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return -1;
}

__attribute__((weak)) int main(int argc, char **argv)
{
	const int status = test_start(argc, argv);

	return status >= 0 ? status : test_run(NULL, NULL);
}
