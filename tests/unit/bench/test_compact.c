/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_compact.c -- the text of a result: what it leaves out, what it keeps,
 * and where its lines end.
 */
#include "tests/lib/test.h"
#include "tools/rpma-bench/result/output.h"

/* Written in full; what the repeat has is the argument. */
static json_t *document_of(const char *repeat)
{
	char text[2048];
	int length = snprintf(text, sizeof(text),
			      "{\"schema\": \"s\", \"points\": [{\"id\": \"p0000\", \"params\": "
			      "{\"persist\": \"apm\", \"flush\": null}, \"repeats\": [%s], "
			      "\"summary\": {\"latency\": null, \"steps\": null}}]}",
			      repeat);
	json_t *document = json_loads(text, 0, NULL);

	assert_true(length > 0 && length < (int)sizeof(text));
	assert_non_null(document);
	return document;
}

static void expect_repeat(const char *repeat, const char *written)
{
	json_auto_t *document = document_of(repeat), *before = json_deep_copy(document);
	char expected[2048];
	size_t len = 0;
	char *text = compact_text(document, &len);

	snprintf(expected, sizeof(expected),
		 "{\n\"schema\":\"s\",\n\"points\":[\n{\"id\":\"p0000\",\"params\":"
		 "{\"persist\":\"apm\",\"flush\":null},\"repeats\":[%s],"
		 "\"summary\":{\"latency\":null}}]\n}\n",
		 written);
	assert_non_null(text);
	EQUAL((text, expected), (len, strlen(text)), (json_equal(document, before), true));
	free(text);
}

TEST(an_unknown_figure_is_left_out_where_the_schema_lets_it)
{
	expect_repeat("{\"ops\": 0, \"verify\": null, \"bytes\": null, \"latency\": null}",
		      "{\"ops\":0,\"bytes\":null,\"latency\":null}");
}

TEST(words_of_the_point_are_not_repeated)
{
	expect_repeat("{\"used\": {\"persist\": \"apm\", \"flush\": null}}", "{}");
	expect_repeat("{\"used\": {\"persist\": \"none\", \"flush\": null}}",
		      "{\"used\":{\"persist\":\"none\",\"flush\":null}}");
	/* null is not the same as nothing: the point has no such key */
	expect_repeat("{\"used\": {\"rpmem\": null}}", "{\"used\":{\"rpmem\":null}}");
}

TEST(empty_lists_and_counters_of_no_device_are_left_out)
{
	expect_repeat("{\"counters\": {\"client\": null, \"server\": null}, \"warnings\": []}",
		      "{}");
	expect_repeat("{\"counters\": {\"client\": {}, \"server\": null}, \"warnings\": [1]}",
		      "{\"counters\":{\"client\":{},\"server\":null},\"warnings\":[1]}");
}

TEST(only_the_unknown_percentiles_at_the_end_are_left_out)
{
	expect_repeat("{\"read_latency\": {\"percentiles\": [{\"p\": 0.5, \"ns\": 7}, {\"p\": "
		      "0.9, \"ns\": null}, {\"p\": 0.95, \"ns\": 9.125}, {\"p\": 0.99, \"ns\": "
		      "null}], \"histogram\": {\"buckets\": [[7, 1], [9, 2]]}}}",
		      "{\"read_latency\":{\"percentiles\":[{\"p\":0.5,\"ns\":7},{\"p\":0.9,\"ns\":"
		      "null},{\"p\":0.95,\"ns\":9.125}],\"histogram\":{\"buckets\":[[7,1],[9,2]]}}"
		      "}");
}

TEST(figures_keep_their_digits)
{
	/* the largest whole number that every reader keeps, and three decimals */
	expect_repeat("{\"ops\": 9007199254740991, \"ops_per_s\": 123456789012.345}",
		      "{\"ops\":9007199254740991,\"ops_per_s\":123456789012.345}");
}
