/* SPDX-License-Identifier: BSD-3-Clause */
/* test_axes.c -- texts into values of axes, and values into words. */
#include "common/base/failure.h"
#include "tests/lib/test.h"
#include "tools/rpma-bench/options/axes.h"

struct axis_case {
	enum axis_id axis;
	const char *text;
	size_t count;
	uint64_t values[8];
};

#define VARIANT(kind, number) ((uint64_t)(number) << 32 | (kind))

TEST(texts_become_values)
{
	static const struct axis_case cases[] = {
		{AXIS_TEST,
		 "lat,bw,rate,mix,connect,register",
		 6,
		 {BENCH_LAT, BENCH_BW, BENCH_RATE, BENCH_MIX, BENCH_CONNECT, BENCH_REGISTER}},
		{AXIS_OP, "atomic-write", 1, {BENCH_ATOMIC_WRITE}},
		{AXIS_PERSIST, "none,auto,gpspm-rt", 3, {BENCH_NONE, BENCH_AUTO, BENCH_GPSPM_RT}},
		{AXIS_SIZE, "64,4K", 2, {64, 4096}},
		{AXIS_SIZE, "1G", 1, {1073741824}},
		{AXIS_DEPTH, "1:64:*4", 4, {1, 4, 16, 64}},
		{AXIS_THREADS, "1,2", 2, {1, 2}},
		{AXIS_CONNECTIONS, "256", 1, {256}},
		{AXIS_SIGNAL_EVERY, "16", 1, {16}},
		{AXIS_RATE, "10k:50k:x1.5", 4, {10000, 15000, 22500, 33750}},
		{AXIS_RATE, "1,100M", 2, {1, 100000000}},
		{AXIS_ARRIVALS,
		 "burst:8,poisson,even",
		 3,
		 {VARIANT(BENCH_BURST, 8), BENCH_POISSON, BENCH_EVEN}},
		{AXIS_READ_FRACTION, "0,0.5,90%,1", 4, {0, 500000, 900000, 1000000}},
		{AXIS_COMPLETION, "poll,event", 2, {BENCH_POLL, BENCH_EVENT}},
		{AXIS_PATTERN, "rand,seq", 2, {BENCH_RAND, BENCH_SEQ}},
		{AXIS_PATTERN,
		 "zipf,zipf:1.2,zipf:0.1,zipf:5,zipf:1",
		 5,
		 {VARIANT(BENCH_ZIPF, 990000), VARIANT(BENCH_ZIPF, 1200000),
		  VARIANT(BENCH_ZIPF, 100000), VARIANT(BENCH_ZIPF, 5000000),
		  VARIANT(BENCH_ZIPF, 1000000)}},
		{AXIS_SERVER_LOAD, "0:1:+0.25", 5, {0, 250000, 500000, 750000, 1000000}},
		{AXIS_BIDIRECTIONAL, "no,yes", 2, {0, 1}},
		{AXIS_SRQ, "yes", 1, {1}},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct axis_case *c = &cases[i];
		struct series series = {0};

		EQUAL((series_set(&series, c->axis, c->text), 0),
		      (series.values[c->axis].count, c->count));
		assert_memory_equal(series.values[c->axis].values, c->values,
				    c->count * sizeof(uint64_t));
		series_clear(&series);
	}
}

static const struct axis_case wrong_texts[] = {
	{AXIS_TEST, "", 0, {0}},
	{AXIS_TEST, "lat,", 0, {0}},
	{AXIS_TEST, "latency", 0, {0}},
	{AXIS_SIZE, "4K/10", 0, {0}},
	{AXIS_SIZE, "4K/10:64K/90,4K/10:64K/90", 0, {0}},
	{AXIS_SIZE, "64,4K/10:2G/90", 0, {0}},
	{AXIS_SIZE, "4K/100,", 0, {0}},
	{AXIS_PATTERN, "zipf:", 0, {0}},
	{AXIS_PATTERN, "zipf:0", 0, {0}},
	{AXIS_PATTERN, "zipf:0.09", 0, {0}},
	{AXIS_PATTERN, "zipf:5.1", 0, {0}},
	{AXIS_PATTERN, "zipf:.5", 0, {0}},
	{AXIS_PATTERN, "zipf:1.", 0, {0}},
	{AXIS_PATTERN, "zipf:-1", 0, {0}},
	{AXIS_PATTERN, "zipf:50%", 0, {0}},
	{AXIS_PATTERN, "zipf:99999999999999999999", 0, {0}},
	{AXIS_PATTERN, "zipf,zipf:0.99", 0, {0}},
	{AXIS_PATTERN, "seq:1", 0, {0}},
	{AXIS_ARRIVALS, "burst", 0, {0}},
	{AXIS_ARRIVALS, "burst:1", 0, {0}},
	{AXIS_ARRIVALS, "burst:4097", 0, {0}},
	{AXIS_ARRIVALS, "burst:2:8:*2", 0, {0}},
	{AXIS_TEST, "la", 0, {0}},
	{AXIS_TEST, "lat,lat", 0, {0}},
	{AXIS_SIZE, "0", 0, {0}},
	{AXIS_SIZE, "2G", 0, {0}},
	{AXIS_SIZE, "64,4K,64", 0, {0}},
	{AXIS_SIZE, "1.5", 0, {0}},
	{AXIS_DEPTH, "4097", 0, {0}},
	{AXIS_THREADS, "65", 0, {0}},
	{AXIS_THREADS, "0", 0, {0}},
	{AXIS_CONNECTIONS, "257", 0, {0}},
	{AXIS_SIGNAL_EVERY, "0", 0, {0}},
	{AXIS_RATE, "0", 0, {0}},
	{AXIS_RATE, "101M", 0, {0}},
	{AXIS_RATE, "10K", 0, {0}},
	{AXIS_RATE, "-1", 0, {0}},
	{AXIS_READ_FRACTION, "1.1", 0, {0}},
	{AXIS_READ_FRACTION, "101%", 0, {0}},
	{AXIS_READ_FRACTION, "0.5,50%", 0, {0}},
	{AXIS_SERVER_LOAD, "nan", 0, {0}},
	{AXIS_SRQ, "maybe", 0, {0}},
};

TEST(wrong_texts_are_named_and_change_nothing)
{
	for (size_t i = 0; i < sizeof(wrong_texts) / sizeof(wrong_texts[0]); i++) {
		const struct axis_case *c = &wrong_texts[i];
		struct series series = {0};
		char begin[64];

		if (series_set(&series, c->axis, c->text) != -EINVAL)
			fail_msg("accepted: --%s %s", axes[c->axis].name, c->text);
		assert_int_equal(series.values[c->axis].count, 0);
		snprintf(begin, sizeof(begin), "--%s %s: ", axes[c->axis].name, c->text);
		assert_memory_equal(failure_get()->text, begin, strlen(begin));
		EQUAL((failure_get()->text, HAS("expected ")),
		      (failure_get()->code, EXIT_WRONG_USAGE));
	}
}

/* The largest of them stands for all. */
TEST(a_mix_is_one_value_of_the_sizes)
{
	struct series series = {0};
	const struct units_list *sizes = &series.values[AXIS_SIZE];
	struct params mixed = {.size_bytes = 65536}, plain = {.size_bytes = 65536};

	EQUAL((series_set(&series, AXIS_SIZE, "64:1K:*4,4K/10:64K/90,4K,4K/100"), 0),
	      (sizes->count, 6), (sizes->values[2], 1024), (series.mixes[2], NULL));
	mixed.mix = series.mixes[3];
	assert_int_equal(sizes->values[3], 65536);
	assert_int_not_equal(axis_compare(&mixed, &plain, AXIS_SIZE), 0);
	EQUAL((axis_compare(&mixed, &mixed, AXIS_SIZE), 0), (sizes->values[4], 4096),
	      (series.mixes[4], NULL), (sizes->values[5], 4096));
	assert_non_null(series.mixes[5]);
	/* the last one given counts */
	EQUAL((series_set(&series, AXIS_SIZE, "8"), 0), (sizes->count, 1));
	series_clear(&series);
}

/* No axis writes where another one reads. */
TEST(each_axis_has_a_field_of_its_own)
{
	struct params params;

	memset(&params, 0, sizeof(params));
	for (int axis = 0; axis < AXES; axis++)
		axis_put(&params, (enum axis_id)axis, 1);
	for (int axis = 0; axis < AXES; axis++) {
		axis_put(&params, (enum axis_id)axis, 0);
		for (int other = 0; other < AXES; other++)
			assert_int_equal(axis_get(&params, (enum axis_id)other), other > axis);
	}
	axis_put(&params, AXIS_SIZE, 1ULL << 30);
	assert_int_equal(params.size_bytes, 1ULL << 30);
	axis_put(&params, AXIS_SRQ, 1);
	EQUAL((params.srq, true), (params.bidirectional, false));
}

struct words_case {
	enum axis_id axis;
	uint64_t value;
	const char *printed;
	const char *json;
};

TEST(values_are_printed_for_people_and_machines)
{
	static const struct words_case cases[] = {
		{AXIS_TEST, BENCH_REGISTER, "register", "\"register\""},
		{AXIS_PERSIST, BENCH_AUTO, "auto", "\"auto\""},
		{AXIS_SIZE, 4096, "4 KiB", "4096"},
		{AXIS_DEPTH, 4096, "4096", "4096"},
		{AXIS_RATE, 15000, "15000", "15000"},
		{AXIS_READ_FRACTION, 700000, "0.7", "0.7"},
		{AXIS_SERVER_LOAD, 1000000, "1", "1.0"},
		{AXIS_SERVER_LOAD, 1, "0.000001", "9.9999999999999995e-07"},
		{AXIS_PATTERN, BENCH_RAND, "rand", "\"rand\""},
		{AXIS_PATTERN, VARIANT(BENCH_ZIPF, 1200000), "zipf:1.2", "\"zipf:1.2\""},
		{AXIS_ARRIVALS, VARIANT(BENCH_BURST, 4096), "burst:4096", "\"burst:4096\""},
		{AXIS_SRQ, 1, "yes", "true"},
		{AXIS_BIDIRECTIONAL, 0, "no", "false"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct words_case *c = &cases[i];
		char text[UNITS_TEXT_BYTES];
		struct params params;
		json_t *value, *expected = json_loads(c->json, JSON_DECODE_ANY, NULL);

		memset(&params, 0, sizeof(params));
		axis_put(&params, c->axis, c->value);
		assert_string_equal(axis_print(&params, c->axis, text), c->printed);
		value = axis_json(&params, c->axis);
		assert_true(json_equal(value, expected));
		json_decref(value);
		json_decref(expected);
	}
}
