/* SPDX-License-Identifier: BSD-3-Clause */
/* test_result.c -- a result file is whole or is not, and its values are exact. */
#include <dirent.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>

#include "common/base/failure.h"
#include "common/json/result.h"
#include "tests/lib/scratch.h"

static size_t files(void)
{
	DIR *directory = opendir(scratch);
	const struct dirent *entry;
	size_t n = 0;

	assert_non_null(directory);
	while ((entry = readdir(directory)) != NULL)
		n += entry->d_name[0] != '.';
	closedir(directory);
	return n;
}

SCRATCH_TEST(a_result_replaces_the_one_before)
{
	json_auto_t *document = json_pack("{s:i}", "answer", 42);
	char path[PATH_MAX], text[64];

	scratch_write("r.json", "a longer text than the one that comes after it");
	assert_int_equal(result_write(scratch_path("r.json", path), document), 0);
	scratch_read("r.json", text, sizeof(text));
	assert_string_equal(text, "{\n \"answer\": 42\n}\n");
	assert_int_equal(files(), 1);
}

/* A full disk, by a limit on the size of files: 4 KiB of a larger document. */
SCRATCH_TEST(a_link_stays_a_link)
{
	char path[PATH_MAX], link[PATH_MAX], text[64];
	json_auto_t *document = json_pack("{s:i}", "a", 1);
	struct stat st;

	scratch_write("real/r.json", "old");
	EQUAL((symlink(scratch_path("real/r.json", path), scratch_path("link.json", link)), 0),
	      (result_check_writable(link), 0), (result_write(link, document), 0),
	      (lstat(link, &st), 0), (S_ISLNK(st.st_mode), true));
	scratch_read("real/r.json", text, sizeof(text));
	assert_string_not_equal(text, "old");
}

SCRATCH_TEST(a_failed_write_keeps_what_was_there)
{
	json_auto_t *document = json_array();
	struct rlimit limit, unlimited;
	char path[PATH_MAX], text[64];
	int ret;

	for (int i = 0; i < 10000; i++)
		json_array_append_new(document, json_integer(i));
	scratch_write("r.json", "good");
	scratch_path("r.json", path);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &unlimited), 0);
	limit = unlimited;
	limit.rlim_cur = 4096;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	ret = result_write(path, document);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &unlimited), 0);
	assert_int_not_equal(ret, 0);
	assert_non_null(strstr(failure_get()->text, path));
	scratch_read("r.json", text, sizeof(text));
	EQUAL((text, "good"), (files(), 1));
}

SCRATCH_TEST(the_check_leaves_no_trace)
{
	char path[PATH_MAX], text[64];

	EQUAL((result_check_writable(scratch_path("r.json", path)), 0), (files(), 0));
	scratch_write("r.json", "good");
	EQUAL((result_check_writable(path), 0), (files(), 1));
	scratch_read("r.json", text, sizeof(text));
	assert_string_equal(text, "good");
}

SCRATCH_TEST(what_cannot_be_a_result_is_refused)
{
	char path[PATH_MAX];

	assert_int_not_equal(result_check_writable(scratch), 0);
	assert_int_not_equal(result_check_writable("/dev/null"), 0);
	assert_int_equal(failure_get()->code, EXIT_RUN_FAILED);
	snprintf(path, sizeof(path), "%s/none/r.json", scratch);
	assert_int_not_equal(result_check_writable(path), 0);
	assert_non_null(strstr(failure_get()->text, strerror(ENOENT)));
}

SCRATCH_TEST(the_mode_follows_the_umask)
{
	json_auto_t *document = json_object();
	mode_t mask = umask(027);
	char path[PATH_MAX];
	struct stat st;

	assert_int_equal(result_write(scratch_path("r.json", path), document), 0);
	umask(mask);
	EQUAL((stat(path, &st), 0), (st.st_mode & 0777, 0640));
}

SCRATCH_TEST(a_file_that_is_replaced_keeps_its_mode)
{
	json_auto_t *document = json_object();
	char path[PATH_MAX];
	struct stat st;

	scratch_path("r.json", path);
	EQUAL((result_write(path, document), 0), (chmod(path, 0604), 0),
	      (result_write(path, document), 0), (stat(path, &st), 0), (st.st_mode & 0777, 0604));
}

TEST(null_stays_null)
{
	static struct histogram h;
	json_t *latency, *percentile;

	histogram_reset(&h);
	assert_true(json_is_null(result_latency(&h)));
	histogram_record(&h, 5);
	latency = result_latency(&h);
	assert_true(json_is_null(json_object_get(latency, "stddev_ns")));
	percentile = json_array_get(json_object_get(latency, "percentiles"), 0);
	assert_true(json_is_null(json_object_get(percentile, "ns")));
	assert_true(json_is_null(json_object_get(percentile, "lo_ns")));
	assert_true(json_is_null(json_object_get(percentile, "hi_ns")));
	json_decref(latency);
	EQUAL((json_is_null(result_text("")), true), (json_is_null(result_text(NULL)), true),
	      (json_is_null(result_text("\xff")), true), (json_is_null(result_known(-1)), true));
}

TEST(zero_is_not_null)
{
	json_auto_t *zero = result_known(0);

	assert_true(json_is_integer(zero));
}

TEST(buckets_are_sparse_and_ascending)
{
	static struct histogram h;
	json_auto_t *histogram = NULL;
	char *text;

	histogram_reset(&h);
	histogram_record(&h, 1024);
	histogram_record(&h, 5);
	histogram_record(&h, 1031);
	histogram = result_histogram(&h);
	text = json_dumps(json_object_get(histogram, "buckets"), JSON_COMPACT);
	assert_string_equal(text, "[[5,1],[1024,2]]");
	free(text);
}

TEST(a_histogram_comes_back)
{
	static struct histogram h, back;
	uint64_t seed = 1;
	json_auto_t *latency = NULL;

	histogram_reset(&h);
	for (int i = 0; i < 10000; i++)
		histogram_record(&h, test_random(&seed) >> (28 + seed % 36));
	latency = result_latency(&h);
	assert_int_equal(result_read_latency(latency, &back), 0);
	assert_memory_equal(back.buckets, h.buckets, sizeof(h.buckets));
	EQUAL((back.count, h.count), (back.saturated, h.saturated), (back.min_ns, h.min_ns),
	      (back.max_ns, h.max_ns));
	/* to the three decimals of the file */
	assert_true(fabs(histogram_mean_ns(&back) - histogram_mean_ns(&h)) < 1e-3);
	assert_true(fabs(histogram_stddev_ns(&back) / histogram_stddev_ns(&h) - 1) < 1e-6);
}

TEST(a_saturated_histogram_comes_back)
{
	static struct histogram h, back;
	json_auto_t *latency = NULL;

	histogram_reset(&h);
	histogram_record(&h, 3ULL << HISTOGRAM_RANGE_BITS);
	histogram_record(&h, 5);
	latency = result_latency(&h);
	EQUAL((result_read_latency(latency, &back), 0), (back.saturated, 1),
	      (back.max_ns, 3ULL << HISTOGRAM_RANGE_BITS));
}

TEST(counts_beyond_2_to_53_come_back)
{
	static struct histogram h, back;
	json_auto_t *latency = NULL;
	char *text;

	histogram_reset(&h);
	h.count = h.buckets[7] = (1ULL << 53) + 1;
	h.sum_ns = 7 * h.count;
	h.sum_square = (unsigned __int128)7 * h.sum_ns;
	h.min_ns = h.max_ns = 7;
	latency = result_latency(&h);
	text = json_dumps(latency, JSON_COMPACT);
	EQUAL((text, HAS("\"count\":9007199254740993,")), (text, HAS("[[7,9007199254740993]]")),
	      (result_read_latency(latency, &back), 0), (back.count, (1ULL << 53) + 1),
	      (back.buckets[7], (1ULL << 53) + 1));
	free(text);
}

/* One good latency; each case spoils a word of it. */
static const char good_latency[] =
	"{\"count\": 3, \"min_ns\": 5, \"max_ns\": 1030, \"mean_ns\": 687.0, \"stddev_ns\": 590.6,"
	"\"histogram\": {\"scheme\": \"loglinear\", \"sub_bits\": 7, \"unit\": \"ns\","
	"\"saturated\": 0, \"buckets\": [[5,1],[1024,2]]}}";

static int read_spoiled(const char *from, const char *to)
{
	static struct histogram h;
	const char *at = strstr(good_latency, from);
	char text[512];
	json_t *value;
	int ret;

	assert_non_null(at);
	snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - good_latency), good_latency, to,
		 at + strlen(from));
	value = json_loads(text, 0, NULL);
	assert_non_null(value);
	ret = result_read_latency(value, &h);
	json_decref(value);
	return ret;
}

TEST(a_foreign_latency_is_checked)
{
	static const char *const cases[][2] = {
		{"loglinear", "linear"},
		{"\"sub_bits\": 7", "\"sub_bits\": 8"},
		{"\"unit\": \"ns\"", "\"unit\": \"us\""},
		{"\"saturated\": 0", "\"saturated\": 1"},
		{"\"saturated\": 0", "\"saturated\": -1"},
		{"\"count\": 3", "\"count\": 4"},
		{"\"count\": 3", "\"count\": 3.0"},
		{"\"count\": 3", "\"count\": null"},
		{"\"min_ns\": 5", "\"min_ns\": 4"},
		{"\"min_ns\": 5", "\"min_ns\": -5"},
		{"\"min_ns\": 5", "\"min_ns\": 6"},
		{"\"max_ns\": 1030", "\"max_ns\": 1032"},
		{"\"max_ns\": 1030", "\"max_ns\": 1023"},
		{"687.0", "1031.0"},
		{"687.0", "4.9"},
		{"687.0", "\"687\""},
		{"590.6", "-1"},
		{"590.6", "1e300"},
		{"590.6", "\"1\""},
		{"[1024,2]", "[1025,2]"},
		{"[1024,2]", "[1024,0]"},
		{"[1024,2]", "[1024,-2]"},
		{"[1024,2]", "[1024,2,3]"},
		{"[1024,2]", "[1024,2.0]"},
		{"[1024,2]", "[68719476736,2]"},
		{"[1024,2]", "[1024,9223372036854775807]"},
		{"[[5,1],[1024,2]]", "[[1024,2],[5,1]]"},
		{"[[5,1],[1024,2]]", "[[5,1],[5,2]]"},
		{"[[5,1],[1024,2]]", "[]"},
		{"[[5,1],[1024,2]]", "{}"},
	};
	static struct histogram h;

	EQUAL((read_spoiled("590.6", "590.6"), 0), (read_spoiled("590.6", "null"), 0));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (read_spoiled(cases[i][0], cases[i][1]) != -EINVAL)
			fail_msg("%s was taken for %s", cases[i][1], cases[i][0]);
	}
	assert_int_equal(result_read_latency(NULL, &h), -EINVAL);
}

TEST(a_number_that_is_none_is_null)
{
	EQUAL((json_is_null(result_real(NAN)), true), (json_is_null(result_real(INFINITY)), true));
}

TEST(times_are_utc_with_milliseconds)
{
	const struct timespec time = {1787306400, 123999999};
	json_auto_t *text = result_time(&time);

	/* date -u -d @1787306400 */
	assert_string_equal(json_string_value(text), "2026-08-21T10:00:00.123Z");
}

TEST(ids_are_random_version_4)
{
	uint8_t a[16], b[16];
	json_auto_t *text = NULL;

	EQUAL((result_new_uuid(a), 0), (result_new_uuid(b), 0));
	assert_memory_not_equal(a, b, sizeof(a));
	text = result_uuid(a);
	EQUAL((strlen(json_string_value(text)), 36), (json_string_value(text)[14], '4'));
	assert_non_null(strchr("89ab", json_string_value(text)[19]));
}
