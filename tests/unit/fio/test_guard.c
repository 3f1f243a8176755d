/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_guard.c -- which names of fio's releases are the same release, as fio's
 * tags and its builds between tags are named.
 */
#include "fio_engine/guard.h"
#include "tests/lib/test.h"

TEST(release_is_the_same_whatever_is_appended)
{
	assert_true(guard_same_version("fio-3.33", "fio-3.33"));
	assert_true(guard_same_version("fio-3.33", "fio-3.33-dirty"));
	assert_true(guard_same_version("fio-3.33", "fio-3.33-3"));
	assert_true(guard_same_version("fio-3.33.1", "fio-3.33.1-3"));
	assert_true(guard_same_version("fio-3.33-12-gabcdef", "fio-3.33-12-gabcdef-dirty"));
	assert_true(guard_same_version("fio-3.33-12-gabcdef", "fio-3.33-12-gabcdef01"));
	assert_int_equal(guard_version_length("fio-3.33-12-gabcdef-dirty"), 19);
	assert_int_equal(guard_version_length("fio-3.33.1-3"), 10);
}

TEST(other_release_is_told_apart)
{
	assert_false(guard_same_version("fio-3.33", "fio-3.39"));
	assert_false(guard_same_version("fio-3.3", "fio-3.33"));
	assert_false(guard_same_version("fio-3.33", "fio-3.3"));
	assert_false(guard_same_version("fio-3.33", "fio-3.33.1"));
	assert_false(guard_same_version("fio-3.33", "fio-4.33"));
}

/* What git calls so came after the release, and before the next one. */
TEST(version_between_releases_is_none_of_them)
{
	assert_false(guard_same_version("fio-3.33", "fio-3.33-12-gabcdef"));
	assert_false(guard_same_version("fio-3.33-12-gabcdef", "fio-3.33"));
	assert_false(guard_same_version("fio-3.33-12-gabcdef", "fio-3.33-3"));
	assert_false(guard_same_version("fio-3.33-12-gabcdef", "fio-3.33-12-gabcde0"));
	assert_false(guard_same_version("fio-3.33-12-gabcdef", "fio-3.33-1-gabcdef"));
}

TEST(what_names_no_release_matches_nothing)
{
	assert_false(guard_same_version("", ""));
	assert_false(guard_same_version("fio", "fio"));
	assert_false(guard_same_version("fio-3.33", ""));
}

/* This program is no fio: it exports no version. */
TEST(program_without_a_version_is_refused)
{
	assert_false(guard_check("fio-3.33"));
}
