/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * readiness.c -- reads the readiness that a server sends, and sums it up.
 *
 * A peer's words are foreign: what does not have the shape of a block is left
 * out, so that the result keeps its schema.
 */
#include "readiness.h"

#include <string.h>

#include "common/json/json_path.h"
#include "common/json/json_schema.h"
#include "readiness/readiness.h"

#define KEY "readiness"

/* The parts of a block that a result and its readers rely on. */
static const struct schema any[] = {{0}};
static const struct schema check_fields[] = {
	{"id", SCHEMA_TEXT, 0, NULL},
	{"title", SCHEMA_TEXT, 0, NULL},
	{"status", SCHEMA_TEXT, 0, NULL},
	{"value", SCHEMA_TEXT, SCHEMA_NULL, NULL},
	{"source", SCHEMA_TEXT, SCHEMA_NULL, NULL},
	{"meaning", SCHEMA_TEXT, SCHEMA_NULL, NULL},
	{"fix", SCHEMA_TEXT, SCHEMA_NULL, NULL},
	{0},
};
static const struct schema check = {NULL, SCHEMA_OBJECT, 0, check_fields};
static const struct schema judgement[] = {
	{"row", SCHEMA_TEXT, 0, NULL},
	{"reason", SCHEMA_TEXT, 0, NULL},
	{"because", SCHEMA_TEXT, SCHEMA_NULL, NULL},
	{"assumed", SCHEMA_FLAG, 0, NULL},
	{0},
};
static const struct schema direct_write[] = {
	{"value", SCHEMA_FLAG, 0, NULL},
	{"why", SCHEMA_TEXT, 0, NULL},
	{0},
};
static const struct schema block_fields[] = {
	{"schema", SCHEMA_WORD, 0, "rpma-ddio-check/1"},
	{"device", SCHEMA_OBJECT, SCHEMA_NULL, any},
	{"target", SCHEMA_OBJECT, SCHEMA_NULL, any},
	{"checks", SCHEMA_LIST, 0, &check},
	{"ddio", SCHEMA_OBJECT, 0, any},
	{"verdict", SCHEMA_TEXT, 0, NULL},
	{"judgement", SCHEMA_OBJECT, 0, judgement},
	{"direct_write_to_pmem", SCHEMA_OBJECT, 0, direct_write},
	{0},
};

/* The position in the order of readiness, the best last; -1: no verdict at all. */
static int rank_of(const json_t *block)
{
	static const enum readiness_verdict order[] = {
		VERDICT_NOT_READY,	    VERDICT_UNDETERMINED, VERDICT_GPSPM_ONLY,
		VERDICT_NATIVE_FLUSH_READY, VERDICT_APM_READY,	  VERDICT_APM_READY_EADR};
	const char *verdict = path_text(block, "verdict");

	for (int i = 0; i < (int)(sizeof(order) / sizeof(order[0])); i++) {
		if (strcmp(verdict, readiness_verdict_name(order[i])) == 0)
			return i;
	}
	return -1;
}

static bool is_status(const char *word)
{
	for (int i = 0; i < READINESS_STATUSES; i++) {
		if (strcmp(word, readiness_status_name((enum readiness_status)i)) == 0)
			return true;
	}
	return false;
}

static bool are_statuses(const json_t *checks)
{
	const json_t *one;
	size_t index;

	json_array_foreach(checks, index, one) {
		if (!is_status(path_text(one, "status")))
			return false;
	}
	return json_array_size(checks) <= READINESS_CHECKS_MAX;
}

static bool is_block(const json_t *block)
{
	char why[SCHEMA_WHY_MAX];

	return schema_check(block, block_fields, &(struct schema_position){.why = why}) &&
	       rank_of(block) >= 0 && are_statuses(json_object_get(block, "checks"));
}

json_t *platform_take(json_t *environment, size_t targets_count)
{
	json_t *blocks = json_incref(json_object_get(environment, KEY)), *block;
	size_t index;

	json_object_del(environment, KEY);
	if (!json_is_array(blocks) || json_array_size(blocks) != targets_count) {
		json_decref(blocks);
		return NULL;
	}
	json_array_foreach(blocks, index, block) {
		if (!is_block(block))
			json_array_set_new(blocks, index, json_null());
	}
	return blocks;
}

const json_t *platform_of(const json_t *blocks, size_t target)
{
	const json_t *block = json_array_get(blocks, target);

	return json_is_object(block) ? block : NULL;
}

/* --- in a result ------------------------------------------------------------- */

static bool is_measured(const json_t *points, size_t target)
{
	const json_t *point, *index;
	size_t i;

	json_array_foreach(points, i, point) {
		index = path_get(point, "params/target_memory/index");
		if (json_is_integer(index) && json_integer_value(index) == (json_int_t)target)
			return true;
	}
	return json_array_size(points) == 0;
}

const json_t *platform_less_ready(const json_t *one, const json_t *other)
{
	if (!json_is_object(one) || (json_is_object(other) && rank_of(other) < rank_of(one)))
		return other;
	return one;
}

json_t *platform_json(const json_t *blocks, const json_t *points)
{
	const json_t *block, *least = NULL;
	json_t *targets = json_array(), *value;
	size_t index;

	json_array_foreach(blocks, index, block) {
		if (!json_is_object(block) || !is_measured(points, index))
			continue;
		least = platform_less_ready(least, block);
		json_array_append_new(
			targets,
			json_pack("{s:I, s:O, s:O, s:O, s:O}", "index", (json_int_t)index, "target",
				  json_object_get(block, "target"), "verdict",
				  json_object_get(block, "verdict"), "judgement",
				  json_object_get(block, "judgement"), "direct_write_to_pmem",
				  json_object_get(block, "direct_write_to_pmem")));
	}
	if (least == NULL) {
		json_decref(targets);
		return json_null();
	}
	value = json_copy((json_t *)(uintptr_t)least);
	json_object_set_new(value, "host", json_string("server"));
	json_object_set_new(value, "targets", targets);
	return value;
}
