/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * point_check.c -- begins and ends each point on the server without measuring it.
 *
 * What needs no server comes first: the size of the target and the flushes it takes.
 * Whether flushes are native only a completion tells: one operation for each target.
 */
#include "point_check.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "common/base/units.h"
#include "control.h"
#include "persist_choice.h"
#include "setup.h"

enum native { NATIVE_UNKNOWN, NATIVE_YES, NATIVE_NO };

struct point_probe {
	struct run *run;
	enum native native[PARAMS_TARGETS_MAX]; /* by target of the server */
};

int point_set_unsupported(struct run *run, size_t point)
{
	if (run->barrier != NULL)
		return -EIO;
	run->record.unsupported[point] = strdup(failure_get()->text);
	if (run->record.unsupported[point] == NULL)
		return failure_set(EXIT_INTERNAL, "begin", "out of memory");
	return 0;
}

int points_left(const struct run *run)
{
	for (size_t i = 0; i < run->record.plan.points_count; i++) {
		if (run->record.unsupported[i] == NULL)
			return 0;
	}
	return failure_set(EXIT_RUN_FAILED, "begin", "%s", run->record.unsupported[0]);
}

static int check_size(const struct run *run, const struct params *p)
{
	char size[UNITS_TEXT_BYTES], room[UNITS_TEXT_BYTES];
	uint64_t bytes = run->record.server.welcome.targets[p->target].bytes;
	uint64_t each = p->test == BENCH_REGISTER ? p->size_bytes : access_slice_min(p);

	if (p->test == BENCH_CONNECT || each <= bytes / params_qps(p))
		return 0;
	failure_set(EXIT_RUN_FAILED, "begin",
		    "--size %s on %u connection%s does not fit target %u of %s, which has %s: each "
		    "takes %" PRIu64 " bytes",
		    units_print_size(p->size_bytes, size), params_qps(p),
		    params_qps(p) == 1 ? "" : "s", p->target, run->control.dial.name,
		    units_print_size(bytes, room), each);
	return -ENOTSUP;
}

static int begin_and_end(struct repeat_setup *setup)
{
	json_t *report = NULL;
	int ret;

	setup->begin.params = setup->params;
	ret = control_begin(setup->control, &setup->begin, &setup->ready);
	if (ret == 0)
		ret = control_end(setup->control, NULL, params_qps(&setup->params), &report);
	json_decref(report);
	return ret;
}

/* One flush tells of all to this target. */
static int probe_native(struct point_probe *probe, struct repeat_setup *setup)
{
	enum native *native = &probe->native[setup->params.target];
	int ret;

	if (*native == NATIVE_NO)
		return persisting_not_native(setup->control->dial.name);
	if (*native == NATIVE_YES)
		return begin_and_end(setup);
	ret = repeat_setup_open(setup);
	if (ret == 0)
		ret = repeat_setup_give_up(setup);
	else
		repeat_setup_close(setup);
	*native = ret == 0 ? NATIVE_YES : ret == -ENOTSUP ? NATIVE_NO : NATIVE_UNKNOWN;
	return ret;
}

/*
 * -ENOTSUP with the error message set: the server cannot serve the point. What needs the memory
 * of this side is checked when it is measured, and what --persist auto becomes is decided then.
 */
static int probe_point(struct point_probe *probe, size_t point)
{
	const struct plan_trial first = {.point = point};
	struct repeat_setup setup;
	int ret;

	repeat_setup_init(&setup, probe->run, &first, 0);
	ret = check_size(probe->run, &setup.params);
	if (ret || setup.params.persist == BENCH_AUTO)
		return ret;
	ret = persisting_check(&probe->run->record.server.welcome, &setup.params,
			       setup.control->dial.name);
	if (ret || setup.params.bidirectional || setup.params.test == BENCH_REGISTER)
		return ret;
	return setup.params.persist == BENCH_NATIVE ? probe_native(probe, &setup)
						    : begin_and_end(&setup);
}

int points_check(struct run *run)
{
	struct point_probe probe = {.run = run};

	for (size_t i = 0; i < run->record.plan.points_count; i++) {
		int ret = cli_signal != 0 ? -ECANCELED : probe_point(&probe, i);

		if (ret == -ENOTSUP)
			ret = point_set_unsupported(run, i);
		if (ret)
			return ret;
	}
	return points_left(run);
}
