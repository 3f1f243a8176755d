/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * warnings.c -- derives the warnings of a result from the facts of its run.
 *
 * Each rule is a function that adds its warning or does not.
 */
#include "warnings.h"

#include <inttypes.h>
#include <string.h>

#include "../common/target.h"
#include "summary.h"

static void add(json_t *list, const char *code, const char *severity, const char *host,
		json_t *text)
{
	json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:o}", "code", code, "severity",
					      severity, "host", host, "text", text));
}

static void warn_device(const struct run *run, json_t *list)
{
	if (run->device_known && run->device.kind != DEVICE_HARDWARE)
		add(list, "DEVICE_NOT_HARDWARE", "warn", "client",
		    json_sprintf("%s is a software RDMA device (%s): its figures say nothing of "
				 "hardware",
				 run->device.name, device_kind_name(run->device.kind)));
	if (run->emulated_cpu == 1)
		add(list, "EMULATED_CPU", "warn", "client",
		    json_string("the processor is emulated: absolute figures mean nothing"));
}

static void warn_clock(const struct run *run, json_t *list)
{
	if (!run->clock_started)
		return;
	if (!run->clock.counter)
		add(list, "CLOCK_FALLBACK", "info", "client",
		    json_sprintf("time is taken with clock_gettime (%.0f ns a call): %s",
				 run->clock.overhead_ns, run->clock.fallback_reason));
	if (run->clock_drifted)
		add(list, "CLOCK_DRIFT", "warn", "client",
		    json_sprintf("the clock drifted by %.1f ppm during the run: all times are off "
				 "by that much",
				 run->clock.drift_ppm));
}

static void warn_placement(const struct run *run, json_t *list)
{
	if (run->pin_warning[0] != '\0')
		add(list, "PIN_FAILED", "warn", "client", result_text(run->pin_warning));
	if (run->topology != NULL && topology_cores(run->topology) == 1)
		add(list, "PIN_SHARED_CORE", "warn", "client",
		    json_string("this host has one core: the polling thread shares it with the "
				"kernel's work"));
}

/* Nothing was checked: the word of the operator is all there is. */
static void warn_persistence(const struct run *run, json_t *list)
{
	bool pmem =
		run->server.target_kind == TARGET_DEVDAX || run->server.target_kind == TARGET_FSDAX;

	if (!run->server_known || !run->operation->flushes)
		return;
	if (!pmem)
		add(list, "PERSISTENCE_UNPROVEN", "warn", "server",
		    json_sprintf("the target is %s: a flush to it makes nothing persistent",
				 target_kind_name((enum target_kind)run->server.target_kind)));
	else if (run->flush_type != RPMA_FLUSH_TYPE_PERSISTENT)
		add(list, "PERSISTENCE_UNPROVEN", "warn", "server",
		    json_string("the flush made data visible, not persistent: the server was not "
				"started with --direct-write-to-pmem, or its device refuses "
				"persistent flushes"));
	else
		add(list, "PERSISTENCE_UNPROVEN", "info", "server",
		    json_string("persistence rests on the statement --direct-write-to-pmem of the "
				"server's operator: the platform was not checked"));
}

static void warn_repeats(const struct run *run, json_t *list)
{
	size_t unsteady = 0, saturated = 0;

	for (size_t i = 0; run->repeats != NULL && i < run->plan.items_count; i++) {
		const struct repeat *r = &run->repeats[i];

		if (!r->done)
			continue;
		unsteady += summary_steady(r->warmup.windows, r->warmup.windows_used) == 0;
		saturated += r->latency->saturated > 0;
	}
	if (unsteady > 0)
		add(list, "NOT_STEADY", "warn", "client",
		    json_sprintf("the rate was not steady at the end of %zu of %zu warm-ups",
				 unsteady, run->repeats_done));
	if (saturated > 0)
		add(list, "HISTOGRAM_SATURATED", "warn", "client",
		    json_sprintf("%zu repeats have samples beyond the histogram's 68 s",
				 saturated));
}

static void warn_governor(json_t *list, const struct sysroot *root)
{
	char governor[64];

	if (sysroot_line(root, governor, sizeof(governor),
			 "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor") &&
	    strcmp(governor, "performance") != 0)
		add(list, "GOVERNOR_POWERSAVE", "warn", "client",
		    json_sprintf("the CPU frequency governor is %s, not performance", governor));
}

json_t *warnings_make(const struct run *run)
{
	json_t *list = json_array();

	warn_device(run, list);
	warn_clock(run, list);
	warn_placement(run, list);
	warn_persistence(run, list);
	warn_repeats(run, list);
	warn_governor(list, &run->sysroot);
	if (run->server_known && run->server_environment == NULL)
		add(list, "ENVIRONMENT_INCOMPLETE", "warn", "server",
		    json_string("the server's environment is not known"));
	return list;
}
