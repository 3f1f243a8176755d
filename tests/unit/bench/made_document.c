/* SPDX-License-Identifier: BSD-3-Clause */
/* made_document.c -- see made_document.h. */
#include "made_document.h"

#include "common/rdma/target.h"
#include "made_repeat.h"
#include "tests/lib/scratch.h"

struct options options;
struct params point;
struct record run;
json_t *repeats[1];

/* One point of one complete repeat, to 1 MiB of memory of a server. */
int document_setup(void **state)
{
	if (scratch_setup(state) != 0)
		return -1;
	options = (struct options){.duration_ns = 1000000000, .repeats = 1};
	point = (struct params){
		.test = BENCH_LAT, .op = BENCH_WRITE, .size_bytes = 4096, .depth = 1};
	point.threads = point.connections = point.batch = point.signal_every = 1;
	repeats[0] = NULL;
	run = (struct record){
		.options = &options,
		.plan = {.points_count = 1, .points = &point, .trials_count = 1},
		.repeats = repeats,
		.repeats_done = 1,
		.emulated_cpu = -1,
		.placement = {.policy = "auto", .threads = 1, .cpus = {3}, .node = -1},
		.server = {.known = true,
			   .environment = json_object(),
			   .welcome = {.targets_count = 1,
				       .targets = {{.kind = TARGET_DRAM,
						    .bytes = 1 << 20,
						    .odp = 2,
						    .numa_node = -1,
						    .page_bytes = 4096}}}},
	};
	return sysroot_open(&run.sysroot, scratch);
}

int document_teardown(void **state)
{
	sysroot_close(&run.sysroot);
	json_decref(run.server.environment);
	json_decref(run.server.readiness);
	json_decref(repeats[0]);
	return scratch_teardown(state);
}

/* A repeat of the point; a server's report on it may be NULL. */
void document_add_repeat(struct repeat r, const char *report)
{
	r.params = point;
	if (report != NULL)
		r.server = json_loads(report, 0, NULL);
	if (repeats[0] == NULL)
		repeats[0] = json_array();
	json_array_append_new(repeats[0], made_json(&r));
}

bool document_warned(const json_t *document, const char *code, const char *words)
{
	const json_t *list = path_get(document, "run/warnings"), *one;
	size_t index;

	json_array_foreach(list, index, one) {
		if (strcmp(json_string_value(json_object_get(one, "code")), code) == 0 &&
		    strstr(json_string_value(json_object_get(one, "text")), words) != NULL)
			return true;
	}
	return false;
}

/* The run warns of it; the words are NULL when the code must not be there. */
void document_expect_warning(const char *code, const char *words)
{
	json_auto_t *document = document_make(&run);

	assert_non_null(document);
	if (document_warned(document, code, words != NULL ? words : "") != (words != NULL))
		fail_msg("%s: %s", code, words != NULL ? words : "should not be there");
}
