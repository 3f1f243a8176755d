/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_readiness.c -- one inspection as a whole: the order of the checks, what a tree
 * with nothing in it gives, and how findings become JSON.
 */
#include "common/base/failure.h"
#include "readiness/readiness.h"
#include "tests/lib/json_holds.h"
#include "tests/lib/scratch_root.h"

/* Scripts rely on what is shown, and on its order. */
static const char *const ids[] = {
	"DEV-01",  "DEV-02",  "DEV-03",	 "DEV-04", "DEV-05", "PCI-01",	"PCI-02",  "PCI-03",
	"PCI-04",  "PCI-05",  "PCI-06",	 "PCI-07", "PCI-08", "DDIO-01", "DDIO-02", "DDIO-03",
	"DDIO-04", "DDIO-05", "DDIO-06", "PM-01",  "PM-02",  "PM-03",	"PM-04",   "PM-05",
	"PM-06",   "PM-07",   "PM-08",	 "PM-09",  "PM-10",  "PM-11",	"PM-12",   "ODP-01",
	"ODP-02",  "CAP-01",  "CAP-02",	 "CAP-03", "LIM-01", "LIM-02",	"NUMA-01", "NUMA-02",
	"NUMA-03", "SYS-01",  "SYS-02",	 "SYS-03", "SYS-04", "SYS-05",	"SYS-06",  "PEER-01",
};

#define COUNT (sizeof(ids) / sizeof(ids[0]))

static struct readiness *readiness;

static int open_tree(void **state)
{
	readiness = calloc(1, sizeof(*readiness));
	return readiness == NULL || root_setup(state) != 0;
}

static int close_tree(void **state)
{
	readiness_free(readiness);
	free(readiness);
	return root_teardown(state);
}

#define TREE_TEST(name) TEST(name, open_tree, close_tree)

TEST(checks_are_in_order)
{
	for (size_t i = 0; i < COUNT; i++) {
		assert_non_null(readiness_check_at(i));
		EQUAL((readiness_check_at(i)->id, ids[i]), (readiness_check_index(ids[i]), i));
	}
	assert_null(readiness_check_at(COUNT));
	assert_true(COUNT <= READINESS_CHECKS_MAX);
	assert_true(readiness_check_index("PM-99") == SIZE_MAX);
	assert_true(readiness_check_index("") == SIZE_MAX);
}

TEST(each_check_is_titled_and_explained)
{
	for (size_t i = 0; i < COUNT; i++) {
		const struct readiness_check *check = readiness_check_at(i);

		assert_in_range(strlen(check->title), 3, 48);
		assert_true(strlen(check->explain) > 80);
		assert_int_equal(check->explain[strlen(check->explain) - 1], '\n');
	}
}

TREE_TEST(an_empty_tree_has_no_device)
{
	const struct readiness_cfg cfg = {.root = &root};

	EQUAL((readiness_inspect(readiness, &cfg), 0), (readiness->row->name, "no-device"),
	      (readiness_find(readiness->findings, "DEV-01")->status, READINESS_FAIL));
	for (size_t i = 0; i < COUNT; i++) {
		enum readiness_status status = readiness->findings[i].status;

		if (status == READINESS_PASS)
			fail_msg("%s passes in an empty tree", ids[i]);
		assert_string_not_equal(readiness->findings[i].meaning, "");
	}
}

TREE_TEST(a_broken_facts_file_fails)
{
	const struct readiness_cfg cfg = {.root = &root, .target = "/dev/dax0.0"};

	scratch_write("facts.json", "{\"schema\":2}");
	EQUAL((readiness_inspect(readiness, &cfg), -EINVAL),
	      (failure_get()->text, HAS("facts.json")));
}

TREE_TEST(a_probe_of_the_tree_counts)
{
	const struct facts_claims failed = {.ddio_assumed = KNOWN_NOT,
					    .probe = {.why = "no events"}};
	struct readiness_cfg cfg = {.root = &root};

	scratch_write("facts.json", "{\"schema\":\"rpma-ddio-check-facts/1\",\"probe\":{"
				    "\"rdma_bytes\":100,\"memory_write_bytes\":100}}");
	EQUAL((readiness_inspect(readiness, &cfg), 0), (readiness->facts.claims.probe.done, true));
	cfg.claims = &failed;
	EQUAL((readiness_inspect(readiness, &cfg), 0), (readiness->facts.claims.probe.done, true),
	      (readiness->facts.claims.probe.why, ""));
}

TREE_TEST(a_probe_that_failed_is_kept)
{
	const struct facts_claims failed = {.ddio_assumed = KNOWN_NOT,
					    .probe = {.why = "no events"}};
	const struct readiness_cfg cfg = {.root = &root, .claims = &failed};

	EQUAL((readiness_inspect(readiness, &cfg), 0), (readiness->facts.claims.probe.done, false),
	      (readiness->facts.claims.probe.why, "no events"));
}

/* A path of bytes that are no UTF-8 must not take the document along. */
TREE_TEST(a_value_that_is_no_text_becomes_null)
{
	const struct readiness_cfg cfg = {.root = &root, .target = "/\xff\xfe"};
	json_auto_t *block = NULL;
	char *text;

	assert_int_equal(readiness_inspect(readiness, &cfg), 0);
	block = readiness_json(readiness);
	assert_non_null(block);
	HOLDS(block, "checks/id=PM-01/source: null");
	text = json_dumps(block, 0);
	assert_non_null(text);
	free(text);
}

TEST(texts_are_cut_and_made_printable)
{
	struct readiness_finding finding = {.status = READINESS_PASS};
	char longer[1000];

	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	finding_value(&finding, "%s", longer);
	finding_source(&finding, "%s", longer);
	finding_meaning(&finding, "%s", longer);
	finding_fix(&finding, "%s", longer);
	EQUAL((strlen(finding.value), sizeof(finding.value) - 1),
	      (strlen(finding.fix), sizeof(finding.fix) - 1));
	finding_value(&finding, "\033]0;%s\a\n\x7f", "title");
	assert_string_equal(finding.value, "?]0;title???");
	finding_say(&finding, READINESS_SKIP, "100%s", NULL);
	EQUAL((finding.meaning, "100%s"), (finding.fix, ""));
}
