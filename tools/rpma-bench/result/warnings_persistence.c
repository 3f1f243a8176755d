/* SPDX-License-Identifier: BSD-3-Clause */
/* warnings_persistence.c -- is what a point flushed persistent, and what --persist auto became. */
#include <string.h>

#include "common/json/json_path.h"
#include "readiness.h"
#include "warnings.h"

static bool is_pmem(const char *kind)
{
	return strcmp(kind, "devdax") == 0 || strcmp(kind, "fsdax") == 0;
}

/* Does the platform keep what this way of persisting leaves behind? */
static bool keeps(const json_t *block, bool answered, bool native)
{
	static const struct {
		const char *verdict;
		bool read, native, answered;
	} rows[] = {
		{"APM_READY", true, true, true},
		{"APM_READY_EADR", true, true, true},
		{"NATIVE_FLUSH_READY", false, true, true},
		{"GPSPM_ONLY", false, false, true},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (path_is(block, "verdict", rows[i].verdict))
			return answered ? rows[i].answered : native ? rows[i].native : rows[i].read;
	}
	/* all but DDIO is known to be good, and that is nothing to the processor */
	return answered &&
	       strncmp(path_text(json_object_get(block, "judgement"), "row"), "ddio-", 5) == 0;
}

static void warn_unproven(json_t *list, const json_t *block, const char *claim)
{
	const json_t *judgement = json_object_get(block, "judgement");
	const char *because = path_text(judgement, "because");

	if (block == NULL)
		warning_add(list, "PERSISTENCE_UNPROVEN", "info", "server",
			    json_sprintf("%s: the readiness of its platform is not known", claim));
	else
		warning_add(list, "PERSISTENCE_UNPROVEN", "warn", "server",
			    json_sprintf("%s: the readiness of its platform is %s. %s%s%s%s", claim,
					 path_text(block, "verdict"),
					 path_text(judgement, "reason"),
					 because[0] != '\0' ? " (" : "", because,
					 because[0] != '\0' ? ")" : ""));
}

/* The worth of flushes to memory that is not persistent; NULL: they persist. */
static const char *worth_without_pmem(const char *kind, bool answered)
{
	if (strcmp(kind, "file") == 0)
		return answered ? NULL
				: "the target is file: a flush leaves the data in its page cache, "
				  "and only gpspm has the server write them to the disk";
	if (strcmp(kind, "otherfile") == 0)
		return answered ? "the target is otherfile: the server synced it, but whether its "
				  "file system keeps what is synced is unknown"
				: "the target is otherfile: a flush leaves the data in its page "
				  "cache";
	return "";
}

static void warn_without_pmem(json_t *list, const char *kind, bool answered)
{
	const char *worth = worth_without_pmem(kind, answered);

	if (worth != NULL)
		warning_add(list, "PERSISTENCE_UNPROVEN", "warn", "server",
			    worth[0] != '\0'
				    ? json_string(worth)
				    : json_sprintf("the target is %s: a flush to it makes nothing "
						   "persistent",
						   kind));
}

/* The server's memory, and the readiness of its platform, are not those of a pool. */
static void warn_rpmem(json_t *list, const json_t *params)
{
	const char *method = path_text(json_object_get(params, "rpmem"), "method");

	warning_add(list, "PERSISTENCE_UNPROVEN", "info", "server",
		    json_sprintf("the pool of librpmem was persisted by %s, and what its memory "
				 "keeps is not known here: rpmemd --check on its target reports it",
				 strcmp(method, "apm") == 0	? "RDMA flushes"
				 : strcmp(method, "gpspm") == 0 ? "rpmemd"
								: "an unknown method"));
}

/* Flushed data are persistent if the platform is ready for that way of flushing. */
static void warn_flush(const struct record *record, const json_t *point, json_t *list)
{
	const json_t *params = json_object_get(point, "params");
	const json_t *target = json_object_get(params, "target_memory");
	const json_t *index = json_object_get(target, "index");
	const char *kind = path_text(target, "kind");
	bool answered =
		path_is(params, "persist", "gpspm") || path_is(params, "persist", "gpspm-rt");
	bool native =
		path_is(params, "persist", "native") || path_is(params, "flush_method", "native");
	const json_t *block =
		platform_of(record->server.readiness, (size_t)json_integer_value(index));

	if (path_is(params, "persist", "none"))
		return;
	if (path_is(params, "persist", "rpmem") || path_is(params, "persist", "rpmem-relaxed"))
		warn_rpmem(list, params);
	else if (!is_pmem(kind))
		warn_without_pmem(list, kind, answered);
	else if (!answered && !path_is(params, "flush", "persistent"))
		warning_add(list, "PERSISTENCE_UNPROVEN", "warn", "server",
			    json_string("the flush made data visible, not persistent: the server "
					"was not started with --direct-write-to-pmem, or its "
					"device refuses persistent flushes"));
	else if (!keeps(block, answered, native))
		warn_unproven(list, block,
			      answered ? "the server's processor wrote the data back before it "
					 "answered, to memory that may not keep it"
			      : native ? "the server's device flushed the data, to memory that may "
					 "not keep it"
				       : "persistence rests on the statement "
					 "--direct-write-to-pmem of the server's operator");
}

static void warn_chosen(const struct record *record, const json_t *point, json_t *list)
{
	const struct params *asked = record_asked(record, point);
	const struct persist_choice *choice = &record->chosen[record->targets[asked->target]];

	if (asked->persist == BENCH_AUTO && choice->made)
		warning_add(list, "PERSIST_CHOSEN", "info", "client",
			    json_sprintf("--persist auto chose %s: %s",
					 params_persists[choice->persist], choice->reason));
}

void warn_persistence(const struct record *record, const json_t *point, json_t *list)
{
	warn_flush(record, point, list);
	warn_chosen(record, point, list);
}
