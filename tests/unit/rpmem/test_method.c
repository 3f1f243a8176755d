/* SPDX-License-Identifier: BSD-3-Clause */
/* test_method.c -- which method is promised: a wrong APM loses data. */
#include "common/base/failure.h"
#include "tests/lib/test.h"
#include "tools/rpmemd/method.h"

static struct method chosen(bool persist_apm, bool is_pmem, bool is_forced,
			    enum readiness_verdict verdict)
{
	const struct method_facts facts = {
		.persist_apm = persist_apm,
		.transport = CONTROL_RDMA,
		.is_pmem = is_pmem,
		.is_forced = is_forced,
		.verdict = verdict,
		.reason = "The reason.",
	};
	struct method method;

	method_choose(&facts, &method);
	assert_true(method.why[0] != '\0');
	return method;
}

/* The table of the daemon's manual: requested, and whether the pool is PMem. */
TEST(apm_takes_the_wish_and_persistent_memory)
{
	EQUAL((chosen(true, true, false, VERDICT_APM_READY).method, CONTROL_APM),
	      (chosen(true, false, false, VERDICT_APM_READY).method, CONTROL_GPSPM),
	      (chosen(false, true, false, VERDICT_APM_READY).method, CONTROL_GPSPM),
	      (chosen(false, false, false, VERDICT_APM_READY).method, CONTROL_GPSPM));
}

TEST(a_verdict_may_forbid_apm)
{
	static const struct {
		enum readiness_verdict verdict;
		enum control_method method;
		bool native;
	} cases[] = {
		{VERDICT_APM_READY, CONTROL_APM, false},
		{VERDICT_APM_READY_EADR, CONTROL_APM, false},
		{VERDICT_NATIVE_FLUSH_READY, CONTROL_APM, true},
		{VERDICT_UNDETERMINED, CONTROL_APM, false},
		{VERDICT_GPSPM_ONLY, CONTROL_GPSPM, false},
		{VERDICT_NOT_READY, CONTROL_GPSPM, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct method method = chosen(true, true, false, cases[i].verdict);

		EQUAL((method.method, cases[i].method), (method.native, cases[i].native),
		      (method.why, HAS("The reason.")));
	}
}

/* PMEM_IS_PMEM_FORCE=1 is the tests' statement of the operator. */
TEST(a_forced_pool_needs_no_verdict)
{
	EQUAL((chosen(true, true, true, VERDICT_NOT_READY).method, CONTROL_APM),
	      (chosen(false, true, true, VERDICT_NOT_READY).method, CONTROL_GPSPM));
}

TEST(tcp_has_no_apm)
{
	const struct method_facts facts = {.persist_apm = true,
					   .transport = CONTROL_TCP,
					   .is_pmem = true,
					   .is_forced = true,
					   .reason = ""};
	struct method method;

	method_choose(&facts, &method);
	EQUAL((method.method, CONTROL_GPSPM), (method.why, HAS("TCP")),
	      (method_needs_verdict(&facts), false));
}

TEST(only_a_verdict_that_counts_is_asked_for)
{
	struct method_facts facts = {
		.persist_apm = true, .transport = CONTROL_RDMA, .is_pmem = true, .reason = ""};

	assert_true(method_needs_verdict(&facts));
	facts.is_forced = true;
	assert_false(method_needs_verdict(&facts));
	facts.is_forced = false;
	facts.is_pmem = false;
	assert_false(method_needs_verdict(&facts));
	facts.is_pmem = true;
	facts.persist_apm = false;
	assert_false(method_needs_verdict(&facts));
}

/* --- the whole of it, for parts and devices of the test ------------------------------- */

static struct {
	bool is_fake; /* else the platform is asked */
	size_t parts;
	const char *paths[3];
	unsigned asked;
} platform;

bool pool_is_pmem(const struct pool *pool)
{
	return true;
}

size_t pool_parts(const struct pool *pool)
{
	return platform.parts;
}

const char *pool_part_path(const struct pool *pool, size_t part)
{
	return platform.paths[part];
}

/* A target is named like its verdict; the device "off" is ready, "rxe0" is software. */
static const struct verdict_row *row_of(const char *device, const char *target)
{
	const char *name = strcmp(device, "off") == 0 ? target : "ddio-on";

	for (size_t i = 0; i < READINESS_ROWS; i++) {
		if (strcmp(readiness_rows[i].name, name) == 0)
			return &readiness_rows[i];
	}
	fail_msg("no verdict %s", name);
	return NULL;
}

int __real_readiness_inspect(struct readiness *readiness, const struct readiness_cfg *cfg);
int __wrap_readiness_inspect(struct readiness *readiness, const struct readiness_cfg *cfg)
{
	platform.asked++;
	if (!platform.is_fake)
		return __real_readiness_inspect(readiness, cfg);
	memset(readiness, 0, sizeof(*readiness));
	if (strcmp(cfg->target, "broken") == 0)
		return failure_set(EXIT_RUN_FAILED, "facts", "It is broken.");
	if (strcmp(cfg->device, "rxe0") == 0) {
		readiness->facts.device.found = true;
		readiness->facts.device.kind = DEVICE_RXE;
		readiness->row = row_of("off", cfg->target);
	} else {
		readiness->row = row_of(cfg->device, cfg->target);
	}
	return 0;
}

static struct method found(const char *device, size_t parts, const char *const paths[])
{
	struct method method;

	unsetenv("PMEM_IS_PMEM_FORCE");
	platform.is_fake = true;
	platform.asked = 0;
	platform.parts = parts;
	for (size_t i = 0; i < parts; i++)
		platform.paths[i] = paths[i];
	method_find(NULL, CONTROL_RDMA, device, true, &method);
	return method;
}

static struct method found_for(const char *device, const char *path)
{
	return found(device, 1, &path);
}

/* Another device of the host may be behind a root port that is ready. */
TEST(the_device_of_the_lanes_is_judged)
{
	struct method method = found_for("off", "ddio-off");

	EQUAL((method.method, CONTROL_APM), (method.why, HAS("APM_READY for ddio-off with off: ")));
	method = found_for("on", "ddio-off");
	EQUAL((method.method, CONTROL_GPSPM),
	      (method.why, HAS("GPSPM_ONLY for ddio-off with on: ")));
}

/* There is no verdict: persist-apm is taken at its word, as for one that is not determined. */
TEST(an_unknown_device_is_not_another_one)
{
	const struct method method = found_for(NULL, "ddio-off");

	EQUAL((platform.asked, 0), (method.method, CONTROL_APM),
	      (method.why, HAS("could not be verified: the platform could not be")));
}

TEST(the_part_that_allows_least_decides)
{
	static const struct {
		const char *parts[3];
		const char *decides;
		enum control_method method;
		bool native;
	} cases[] = {
		{{"ddio-off", "ddio-off", "ddio-on"},
		 "GPSPM_ONLY for ddio-on",
		 CONTROL_GPSPM,
		 false},
		{{"failed", "ddio-off", "ddio-on"}, "NOT_READY for failed", CONTROL_GPSPM, false},
		{{"ddio-off", "unproven", "eadr"}, "UNDETERMINED for unproven", CONTROL_APM, false},
		{{"ddio-off", "native", "eadr"},
		 "NATIVE_FLUSH_READY for native",
		 CONTROL_APM,
		 true},
		{{"native", "unproven", "eadr"},
		 "NATIVE_FLUSH_READY for native",
		 CONTROL_APM,
		 true},
		{{"native", "unproven", "failed"}, "NOT_READY for failed", CONTROL_GPSPM, false},
		{{"broken", "ddio-off", "eadr"}, "UNDETERMINED for broken", CONTROL_APM, false},
		{{"eadr", "ddio-off", "eadr"}, "APM_READY_EADR for eadr", CONTROL_APM, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct method method = found("off", 3, cases[i].parts);

		EQUAL((platform.asked, 3), (method.method, cases[i].method),
		      (method.native, cases[i].native));
		if (strstr(method.why, cases[i].decides) == NULL)
			fail_msg("\"%s\" has no \"%s\"", method.why, cases[i].decides);
	}
}

/* The CPU copies what arrives: nothing that persist-apm states of an RDMA device. */
TEST(software_that_is_not_verified_has_no_apm)
{
	struct method method = found_for("rxe0", "unproven");

	EQUAL((method.method, CONTROL_GPSPM), (method.why, HAS("the CPU copies")),
	      (found_for("rxe0", "software").method, CONTROL_GPSPM),
	      (found_for("rxe0", "eadr").method, CONTROL_APM));
	method = found_for("rxe0", "native");
	assert_true(method.method == CONTROL_APM && method.native);
}

TEST(the_platform_is_asked_for_a_pool_that_is_pmem)
{
	struct method method;

	platform.is_fake = false;
	platform.parts = 1;
	platform.paths[0] = "/proc/self/exe";
	unsetenv("PMEM_IS_PMEM_FORCE");
	method_find(NULL, CONTROL_RDMA, "none0", true, &method);
	/* the device does not exist, so nothing could be verified */
	assert_non_null(strstr(method.why, "UNDETERMINED for /proc/self/exe with none0: "));
	setenv("PMEM_IS_PMEM_FORCE", "1", 1);
	method_find(NULL, CONTROL_RDMA, "none0", true, &method);
	EQUAL((method.method, CONTROL_APM), (method.why, HAS("PMEM_IS_PMEM_FORCE=1")));
	method_find(NULL, CONTROL_RDMA, "none0", false, &method);
	assert_int_equal(method.method, CONTROL_GPSPM);
}
