/* SPDX-License-Identifier: BSD-3-Clause */
/* test_persist_choice.c -- which flush a target takes, and what auto comes to. */
#include "common/rdma/target.h"
#include "tests/lib/test.h"
#include "tools/rpma-bench/client/setup.h"
#include "tools/rpma-bench/measure/op/table.h"

#define VISIBILITY (1 << RPMA_FLUSH_TYPE_VISIBILITY)
#define PERSISTENT (1 << RPMA_FLUSH_TYPE_PERSISTENT)

static struct message_welcome welcome(enum target_kind kind, int flush_types, bool direct_write)
{
	return (struct message_welcome){
		.direct_write_to_pmem = direct_write,
		.targets_count = 1,
		.targets = {{.kind = (uint8_t)kind,
			     .flush_types = (uint8_t)flush_types,
			     .bytes = 4096}},
	};
}

/* A persistent flush takes both: memory that allows it, and the operator's word. */
TEST(the_strongest_flush_is_taken)
{
	const struct {
		int types;
		bool direct_write;
		enum rpma_flush_type expected;
	} cases[] = {
		{VISIBILITY | PERSISTENT, true, RPMA_FLUSH_TYPE_PERSISTENT},
		{VISIBILITY | PERSISTENT, false, RPMA_FLUSH_TYPE_VISIBILITY},
		{VISIBILITY, true, RPMA_FLUSH_TYPE_VISIBILITY},
		{VISIBILITY, false, RPMA_FLUSH_TYPE_VISIBILITY},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct message_welcome o =
			welcome(TARGET_DEVDAX, cases[i].types, cases[i].direct_write);

		assert_int_equal(persisting_flush(&o, 0), cases[i].expected);
	}
}

TEST(auto_asks_the_server_where_only_that_persists)
{
	const enum target_kind pmem[] = {TARGET_FSDAX, TARGET_DEVDAX};

	for (size_t i = 0; i < 2; i++) {
		struct message_welcome o = welcome(pmem[i], VISIBILITY | PERSISTENT, false);
		struct persist_choice choice = {0};

		EQUAL((persisting_first(&o, 0, &choice), BENCH_GPSPM), (choice.made, true),
		      (choice.reason, HAS("did not state")));
	}
}

/* A flush reaches the page cache, and nothing is known to keep that. */
TEST(auto_has_the_server_sync_a_file)
{
	const enum target_kind files[] = {TARGET_FILE, TARGET_OTHERFILE};

	for (size_t i = 0; i < 2; i++) {
		struct message_welcome o = welcome(files[i], VISIBILITY | PERSISTENT, i == 0);
		struct persist_choice choice = {0};

		EQUAL((persisting_first(&o, 0, &choice), BENCH_GPSPM),
		      (choice.reason, HAS("page cache")));
	}
}

TEST(auto_tries_native_first)
{
	const struct message_welcome tries[] = {
		welcome(TARGET_DRAM, VISIBILITY, false),
		welcome(TARGET_DEVDAX, VISIBILITY | PERSISTENT, true),
		/* nothing makes it durable */
		welcome(TARGET_MEMFILE, VISIBILITY, false),
	};

	for (size_t i = 0; i < 3; i++) {
		struct persist_choice choice = {0};

		EQUAL((persisting_first(&tries[i], 0, &choice), BENCH_NATIVE),
		      (choice.made, false));
	}
}

TEST(auto_flushes_nothing_that_takes_no_flush)
{
	struct message_welcome o = welcome(TARGET_DRAM, 0, false);
	struct persist_choice choice = {0};

	assert_int_equal(persisting_first(&o, 0, &choice), BENCH_GPSPM);
}

/* One probe decides for all repeats of a target. */
TEST(a_choice_stays)
{
	struct message_welcome o = welcome(TARGET_DRAM, VISIBILITY, false);
	struct persist_choice native = {0}, read = {0};

	persisting_settle(&native, true);
	persisting_settle(&read, false);
	EQUAL((persisting_first(&o, 0, &native), BENCH_NATIVE),
	      (persisting_first(&o, 0, &read), BENCH_APM));
	assert_true(native.made && read.made);
	assert_string_not_equal(native.reason, read.reason);
}

TEST(a_flush_that_is_not_taken_is_refused)
{
	const char *who = "server 10.0.0.1:7204";
	struct message_welcome o = welcome(TARGET_DRAM, 0, false);
	const struct operation *none = operation_find(BENCH_WRITE, BENCH_NONE);
	const struct operation *apm = operation_find(BENCH_WRITE, BENCH_APM);

	EQUAL((persisting_check(&o, none, 0, who), 0),
	      (persisting_check(&o, apm, 0, who) != 0, true),
	      (failure_get()->text, HAS("server 10.0.0.1:7204")),
	      (failure_get()->text, HAS("apm")));
	o.targets[0].flush_types = VISIBILITY;
	assert_int_equal(persisting_check(&o, apm, 0, who), 0);
}
