/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pairs.c -- an inspection for each pair, and a table of the verdicts. The shapes are
 * those of doc/schema/rpma-ddio-check-matrix-1.schema.json.
 */
#include "pairs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/failure.h"
#include "common/base/text_writer.h"
#include "common/host/mounts.h"
#include "common/json/json_path.h"
#include "common/json/result.h"
#include "document.h"

#define DAX	    "sys/bus/dax/devices"
#define BLOCK	    "sys/block"
#define ENTRIES_MAX 4096

static int by_path(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void add(struct targets *targets, const char *path)
{
	if (targets->count == TARGETS_MAX)
		targets->cut = true;
	else
		snprintf(targets->paths[targets->count++], FACTS_PATH_MAX, "%s", path);
}

/* It belongs to a region of persistent memory, not to memory that is set aside (hmem). */
static bool is_persistent(const struct sysroot *root, const char *name)
{
	char real[PATH_MAX];

	return sysroot_real_path(root, real, DAX "/%s", name) && strstr(real, "/ndbus") != NULL;
}

/* Adds where it is mounted first, or its node. */
static void add_block(const struct sysroot *root, const struct mounts *mounts, const char *name,
		      struct targets *targets)
{
	char number[32], path[FACTS_PATH_MAX];
	unsigned major, minor;

	snprintf(path, sizeof(path), "/dev/%.63s", name);
	if (sysroot_text(root, number, BLOCK "/%s/dev", name) &&
	    mounts_read_device(number, &major, &minor)) {
		for (size_t i = mounts->count; i-- > 0;) {
			if (mounts->list[i].major == major && mounts->list[i].minor == minor)
				snprintf(path, sizeof(path), "%.255s", mounts->list[i].point);
		}
	}
	add(targets, path);
}

static void find_in(const struct sysroot *root, const char *directory, const struct mounts *mounts,
		    struct targets *targets)
{
	struct sysroot_walk entries = sysroot_walk(root, ENTRIES_MAX, "%s", directory);
	const char *name;

	while ((name = sysroot_next(&entries)) != NULL) {
		char path[FACTS_PATH_MAX];

		snprintf(path, sizeof(path), "/dev/%.63s", name);
		if (strcmp(directory, BLOCK) == 0 && strncmp(name, "pmem", 4) == 0)
			add_block(root, mounts, name, targets);
		else if (strcmp(directory, DAX) == 0 && strncmp(name, "dax", 3) == 0 &&
			 is_persistent(root, name))
			add(targets, path);
	}
	targets->cut = targets->cut || entries.cut;
}

void targets_find(const struct sysroot *root, struct targets *targets)
{
	struct mounts mounts;

	memset(targets, 0, sizeof(*targets));
	mounts_read(root, &mounts);
	find_in(root, DAX, &mounts, targets);
	find_in(root, BLOCK, &mounts, targets);
	qsort(targets->paths, targets->count, sizeof(targets->paths[0]), by_path);
	mounts_free(&mounts);
}

#define DEVICES_MAX 64
#define SCHEMA	    "rpma-ddio-check-matrix/1"
#define COLUMNS	    3 /* devices side by side */
#define WIDTH	    20

/* The worst first: as rpma-bench has it for several targets. */
static const enum readiness_verdict order[] = {VERDICT_NOT_READY,  VERDICT_UNDETERMINED,
					       VERDICT_GPSPM_ONLY, VERDICT_NATIVE_FLUSH_READY,
					       VERDICT_APM_READY,  VERDICT_APM_READY_EADR};

static size_t rank_of(enum readiness_verdict verdict)
{
	size_t i = 0;

	while (order[i] != verdict)
		i++;
	return i;
}

/* --- the document --------------------------------------------------------------------- */

static json_t *pair_json(const struct readiness *r, const char *device, const char *target)
{
	char because[512];

	readiness_because(r, because, sizeof(because));
	return json_pack("{s:o, s:o, s:s, s:s, s:i, s:o, s:b}", "device", result_text(device),
			 "target", result_text(target), "verdict",
			 readiness_verdict_name(r->row->verdict), "row", r->row->name, "exit_code",
			 r->row->exit_code, "because",
			 result_text(because[0] != '\0' ? because : r->row->reason),
			 "direct_write_to_pmem", r->row->direct_write);
}

static int add_pair(const struct options *o, const struct sysroot *root, const char *device,
		    const char *target, json_t *pairs, const struct verdict_row **worst)
{
	struct readiness *readiness = calloc(1, sizeof(*readiness));
	const struct readiness_cfg cfg = {.root = root,
					  .device = device,
					  .target = target,
					  .claims = &o->claims,
					  .lenient = o->lenient};
	int ret;

	if (readiness == NULL)
		return failure_set(EXIT_INTERNAL, "matrix", "out of memory");
	ret = readiness_inspect(readiness, &cfg);
	if (ret == 0) {
		const struct verdict_row *row = readiness->row;

		json_array_append_new(pairs, pair_json(readiness, device, target));
		if (*worst == NULL || rank_of(row->verdict) < rank_of((*worst)->verdict))
			*worst = row;
	}
	readiness_free(readiness);
	free(readiness);
	return ret;
}

static json_t *names_json(const struct device *devices, size_t count)
{
	json_t *names = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(names, result_text(devices[i].name));
	return names;
}

static json_t *paths_json(const struct targets *targets)
{
	json_t *paths = json_array();

	for (size_t i = 0; i < targets->count; i++)
		json_array_append_new(paths, result_text(targets->paths[i]));
	return paths;
}

/* --- the table -------------------------------------------------------------------------- */

static const json_t *pair_of(const json_t *document, const char *device, const char *target)
{
	const json_t *pairs = json_object_get(document, "matrix"), *pair;
	size_t index;

	json_array_foreach(pairs, index, pair) {
		if (strcmp(path_text(pair, "device"), device) == 0 &&
		    strcmp(path_text(pair, "target"), target) == 0)
			return pair;
	}
	return NULL;
}

static const char *text_at(const json_t *list, size_t index)
{
	const char *text = json_string_value(json_array_get(list, index));

	return text != NULL ? text : "";
}

/* COLUMNS of the devices, from this one on, and all targets. */
static void put_block(struct text_writer *writer, const json_t *document, size_t first)
{
	const json_t *devices = json_object_get(document, "devices");
	const json_t *targets = json_object_get(document, "targets");
	char line[COLUMNS * (DEVICE_NAME_MAX + WIDTH)];
	size_t at = 0;

	for (size_t d = first; d < json_array_size(devices) && d < first + COLUMNS; d++)
		at += (size_t)snprintf(line + at, sizeof(line) - at, "%-*s", WIDTH,
				       text_at(devices, d));
	text_writer_line(writer, TEXT_STRONG, WIDTH, "", line);
	for (size_t t = 0; t < json_array_size(targets); t++) {
		at = 0;
		for (size_t d = first; d < json_array_size(devices) && d < first + COLUMNS; d++)
			at += (size_t)snprintf(line + at, sizeof(line) - at, "%-*s", WIDTH,
					       path_text(pair_of(document, text_at(devices, d),
								 text_at(targets, t)),
							 "verdict"));
		text_writer_line(writer, TEXT_PLAIN, WIDTH, text_at(targets, t), line);
	}
	text_writer_line(writer, TEXT_PLAIN, 0, "", "");
}

/* Prints what keeps each pair from being ready. */
static void put_reasons(struct text_writer *writer, const json_t *document)
{
	const json_t *pairs = json_object_get(document, "matrix"), *pair;
	char label[DEVICE_NAME_MAX + FACTS_PATH_MAX + 8];
	size_t index;

	json_array_foreach(pairs, index, pair) {
		if (json_integer_value(json_object_get(pair, "exit_code")) == EXIT_GOOD)
			continue;
		snprintf(label, sizeof(label), "%s, %s: ", path_text(pair, "device"),
			 path_text(pair, "target"));
		text_writer_line(writer, TEXT_PLAIN, (int)strlen(label), label,
				 path_text(pair, "because"));
	}
}

static int print_table(const json_t *document, bool quiet)
{
	const size_t devices = json_array_size(json_object_get(document, "devices"));
	const size_t targets = json_array_size(json_object_get(document, "targets"));
	struct text_writer writer;
	char text[128];

	text_writer_open(&writer, stdout);
	for (size_t first = 0; !quiet && targets > 0 && first < devices; first += COLUMNS)
		put_block(&writer, document, first);
	put_reasons(&writer, document);
	if (devices == 0 || targets == 0) {
		snprintf(text, sizeof(text), "%zu RDMA devices, %zu targets: nothing to check",
			 devices, targets);
		text_writer_line(&writer, TEXT_PLAIN, 0, text, "");
	}
	if (json_is_true(json_object_get(document, "cut")))
		text_writer_line(&writer, TEXT_DOUBTFUL, 0,
				 "There are more devices or targets than are shown.", "");
	return text_writer_close(&writer);
}

static int fill(const struct options *o, const struct sysroot *root, const struct device *devices,
		size_t count, const struct targets *targets, json_t *pairs,
		const struct verdict_row **worst)
{
	int ret = 0;

	for (size_t t = 0; t < targets->count && ret == 0; t++) {
		for (size_t d = 0; d < count && ret == 0; d++)
			ret = add_pair(o, root, devices[d].name, targets->paths[t], pairs, worst);
	}
	return ret;
}

/* A pair that is not shown may be the worst. */
static int code_of(const struct verdict_row *worst, bool cut)
{
	if (worst == NULL || (worst->exit_code == EXIT_GOOD && cut))
		return EXIT_NO_DEVICE;
	return worst->exit_code;
}

int pairs_inspect(const struct options *options, const struct sysroot *root, int *exit_code)
{
	struct targets *targets = malloc(sizeof(*targets));
	const struct verdict_row *worst = NULL;
	struct device *devices = NULL;
	json_t *pairs = json_array(), *document;
	struct timespec started;
	size_t count = 0;
	bool cut;
	int ret;

	clock_gettime(CLOCK_REALTIME, &started);
	if (targets == NULL || device_list(root, &devices, &count) != 0) {
		ret = failure_set(EXIT_INTERNAL, "matrix", "out of memory");
		goto out;
	}
	targets_find(root, targets);
	cut = count > DEVICES_MAX || targets->cut;
	count = count < DEVICES_MAX ? count : DEVICES_MAX;
	ret = fill(options, root, devices, count, targets, pairs, &worst);
	if (ret != 0)
		goto out;
	*exit_code = code_of(worst, cut);
	document = json_pack("{s:s, s:{s:s, s:s}, s:o, s:o, s:o, s:O, s:b}", "schema", SCHEMA,
			     "tool", "name", "rpma-ddio-check", "version", RPMA_VERSION, "run",
			     document_run(options, root->refused, &started, *exit_code), "devices",
			     names_json(devices, count), "targets", paths_json(targets), "matrix",
			     pairs, "cut", cut);
	ret = options->json ? result_write(NULL, document)
			    : print_table(document, options->cli.quiet);
	json_decref(document);
out:
	json_decref(pairs);
	free(devices);
	free(targets);
	return ret;
}
