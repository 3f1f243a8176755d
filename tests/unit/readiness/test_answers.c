/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_answers.c -- what this machine answers about paths, without a trace
 * left on them; what a facts.json answers in its place; and the way from one to
 * the other.
 */
#include <sys/time.h>

#include "common/base/failure.h"
#include "readiness/answers.h"
#include "tests/lib/scratch.h"

static struct answers_path path;
static struct answers_device device;

#define SCHEMA "{\"schema\":\"rpma-ddio-check-facts/1\""

static struct sysroot tree, machine;
static struct answers answers;

static int open_roots(void **state)
{
	if (scratch_setup(state) != 0)
		return -1;
	return sysroot_open(&tree, scratch) != 0 || sysroot_open(&machine, "/") != 0;
}

static int close_roots(void **state)
{
	answers_close(&answers);
	sysroot_close(&tree);
	sysroot_close(&machine);
	return scratch_teardown(state);
}

static void open_tree(const char *facts)
{
	scratch_write("facts.json", facts);
	assert_int_equal(answers_open(&answers, &tree), 0);
}

struct wrong {
	const char *text;
	const char *said; /* a part of the sentence */
};

static const struct wrong wrong[] = {
	{"", "line 1"},
	{"{", "line 1"},
	{"[]", "schema"},
	{"null", "JSON"},
	{"{}", "schema: expected \"rpma-ddio-check-facts/1\""},
	{"{\"schema\":\"rpma-ddio-check-facts/2\"}", "schema"},
	{"{\"schema\":1}", "schema"},
	{SCHEMA ",\"schema\":\"rpma-ddio-check-facts/1\"}", "no key twice"},
	{SCHEMA ",\"devices\":[]}", "devices: expected an object"},
	{SCHEMA ",\"targets\":1}", "targets: expected an object"},
	{SCHEMA ",\"probe\":[]}", "probe: expected an object"},
	{SCHEMA ",\"devices\":{\"mlx5_0\":1}}", "mlx5_0: expected an object"},
	{SCHEMA ",\"devices\":{\"a\":{\"odp_rc\":4294967296}}}",
	 "a: odp_rc: expected a whole number from 0 to 4294967295"},
	{SCHEMA ",\"devices\":{\"a\":{\"odp_rc\":-1}}}", "a: odp_rc"},
	{SCHEMA ",\"devices\":{\"a\":{\"odp_rc\":1.5}}}", "a: odp_rc"},
	{SCHEMA ",\"devices\":{\"a\":{\"odp_rc\":\"12\"}}}", "a: odp_rc"},
	{SCHEMA ",\"devices\":{\"a\":{\"odp_rc\":true}}}", "a: odp_rc"},
	{SCHEMA ",\"devices\":{\"a\":{\"max_cqe\":9223372036854775808}}}", "line 1"},
	{SCHEMA ",\"devices\":{\"a\":{\"tph_handle\":1}}}",
	 "a: tph_handle: expected true or false"},
	{SCHEMA ",\"devices\":{\"a\":{},\"a\":{}}}", "no key twice"},
	{SCHEMA ",\"targets\":{\"/a\":{\"kind\":\"char\"}}}", "/a: kind: expected \"character\""},
	{SCHEMA ",\"targets\":{\"/a\":{\"kind\":3}}}", "/a: kind"},
	{SCHEMA ",\"targets\":{\"/a\":{\"map_sync\":true}}}", "/a: map_sync: expected \"ok\""},
	{SCHEMA ",\"targets\":{\"/a\":{\"map_sync\":\"yes\"}}}", "/a: map_sync"},
	{SCHEMA ",\"targets\":{\"/a\":{\"error\":\"ok\"}}}", "/a: error"},
	{SCHEMA ",\"targets\":{\"/a\":{\"error\":13}}}", "/a: error"},
	{SCHEMA ",\"targets\":{\"/a\":{\"dax\":\"yes\"}}}", "/a: dax"},
	{SCHEMA ",\"targets\":{\"/a\":{\"size_bytes\":-1}}}", "/a: size_bytes"},
	{SCHEMA ",\"targets\":{\"\\u001b[2J\":{\"dax\":1}}}", "?[2J: dax"},
	{SCHEMA ",\"probe\":{\"rdma_bytes\":\"many\"}}", "probe: rdma_bytes"},
	{SCHEMA ",\"probe\":{\"events\":[]}}", "probe: events: expected a text"},
	{SCHEMA "}{", "line 1"},
	{SCHEMA ",\"x\":\"\xff\"}", "line 1"},
	{SCHEMA ",\"x\":\"\xed\xa0\x80\"}", "line 1"},
};

TEST(what_is_wrong_is_named)
{
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		json_t *facts = answers_parse(wrong[i].text, strlen(wrong[i].text));

		if (facts != NULL || strstr(failure_get()->text, wrong[i].said) == NULL)
			fail_msg("%state: %state", wrong[i].text,
				 facts != NULL ? "taken" : failure_get()->text);
		assert_int_equal(failure_get()->code, EXIT_WRONG_USAGE);
	}
}

TEST(nul_is_no_json)
{
	static const char text[] = SCHEMA "\0}";

	assert_null(answers_parse(text, sizeof(text) - 1));
}

TEST(deep_nesting_ends)
{
	char *text = malloc(ANSWERS_BYTES_MAX);

	assert_non_null(text);
	memset(text, '[', ANSWERS_BYTES_MAX);
	assert_null(answers_parse(text, ANSWERS_BYTES_MAX));
	free(text);
}

/* Missing, null and unknown members are no errors. */
TEST(all_may_be_missing)
{
	static const char *const texts[] = {
		SCHEMA "}",
		SCHEMA ",\"devices\":null,\"targets\":null,\"probe\":null}",
		SCHEMA ",\"devices\":{},\"targets\":{},\"probe\":{}}",
		SCHEMA ",\"devices\":{\"a\":{\"odp_rc\":null,\"colour\":\"red\"}},\"more\":[1]}",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		json_t *facts = answers_parse(texts[i], strlen(texts[i]));

		assert_non_null(facts);
		json_decref(facts);
	}
}

TEST(too_large_a_file_is_refused, open_roots, close_roots)
{
	char *text = malloc(ANSWERS_BYTES_MAX + 2);

	assert_non_null(text);
	memset(text, ' ', ANSWERS_BYTES_MAX + 1);
	text[ANSWERS_BYTES_MAX + 1] = '\0';
	scratch_write("facts.json", text);
	free(text);
	EQUAL((answers_open(&answers, &tree), -EINVAL),
	      (failure_get()->text, HAS("at most 1048576 bytes")));
}

TEST(what_is_no_file_is_refused, open_roots, close_roots)
{
	scratch_write("facts.json/in", "");
	EQUAL((answers_open(&answers, &tree), -EINVAL),
	      (failure_get()->text, HAS("cannot be read")));
}

/* The machine that looks at a tree must not answer in its place. */
TEST(without_a_file_nothing_is_known, open_roots, close_roots)
{
	struct answers_probe probe = {.done = false};

	assert_int_equal(answers_open(&answers, &tree), 0);
	answers_of_device(&answers, "mlx5_0", &device);
	EQUAL((device.known || device.flags_known || device.odp_known, false),
	      (device.max_qp_wr, -1), (device.tph_handle, -1));
	assert_string_not_equal(device.why, "");
	answers_of_path(&answers, "/", &path);
	EQUAL((path.kind, ANSWERS_UNKNOWN), (path.dax, -1), (path.map_sync, -1),
	      (path.numbers, false));
	answers_of_probe(&answers, &probe);
	assert_false(probe.done);
}

TEST(a_device_is_read, open_roots, close_roots)
{
	open_tree(SCHEMA ",\"devices\":{\"mlx5_0\":{\"device_cap_flags_ex\":824633720832,"
			 "\"odp_general\":3,\"odp_rc\":31,\"max_qp_wr\":32768,\"max_cqe\":4194303,"
			 "\"max_qp_rd_atom\":16,\"tph_handle\":false}}}");
	answers_of_device(&answers, "mlx5_0", &device);
	assert_true(device.known && device.flags_known && device.odp_known);
	EQUAL((device.cap_flags_ex, 3ULL << 38), (device.odp_general, 3), (device.odp_rc, 31),
	      (device.max_qp_wr, 32768), (device.max_cqe, 4194303), (device.max_qp_rd_atom, 16),
	      (device.tph_handle, 0));
}

/* Flags of 0 that were not given are not flags. */
TEST(a_part_of_a_device_is_a_part, open_roots, close_roots)
{
	open_tree(SCHEMA ",\"devices\":{\"a\":{\"odp_general\":1},\"b\":{\"device_cap_flags_ex\":"
			 "0},\"c\":{\"why\":\"busy\"}}}");
	answers_of_device(&answers, "a", &device);
	assert_false(device.known || device.flags_known || device.odp_known);
	answers_of_device(&answers, "b", &device);
	assert_true(device.known && device.flags_known);
	assert_false(device.odp_known);
	answers_of_device(&answers, "c", &device);
	EQUAL((device.known, false), (device.why, "busy"));
}

TEST(a_target_is_read, open_roots, close_roots)
{
	open_tree(SCHEMA ",\"targets\":{\"/mnt/a\":{\"kind\":\"regular\",\"size_bytes\":4096,"
			 "\"major\":259,\"minor\":1,\"dax\":true,\"map_sync\":\"ok\"},\"/b\":{"
			 "\"kind\":\"directory\",\"major\":1,\"map_sync\":\"EOPNOTSUPP\",\"error\":"
			 "\"EACCES\",\"dax\":false}}}");
	answers_of_path(&answers, "/mnt/a", &path);
	EQUAL((path.kind, ANSWERS_REGULAR), (path.size_bytes, 4096), (path.numbers, true),
	      (path.major, 259), (path.minor, 1), (path.dax, 1), (path.map_sync, 0),
	      (path.error, 0));
	answers_of_path(&answers, "/b", &path);
	EQUAL((path.kind, ANSWERS_DIRECTORY), (path.size_bytes, -1), (path.numbers, false),
	      (path.dax, 0), (path.map_sync, EOPNOTSUPP), (path.error, EACCES));
}

TEST(a_probe_needs_both_counts, open_roots, close_roots)
{
	struct answers_probe probe = {.done = false};

	open_tree(SCHEMA ",\"probe\":{\"rdma_bytes\":100,\"window_bytes\":4096}}");
	snprintf(probe.why, sizeof(probe.why), "not run");
	answers_of_probe(&answers, &probe);
	EQUAL((probe.done, false), (probe.why, "not run"));
	answers_close(&answers);
	open_tree(SCHEMA ",\"probe\":{\"rdma_bytes\":100,\"memory_write_bytes\":0,\"events\":"
			 "\"imc\"}}");
	answers_of_probe(&answers, &probe);
	EQUAL((probe.done, true), (probe.rdma_bytes, 100), (probe.memory_write_bytes, 0),
	      (probe.window_bytes, -1), (probe.events, "imc"), (probe.why, ""));
}

/* The paths, which only this machine has. */

static void ask(const char *name, struct answers_path *out)
{
	char file[PATH_MAX];

	assert_int_equal(answers_open(&answers, &machine), 0);
	answers_of_path(&answers, scratch_path(name, file), out);
}

TEST(a_file_is_asked_without_a_trace, open_roots, close_roots)
{
	const struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 2000}};
	char file[PATH_MAX], text[16];
	struct stat before, after;

	scratch_write("file", "content");
	EQUAL((utimensat(AT_FDCWD, scratch_path("file", file), times, 0), 0),
	      (stat(file, &before), 0));
	ask("file", &path);
	EQUAL((path.kind, ANSWERS_REGULAR), (path.size_bytes, 7), (path.numbers, true));
	assert_true(path.map_sync >= 0);
	EQUAL((stat(file, &after), 0), (after.st_atime, 1000), (after.st_mtime, 2000),
	      (after.st_ctime, before.st_ctime));
	scratch_read("file", text, sizeof(text));
	assert_string_equal(text, "content");
}

TEST(an_empty_file_can_be_asked, open_roots, close_roots)
{
	scratch_write("empty", "");
	ask("empty", &path);
	EQUAL((path.kind, ANSWERS_REGULAR), (path.size_bytes, 0));
	assert_true(path.map_sync >= 0);
}

TEST(a_directory_stays_as_it_is, open_roots, close_roots)
{
	char directory[PATH_MAX];
	struct stat before, after;

	scratch_write("directory/only", "");
	assert_int_equal(stat(scratch_path("directory", directory), &before), 0);
	ask("directory", &path);
	EQUAL((path.kind, ANSWERS_DIRECTORY), (path.size_bytes, -1), (stat(directory, &after), 0),
	      (after.st_mtime, before.st_mtime), (after.st_nlink, before.st_nlink));
}

/* Opening it would wait for a writer. */
TEST(a_fifo_is_not_opened, open_roots, close_roots)
{
	char fifo[PATH_MAX];

	assert_int_equal(mkfifo(scratch_path("fifo", fifo), 0600), 0);
	ask("fifo", &path);
	EQUAL((path.kind, ANSWERS_OTHER), (path.map_sync, -1));
}

TEST(a_link_is_followed, open_roots, close_roots)
{
	scratch_write("file", "1");
	scratch_link("file", "link");
	ask("link", &path);
	assert_int_equal(path.kind, ANSWERS_REGULAR);
}

TEST(what_is_missing_is_nothing, open_roots, close_roots)
{
	ask("nothing", &path);
	EQUAL((path.kind, ANSWERS_NONE), (path.error, ENOENT));
	scratch_write("file", "");
	ask("file", &path);
	answers_of_path(&answers, "/dev/null/below", &path);
	assert_int_equal(path.kind, ANSWERS_NONE);
}

/* Linux Documentation/admin-guide/devices.txt: /dev/null is 1:3. */
TEST(a_device_node_has_its_own_numbers, open_roots, close_roots)
{
	assert_int_equal(answers_open(&answers, &machine), 0);
	answers_of_path(&answers, "/dev/null", &path);
	EQUAL((path.kind, ANSWERS_CHARACTER), (path.numbers, true), (path.major, 1),
	      (path.minor, 3), (path.map_sync, -1));
}

TEST(a_locked_directory_is_said_to_be, open_roots, close_roots)
{
	char directory[PATH_MAX], file[PATH_MAX];

	if (geteuid() == 0)
		skip();
	scratch_write("locked/file", "");
	scratch_path("locked/file", file);
	assert_int_equal(chmod(scratch_path("locked", directory), 0), 0);
	ask("locked/file", &path);
	EQUAL((chmod(directory, 0700), 0), (path.kind, ANSWERS_UNKNOWN), (path.error, EACCES));
}

TEST(no_device_of_that_name_answers, open_roots, close_roots)
{
	assert_int_equal(answers_open(&answers, &machine), 0);
	answers_of_device(&answers, "no_such_device", &device);
	assert_false(device.known);
	assert_string_not_equal(device.why, "");
}

/* From the machine to a facts.json and back. */

static void note_all(const char *const *names, struct answers_path *paths, size_t count)
{
	char text[PATH_MAX];

	assert_int_equal(answers_open(&answers, &machine), 0);
	answers.record = json_pack("{s:s}", "schema", ANSWERS_SCHEMA);
	assert_non_null(answers.record);
	for (size_t i = 0; i < count; i++)
		answers_of_path(&answers, names[i], &paths[i]);
	answers_note_probe(&answers, &(struct answers_probe){.done = true,
							     .rdma_bytes = 5,
							     .memory_write_bytes = 4,
							     .window_bytes = 3,
							     .phases = 6,
							     .share_low_ppm = 700000,
							     .share_high_ppm = 900000,
							     .events = "imc"});
	assert_int_equal(json_dump_file(answers.record, scratch_path("facts.json", text), 0), 0);
	json_decref(answers.record);
	answers_close(&answers);
}

TEST(noted_answers_come_back, open_roots, close_roots)
{
	char file[PATH_MAX], directory[PATH_MAX];
	const char *const names[] = {scratch_path("file", file), scratch_path("dir", directory),
				     "/dev/null", "/no/such/thing"};
	const size_t count = sizeof(names) / sizeof(names[0]);
	struct answers_path paths[4];
	struct answers_probe probe = {.done = false};

	scratch_write("file", "content");
	assert_int_equal(mkdir(directory, 0700), 0);
	note_all(names, paths, count);
	assert_int_equal(answers_open(&answers, &tree), 0);
	for (size_t i = 0; i < count; i++) {
		answers_of_path(&answers, names[i], &path);
		EQUAL((path.kind, paths[i].kind), (path.size_bytes, paths[i].size_bytes),
		      (path.numbers, paths[i].numbers), (path.major, paths[i].major),
		      (path.minor, paths[i].minor), (path.dax, paths[i].dax),
		      (path.map_sync, paths[i].map_sync), (path.error, paths[i].error));
	}
	answers_of_probe(&answers, &probe);
	EQUAL((probe.done, true), (probe.memory_write_bytes, 4), (probe.window_bytes, 3),
	      (probe.phases, 6), (probe.share_low_ppm, 700000), (probe.share_high_ppm, 900000));
}
