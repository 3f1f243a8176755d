/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * summary.c -- about ten lines, made of the document alone.
 */
#include "document.h"

#include <stdio.h>
#include <string.h>

#include "common/base/text_writer.h"
#include "common/json/json_path.h"

#define COLUMN	  9
#define STEPS_MAX 3

static void put_verdict(struct text_writer *writer, const json_t *document)
{
	const json_t *judgement = json_object_get(document, "judgement");
	const char *verdict = path_text(document, "verdict");
	int code = (int)json_integer_value(json_object_get(judgement, "exit_code"));
	char text[512];

	snprintf(text, sizeof(text), "(%s): %s", path_text(judgement, "row"),
		 path_text(judgement, "reason"));
	text_writer_line(writer,
			 code == 0   ? TEXT_GOOD
			 : code == 1 ? TEXT_BAD
				     : TEXT_DOUBTFUL,
			 (int)strlen(verdict) + 1, verdict, text);
}

static const char *placement_text(const json_t *device)
{
	static const struct {
		const char *placement, *text;
	} texts[] = {
		{"dma", "writes by DMA"},
		{"cpu", "the CPU copies"},
		{"no-rc", "no reliable connections"},
		{"unknown", "DMA or copies: unknown"},
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (path_is(device, "placement", texts[i].placement))
			return texts[i].text;
	}
	return "none";
}

static void put_subject(struct text_writer *writer, const json_t *document)
{
	const json_t *device = json_object_get(document, "device");
	const json_t *target = json_object_get(document, "target");
	char text[512];

	snprintf(text, sizeof(text), "device %s (%s), target %s",
		 json_is_object(device) ? path_text(device, "name") : "none",
		 placement_text(device),
		 json_is_object(target) ? path_text(target, "path") : "none");
	text_writer_line(writer, TEXT_STRONG, COLUMN, "Checked", text);
}

static void put_steps(struct text_writer *writer, const json_t *advice)
{
	const json_t *steps = json_object_get(advice, "steps"), *step;
	size_t index, count = json_array_size(steps);
	char text[640], number[32];

	json_array_foreach(steps, index, step)
	{
		if (index == STEPS_MAX)
			break;
		snprintf(number, sizeof(number), "%7zu.", index + 1);
		snprintf(text, sizeof(text), "%s (%s) %s %s", path_text(step, "text"),
			 path_text(step, "checks"),
			 json_is_true(json_object_get(step, "finds_out")) ? "If all is well there:"
									  : "Then:",
			 path_text(step, "verdict"));
		text_writer_line(writer, TEXT_STRONG, COLUMN, index == 0 ? "Do    1." : number,
				 text);
	}
	if (count > STEPS_MAX) {
		snprintf(text, sizeof(text), "%zu more steps, then %s (--json has all of them).",
			 count - STEPS_MAX, path_text(advice, "verdict"));
		text_writer_line(writer, TEXT_STRONG, COLUMN, "", text);
	}
}

static void put_obstacles(struct text_writer *writer, const json_t *document)
{
	const json_t *advice = json_object_get(document, "advice");
	const char *because = path_text(json_object_get(document, "judgement"), "because");
	const char *open = path_text(advice, "open");
	const bool any = json_array_size(json_object_get(advice, "steps")) > 0;

	/* without a step what is open is the same, and more */
	if (any && because[0] != '\0')
		text_writer_line(writer, TEXT_STRONG, COLUMN, "Blocks", because);
	put_steps(writer, advice);
	if (open[0] != '\0')
		text_writer_line(writer, TEXT_STRONG, COLUMN, any ? "Remains" : "Blocks", open);
}

int summary_print(const json_t *document)
{
	const json_t *direct = json_object_get(document, "direct_write_to_pmem");
	struct text_writer writer;

	text_writer_open(&writer, stdout);
	put_verdict(&writer, document);
	put_subject(&writer, document);
	put_obstacles(&writer, document);
	if (json_is_true(json_object_get(direct, "value")))
		text_writer_line(&writer, TEXT_STRONG, COLUMN, "Use",
				 "rpma_peer_cfg_set_direct_write_to_pmem(pcfg, true)");
	return text_writer_close(&writer);
}
