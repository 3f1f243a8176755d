/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * made_repeat.h -- repeats with samples of the tests' own.
 */
#ifndef TESTS_UNIT_BENCH_MADE_REPEAT_H
#define TESTS_UNIT_BENCH_MADE_REPEAT_H

#include "common/json/json_path.h"
#include "tests/lib/test.h"
#include "tools/rpma-bench/result/repeat.h"

static inline struct histogram *made_histogram(const uint64_t *samples, size_t count)
{
	struct histogram *h = malloc(sizeof(*h));

	assert_non_null(h);
	histogram_reset(h);
	for (size_t i = 0; i < count; i++)
		histogram_record(h, samples[i]);
	return h;
}

/* A write of 4 KiB, one thread, one second, with so many samples of one value. */
static inline struct repeat made_repeat(uint64_t ns, size_t count)
{
	struct repeat r = {
		.params = {.test = BENCH_LAT,
			   .op = BENCH_WRITE,
			   .size_bytes = 4096,
			   .depth = 1,
			   .threads = 1,
			   .connections = 1,
			   .batch = 1,
			   .signal_every = 1},
		.complete = true,
		.latency_kind = "post_to_cqe",
		.ops = count,
		.elapsed_ns = 1000000000,
		.threads_count = 1,
		.threads = calloc(1, sizeof(struct thread_usage)),
		.latency = made_histogram(NULL, 0),
	};

	assert_non_null(r.threads);
	r.threads[0] = (struct thread_usage){.cpu = 2, .cpus = "2", .ops = count};
	for (size_t i = 0; i < count; i++)
		histogram_record(r.latency, ns);
	return r;
}

/* Takes the repeat. */
static inline json_t *made_json(struct repeat *r)
{
	json_t *json = repeat_json(r);

	assert_non_null(json);
	repeat_clear(r);
	return json;
}

/* Each expectation is "path: value", a number, null or a text. */
#define HOLDS(json, ...) json_holds(json, (const char *const[]){__VA_ARGS__, NULL})

static inline void json_holds(const json_t *json, const char *const *expectations)
{
	for (; *expectations != NULL; expectations++) {
		const char *wanted = strstr(*expectations, ": ") + 2;
		char path[128], *end;
		const json_t *value;
		bool holds;

		snprintf(path, sizeof(path), "%.*s", (int)(wanted - *expectations) - 2,
			 *expectations);
		value = path_get(json, path);
		if (json_is_integer(value))
			holds = json_integer_value(value) == strtoll(wanted, &end, 10) &&
				*end == '\0';
		else if (json_is_real(value))
			holds = json_real_value(value) == strtod(wanted, &end) && *end == '\0';
		else if (json_is_string(value))
			holds = strcmp(json_string_value(value), wanted) == 0;
		else
			holds = json_is_null(value) && strcmp(wanted, "null") == 0;
		if (!holds)
			fail_msg("%s, but it is %s", *expectations,
				 value == NULL ? "missing" : json_dumps(value, JSON_ENCODE_ANY));
	}
}

static inline json_int_t whole_at(const json_t *json, const char *path)
{
	const json_t *value = path_get(json, path);

	if (!json_is_integer(value))
		fail_msg("%s is no whole number", path);
	return json_integer_value(value);
}

static inline double real_at(const json_t *json, const char *path)
{
	const json_t *value = path_get(json, path);

	if (!json_is_number(value))
		fail_msg("%s is no number", path);
	return json_number_value(value);
}

static inline void null_at(const json_t *json, const char *path)
{
	if (!json_is_null(path_get(json, path)))
		fail_msg("%s is not null", path);
}

static inline void text_at(const json_t *json, const char *path, const char *expected)
{
	const char *text = json_string_value(path_get(json, path));

	if (text == NULL)
		fail_msg("%s is no text", path);
	assert_string_equal(text, expected);
}

#endif /* TESTS_UNIT_BENCH_MADE_REPEAT_H */
