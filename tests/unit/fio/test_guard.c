/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_guard.c -- which names of fio's releases are the same release, as fio's
 * tags and its builds between tags are named.
 */
#include "fio_engine/guard.h"
#include "tests/lib/test.h"

TEST(release_is_the_same_whatever_is_appended)
{
	EQUAL((guard_same_version("fio-3.33", "fio-3.33"), true),
	      (guard_same_version("fio-3.33", "fio-3.33-dirty"), true),
	      (guard_same_version("fio-3.33", "fio-3.33-3"), true),
	      (guard_same_version("fio-3.33.1", "fio-3.33.1-3"), true),
	      (guard_same_version("fio-3.33-12-gabcdef", "fio-3.33-12-gabcdef-dirty"), true),
	      (guard_same_version("fio-3.33-12-gabcdef", "fio-3.33-12-gabcdef01"), true),
	      (guard_version_length("fio-3.33-12-gabcdef-dirty"), 19),
	      (guard_version_length("fio-3.33.1-3"), 10));
}

TEST(other_release_is_told_apart)
{
	EQUAL((guard_same_version("fio-3.33", "fio-3.39"), false),
	      (guard_same_version("fio-3.3", "fio-3.33"), false),
	      (guard_same_version("fio-3.33", "fio-3.3"), false),
	      (guard_same_version("fio-3.33", "fio-3.33.1"), false),
	      (guard_same_version("fio-3.33", "fio-4.33"), false));
}

/* A version that git names so came after the release, and before the next one. */
TEST(version_between_releases_is_none_of_them)
{
	EQUAL((guard_same_version("fio-3.33", "fio-3.33-12-gabcdef"), false),
	      (guard_same_version("fio-3.33-12-gabcdef", "fio-3.33"), false),
	      (guard_same_version("fio-3.33-12-gabcdef", "fio-3.33-3"), false),
	      (guard_same_version("fio-3.33-12-gabcdef", "fio-3.33-12-gabcde0"), false),
	      (guard_same_version("fio-3.33-12-gabcdef", "fio-3.33-1-gabcdef"), false));
}

TEST(what_names_no_release_matches_nothing)
{
	EQUAL((guard_same_version("", ""), false), (guard_same_version("fio", "fio"), false),
	      (guard_same_version("fio-3.33", ""), false));
}

/* This program is no fio: it exports no version. */
TEST(program_without_a_version_is_refused)
{
	assert_false(guard_check("fio-3.33"));
}
