/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test.h -- cmocka with the headers it wants, and faults from a string as users
 * write it.
 */
#ifndef TEST_H
#define TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fault.h"

static inline void use_faults(const char *words)
{
	struct soft_options options;
	char error[SOFT_ERROR_MAX];

	if (soft_options_parse(words, &options, error))
		fail_msg("%s", error);
	fault_init(&options);
}

#endif /* TEST_H */
