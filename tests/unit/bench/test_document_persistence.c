/* SPDX-License-Identifier: BSD-3-Clause */
/* test_document_persistence.c -- what the document of a run tells of persistence. */
#include "common/rdma/target.h"
#include "made_document.h"
#include "made_repeat.h"

RUN_TEST(persistence_is_not_believed)
{
	struct message_target *target = &run.server.welcome.targets[0];
	struct repeat r = made_repeat(1000, 100);

	point.persist = BENCH_APM;
	r.flush = "visibility";
	document_add_repeat(r, NULL);
	document_expect_warning("PERSISTENCE_UNPROVEN", "the target is dram");
	target->kind = TARGET_DEVDAX;
	document_expect_warning("PERSISTENCE_UNPROVEN", "visible, not persistent");
	json_decref(repeats[0]);
	repeats[0] = NULL;
	r = made_repeat(1000, 100);
	r.flush = "persistent";
	document_add_repeat(r, NULL);
	document_expect_warning("PERSISTENCE_UNPROVEN", "rests on the statement");
	document_expect_warning("PERSISTENCE_UNPROVEN", "is not known");
}

/* msync(2) makes a file durable where its file system stores; flushes stay in its page cache. */
RUN_TEST(persistence_depends_on_the_file_system)
{
	static const struct {
		enum target_kind kind;
		enum bench_persist persist;
		const char *warning; /* NULL: none */
	} cases[] = {
		{TARGET_FILE, BENCH_GPSPM, NULL},
		{TARGET_FILE, BENCH_GPSPM_RT, NULL},
		{TARGET_FILE, BENCH_APM, "page cache"},
		{TARGET_MEMFILE, BENCH_GPSPM, "the target is memfile: a flush to it makes nothing"},
		{TARGET_MEMFILE, BENCH_APM, "the target is memfile: a flush to it makes nothing"},
		{TARGET_OTHERFILE, BENCH_GPSPM, "unknown"},
		{TARGET_OTHERFILE, BENCH_APM, "page cache"},
		{TARGET_HUGEPAGES, BENCH_GPSPM, "makes nothing persistent"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct repeat r = made_repeat(1000, 100);

		run.server.welcome.targets[0].kind = (uint8_t)cases[i].kind;
		point.persist = cases[i].persist;
		r.flush = cases[i].persist == BENCH_APM ? "persistent" : NULL; /* as stated */
		json_decref(repeats[0]);
		repeats[0] = NULL;
		document_add_repeat(r, NULL);
		document_expect_warning("PERSISTENCE_UNPROVEN", cases[i].warning);
	}
}

/* Sets the verdict on the server's platform, for its one target. */
static void set_verdict(const char *verdict, const char *row)
{
	json_decref(run.server.readiness);
	run.server.readiness = json_pack(
		"[{s:s, s:{}, s:{s:s, s:s, s:s}, s:{}}]", "verdict", verdict, "target", "judgement",
		"row", row, "reason", "So it is.", "because", "PM-06 FAIL", "direct_write_to_pmem");
}

RUN_TEST(persistence_is_believed_by_the_verdict)
{
	static const struct {
		const char *verdict, *row;
		enum bench_persist persist;
		bool native, proven;
	} cases[] = {
		{"APM_READY", "ddio-off", BENCH_APM, false, true},
		{"APM_READY_EADR", "eadr", BENCH_APM, false, true},
		{"NATIVE_FLUSH_READY", "native", BENCH_APM, false, false},
		{"NATIVE_FLUSH_READY", "native", BENCH_APM, true, true},
		{"APM_READY", "ddio-off", BENCH_NATIVE, true, true},
		{"GPSPM_ONLY", "ddio-on", BENCH_APM, false, false},
		{"GPSPM_ONLY", "ddio-on", BENCH_GPSPM, false, true},
		{"GPSPM_ONLY", "software", BENCH_GPSPM, false, true},
		{"UNDETERMINED", "ddio-unknown", BENCH_APM, false, false},
		{"UNDETERMINED", "ddio-unknown", BENCH_GPSPM, false, true},
		{"UNDETERMINED", "unproven", BENCH_GPSPM, false, false},
		{"NOT_READY", "failed", BENCH_APM, false, false},
		{"NOT_READY", "failed", BENCH_GPSPM, false, false},
		{"FROM_THE_FUTURE", "x", BENCH_APM, true, false},
	};

	run.server.welcome.targets[0].kind = TARGET_DEVDAX;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct repeat r = made_repeat(1000, 100);

		point.persist = cases[i].persist;
		r.flush = cases[i].persist == BENCH_GPSPM ? NULL : "persistent";
		r.native_flush = cases[i].native;
		json_decref(repeats[0]);
		repeats[0] = NULL;
		document_add_repeat(r, NULL);
		set_verdict(cases[i].verdict, cases[i].row);
		document_expect_warning("PERSISTENCE_UNPROVEN",
					cases[i].proven ? NULL : "So it is.");
		document_expect_warning("PERSISTENCE_UNPROVEN",
					cases[i].proven ? NULL : cases[i].verdict);
	}
}

RUN_TEST(without_a_claim_of_persistence_nothing_is_said)
{
	document_add_repeat(made_repeat(1000, 100), NULL);
	document_expect_warning("PERSISTENCE_UNPROVEN", NULL);
	document_expect_warning("PERSIST_CHOSEN", NULL);
}
