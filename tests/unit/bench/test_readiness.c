/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_readiness.c -- what a client takes of the readiness its server sends,
 * and what a result contains of it.
 */
#include "made_repeat.h"
#include "tools/rpma-bench/result/readiness.h"

#define BLOCK(verdict)                                                                             \
	"{\"schema\": \"rpma-ddio-check/1\", \"device\": null, \"target\": {\"path\": \"/p\"},"    \
	"\"checks\": [{\"id\": \"PM-06\", \"title\": \"t\", \"status\": \"PASS\", \"value\": "     \
	"null,"                                                                                    \
	"\"source\": null, \"meaning\": \"m\", \"fix\": null}], \"ddio\": {}, \"verdict\": "       \
	"\"" verdict "\", \"judgement\": {\"row\": \"r\", \"reason\": \"w\", \"because\": null,"   \
	"\"assumed\": false}, \"direct_write_to_pmem\": {\"value\": true, \"why\": \"w\"}}"

static json_t *parse(const char *text)
{
	json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);

	assert_non_null(value);
	return value;
}

/* The part that is taken of a server's report for its only target; NULL: nothing. */
static json_t *take_one(const char *text)
{
	json_t *environment = json_pack("{s:{}, s:[o]}", "os", "readiness", parse(text));
	json_t *blocks = platform_take(environment, 1);

	assert_null(json_object_get(environment, "readiness"));
	assert_non_null(json_object_get(environment, "os"));
	json_decref(environment);
	return blocks;
}

static void expect_refused(const char *text)
{
	json_auto_t *blocks = take_one(text);

	if (platform_of(blocks, 0) != NULL)
		fail_msg("taken: %s", text);
}

TEST(a_block_is_taken)
{
	json_auto_t *blocks = take_one(BLOCK("APM_READY"));

	assert_non_null(platform_of(blocks, 0));
	assert_null(platform_of(blocks, 1));
}

TEST(other_shapes_are_not)
{
	static const char *const shapes[] = {
		"null",	   "[]",
		"7",	   "\"APM_READY\"",
		"{}",	   BLOCK("READY"),
		BLOCK(""), "{\"schema\": \"rpma-ddio-check/1\", \"verdict\": \"APM_READY\"}",
	};

	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		expect_refused(shapes[i]);
}

/* One value of a good block, replaced. */
static void expect_needed(const char *path, json_t *value)
{
	json_t *block = parse(BLOCK("APM_READY")), *at = block;
	const char *slash = strchr(path, '/');
	char *text;

	if (slash != NULL) {
		char first[32];

		snprintf(first, sizeof(first), "%.*s", (int)(slash - path), path);
		at = json_object_get(block, first);
		if (json_is_array(at))
			at = json_array_get(at, 0);
	}
	json_object_set_new(at, slash != NULL ? slash + 1 : path, value);
	text = json_dumps(block, 0);
	expect_refused(text);
	free(text);
	json_decref(block);
}

TEST(every_value_that_the_schema_needs_is_looked_at)
{
	expect_needed("schema", json_string("rpma-ddio-check/2"));
	expect_needed("device", json_integer(1));
	expect_needed("target", json_string("/p"));
	expect_needed("checks", json_object());
	expect_needed("checks/id", json_null());
	expect_needed("checks/status", json_string("GOOD"));
	expect_needed("checks/status", json_null());
	expect_needed("checks/value", json_integer(1));
	expect_needed("checks/meaning", json_array());
	expect_needed("ddio", json_null());
	expect_needed("judgement", json_null());
	expect_needed("judgement/reason", json_null());
	expect_needed("judgement/assumed", json_string("no"));
	expect_needed("direct_write_to_pmem", json_true());
	expect_needed("direct_write_to_pmem/value", json_null());
}

TEST(more_checks_than_there_can_be_are_refused)
{
	json_auto_t *block = parse(BLOCK("APM_READY"));
	json_t *checks = json_object_get(block, "checks");
	char *text;

	while (json_array_size(checks) <= 64)
		json_array_append(checks, json_array_get(checks, 0));
	text = json_dumps(block, 0);
	expect_refused(text);
	free(text);
}

TEST(there_is_a_block_for_each_target_or_none)
{
	json_t *environment = json_pack("{s:[o]}", "readiness", parse(BLOCK("APM_READY")));

	assert_null(platform_take(environment, 2));
	json_decref(environment);
	environment = json_pack("{s:{}}", "readiness");
	assert_null(platform_take(environment, 0));
	json_decref(environment);
	EQUAL((platform_take(NULL, 1), NULL), (platform_of(NULL, 0), NULL));
}

static json_t *points_of(size_t first, size_t second)
{
	return json_pack("[{s:{s:{s:i}}}, {s:{s:{s:i}}}]", "params", "target_memory", "index",
			 (int)first, "params", "target_memory", "index", (int)second);
}

TEST(a_result_has_the_least_ready_of_what_was_measured)
{
	json_auto_t *blocks = json_pack("[o, o, o, n]", parse(BLOCK("NOT_READY")),
					parse(BLOCK("APM_READY")), parse(BLOCK("GPSPM_ONLY")));
	json_auto_t *points = points_of(2, 1), *value = platform_json(blocks, points);

	HOLDS(value, "verdict: GPSPM_ONLY", "host: server", "targets: [2]");
	assert_int_equal(whole_at(json_array_get(json_object_get(value, "targets"), 0), "index"),
			 1);
}

TEST(where_nothing_was_measured_all_targets_count)
{
	json_auto_t *blocks =
		json_pack("[o, o]", parse(BLOCK("APM_READY")), parse(BLOCK("UNDETERMINED")));
	json_auto_t *points = json_array(), *value = platform_json(blocks, points);

	HOLDS(value, "verdict: UNDETERMINED");
}

TEST(what_is_not_known_is_null)
{
	json_auto_t *blocks = json_pack("[n]"), *points = points_of(0, 0);
	json_auto_t *value = platform_json(blocks, points), *none = platform_json(NULL, points);

	EQUAL((json_is_null(value), true), (json_is_null(none), true));
}
