/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fault_test.h -- cmocka with the headers it wants, and faults from a string as users
 * write it.
 */
#ifndef TESTS_UNIT_SOFT_FAULT_TEST_H
#define TESTS_UNIT_SOFT_FAULT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "soft_device/faults/fault.h"

static inline void use_faults(const char *words)
{
	struct soft_options options;
	char error[SOFT_ERROR_MAX];

	if (soft_options_parse(words, &options, error))
		fail_msg("%s", error);
	fault_init(&options);
}

#endif /* TESTS_UNIT_SOFT_FAULT_TEST_H */
