/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * merge_documents.c -- merges documents: points by their repeats, the rest of them by
 * what concerns all.
 *
 * Clients are in a flat list, in the order of their ranks; a repeat is merged
 * only where all of them have it.
 */
#include "merge_documents.h"

#include <stdbool.h>
#include <stdlib.h>

#include "common/base/failure.h"
#include "common/json/json_path.h"
#include "tools/rpma-bench/options/slo.h"
#include "tools/rpma-bench/result/point.h"
#include "tools/rpma-bench/result/readiness.h"
#include "tools/rpma-bench/result/warnings.h"

/*
 * Puts the warnings of several measurements together.
 *
 * Of n ranks there may be n (n - 1) measurements, which warn of the same with other figures:
 * written out they would hide everything else.
 */

/* The run.warnings of one measurement, and whose it is. */
struct rank_warnings {
	const json_t *list;
	int rank;
};

struct merging {
	const struct rank_warnings *all;
	size_t count;
};

static bool all_have(const struct merging *m, const json_t *warning)
{
	for (size_t i = 0; i < m->count; i++) {
		const json_t *one;
		bool found = false;
		size_t index;

		json_array_foreach(m->all[i].list, index, one) {
			found = found || json_equal(one, warning);
		}
		if (!found)
			return false;
	}
	return true;
}

/* Equal in all but the text, and not a warning that every rank has. */
static bool same_kind(const struct merging *m, const json_t *one, const json_t *warning)
{
	static const char *const keys[] = {"code", "severity", "host"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (!path_is(one, keys[i], path_text(warning, keys[i])))
			return false;
	}
	return !all_have(m, one);
}

/* How many of its kind are in a list, up to the warning itself. */
static size_t kind_in(const struct merging *m, const json_t *list, const json_t *warning)
{
	const json_t *one;
	size_t index, found = 0;

	json_array_foreach(list, index, one) {
		found += same_kind(m, one, warning);
		if (one == warning)
			break;
	}
	return found;
}

/* How many lists have as many of the kind; 0: one before this one has, and speaks for all. */
static size_t count_lists(const struct merging *m, size_t from, const json_t *warning)
{
	size_t nth = kind_in(m, m->all[from].list, warning), count = 0;

	for (size_t i = 0; i < m->count; i++) {
		bool found = kind_in(m, m->all[i].list, warning) >= nth;

		if (found && i < from)
			return 0;
		count += found;
	}
	return count;
}

static json_t *merged_text(const struct merging *m, size_t from, const json_t *warning)
{
	const char *text = path_text(warning, "text");
	size_t count;

	if (all_have(m, warning))
		return json_string(text);
	count = count_lists(m, from, warning);
	if (count > 1)
		return json_sprintf("%zu of %zu measurements, the first by rank %d: %s", count,
				    m->count, m->all[from].rank, text);
	return count == 1 ? json_sprintf("rank %d: %s", m->all[from].rank, text) : NULL;
}

/*
 * A warning of all appears as it is. Where only figures differ, one text stands for its kind,
 * with how many have it; that of one measurement names the rank.
 */
static json_t *warnings_merge(const struct rank_warnings *all, size_t count)
{
	const struct merging m = {all, count};
	json_t *merged = json_array(), *one;
	size_t index;

	for (size_t i = 0; i < count; i++) {
		json_array_foreach(all[i].list, index, one) {
			warning_add(merged, path_text(one, "code"), path_text(one, "severity"),
				    path_text(one, "host"), merged_text(&m, i, one));
		}
	}
	return merged;
}

/* All borrowed. */
struct client {
	json_int_t rank;
	const json_t *document;
	const json_t *starts;
};

struct clients {
	struct client *all;
	const json_t **repeats; /* room for one of each */
	size_t count;
};

static const json_t *find(const json_t *list, const char *key, const json_t *wanted)
{
	const json_t *one;
	size_t index;

	json_array_foreach(list, index, one) {
		if (json_equal(json_object_get(one, key), wanted))
			return one;
	}
	return NULL;
}

static size_t count_clients(const json_t *handed)
{
	const json_t *rank;
	size_t index, count = 0;

	json_array_foreach(handed, index, rank)
		count += json_array_size(json_object_get(rank, "measured"));
	return count;
}

static bool list_clients(struct clients *clients, const json_t *handed)
{
	size_t room = count_clients(handed) + 1, i, k;
	const json_t *rank, *one;

	clients->all = calloc(room, sizeof(*clients->all));
	clients->repeats = calloc(room, sizeof(*clients->repeats));
	if (clients->all == NULL || clients->repeats == NULL)
		return false;
	json_array_foreach(handed, i, rank) {
		json_array_foreach(json_object_get(rank, "measured"), k, one)
			clients->all[clients->count++] = (struct client){
				path_whole(rank, "rank"),
				json_object_get(one, "document"),
				json_object_get(one, "starts"),
			};
	}
	return true;
}

/* clients->repeats are those of a point and an index; false: not all have it. */
static bool select_repeats(const struct clients *clients, const json_t *id, const json_t *index)
{
	for (size_t i = 0; i < clients->count; i++) {
		const json_t *points = json_object_get(clients->all[i].document, "points");
		const json_t *point = find(points, "id", id);

		clients->repeats[i] = find(json_object_get(point, "repeats"), "index", index);
		if (clients->repeats[i] == NULL)
			return false;
	}
	return true;
}

/* A merged repeat knows the position of a client in the list; readers know ranks. */
static void name_ranks(const struct clients *clients, const json_t *threads)
{
	json_t *thread;
	size_t index;

	json_array_foreach(threads, index, thread) {
		json_int_t client = path_whole(thread, "rank");

		json_object_set_new(thread, "rank", json_integer(clients->all[client].rank));
	}
}

static json_t *merge_index(const struct clients *clients, const json_t *id, const json_t *index)
{
	json_t *merged;

	if (!select_repeats(clients, id, index))
		return NULL;
	merged = merge_repeats(clients->repeats, clients->count);
	name_ranks(clients, path_get(merged, "threads"));
	name_ranks(clients, path_get(merged, "reverse/threads"));
	return merged;
}

/* Takes what all repeats did for a parameter that the options leave open. */
static json_t *merge_params(const json_t *first, const json_t *repeats)
{
	json_t *params = json_copy(json_object_get(first, "params"));
	json_t *used = point_joined(repeats, "used");

	json_object_update(params, used);
	json_decref(used);
	return params;
}

/* The point of the first document becomes that of all; NULL: no repeat is of all. */
static json_t *merge_point(const struct clients *clients, const json_t *first)
{
	const json_t *id = json_object_get(first, "id"), *repeat;
	json_t *repeats = json_array(), *point, *merged;
	size_t index;

	json_array_foreach(json_object_get(first, "repeats"), index, repeat) {
		merged = merge_index(clients, id, json_object_get(repeat, "index"));
		if (merged != NULL)
			json_array_append_new(repeats, merged);
	}
	if (json_array_size(repeats) == 0) {
		json_decref(repeats);
		return NULL;
	}
	point = json_copy((json_t *)first);
	json_object_set_new(point, "params", merge_params(first, repeats));
	json_object_set_new(point, "warmup", point_joined(repeats, "warmup"));
	json_object_set_new(point, "summary", point_summary(repeats));
	json_object_set_new(point, "repeats", repeats);
	return point;
}

/* Ranks that persisted a point differently have no common figures: the point is left out. */
static bool persist_alike(const json_t *point)
{
	return !json_is_null(path_get(point, "params/persist"));
}

/* differing: takes the ids of the points that are left out. */
static json_t *merge_points(const struct clients *clients, json_t *differing)
{
	const json_t *first, *points = json_object_get(clients->all[0].document, "points");
	json_t *merged = json_array(), *point;
	size_t index;

	json_array_foreach(points, index, first) {
		point = merge_point(clients, first);
		if (point != NULL && persist_alike(point))
			json_array_append(merged, point);
		else if (point != NULL)
			json_array_append(differing, json_object_get(point, "id"));
		json_decref(point);
	}
	return merged;
}

/* A warning about the samples of one client may not hold for those of all. */
static json_t *without_samples(const json_t *warnings)
{
	json_t *kept = json_array();
	json_t *one;
	size_t index;

	json_array_foreach(warnings, index, one) {
		if (!path_is(one, "code", "TOO_FEW_SAMPLES"))
			json_array_append(kept, one);
	}
	return kept;
}

static json_t *merge_warnings(const struct clients *clients, const json_t *points,
			      const json_t *differing)
{
	struct rank_warnings *all = calloc(clients->count, sizeof(*all));
	json_t *merged;

	if (all == NULL)
		return json_array();
	for (size_t i = 0; i < clients->count; i++)
		all[i] = (struct rank_warnings){
			without_samples(path_get(clients->all[i].document, "run/warnings")),
			(int)clients->all[i].rank};
	merged = warnings_merge(all, clients->count);
	for (size_t i = 0; i < clients->count; i++)
		json_decref((json_t *)(uintptr_t)all[i].list);
	free(all);
	warn_samples(points, merged);
	if (json_array_size(differing) > 0)
		warning_add(merged, "RANKS_DIFFER", "warn", "client",
			    json_sprintf("--persist auto chose different methods for the ranks: "
					 "%zu points, %s the first, have no common figure; ranks "
					 "has those of each",
					 json_array_size(differing),
					 json_string_value(json_array_get(differing, 0))));
	return merged;
}

/* A run that went well: a miss is more than what is not known, that more than all else. */
static json_int_t worst_code(const struct clients *clients, enum slo_verdict limits)
{
	json_int_t worst = limits == SLO_MISSED	   ? EXIT_NEGATIVE
			   : limits == SLO_UNKNOWN ? EXIT_NO_DEVICE
						   : EXIT_GOOD;

	for (size_t i = 0; i < clients->count; i++) {
		json_int_t one = path_whole(clients->all[i].document, "run/exit_code");

		if (one == EXIT_NEGATIVE || (one == EXIT_NO_DEVICE && worst == EXIT_GOOD))
			worst = one;
	}
	return worst;
}

static json_t *merge_run(const struct clients *clients, const json_t *points,
			 const json_t *differing, const char *const *slos, size_t slos_count)
{
	const json_t *first = json_object_get(clients->all[0].document, "run");
	json_t *run = json_deep_copy(first);
	enum slo_verdict limits;

	json_object_set_new(run, "slos", slos_judge(slos, slos_count, points, &limits));
	if (slos_count > 0 && json_array_size(differing) > 0 && limits == SLO_KEPT)
		limits = SLO_UNKNOWN;
	if (path_is(run, "status", "complete"))
		json_object_set_new(run, "exit_code", json_integer(worst_code(clients, limits)));
	json_object_set_new(run, "warnings", merge_warnings(clients, points, differing));
	json_array_set_new(json_object_get(run, "argv"), 0, json_string("rpma-bench-mpi"));
	return run;
}

/* A repeat as its rank measured it: the intervals of all are in the points. */
static json_t *own_repeat(const json_t *repeat, const json_t *starts)
{
	size_t order = (size_t)path_whole(repeat, "order");
	json_t *own = json_copy((json_t *)repeat);

	json_object_del(own, "intervals");
	json_object_update(own, json_array_get(starts, order));
	return own;
}

static json_t *own_points(const struct client *client)
{
	json_t *points = json_array(), *repeats;
	const json_t *point, *repeat;
	size_t i, k;

	json_array_foreach(json_object_get(client->document, "points"), i, point) {
		repeats = json_array();
		json_array_foreach(json_object_get(point, "repeats"), k, repeat)
			json_array_append_new(repeats, own_repeat(repeat, client->starts));
		json_array_append_new(points,
				      json_pack("{s:O, s:o}", "id", json_object_get(point, "id"),
						"repeats", repeats));
	}
	return points;
}

static json_t *measured_json(const json_t *measured, const struct client *client)
{
	return json_pack("{s:O?, s:O?, s:O?, s:O?, s:O?, s:o}", "server",
			 json_object_get(measured, "server"), "server_rank",
			 json_object_get(measured, "server_rank"), "device",
			 json_object_get(client->document, "device"), "clock",
			 json_object_get(client->document, "clock"), "placement",
			 path_get(client->document, "placement/client"), "points",
			 own_points(client));
}

/* A rank that only serves is known to the one that measured it. */
static const json_t *environment_of(const struct clients *clients, const json_t *handed,
				    const json_t *rank)
{
	const json_t *number = json_object_get(rank, "rank"), *other, *one;
	size_t i, k, client = 0;

	for (i = 0; i < clients->count; i++) {
		if (clients->all[i].rank == json_integer_value(number))
			return path_get(clients->all[i].document, "environment/client");
	}
	json_array_foreach(handed, i, other) {
		json_array_foreach(json_object_get(other, "measured"), k, one) {
			if (json_equal(json_object_get(one, "server_rank"), number))
				return path_get(clients->all[client].document,
						"environment/server");
			client++;
		}
	}
	return NULL;
}

static json_t *ranks_json(const struct clients *clients, const json_t *handed)
{
	json_t *ranks = json_array(), *list;
	const json_t *rank, *one;
	size_t i, k, client = 0;

	json_array_foreach(handed, i, rank) {
		list = json_array();
		json_array_foreach(json_object_get(rank, "measured"), k, one)
			json_array_append_new(list, measured_json(one, &clients->all[client++]));
		json_array_append_new(
			ranks,
			json_pack("{s:O?, s:O?, s:O?, s:o}", "rank", json_object_get(rank, "rank"),
				  "host_name", json_object_get(rank, "host_name"), "environment",
				  environment_of(clients, handed, rank), "measured", list));
	}
	return ranks;
}

/* Each rank may have had a server of its own: the least ready one counts. */
static json_t *merge_readiness(const struct clients *clients)
{
	const json_t *least = NULL;

	for (size_t i = 0; i < clients->count; i++)
		least = platform_less_ready(least,
					    json_object_get(clients->all[i].document, "readiness"));
	return json_is_object(least) ? json_copy((json_t *)(uintptr_t)least) : json_null();
}

json_t *ranks_merge(const json_t *handed, const char *const *slos, size_t slos_count)
{
	struct clients clients = {0};
	json_t *document = NULL, *points, *differing = json_array();
	int bad = 0;

	if (!list_clients(&clients, handed) || clients.count == 0)
		goto out;
	document = json_copy((json_t *)clients.all[0].document);
	points = merge_points(&clients, differing);
	bad |= json_object_set_new(document, "run",
				   merge_run(&clients, points, differing, slos, slos_count));
	bad |= json_object_set_new(document, "points", points);
	bad |= json_object_set_new(document, "ranks", ranks_json(&clients, handed));
	bad |= json_object_set_new(document, "readiness", merge_readiness(&clients));
	/* each rank has its own */
	bad |= json_object_set_new(document, "placement", json_pack("{s:n}", "client"));
	if (bad != 0) {
		json_decref(document);
		document = NULL;
	}
out:
	json_decref(differing);
	free(clients.all);
	free(clients.repeats);
	return document;
}

size_t ranks_count_repeats(const json_t *document)
{
	const json_t *point;
	size_t index, count = 0;

	json_array_foreach(json_object_get(document, "points"), index, point)
		count += json_array_size(json_object_get(point, "repeats"));
	return count;
}
