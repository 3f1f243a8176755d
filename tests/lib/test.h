/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test.h -- cmocka with the headers it wants, and random numbers that are the
 * same on every run.
 */
#ifndef TESTS_LIB_TEST_H
#define TESTS_LIB_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/lib/random.h"

#endif /* TESTS_LIB_TEST_H */
