/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_merge_itself.c -- a result that is merged with itself has all that it had: no key is
 * forgotten, and none that was known becomes unknown.
 */
#include "made_document.h"
#include "made_repeat.h"
#include "tools/rpma-bench/mpi/merge_documents.h"

/* All that one of a mix, an open loop, both ways and a verification may have. */
static void add_whole_repeat(void)
{
	static const uint64_t samples[] = {10, 20, 30};
	struct repeat r = made_repeat(1000, 1000);

	r.read_latency = made_histogram(samples, 3);
	r.response = made_histogram(samples, 3);
	r.response->unbegun = r.unbegun_ops = 5;
	r.late_ops = 3;
	r.max_lag_ns = 7;
	r.steps_count = 1;
	r.steps[0] = (struct repeat_step){"prepare", made_histogram(samples, 3)};
	r.warmup = (struct measured){.elapsed_ns = 5, .ops = 3, .windows_used = 10};
	for (unsigned i = 0; i < 10; i++)
		r.warmup.windows[i] = 100;
	r.intervals_count = 1;
	r.intervals = calloc(1, sizeof(*r.intervals));
	r.intervals[0] = (struct measure_interval){.t_ns = 100, .ops = 5, .max_ns = 7};
	r.usage.wall_ns = 10;
	r.usage.user_ns = 5;
	r.flush = "persistent";
	r.rpmem = true;
	r.atomic_writes = true;
	r.interference = (struct interference){
		.time = {.known = true, .cpus = 2, .busy_ns = 90, .own_ns = 40, .all_ns = 200},
		.quota = {.known = true, .cpus = 1.5, .periods = 9}};
	strcpy(r.interference.boot_id, "here");
	document_add_repeat(
		r,
		"{\"elapsed_ns\": 10, \"user_ns\": 1, \"sys_ns\": 1, \"load_fraction_measured\": "
		"0.5,"
		"\"requests\": 4, \"persist_method\": \"pmem\", \"verify\": {\"checked_bytes\": 5,"
		"\"mismatches\": 0, \"overwritten_bytes\": 3, \"first_offset\": 1, \"method\": "
		"\"all\"},"
		"\"interference\": {\"boot_id\": \"there\", \"cpus\": 1, \"busy_ns\": 9, "
		"\"steal_ns\": 1,"
		"\"own_ns\": 2, \"all_ns\": 20}, \"warnings\": [{\"code\": \"X\", \"text\": "
		"\"y\"}]}");
}

/* Each rank has its own, so all together have none. */
static bool of_each(const char *path)
{
	static const char *const paths[] = {"/placement/client", "/repeats/placement",
					    "/repeats/counters", "/intervals/p50_ns",
					    "/intervals/p99_ns"};

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		const char *at = strstr(path, paths[i]);

		if (at != NULL && at[strlen(paths[i])] == '\0')
			return true;
	}
	return false;
}

/* Each key of the one is in the other, and known where it is known.
 * NOLINTNEXTLINE(misc-no-recursion) */
static void expect_keys(const json_t *one, const json_t *other, const char *path)
{
	const char *key;
	json_t *value;
	size_t index;

	if (of_each(path))
		return;
	if (other == NULL || (json_is_null(other) && !json_is_null(one)))
		fail_msg("%s is %s", path, other == NULL ? "lost" : "null");
	json_object_foreach((json_t *)(uintptr_t)one, key, value) {
		char below[256];

		snprintf(below, sizeof(below), "%s/%s", path, key);
		expect_keys(value, json_object_get(other, key), below);
	}
	json_array_foreach(one, index, value)
		expect_keys(value, json_array_get(other, index), path);
}

RUN_TEST(a_result_merged_with_itself_has_every_key)
{
	json_t *document, *handed, *merged;

	point.test = BENCH_RATE;
	point.rate_per_s = 1000;
	options.slos_count = 1;
	options.slos[0] = "ops_per_s>1";
	for (int i = 0; i < 3; i++)
		add_whole_repeat();
	document = document_make(&run);
	handed = json_pack("[{s:i, s:s, s:[{s:O, s:[]}, {s:O, s:[]}]}]", "rank", 0, "host_name",
			   "here", "measured", "document", document, "starts", "document", document,
			   "starts");
	merged = ranks_merge(handed, options.slos, 1);
	json_decref(handed);
	expect_keys(document, merged, "");
	HOLDS(merged, "points/id=p0000/warmup/windows_used: 10",
	      "points/id=p0000/warmup/steady: true");
	json_decref(merged);
	json_decref(document);
}
