/* SPDX-License-Identifier: BSD-3-Clause */
/* test_csv.c -- the CSV of a result, cell by cell. */
#include "tests/lib/scratch.h"
#include "tools/rpma-bench/result/output.h"

static char text[1 << 16];

/* Writes a document with one point and one repeat, and reads it as lines. */
static void write_csv(const char *label, const char *repeat)
{
	json_t *one = json_loads(repeat, 0, NULL), *document;
	char path[PATH_MAX];

	assert_non_null(one);
	document = json_pack("{s:{s:s, s:s}, s:[{s:s, s:{s:s, s:n}, s:[o]}]}", "run", "label",
			     label, "status", "complete", "points", "id", "p0000", "params", "op",
			     "write", "flush", "repeats", one);
	assert_non_null(document);
	assert_int_equal(csv_write(scratch_path("r.csv", path), document), 0);
	json_decref(document);
	scratch_read("r.csv", text, sizeof(text));
}

/* The cell under a name: unquoted lines only. */
static const char *cell(const char *name)
{
	static char value[256];
	const char *head = text, *row = strchr(text, '\n') + 1;
	size_t len = strlen(name);

	while (strncmp(head, name, len) != 0 || strchr(",\n", head[len]) == NULL) {
		head += strcspn(head, ",\n");
		if (*head++ == '\n')
			fail_msg("no column %s", name);
		row += strcspn(row, ",\n") + 1;
	}
	snprintf(value, sizeof(value), "%.*s", (int)strcspn(row, ",\n"), row);
	return value;
}

static size_t count(const char *from, const char *to, char wanted)
{
	size_t n = 0;

	for (; from < to; from++)
		n += *from == wanted;
	return n;
}

/* The user who started the run chose the label, and a spreadsheet would follow its link. */
SCRATCH_TEST(no_text_is_a_formula)
{
	static const char *const labels[][2] = {
		{"=HYPERLINK(1)", "'=HYPERLINK(1)"}, {"+1", "'+1"},	{"-1+2", "'-1+2"},
		{"@SUM(A1)", "'@SUM(A1)"},	     {"\t=1", "'\t=1"}, {"a=1", "a=1"},
	};

	for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
		write_csv(labels[i][0], "{\"ops\": 1}");
		assert_string_equal(cell("label"), labels[i][1]);
	}
	write_csv("=A1,\"x\"", "{\"ops\": 1}");
	assert_non_null(strstr(text, ",\"'=A1,\"\"x\"\"\","));
}

SCRATCH_TEST(values_are_spelled_as_in_the_json)
{
	write_csv("x",
		  "{\"ops\": 9007199254740993, \"ops_per_s\": 412345.125, \"complete\": true,"
		  "\"latency\": {\"min_ns\": 0, \"percentiles\": [{\"p\": 0.99, \"ns\": 77}]}}");
	EQUAL((cell("ops"), "9007199254740993"), (cell("ops_per_s"), "412345.125"),
	      (cell("complete"), "true"), (cell("latency_p99_ns"), "77"),
	      (cell("latency_min_ns"), "0"), (cell("op"), "write"), (cell("point"), "p0000"));
}

SCRATCH_TEST(null_is_empty)
{
	write_csv("x", "{\"late_ops\": null, \"verify\": null, \"latency\": {\"percentiles\":"
		       "[{\"p\": 0.999, \"ns\": null}]}}");
	EQUAL((cell("late_ops"), ""), (cell("verify_mismatches"), ""),
	      (cell("latency_p99.9_ns"), ""), (cell("flush"), ""), (cell("ops"), ""));
}

SCRATCH_TEST(every_row_has_every_column)
{
	static char first[1 << 16];
	const char *end;

	write_csv("x", "{}");
	end = strchr(text, '\n');
	memcpy(first, text, (size_t)(end - text));
	assert_int_equal(count(text, end, ','), count(end, text + strlen(text), ','));
	write_csv("x", "{\"ops\": 5, \"reverse\": {\"ops\": 5}, \"steps\": []}");
	assert_memory_equal(text, first, (size_t)(strchr(text, '\n') - text));
	end = strchr(text, '\n');
	assert_int_equal(count(text, end, ','), count(end, text + strlen(text), ','));
}

/* RFC 4180, 2.6 and 2.7 */
SCRATCH_TEST(what_could_be_misread_is_quoted)
{
	write_csv("a,b", "{}");
	assert_non_null(strstr(text, ",\"a,b\","));
	write_csv("say \"a\"", "{}");
	assert_non_null(strstr(text, ",\"say \"\"a\"\"\","));
	write_csv("two\nlines", "{}");
	assert_non_null(strstr(text, ",\"two\nlines\","));
	write_csv("plain words", "{}");
	assert_non_null(strstr(text, ",plain words,"));
}

SCRATCH_TEST(names_are_unique)
{
	const char *names[256];
	size_t n = 0;
	char *save = NULL;

	write_csv("x", "{}");
	*strchr(text, '\n') = '\0';
	for (char *word = strtok_r(text, ",", &save); word != NULL && n < 256;
	     word = strtok_r(NULL, ",", &save))
		names[n++] = word;
	assert_true(n > 50);
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(names[i], names[k]);
	}
}
