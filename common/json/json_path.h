/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * json_path.h -- one figure of a result, by where it stands.
 *
 * "latency/percentiles/p=0.99/ns": keys of objects, and KEY=VALUE for the
 * element of an array that has it. Table, CSV and SLOs are lists of these.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

/* NULL: there is no such thing. */
const json_t *path_get(const json_t *from, const char *path);

/* A string; "" if it is not one. */
const char *path_text(const json_t *from, const char *path);
/* A whole number; 0 if it is not one. */
json_int_t path_whole(const json_t *from, const char *path);
/* Is it this very string? */
bool path_is(const json_t *from, const char *path, const char *text);
