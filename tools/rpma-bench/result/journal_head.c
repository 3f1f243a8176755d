/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * journal_head.c -- what a run is, as JSON, and the first difference of two.
 *
 * Everything that a figure depends on and a user can say is in it; where the
 * result goes and what it is called is not.
 */
#include "journal_head.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json/json_path.h"
#include "common/json/result.h"

static json_t *points_json(const struct plan *plan, const struct target_selector *selector)
{
	json_t *points = json_array();

	for (size_t i = 0; i < plan->points_count; i++)
		json_array_append_new(points, plan_point_json(plan, i, selector));
	return points;
}

/* The targets, if this run exports them itself. */
static json_t *offered_json(const struct options *o)
{
	json_t *offered = json_array();

	for (size_t i = 0; i < o->targets_count; i++)
		json_array_append_new(offered, json_string(o->targets[i]));
	return offered;
}

/* The knobs that were chosen. */
static void put_knobs(json_t *head, const struct options *o)
{
	for (int i = 0; i < CONNECTION_KNOBS; i++) {
		if (o->knobs.value[i] != CONNECTION_KNOB_UNSET)
			json_object_set_new(head, connection_knob_rows[i].key,
					    json_integer(o->knobs.value[i]));
	}
	if (o->huge_buffers)
		json_object_set_new(head, "buffers", json_string("hugepages"));
	if (o->label != NULL)
		json_object_set_new(head, "label", json_string(o->label));
}

json_t *journal_head_make(const struct options *o, const struct journal_run *run,
			  const struct plan *plan)
{
	json_t *head = json_pack("{s:s, s:o, s:s, s:I}", "schema", JOURNAL_SCHEMA, "run_id",
				 result_uuid(run->id), "version", RPMA_VERSION, "seed",
				 (json_int_t)run->seed);

	json_object_set_new(head, "host", result_text(o->host));
	json_object_set_new(head, "device", json_string(o->device != NULL ? o->device : "auto"));
	json_object_set_new(head, "offered", offered_json(o));
	json_object_set_new(head, "duration_ns", json_integer((json_int_t)o->duration_ns));
	json_object_set_new(head, "ops", json_integer((json_int_t)o->ops));
	json_object_set_new(head, "warmup_ns", json_integer((json_int_t)o->warmup_ns));
	json_object_set_new(head, "repeats", json_integer(o->repeats));
	json_object_set_new(head, "ci", json_real(o->ci));
	json_object_set_new(head, "pin", json_string(o->pin));
	json_object_set_new(head, "mem_node", json_string(o->mem_node));
	json_object_set_new(head, "verify", json_boolean(o->verify));
	put_knobs(head, o);
	json_object_set_new(head, "points", points_json(plan, &o->selector));
	return head;
}

/* Pairs of digits, of a random UUID; the dashes between them mean nothing. */
static bool read_id(const char *text, uint8_t id[16])
{
	size_t n = 0;

	while (text != NULL && *text != '\0' && n < 16) {
		char pair[3] = {text[0], text[1], '\0'}, *end;

		if (text[0] == '-') {
			text++;
			continue;
		}
		id[n++] = (uint8_t)strtoul(pair, &end, 16);
		if (!isxdigit((unsigned char)pair[0]) || end != pair + 2)
			return false;
		text += 2;
	}
	/* version and variant (RFC 9562, 5.4) */
	return n == 16 && *text == '\0' && id[6] >> 4 == 4 && id[8] >> 6 == 2;
}

bool journal_head_read(const json_t *head, struct journal_run *run)
{
	const json_t *seed = json_object_get(head, "seed");

	if (!path_is(head, "schema", JOURNAL_SCHEMA) || !json_is_integer(seed) ||
	    json_integer_value(seed) < 0)
		return false;
	run->seed = (uint64_t)json_integer_value(seed);
	return read_id(json_string_value(json_object_get(head, "run_id")), run->id);
}

static bool differ(const char *what, const json_t *there, const json_t *here,
		   char text[JOURNAL_DIFFERENCE_MAX])
{
	size_t flags = JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(6);
	char *a = there != NULL ? json_dumps(there, flags) : NULL;
	char *b = here != NULL ? json_dumps(here, flags) : NULL;

	snprintf(text, JOURNAL_DIFFERENCE_MAX, "%s is %.60s there and %.60s here", what,
		 a != NULL ? a : "nothing", b != NULL ? b : "nothing");
	free(a);
	free(b);
	return false;
}

static bool same_point(size_t index, const json_t *there, const json_t *here,
		       char text[JOURNAL_DIFFERENCE_MAX])
{
	for (int axis = 0; axis < AXES; axis++) {
		json_t *a = json_object_get(there, axes[axis].name);
		json_t *b = json_object_get(here, axes[axis].name);
		char what[64];

		if (a != NULL && json_equal(a, b))
			continue;
		snprintf(what, sizeof(what), "%s of point p%04zu", axes[axis].name, index);
		return differ(what, a, b, text);
	}
	return true;
}

static bool same_points(const json_t *there, const json_t *here, char text[JOURNAL_DIFFERENCE_MAX])
{
	size_t count = json_array_size(there);

	for (size_t i = 0; i < count && i < json_array_size(here); i++) {
		if (!same_point(i, json_array_get(there, i), json_array_get(here, i), text))
			return false;
	}
	if (count == json_array_size(here))
		return true;
	snprintf(text, JOURNAL_DIFFERENCE_MAX, "there are %zu points there and %zu here", count,
		 json_array_size(here));
	return false;
}

bool journal_head_same(const json_t *there, const json_t *here, char text[JOURNAL_DIFFERENCE_MAX])
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)here, key, value)
	{
		json_t *other = json_object_get(there, key);

		if (strcmp(key, "run_id") == 0 || strcmp(key, "points") == 0)
			continue;
		if (other == NULL || !json_equal(value, other))
			return differ(key, other, value, text);
	}
	json_object_foreach((json_t *)(uintptr_t)there, key, value)
	{
		if (json_object_get(here, key) == NULL)
			return differ(key, value, NULL, text);
	}
	return same_points(json_object_get(there, "points"), json_object_get(here, "points"), text);
}
