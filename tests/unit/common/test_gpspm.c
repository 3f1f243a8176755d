/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_gpspm.c -- ranges that are made durable, those that are refused, and
 * the messages that ask for them.
 */
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>

#include "common/base/failure.h"
#include "common/host/file_sync.h"
#include "common/rdma/gpspm.h"
#include "tests/lib/test.h"

/* The calls of msync(2), whose answer is the test's. */
static struct {
	unsigned calls;
	unsigned char *at;
	size_t len;
	int flags;
	int answer;
	bool is_gated;
} asked;

static unsigned char memory[3 * 65536] __attribute__((aligned(65536)));

/* Calls for pages from GATED on wait in msync(2) until the test lets them go. */
#define GATED (memory + 65536)
static struct gate {
	sem_t entered, may_leave;
	int answer;
} gates[2];

static int pass(struct gate *gate)
{
	sem_post(&gate->entered);
	sem_wait(&gate->may_leave);
	errno = EIO;
	return gate->answer;
}

int __wrap_msync(void *at, size_t len, int flags)
{
	if (asked.is_gated)
		return pass(&gates[((unsigned char *)at - GATED) / 65536]);
	asked.calls++;
	asked.at = at;
	asked.len = len;
	asked.flags = flags;
	errno = EIO;
	return asked.answer;
}

static struct file_sync *file; /* all that are opened below share it */

static struct persist opened_again(enum target_kind kind)
{
	const struct target target = {.kind = kind,
				      .memory = memory,
				      .size_bytes = sizeof(memory),
				      .path = "/dev/dax0.0",
				      .sync = file};
	struct persist persist;

	memset(&asked, 0, sizeof(asked));
	assert_int_equal(persist_open(&persist, &target), 0);
	return persist;
}

static struct persist opened(enum target_kind kind)
{
	file_sync_delete(&file);
	assert_int_equal(file_sync_new(&file), 0);
	return opened_again(kind);
}

TEST(volatile_memory_needs_nothing)
{
	const struct persist dram = opened(TARGET_DRAM), huge = opened(TARGET_HUGEPAGES);

	EQUAL((persist_method_name(dram.method), "nothing"),
	      (persist_method_name(huge.method), "nothing"),
	      (persist_range(&dram, 0, sizeof(memory)), PERSIST_DONE), (asked.calls, 0));
}

/* msync(2) is called where it may help, and believed where the file system is known to store. */
TEST(what_is_durable_depends_on_the_kind)
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

		EQUAL((persist_method_name(persist.method), cases[i].method),
		      (persist_is_durable(persist.method, cases[i].kind), cases[i].durable));
	}
	EQUAL((persist_is_durable(PERSIST_LIBPMEM, TARGET_DEVDAX), true),
	      (persist_is_durable(PERSIST_MSYNC, TARGET_FSDAX), true));
}

/* msync(2) takes whole pages: the range is widened to the left. */
TEST(a_file_is_synced_by_pages)
{
	const struct persist persist = opened(TARGET_FILE);

	EQUAL((persist_method_name(persist.method), "msync"),
	      (persist_range(&persist, 65536 + 100, 8), PERSIST_DONE), (asked.calls, 1));
	assert_ptr_equal(asked.at, memory + 65536);
	EQUAL((asked.len, 108), (asked.flags, MS_SYNC));
}

TEST(a_refusal_of_the_system_is_told)
{
	const struct persist persist = opened(TARGET_FILE);

	asked.answer = -1;
	EQUAL((persist_range(&persist, 0, 1), PERSIST_FAILED), (errno, EIO));
}

/* The kernel tells of it once, and the data are lost for good. */
TEST(a_failure_stays_for_all_that_persist_the_file)
{
	const struct persist persist = opened(TARGET_FILE);
	struct persist other;

	asked.answer = -1;
	assert_int_equal(persist_range(&persist, 0, 1), PERSIST_FAILED);
	other = opened_again(TARGET_FILE);
	errno = 0;
	EQUAL((persist_range(&persist, 0, 1), PERSIST_FAILED), (errno, EIO),
	      (persist_range(&other, 65536, 1), PERSIST_FAILED),
	      (persist_range(&persist, sizeof(memory), 1), PERSIST_OUTSIDE), (asked.calls, 0));
}

struct persister {
	const struct persist *persist;
	uint64_t gate;
	pthread_t thread;
	enum persist_status status;
};

static void *run_persister(void *arg)
{
	struct persister *p = arg;

	p->status = persist_range(p->persist, (p->gate + 1) * 65536, 1);
	return NULL;
}

/* Returns when it is in msync(2), which will give this answer. */
static void enter(struct persister *p, int answer)
{
	sem_init(&gates[p->gate].entered, 0, 0);
	sem_init(&gates[p->gate].may_leave, 0, 0);
	gates[p->gate].answer = answer;
	assert_int_equal(pthread_create(&p->thread, NULL, run_persister, p), 0);
	sem_wait(&gates[p->gate].entered);
}

/* msync(2) of the lost page returns first, and good: the other one has the failure already. */
TEST(the_failure_of_another_thread_is_waited_for)
{
	static const struct {
		int lost, other;
		enum persist_status status;
	} cases[] = {
		{0, -1, PERSIST_FAILED},
		{-1, 0, PERSIST_FAILED},
		{0, 0, PERSIST_DONE},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct persist persist = opened(TARGET_FILE);
		struct persister lost = {.persist = &persist, .gate = 0};
		struct persister other = {.persist = &persist, .gate = 1};

		asked.is_gated = true;
		enter(&lost, cases[i].lost);
		enter(&other, cases[i].other);
		sem_post(&gates[0].may_leave);
		sem_post(&gates[1].may_leave);
		pthread_join(lost.thread, NULL);
		pthread_join(other.thread, NULL);
		EQUAL((lost.status, cases[i].status), (other.status, cases[i].status));
	}
}

TEST(dax_is_flushed_from_user_space_where_libpmem_is)
{
	const struct target devdax = {
		.kind = TARGET_DEVDAX, .memory = memory, .size_bytes = 1, .path = "/dev/dax0.0"};
	struct persist fsdax = opened(TARGET_FSDAX), persist;

	assert_int_equal(persist_range(&fsdax, 1, 2), PERSIST_DONE);
	if (fsdax.method == PERSIST_LIBPMEM) {
		EQUAL((asked.calls, 0), (persist_open(&persist, &devdax), 0));
		return;
	}
	assert_int_equal(asked.calls, 1);
	assert_int_not_equal(persist_open(&persist, &devdax), 0);
	assert_non_null(strstr(failure_get()->text, "/dev/dax0.0"));
}

TEST(ranges_outside_the_target_are_refused)
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
	const struct persist persist = opened(TARGET_FILE);

	for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++)
		assert_int_equal(persist_range(&persist, outside[i].offset, outside[i].length),
				 PERSIST_OUTSIDE);
	EQUAL((asked.calls, 0), (persist_range(&persist, sizeof(memory) - 1, 1), PERSIST_DONE));
}

TEST(a_request_comes_back)
{
	const struct persist_request request = {UINT32_MAX, 1ULL << 63, 4096};
	uint8_t bytes[PERSIST_REQUEST_BYTES];
	struct persist_request got;

	persist_encode_request(&request, bytes);
	EQUAL((persist_decode_request(bytes, sizeof(bytes), &got), 0), (got.slot, request.slot));
	assert_true(got.offset == request.offset);
	EQUAL((got.length, request.length),
	      (persist_decode_request(bytes, sizeof(bytes) - 1, &got), -EPROTO));
}

TEST(an_answer_comes_back)
{
	const struct persist_answer answer = {7, PERSIST_OUTSIDE};
	uint8_t bytes[PERSIST_ANSWER_BYTES];
	struct persist_answer got;

	persist_encode_answer(&answer, bytes);
	EQUAL((persist_decode_answer(bytes, sizeof(bytes), &got), 0), (got.slot, 7),
	      (got.status, PERSIST_OUTSIDE),
	      (persist_decode_answer(bytes, sizeof(bytes) - 1, &got), -EPROTO));
	bytes[4] = PERSIST_STATUSES;
	assert_int_equal(persist_decode_answer(bytes, sizeof(bytes), &got), -EPROTO);
}
