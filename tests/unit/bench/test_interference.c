/* SPDX-License-Identifier: BSD-3-Clause */
/* test_interference.c -- whose CPU time it was, on one host and on two. */
#include "made_repeat.h"
#include "tools/rpma-bench/result/interference.h"

#define HERE  "0f53ab21-6d4e-4a6e-8b23-6d1b7d3f8a11"
#define THERE "91c0c0de-0000-4a6e-8b23-6d1b7d3f8a11"

/* Busy for 100, of which 60 are its own. */
static struct interference made(const char *boot_id, const char *list)
{
	struct interference seen = {.time = {.known = true,
					     .cpus = 4,
					     .busy_ns = 100,
					     .steal_ns = 3,
					     .own_ns = 60,
					     .all_ns = 500}};

	strcpy(seen.boot_id, boot_id);
	strcpy(seen.time.list, list);
	return seen;
}

static json_t *met(const struct interference *client, const struct interference *server)
{
	json_t *report = json_pack("{s:o}", "interference", interference_report(server));
	json_t *seen = interference_json(client, report);

	assert_non_null(seen);
	json_decref(report);
	return seen;
}

TEST(two_hosts_know_their_own_others)
{
	const struct interference client = made(HERE, "0-3");
	struct interference server = made(THERE, "0-3");

	server.time.own_ns = 10;
	GIVES(met(&client, &server), "client/other_cpu_ns: 40", "client/steal_ns: 3",
	      "client/cpus: 4", "server/other_cpu_ns: 90", "client/all_cpu_ns: 500",
	      "server/all_cpu_ns: 500");
}

TEST(ends_on_one_host_are_not_others)
{
	struct interference client = made(HERE, "0-3"), server = made(HERE, "0-3");

	server.time.own_ns = 10;
	GIVES(met(&client, &server), "client/other_cpu_ns: 30", "server/other_cpu_ns: 30");
	/* ticks are coarse: two exact times may be more than the sum */
	server.time.own_ns = 50;
	GIVES(met(&client, &server), "client/other_cpu_ns: 0");
}

TEST(ends_on_cpus_apart_do_not_meet)
{
	const struct interference client = made(HERE, "0-1"), server = made(HERE, "2-3");

	GIVES(met(&client, &server), "client/other_cpu_ns: 40", "server/other_cpu_ns: 40");
}

TEST(what_cannot_be_told_apart_is_unknown)
{
	static const struct {
		const char *client_id, *client_list, *server_id, *server_list;
	} cases[] = {
		{HERE, "0-2", HERE, "2-3"}, {HERE, "0-3", "", "0-3"}, {"", "0-3", HERE, "0-3"},
		{HERE, "", HERE, "0-3"},    {HERE, "0-3", HERE, ""},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct interference client = made(cases[i].client_id, cases[i].client_list);
		const struct interference server = made(cases[i].server_id, cases[i].server_list);

		GIVES(met(&client, &server), "client/other_cpu_ns: null",
		      "server/other_cpu_ns: null", "client/steal_ns: 3");
	}
}

TEST(a_server_that_reports_nothing_leaves_it_unknown)
{
	const struct interference client = made(HERE, "0-3"), none = {0};
	json_auto_t *report = json_pack("{s:i}", "requests", 5);

	GIVES(interference_json(&client, report), "client/other_cpu_ns: null", "server: null");
	GIVES(interference_json(&none, NULL), "client: null", "server: null");
}

TEST(a_hostile_report_is_not_believed)
{
	static const char *const reports[] = {
		"[]",
		"5",
		"{\"cpus\": 4}",
		"{\"boot_id\": \"b\", \"cpu_list\": \"0\", \"cpus\": 0, \"busy_ns\": 1,"
		" \"steal_ns\": 1, \"own_ns\": 1}",
		"{\"boot_id\": \"b\", \"cpu_list\": \"0\", \"cpus\": 1, \"busy_ns\": -1,"
		" \"steal_ns\": 1, \"own_ns\": 1}",
		"{\"boot_id\": \"b\", \"cpu_list\": \"0\", \"cpus\": 1, \"busy_ns\": 1,"
		" \"steal_ns\": 1, \"own_ns\": 9223372036854775807}",
		"{\"boot_id\": \"b\", \"cpu_list\": \"0\", \"cpus\": 1, \"busy_ns\": 1.5,"
		" \"steal_ns\": 1, \"own_ns\": 1}",
	};
	const struct interference client = made(HERE, "0-3");

	for (size_t i = 0; i < sizeof(reports) / sizeof(reports[0]); i++) {
		json_t *told = json_loads(reports[i], JSON_DECODE_ANY, NULL), *report, *seen;

		assert_non_null(told);
		report = json_pack("{s:o}", "interference", told);
		seen = interference_json(&client, report);
		HOLDS(seen, "server: null");
		json_decref(seen);
		json_decref(report);
	}
}

/* 50 ms of 100 ms: stopped in 40 of 63 periods. */
TEST(a_quota_is_of_its_end)
{
	struct repeat r = made_repeat(1000, 10);
	struct interference server = {.quota = {.known = true}};
	json_auto_t *json = NULL;

	r.interference.quota = (struct cpu_quota){.known = true,
						  .cpus = 0.5,
						  .periods = 63,
						  .throttled_periods = 40,
						  .throttled_ns = 1250000000};
	r.server = json_pack("{s:o}", "cpu_quota", interference_quota(&server));
	json = made_json(&r);
	HOLDS(json, "cpu_quota/client/cpus: 0.5", "cpu_quota/client/periods: 63",
	      "cpu_quota/client/throttled_periods: 40",
	      "cpu_quota/client/throttled_ns: 1250000000");
	/* known to have none */
	assert_int_equal(json_object_size(path_get(json, "cpu_quota/server")), 1);
	HOLDS(json, "cpu_quota/server/limited: false");
}

TEST(a_server_may_have_no_word_on_its_quota)
{
	static const char *const reports[] = {"{}", "{\"cpu_quota\": null}", "{\"cpu_quota\": 7}",
					      "{\"cpu_quota\": {\"cpus\": 1}}"};

	for (size_t i = 0; i < sizeof(reports) / sizeof(reports[0]); i++) {
		struct repeat r = made_repeat(1000, 10);

		r.server = json_loads(reports[i], 0, NULL);
		GIVES(made_json(&r), "cpu_quota/client: null", "cpu_quota/server: null");
	}
}
