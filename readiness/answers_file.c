/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * answers_file.c -- facts.json: answers that came with a tree of files.
 *
 * Anybody may have written it, so every value is checked before the first is
 * used, and a wrong one is an error: taken for unknown it would go unnoticed.
 * Every key may be missing or null, which is unknown; other keys are ignored.
 */
#include "answers.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/failure.h"
#include "common/json/json_path.h"
#include "common/json/json_schema.h"

#define FILE_NAME  "facts.json"
#define NAME_BYTES 72
#define MAY	   (SCHEMA_NULL | SCHEMA_MISSING)

static const struct schema device_keys[] = {
	{"device_cap_flags_ex", SCHEMA_WHOLE, MAY, NULL},
	{"odp_general", SCHEMA_WHOLE, MAY, NULL},
	{"odp_rc", SCHEMA_WHOLE_32, MAY, NULL},
	{"max_qp_wr", SCHEMA_WHOLE, MAY, NULL},
	{"max_cqe", SCHEMA_WHOLE, MAY, NULL},
	{"max_qp_rd_atom", SCHEMA_WHOLE, MAY, NULL},
	{"tph_handle", SCHEMA_FLAG, MAY, NULL},
	{"why", SCHEMA_STRING, MAY, NULL},
	{0},
};

static const struct schema target_keys[] = {
	{"kind", SCHEMA_WORD, MAY, "character block regular directory other none unknown"},
	{"size_bytes", SCHEMA_WHOLE, MAY, NULL},
	{"major", SCHEMA_WHOLE_32, MAY, NULL},
	{"minor", SCHEMA_WHOLE_32, MAY, NULL},
	{"dax", SCHEMA_FLAG, MAY, NULL},
	{"map_sync", SCHEMA_ERROR, MAY, "ok"},
	{"error", SCHEMA_ERROR, MAY, NULL},
	{0},
};

static const struct schema probe_keys[] = {
	{"rdma_bytes", SCHEMA_WHOLE, MAY, NULL},    {"memory_write_bytes", SCHEMA_WHOLE, MAY, NULL},
	{"window_bytes", SCHEMA_WHOLE, MAY, NULL},  {"phases", SCHEMA_WHOLE, MAY, NULL},
	{"share_low_ppm", SCHEMA_WHOLE, MAY, NULL}, {"share_high_ppm", SCHEMA_WHOLE, MAY, NULL},
	{"events", SCHEMA_STRING, MAY, NULL},	    {0},
};

const char *const answers_kinds[] = {
	[ANSWERS_UNKNOWN] = "unknown",	   [ANSWERS_NONE] = "none",
	[ANSWERS_REGULAR] = "regular",	   [ANSWERS_DIRECTORY] = "directory",
	[ANSWERS_CHARACTER] = "character", [ANSWERS_BLOCK] = "block",
	[ANSWERS_OTHER] = "other",
};

/* -1: no such kind. */
static int kind_number(const char *name)
{
	for (int i = 0; i < (int)(sizeof(answers_kinds) / sizeof(answers_kinds[0])); i++) {
		if (name != NULL && strcmp(answers_kinds[i], name) == 0)
			return i;
	}
	return -1;
}

static int refuse(const char *name, const char *why)
{
	char shown[NAME_BYTES];

	snprintf(shown, sizeof(shown), "%s", name);
	for (char *at = shown; *at != '\0'; at++) {
		if (*at < ' ' || *at > '~')
			*at = '?';
	}
	return failure_usage(FILE_NAME ": %s: %s", shown, why);
}

static int check_entry(const struct schema *keys, const char *name, const json_t *entry)
{
	char why[SCHEMA_WHY_MAX];

	if (!json_is_object(entry))
		return refuse(name, "expected an object");
	return schema_check(entry, keys, &(struct schema_position){.why = why}) ? 0
										: refuse(name, why);
}

static int check_group(const json_t *facts, const char *group, const struct schema *keys)
{
	json_t *entries = json_object_get(facts, group), *entry;
	const char *name;
	int ret = 0;

	if (entries == NULL || json_is_null(entries))
		return 0;
	if (!json_is_object(entries))
		return refuse(group, "expected an object");
	json_object_foreach(entries, name, entry) {
		if (ret == 0)
			ret = check_entry(keys, name, entry);
	}
	return ret;
}

static int check_all(const json_t *facts)
{
	const json_t *probe = json_object_get(facts, "probe");
	int ret;

	if (!path_is(facts, "schema", ANSWERS_SCHEMA))
		return refuse("schema", "expected \"" ANSWERS_SCHEMA "\"");
	ret = check_group(facts, "devices", device_keys);
	if (ret == 0)
		ret = check_group(facts, "targets", target_keys);
	if (ret == 0 && probe != NULL && !json_is_null(probe))
		ret = check_entry(probe_keys, "probe", probe);
	return ret;
}

json_t *answers_parse(const char *text, size_t size)
{
	json_error_t error;
	json_t *facts = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
	char where[NAME_BYTES];

	if (facts == NULL) {
		snprintf(where, sizeof(where), "line %d, column %d", error.line, error.column);
		(void)refuse(where, "expected JSON, with no key twice");
	} else if (check_all(facts) != 0) {
		json_decref(facts);
		facts = NULL;
	}
	return facts;
}

static int read_file(struct answers *answers)
{
	const size_t size = ANSWERS_BYTES_MAX + 2;
	char *text = malloc(size);
	long len;
	int ret = 0;

	if (text == NULL)
		return failure_set(EXIT_INTERNAL, "start", "out of memory");
	len = sysroot_read(answers->root, text, size, FILE_NAME);
	if (len < 0)
		ret = failure_usage(FILE_NAME " is there, but cannot be read");
	else if (len > ANSWERS_BYTES_MAX)
		ret = failure_usage(FILE_NAME ": expected at most %d bytes", ANSWERS_BYTES_MAX);
	else if ((answers->facts = answers_parse(text, (size_t)len)) == NULL)
		ret = -EINVAL;
	free(text);
	return ret;
}

int answers_open(struct answers *answers, const struct sysroot *root)
{
	*answers = (struct answers){.root = root};
	if (root->machine || !sysroot_exists(root, FILE_NAME))
		return 0;
	return read_file(answers);
}

void answers_close(struct answers *answers)
{
	json_decref(answers->facts);
	answers->facts = NULL;
}

static const json_t *entry_of(const struct answers *answers, const char *group, const char *name)
{
	return json_object_get(json_object_get(answers->facts, group), name);
}

static int64_t number_of(const json_t *entry, const char *key, int64_t unknown)
{
	const json_t *value = json_object_get(entry, key);

	return json_is_integer(value) ? json_integer_value(value) : unknown;
}

static int truth_of(const json_t *entry, const char *key)
{
	const json_t *value = json_object_get(entry, key);

	return json_is_boolean(value) ? json_is_true(value) : -1;
}

void answers_read_device(const struct answers *answers, const char *name,
			 struct answers_device *out)
{
	const json_t *entry = entry_of(answers, "devices", name);

	out->flags_known = number_of(entry, "device_cap_flags_ex", -1) >= 0;
	out->odp_known =
		number_of(entry, "odp_general", -1) >= 0 && number_of(entry, "odp_rc", -1) >= 0;
	out->cap_flags_ex = (uint64_t)number_of(entry, "device_cap_flags_ex", 0);
	out->odp_general = (uint64_t)number_of(entry, "odp_general", 0);
	out->odp_rc = (uint32_t)number_of(entry, "odp_rc", 0);
	out->max_qp_wr = number_of(entry, "max_qp_wr", -1);
	out->max_cqe = number_of(entry, "max_cqe", -1);
	out->max_qp_rd_atom = number_of(entry, "max_qp_rd_atom", -1);
	out->tph_handle = truth_of(entry, "tph_handle");
	out->known = out->flags_known || out->odp_known || out->max_qp_wr >= 0 ||
		     out->max_cqe >= 0 || out->max_qp_rd_atom >= 0 || out->tph_handle >= 0;
	if (!out->known)
		snprintf(out->why, sizeof(out->why), "%.90s",
			 path_text(entry, "why")[0] != '\0' ? path_text(entry, "why")
							    : FILE_NAME " has no entry for it");
}

void answers_read_path(const struct answers *answers, const char *path, struct answers_path *out)
{
	const json_t *entry = entry_of(answers, "targets", path);
	const char *sync = path_text(entry, "map_sync");
	int kind = kind_number(path_text(entry, "kind"));

	out->kind = kind < 0 ? ANSWERS_UNKNOWN : (enum answers_file)kind;
	out->size_bytes = number_of(entry, "size_bytes", -1);
	out->numbers = number_of(entry, "major", -1) >= 0 && number_of(entry, "minor", -1) >= 0;
	out->major = (unsigned)number_of(entry, "major", 0);
	out->minor = (unsigned)number_of(entry, "minor", 0);
	out->dax = truth_of(entry, "dax");
	out->error = schema_errno(path_text(entry, "error"));
	if (sync[0] != '\0')
		out->map_sync = schema_errno(sync); /* "ok" is none */
}

void answers_read_probe(const struct answers *answers, struct answers_probe *out)
{
	const json_t *entry = json_object_get(answers->facts, "probe");

	out->rdma_bytes = number_of(entry, "rdma_bytes", -1);
	out->memory_write_bytes = number_of(entry, "memory_write_bytes", -1);
	out->window_bytes = number_of(entry, "window_bytes", -1);
	out->phases = number_of(entry, "phases", 0);
	out->share_low_ppm = number_of(entry, "share_low_ppm", 0);
	out->share_high_ppm = number_of(entry, "share_high_ppm", INT64_MAX);
	out->done = out->rdma_bytes > 0 && out->memory_write_bytes >= 0;
	snprintf(out->events, sizeof(out->events), "%.90s", path_text(entry, "events"));
	if (out->done)
		out->why[0] = '\0';
}

static void note(const struct answers *answers, const char *group, const char *name, json_t *entry)
{
	json_t *entries = json_object_get(answers->record, group);
	char key[PATH_MAX];

	if (answers->record == NULL) {
		json_decref(entry);
		return;
	}
	snprintf(key, sizeof(key), "%s", name);
	sysroot_record_text(answers->root, key);
	if (entries == NULL) {
		entries = json_object();
		json_object_set_new(answers->record, group, entries);
	}
	json_object_set_new(entries, key, entry);
}

static void set_number(json_t *entry, const char *key, int64_t value)
{
	if (value >= 0)
		json_object_set_new(entry, key, json_integer(value));
}

static void set_truth(json_t *entry, const char *key, int value)
{
	if (value >= 0)
		json_object_set_new(entry, key, json_boolean(value));
}

static void set_text(json_t *entry, const char *key, const char *text)
{
	if (text != NULL && text[0] != '\0')
		json_object_set_new(entry, key, json_string(text));
}

void answers_note_device(const struct answers *answers, const char *name,
			 const struct answers_device *device)
{
	json_t *entry = json_object();

	if (device->known) {
		/* as far as a JSON integer has bits */
		set_number(entry, "device_cap_flags_ex",
			   (int64_t)(device->cap_flags_ex & INT64_MAX));
		set_number(entry, "odp_general", (int64_t)(device->odp_general & INT64_MAX));
		set_number(entry, "odp_rc", device->odp_rc);
	}
	set_number(entry, "max_qp_wr", device->max_qp_wr);
	set_number(entry, "max_cqe", device->max_cqe);
	set_number(entry, "max_qp_rd_atom", device->max_qp_rd_atom);
	set_truth(entry, "tph_handle", device->tph_handle);
	set_text(entry, "why", device->why);
	note(answers, "devices", name, entry);
}

void answers_note_path(const struct answers *answers, const char *path,
		       const struct answers_path *file)
{
	json_t *entry = json_object();

	set_text(entry, "kind", answers_kinds[file->kind]);
	set_number(entry, "size_bytes", file->size_bytes);
	if (file->numbers) {
		set_number(entry, "major", file->major);
		set_number(entry, "minor", file->minor);
	}
	set_truth(entry, "dax", file->dax);
	if (file->map_sync >= 0)
		set_text(entry, "map_sync",
			 file->map_sync == 0 ? "ok" : strerrorname_np(file->map_sync));
	if (file->error != 0)
		set_text(entry, "error", strerrorname_np(file->error));
	note(answers, "targets", path, entry);
}

void answers_note_probe(const struct answers *answers, const struct answers_probe *probe)
{
	json_t *entry = json_object();

	set_number(entry, "rdma_bytes", probe->rdma_bytes);
	set_number(entry, "memory_write_bytes", probe->memory_write_bytes);
	set_number(entry, "window_bytes", probe->window_bytes);
	set_number(entry, "phases", probe->phases);
	set_number(entry, "share_low_ppm", probe->share_low_ppm);
	set_number(entry, "share_high_ppm", probe->share_high_ppm);
	set_text(entry, "events", probe->events);
	json_object_set_new(answers->record, "probe", entry);
}
