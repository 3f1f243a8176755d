/* SPDX-License-Identifier: BSD-3-Clause */
/* result.h -- results as JSON: the shared pieces, and writing a file whole or not at all. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/base/histogram.h"
#include "common/host/clock.h"
#include "common/rdma/device.h"

#define RESULT_PERCENTILES 8

/* The quantiles every result has. */
extern const double result_percentiles[RESULT_PERCENTILES];

/* Can a result be put at this path? Asked before a run, and leaves no trace. */
int result_check_writable(const char *path);

/* Would writing one replace the other? Neither needs to be there. */
bool result_is_same_file(const char *path, const char *other);

/* Writes to a temporary file beside it, syncs, and renames; NULL: to standard output. */
int result_write(const char *path, const json_t *document);
int result_write_text(const char *path, const char *text, size_t len);

json_t *result_histogram(const struct histogram *h);
json_t *result_percentile_list(const struct histogram *h);
json_t *result_latency(const struct histogram *h); /* null without samples */

/*
 * The way back, from a file or a peer: 0, or -EINVAL if it is not the "latency"
 * of the schema. Buckets, count and extremes are what was recorded, mean and
 * deviation as they were rounded.
 */
int result_read_latency(const json_t *value, struct histogram *h);

json_t *result_clock(const struct clock *clock);
json_t *result_device(const struct device *device, int emulated_cpu);

/* "2026-08-21T10:00:00.123Z" */
json_t *result_time(const struct timespec *time);
json_t *result_uuid(const uint8_t id[16]);
/* A random version 4 UUID. */
int result_new_uuid(uint8_t id[16]);

/* null for NULL or an empty text; for a negative number. */
json_t *result_text(const char *text);
json_t *result_known(long long value);

json_t *result_integer(uint64_t value);
/* To three decimals; null if it is not finite. */
json_t *result_real(double value);
