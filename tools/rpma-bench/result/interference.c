/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * interference.c -- the CPU time of others: all that was used, less what both
 * ends of the measurement used themselves.
 *
 * Ends on one host share their CPUs, entirely or not at all; where only some
 * are shared, the time cannot be told apart and is unknown. The host
 * is recognised by its boot id, which also holds for containers.
 */
#include "interference.h"

#include <string.h>
#include <sys/resource.h>

#include "common/base/thread.h"
#include "common/host/clock.h"
#include "common/host/topology.h"
#include "common/json/counters.h"
#include "common/json/json_path.h"
#include "common/json/json_schema.h"
#include "common/json/result.h"

static void read_times(struct process_usage *now)
{
	struct rusage own;

	now->wall_ns = clock_raw_ns();
	getrusage(RUSAGE_SELF, &own);
	now->user_ns = thread_time_ns(own.ru_utime);
	now->sys_ns = thread_time_ns(own.ru_stime);
}

void process_usage_begin(struct process_usage *usage, const struct sysroot *root,
			 const char *device)
{
	json_decref(usage->counters);
	usage->counters = counters_read(root, device);
	read_times(usage);
}

void process_usage_end(struct process_usage *usage, const struct sysroot *root, const char *device)
{
	const struct process_usage before = *usage;

	read_times(usage);
	usage->wall_ns -= before.wall_ns;
	usage->user_ns -= before.user_ns;
	usage->sys_ns -= before.sys_ns;
	counters_settle(root, device);
	usage->counters = counters_between(before.counters, counters_read(root, device));
}

void interference_begin(struct interference *seen, const struct sysroot *root)
{
	cpu_set_t allowed;

	cpu_time_allowed(&allowed);
	cpu_time_boot_id(root, seen->boot_id);
	cpu_time_read(root, &allowed, &seen->time);
	cpu_quota_read(root, &seen->quota);
}

void interference_end(struct interference *seen, const struct sysroot *root)
{
	struct cpu_time before = seen->time;
	struct cpu_quota quota_before = seen->quota;
	cpu_set_t allowed;

	cpu_time_allowed(&allowed);
	cpu_time_read(root, &allowed, &seen->time);
	cpu_time_since(&seen->time, &before);
	cpu_quota_read(root, &seen->quota);
	cpu_quota_since(&seen->quota, &quota_before);
}

json_t *interference_quota(const struct interference *seen)
{
	const struct cpu_quota *q = &seen->quota;

	if (!q->known)
		return json_null();
	if (q->cpus <= 0)
		return json_pack("{s:b}", "limited", false);
	return json_pack("{s:b, s:o, s:o, s:o, s:o}", "limited", true, "cpus", result_real(q->cpus),
			 "periods", result_integer(q->periods), "throttled_periods",
			 result_integer(q->throttled_periods), "throttled_ns",
			 result_integer(q->throttled_ns));
}

json_t *interference_report(const struct interference *seen)
{
	const struct cpu_time *t = &seen->time;

	if (!t->known)
		return json_null();
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "boot_id",
			 result_text(seen->boot_id), "cpu_list", result_text(t->list), "cpus",
			 result_integer(t->cpus), "busy_ns", result_integer(t->busy_ns), "steal_ns",
			 result_integer(t->steal_ns), "own_ns", result_integer(t->own_ns), "all_ns",
			 result_integer(t->all_ns));
}

static const struct schema reported[] = {
	{"boot_id", SCHEMA_STRING, SCHEMA_NULL, NULL},
	{"cpu_list", SCHEMA_STRING, SCHEMA_NULL, NULL},
	{"cpus", SCHEMA_COUNT, SCHEMA_NULL, NULL},
	{"busy_ns", SCHEMA_COUNT, SCHEMA_NULL, NULL},
	{"steal_ns", SCHEMA_COUNT, SCHEMA_NULL, NULL},
	{"own_ns", SCHEMA_COUNT, SCHEMA_NULL, NULL},
	{"all_ns", SCHEMA_COUNT, SCHEMA_NULL, NULL},
	{0},
};

static bool take_time(const json_t *taken, const char *key, uint64_t *ns)
{
	const json_t *value = json_object_get(taken, key);

	*ns = (uint64_t)json_integer_value(value);
	return json_is_integer(value);
}

static void take_text(const json_t *object, const char *key, char *text, size_t size)
{
	const char *value = json_string_value(json_object_get(object, key));

	text[0] = '\0';
	if (value != NULL && strlen(value) < size)
		memcpy(text, value, strlen(value) + 1);
}

/* Figures that a server does not report are unknown. */
static void take_report(const json_t *report, struct interference *server)
{
	json_t *taken = schema_take(json_object_get(report, "interference"), reported);
	json_int_t cpus = path_whole(taken, "cpus");
	struct cpu_time *t = &server->time;

	take_text(taken, "boot_id", server->boot_id, sizeof(server->boot_id));
	take_text(taken, "cpu_list", t->list, sizeof(t->list));
	t->known = cpus > 0 && cpus <= CPU_SETSIZE && take_time(taken, "busy_ns", &t->busy_ns) &&
		   take_time(taken, "steal_ns", &t->steal_ns) &&
		   take_time(taken, "own_ns", &t->own_ns);
	t->cpus = t->known ? (unsigned)cpus : 0;
	take_time(taken, "all_ns", &t->all_ns);
	json_decref(taken);
}

/* The other end's CPU time that is in this end's sum; false: unknown. */
static bool shared_with(const struct interference *self, const struct interference *peer,
			uint64_t *ns)
{
	*ns = 0;
	if (self->boot_id[0] == '\0' || peer->boot_id[0] == '\0')
		return false;
	if (strcmp(self->boot_id, peer->boot_id) != 0)
		return true;
	if (!peer->time.known || !topology_list_valid(self->time.list) ||
	    !topology_list_valid(peer->time.list))
		return false;
	if (strcmp(self->time.list, peer->time.list) == 0)
		*ns = peer->time.own_ns;
	else if (topology_lists_meet(self->time.list, peer->time.list))
		return false;
	return true;
}

static json_t *side_json(const struct interference *self, const struct interference *peer)
{
	const struct cpu_time *t = &self->time;
	uint64_t ours;
	bool known;

	if (!t->known)
		return json_null();
	known = shared_with(self, peer, &ours);
	ours += t->own_ns;
	return json_pack("{s:o, s:o, s:o, s:o}", "other_cpu_ns",
			 known ? result_integer(t->busy_ns > ours ? t->busy_ns - ours : 0)
			       : json_null(),
			 "steal_ns", result_integer(t->steal_ns), "cpus", result_integer(t->cpus),
			 "all_cpu_ns", t->all_ns > 0 ? result_integer(t->all_ns) : json_null());
}

json_t *interference_json(const struct interference *client, const json_t *report)
{
	struct interference server = {0};

	take_report(report, &server);
	return json_pack("{s:o, s:o}", "client", side_json(client, &server), "server",
			 side_json(&server, client));
}
