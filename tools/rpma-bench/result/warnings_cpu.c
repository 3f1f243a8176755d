/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * warnings_cpu.c -- how much CPU time the hypervisor and other programs took.
 *
 * /proc/stat counts ticks of 10 ms, so a few ticks in a short repeat are ignored.
 */
#include "warnings.h"

#include <stdio.h>

#include "common/json/json_path.h"

#define LEAST_SHARE 0.05
#define LEAST_NS    50e6

/* The CPU time that other programs of a host took while a repeat was measured. */
struct taken {
	const json_t *point;
	const char *host;
	double stolen, other; /* shares */
	bool other_known;
};

static double share(const struct taken *taken)
{
	return taken->stolen + taken->other;
}

static json_int_t throttled(const json_t *repeat, const char *host)
{
	return path_whole(json_object_get(json_object_get(repeat, "cpu_quota"), host),
			  "throttled_periods");
}

/*
 * The sum is a lower bound if the share of other programs is unknown. While the kernel stopped
 * this end for its quota others could have its CPUs: they took nothing from it.
 */
static struct taken taken_of(const json_t *point, const json_t *repeat, const char *host)
{
	const json_t *seen = json_object_get(json_object_get(repeat, "interference"), host);
	const json_t *other = json_object_get(seen, "other_cpu_ns");
	double all_ns = json_number_value(json_object_get(seen, "all_cpu_ns"));
	double stolen_ns = json_number_value(json_object_get(seen, "steal_ns"));
	double other_ns = throttled(repeat, host) > 0 ? 0 : json_number_value(other);

	if (all_ns <= 0 || stolen_ns + other_ns < LEAST_NS)
		return (struct taken){.host = host};
	return (struct taken){point, host, stolen_ns / all_ns, other_ns / all_ns,
			      json_is_number(other)};
}

/* The end that others took more from. */
static struct taken worse_end(const json_t *point, const json_t *repeat)
{
	const struct taken client = taken_of(point, repeat, "client");
	const struct taken server = taken_of(point, repeat, "server");

	return share(&server) > share(&client) ? server : client;
}

/* The repeat in which an end of it was stopped longest. */
static void warn_throttled_end(const json_t *points, const char *host, json_t *list)
{
	const json_t *point, *repeat, *worst = NULL, *worst_point = NULL;
	size_t i, k, repeats = 0, stopped = 0;
	const json_t *quota;

	json_array_foreach(points, i, point) {
		json_array_foreach(json_object_get(point, "repeats"), k, repeat) {
			quota = json_object_get(json_object_get(repeat, "cpu_quota"), host);
			repeats++;
			stopped += throttled(repeat, host) > 0;
			if (throttled(repeat, host) == 0 ||
			    (worst != NULL && path_whole(quota, "throttled_ns") <=
						      path_whole(worst, "throttled_ns")))
				continue;
			worst = quota;
			worst_point = point;
		}
	}
	if (worst == NULL)
		return;
	warning_add(list, "CPU_THROTTLED", "warn", host,
		    json_sprintf("in %zu of %zu repeats the kernel stopped the %s because its "
				 "control group had used up its CPU quota of %.3g CPUs, most in "
				 "%s: %" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT
				 " periods, %.3g s; the figures are those of the quota",
				 stopped, repeats, host,
				 json_number_value(json_object_get(worst, "cpus")),
				 path_text(worst_point, "id"),
				 path_whole(worst, "throttled_periods"),
				 path_whole(worst, "periods"),
				 (double)path_whole(worst, "throttled_ns") / 1e9));
}

void warn_throttled(const json_t *points, json_t *list)
{
	warn_throttled_end(points, "client", list);
	warn_throttled_end(points, "server", list);
}

void warn_cpu_taken(const json_t *points, json_t *list)
{
	const json_t *point, *repeat;
	struct taken worst = {0};
	char other[32] = "an unknown share";
	size_t i, k, repeats = 0, disturbed = 0;

	json_array_foreach(points, i, point) {
		json_array_foreach(json_object_get(point, "repeats"), k, repeat) {
			struct taken one = worse_end(point, repeat);

			repeats++;
			disturbed += share(&one) >= LEAST_SHARE;
			if (share(&one) > share(&worst))
				worst = one;
		}
	}
	if (disturbed == 0)
		return;
	if (worst.other_known)
		snprintf(other, sizeof(other), "%.0f %%", worst.other * 100);
	warning_add(list, "CPU_TIME_TAKEN", "warn", worst.host,
		    json_sprintf("in %zu of %zu repeats others took 5 %% or more of the CPU time, "
				 "most in %s: the hypervisor %.0f %%, other programs %s; "
				 "the figures include the delays that this caused",
				 disturbed, repeats, path_text(worst.point, "id"),
				 worst.stolen * 100, other));
}
