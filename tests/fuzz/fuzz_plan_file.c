/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_plan_file.c -- plans of anybody.
 *
 * What is taken makes points that the rules let pass, each once; what is
 * refused has one sentence, that no terminal can be harmed by.
 */
#include "common/base/failure.h"
#include "fuzz.h"
#include "tools/rpma-bench/options/options.h"
#include "tools/rpma-bench/options/plan.h"
#include "tools/rpma-bench/options/tables.h"

/* cli.c wants to tell it. */
const char *argp_program_version = "fuzz";

static void check_plan(const struct options *o)
{
	struct plan plan = {0};

	if (plan_make(&plan, o->series, o->series_count, 1, 1) != 0)
		hold_sentence(failure_get()->text);
	hold(plan.points_count <= PLAN_POINTS_MAX && plan.trials_count == plan.points_count);
	for (size_t i = 0; i < plan.points_count; i++) {
		hold(params_conflict(&plan.points[i]) == NULL);
		hold(plan.points[i].target < o->selector.count);
	}
	plan_free(&plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct options o = {0};

	if (target_selector_init(&o.selector) != 0)
		abort();
	failure_get()->text[0] = '\0';
	if (plan_file_parse(&o, "plan", (const char *)data, size) == 0)
		check_plan(&o);
	else
		hold_sentence(failure_get()->text);
	for (size_t i = 0; i < o.series_count; i++)
		series_clear(&o.series[i]);
	free(o.series);
	free(o.label);
	free(o.find_rate);
	target_selector_clear(&o.selector);
	return 0;
}

size_t fuzz_seed(size_t index, uint8_t input[FUZZ_INPUT_MAX])
{
	static const char *const seeds[] = {
		"{\"series\":[{}]}",
		"{\"series\":[{\"test\":\"lat\",\"size\":[64,\"4K\"],\"persist\":[\"none\"]}]}",
		"{\"series\":[{\"depth\":8}],\"duration\":\"2s\",\"repeats\":5,\"label\":\"x\"}",
		"{\"series\":[{\"test\":\"rate\",\"rate\":\"10k:50k:x1.5\"}],\"ops\":\"10k\","
		"\"ci\":5}",
		"{\"series\":[{\"target\":[\"dram\",1],\"completion\":\"poll,event\"},{}],\"seed\":"
		"1}",
		"{\"series\":[{\"test\":\"mix\",\"read-fraction\":[0.5,\"90%\"],\"threads\":[1,2]}]"
		"}",
		"{\"series\":[{\"server-load\":\"0:1:+0.5\",\"bidirectional\":false}],\"warmup\":"
		"1}",
		"{\"series\":[{\"op\":\"send\",\"srq\":true,\"size\":\"1:9:+4\",\"pattern\":"
		"\"rand\"}]}",
		"{\"series\":[{\"size\":\"4K/10:64K/90,64:1K:*4\",\"pattern\":\"zipf:1.2,seq\"}]}",
		"{\"series\":[{\"test\":\"rate\",\"rate\":\"1k:20k\",\"arrivals\":\"poisson,burst:"
		"8\"}],"
		"\"find-rate\":\"response.p99<5ms\"}",
		"{\"series\":[{\"size\":64}],\"duration\":\"inf\"}",
	};

	return fuzz_text(seeds, sizeof(seeds) / sizeof(seeds[0]), index, input);
}
