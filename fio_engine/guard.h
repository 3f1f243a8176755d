/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * guard.h -- is the fio that loads the engine the one that it was built for?
 *
 * The number by which fio and its engines tell each other's version stays the
 * same while the structs that they share change; so the names of the versions
 * are compared, before any of these structs is touched. Not each version has a
 * name of its own: struct_guard.h compares the structs.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The length of "fio-3.33", "fio-3.33.1" or "fio-3.33-12-gabcdef" at the beginning; 0: there is
 * none. */
size_t guard_version_length(const char *text);

/* "fio-3.33" and "fio-3.33-dirty" are the same, "fio-3.33.1" and "fio-3.33-12-gabc" are not. */
bool guard_same_version(const char *one, const char *other);

/* Does what guard_same_version() does with this program; false: said on stderr. */
bool guard_check(const char *headers);
