/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_gpspm.c -- ranges that are made durable, those that are refused, and
 * the messages that ask for them.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/lib/test.h"
#include "tools/common/base/failure.h"
#include "tools/common/rdma/gpspm.h"

/* What msync(2) was asked for; its answer is the test's. */
static struct {
	unsigned calls;
	unsigned char *at;
	size_t len;
	int flags;
	int answer;
} asked;

int __wrap_msync(void *at, size_t len, int flags);
int __wrap_msync(void *at, size_t len, int flags)
{
	asked.calls++;
	asked.at = at;
	asked.len = len;
	asked.flags = flags;
	return asked.answer;
}

static unsigned char memory[3 * 65536] __attribute__((aligned(65536)));

static struct persist opened(enum target_kind kind)
{
	const struct target target = {.kind = kind,
				      .memory = memory,
				      .size_bytes = sizeof(memory),
				      .path = "/dev/dax0.0"};
	struct persist persist;

	memset(&asked, 0, sizeof(asked));
	assert_int_equal(persist_open(&persist, &target), 0);
	return persist;
}

static void volatile_memory_needs_nothing(void **state)
{
	const struct persist dram = opened(TARGET_DRAM), huge = opened(TARGET_HUGEPAGES);

	assert_string_equal(persist_method_name(dram.method), "nothing");
	assert_string_equal(persist_method_name(huge.method), "nothing");
	assert_int_equal(persist_range(&dram, 0, sizeof(memory)), PERSIST_DONE);
	assert_int_equal(asked.calls, 0);
}

/* msync(2) is called where it may help, and believed where the file system is known to store. */
static void what_is_durable_depends_on_the_kind(void **state)
{
	static const struct {
		enum target_kind kind;
		const char *method;
		bool durable;
	} cases[] = {
		{TARGET_DRAM, "nothing", false},    {TARGET_HUGEPAGES, "nothing", false},
		{TARGET_MEMFILE, "nothing", false}, {TARGET_OTHERFILE, "msync", false},
		{TARGET_FILE, "msync", true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct persist persist = opened(cases[i].kind);

		assert_string_equal(persist_method_name(persist.method), cases[i].method);
		assert_int_equal(persist_is_durable(persist.method, cases[i].kind),
				 cases[i].durable);
	}
	assert_true(persist_is_durable(PERSIST_LIBPMEM, TARGET_DEVDAX));
	assert_true(persist_is_durable(PERSIST_MSYNC, TARGET_FSDAX));
}

/* msync(2) takes whole pages: the range is widened to the left. */
static void a_file_is_synced_by_pages(void **state)
{
	const struct persist file = opened(TARGET_FILE);

	assert_string_equal(persist_method_name(file.method), "msync");
	assert_int_equal(persist_range(&file, 65536 + 100, 8), PERSIST_DONE);
	assert_int_equal(asked.calls, 1);
	assert_ptr_equal(asked.at, memory + 65536);
	assert_int_equal(asked.len, 108);
	assert_int_equal(asked.flags, MS_SYNC);
}

static void a_refusal_of_the_system_is_told(void **state)
{
	const struct persist file = opened(TARGET_FILE);

	asked.answer = -1;
	assert_int_equal(persist_range(&file, 0, 1), PERSIST_FAILED);
}

static void dax_is_flushed_from_user_space_where_libpmem_is(void **state)
{
	const struct target devdax = {
		.kind = TARGET_DEVDAX, .memory = memory, .size_bytes = 1, .path = "/dev/dax0.0"};
	struct persist fsdax = opened(TARGET_FSDAX), persist;

	assert_int_equal(persist_range(&fsdax, 1, 2), PERSIST_DONE);
	if (fsdax.method == PERSIST_LIBPMEM) {
		assert_int_equal(asked.calls, 0);
		assert_int_equal(persist_open(&persist, &devdax), 0);
		return;
	}
	assert_int_equal(asked.calls, 1);
	assert_int_not_equal(persist_open(&persist, &devdax), 0);
	assert_non_null(strstr(failure_get()->text, "/dev/dax0.0"));
}

static void ranges_outside_the_target_are_refused(void **state)
{
	static const struct {
		uint64_t offset, length;
	} outside[] = {
		{0, 0},
		{0, sizeof(memory) + 1},
		{sizeof(memory), 1},
		{sizeof(memory) - 1, 2},
		{1, UINT64_MAX},
		{UINT64_MAX, 1},
		{UINT64_MAX, UINT64_MAX},
	};
	const struct persist file = opened(TARGET_FILE);

	for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++)
		assert_int_equal(persist_range(&file, outside[i].offset, outside[i].length),
				 PERSIST_OUTSIDE);
	assert_int_equal(asked.calls, 0);
	assert_int_equal(persist_range(&file, sizeof(memory) - 1, 1), PERSIST_DONE);
}

static void a_request_comes_back(void **state)
{
	const struct persist_request request = {UINT32_MAX, 1ULL << 63, 4096};
	uint8_t bytes[PERSIST_REQUEST_BYTES];
	struct persist_request got;

	persist_encode_request(&request, bytes);
	assert_int_equal(persist_decode_request(bytes, sizeof(bytes), &got), 0);
	assert_int_equal(got.slot, request.slot);
	assert_true(got.offset == request.offset);
	assert_int_equal(got.length, request.length);
	assert_int_equal(persist_decode_request(bytes, sizeof(bytes) - 1, &got), -EPROTO);
}

static void an_answer_comes_back(void **state)
{
	const struct persist_answer answer = {7, PERSIST_OUTSIDE};
	uint8_t bytes[PERSIST_ANSWER_BYTES];
	struct persist_answer got;

	persist_encode_answer(&answer, bytes);
	assert_int_equal(persist_decode_answer(bytes, sizeof(bytes), &got), 0);
	assert_int_equal(got.slot, 7);
	assert_int_equal(got.status, PERSIST_OUTSIDE);
	assert_int_equal(persist_decode_answer(bytes, sizeof(bytes) - 1, &got), -EPROTO);
	bytes[4] = PERSIST_STATUSES;
	assert_int_equal(persist_decode_answer(bytes, sizeof(bytes), &got), -EPROTO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(volatile_memory_needs_nothing),
		cmocka_unit_test(a_file_is_synced_by_pages),
		cmocka_unit_test(what_is_durable_depends_on_the_kind),
		cmocka_unit_test(a_refusal_of_the_system_is_told),
		cmocka_unit_test(dax_is_flushed_from_user_space_where_libpmem_is),
		cmocka_unit_test(ranges_outside_the_target_are_refused),
		cmocka_unit_test(a_request_comes_back),
		cmocka_unit_test(an_answer_comes_back),
	};

	return cmocka_run_group_tests_name("common.persist", tests, NULL, NULL);
}
