/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_message.c -- the control messages against good and hostile bytes.
 */
#include <errno.h>
#include <string.h>

#include "rpma-bench/message.h"
#include "test.h"

static struct message hello(void)
{
	struct message m = {.type = MESSAGE_HELLO};

	m.hello = (struct message_hello){
		.run_id = {1, 2, 3},
		.test = BENCH_BW,
		.op = BENCH_READ,
		.persist = BENCH_APM,
		.size_bytes = 4096,
		.depth = 32,
		.threads = 1,
		.connections = 1,
		.repeat = 4,
		.warmup_ns = 1000000000,
		.duration_ns = 10000000000,
		.limit_ns = 100000000000,
	};
	return m;
}

static void a_hello_comes_back(void **state)
{
	struct message m = hello(), got;
	uint8_t bytes[MESSAGE_MAX];
	size_t len = message_encode(&m, bytes);

	assert_int_equal(message_decode(bytes, len, &got), 0);
	assert_int_equal(got.type, MESSAGE_HELLO);
	assert_memory_equal(got.hello.run_id, m.hello.run_id, 16);
	assert_int_equal(got.hello.test, BENCH_BW);
	assert_int_equal(got.hello.op, BENCH_READ);
	assert_int_equal(got.hello.persist, BENCH_APM);
	assert_int_equal(got.hello.size_bytes, 4096);
	assert_int_equal(got.hello.depth, 32);
	assert_int_equal(got.hello.repeat, 4);
	assert_int_equal(got.hello.warmup_ns, 1000000000);
	assert_int_equal(got.hello.duration_ns, 10000000000);
	assert_int_equal(got.hello.limit_ns, 100000000000);
}

static void refused(const struct message *m)
{
	struct message got;
	uint8_t bytes[MESSAGE_MAX];
	size_t len = message_encode(m, bytes);

	assert_int_equal(message_decode(bytes, len, &got), -EPROTO);
}

static void hellos_out_of_range_are_refused(void **state)
{
	struct message bad[13];

	for (size_t i = 0; i < 13; i++)
		bad[i] = hello();
	bad[0].hello.test = BENCH_TESTS;
	bad[1].hello.op = BENCH_OPS;
	bad[2].hello.persist = BENCH_PERSISTS;
	bad[3].hello.completion = BENCH_COMPLETIONS;
	bad[4].hello.size_bytes = 0;
	bad[5].hello.size_bytes = OPTIONS_SIZE_MAX + 1;
	bad[6].hello.depth = 0;
	bad[7].hello.depth = OPTIONS_DEPTH_MAX + 1;
	bad[8].hello.threads = 2;
	bad[9].hello.duration_ns = 0;
	bad[10].hello.duration_ns = UINT64_MAX;
	bad[11].hello.limit_ns = MESSAGE_LIMIT_MAX_NS + 1;
	bad[12].hello.repeat = OPTIONS_REPEATS_MAX;
	for (size_t i = 0; i < 13; i++)
		refused(&bad[i]);
}

static void a_message_is_as_long_as_it_says(void **state)
{
	struct message m = hello(), got;
	uint8_t bytes[MESSAGE_MAX + 8] = {0};
	size_t len = message_encode(&m, bytes);

	for (size_t cut = 0; cut < len; cut++)
		assert_int_equal(message_decode(bytes, cut, &got), -EPROTO);
	assert_int_equal(message_decode(bytes, len + 1, &got), -EPROTO);
	/* consistent, but without its last field */
	bytes[0] = (uint8_t)(len - 1);
	assert_int_equal(message_decode(bytes, len - 1, &got), -EPROTO);
}

/* A later release may append fields. */
static void a_tail_is_ignored(void **state)
{
	struct message m = hello(), got;
	uint8_t bytes[MESSAGE_MAX] = {0};
	size_t len = message_encode(&m, bytes) + 4;

	bytes[0] = (uint8_t)len;
	assert_int_equal(message_decode(bytes, len, &got), 0);
	assert_int_equal(got.hello.limit_ns, m.hello.limit_ns);
}

static void another_version_and_type_are_told_apart(void **state)
{
	struct message m = hello(), got;
	uint8_t bytes[MESSAGE_MAX];
	size_t len = message_encode(&m, bytes);

	bytes[6]++;
	assert_int_equal(message_decode(bytes, len, &got), -EPROTONOSUPPORT);
	bytes[6]--;
	bytes[4] = 99;
	assert_int_equal(message_decode(bytes, len, &got), -EPROTO);
}

static void a_refusal_comes_back_disarmed(void **state)
{
	struct message m = {.type = MESSAGE_WELCOME}, got;
	uint8_t bytes[MESSAGE_MAX];

	strcpy(m.welcome.refusal, "no \033[2J\n room");
	m.welcome.environment_bytes = 77;
	assert_int_equal(message_decode(bytes, message_encode(&m, bytes), &got), 0);
	assert_string_equal(got.welcome.refusal, "no ?[2J? room");
	assert_int_equal(got.welcome.environment_bytes, 77);
	m.welcome.environment_bytes = MESSAGE_ENVIRONMENT_MAX + 1;
	refused(&m);
}

static void an_environment_chunk_comes_back(void **state)
{
	struct message m = {.type = MESSAGE_ENVIRONMENT}, got;
	uint8_t bytes[MESSAGE_MAX], data[MESSAGE_CHUNK_MAX];

	memset(data, 7, sizeof(data));
	m.environment = (struct message_environment){1000, sizeof(data), data};
	assert_int_equal(message_decode(bytes, message_encode(&m, bytes), &got), 0);
	assert_int_equal(got.environment.offset, 1000);
	assert_int_equal(got.environment.bytes, sizeof(data));
	assert_memory_equal(got.environment.data, data, sizeof(data));
	m.environment.offset = MESSAGE_ENVIRONMENT_MAX - 1;
	refused(&m);
	m.environment = (struct message_environment){0, 0, data};
	refused(&m);
}

/* A length that is more than there is. */
static void a_chunk_cannot_reach_past_its_message(void **state)
{
	const uint8_t byte = 1;
	struct message m = {.type = MESSAGE_ENVIRONMENT}, got;
	uint8_t bytes[MESSAGE_MAX];
	size_t len;

	m.environment = (struct message_environment){0, 1, &byte};
	len = message_encode(&m, bytes);
	bytes[12] = 2;
	assert_int_equal(message_decode(bytes, len, &got), -EPROTO);
}

static void a_report_comes_back(void **state)
{
	struct message m = {.type = MESSAGE_REPORT}, got;
	uint8_t bytes[MESSAGE_MAX];

	m.report = (struct message_report){1ULL << 40, 5, 6};
	assert_int_equal(message_decode(bytes, message_encode(&m, bytes), &got), 0);
	assert_memory_equal(&got.report, &m.report, sizeof(m.report));
	m.report.elapsed_ns = UINT64_MAX;
	refused(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_hello_comes_back),
		cmocka_unit_test(hellos_out_of_range_are_refused),
		cmocka_unit_test(a_message_is_as_long_as_it_says),
		cmocka_unit_test(a_tail_is_ignored),
		cmocka_unit_test(another_version_and_type_are_told_apart),
		cmocka_unit_test(a_refusal_comes_back_disarmed),
		cmocka_unit_test(an_environment_chunk_comes_back),
		cmocka_unit_test(a_chunk_cannot_reach_past_its_message),
		cmocka_unit_test(a_report_comes_back),
	};

	return cmocka_run_group_tests_name("bench.message", tests, NULL, NULL);
}
