/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * readiness_json.c -- one inspection as the schema rpma-ddio-check/1 has it.
 */
#include <stdio.h>

#include "common/json/result.h"
#include "readiness.h"

static json_t *checks_json(const struct readiness_finding *findings)
{
	const struct readiness_check *check;
	json_t *list = json_array();

	for (size_t i = 0; (check = readiness_check_at(i)) != NULL; i++) {
		const struct readiness_finding *f = &findings[i];

		json_array_append_new(
			list,
			json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o}", "id", check->id, "title",
				  check->title, "status", readiness_status_name(f->status), "value",
				  result_text(f->value), "source", result_text(f->source),
				  "meaning", result_text(f->meaning), "fix", result_text(f->fix)));
	}
	return list;
}

static json_t *hex(uint32_t value)
{
	char text[16];

	snprintf(text, sizeof(text), "0x%08x", value);
	return json_string(text);
}

static json_t *ddio_json(const struct ddio *ddio)
{
	json_t *registers = json_null();

	if (ddio->read)
		registers = json_pack("{s:o, s:o}", "perfctrlsts_0", hex(ddio->perfctrlsts[0]),
				      "perfctrlsts_1", hex(ddio->perfctrlsts[1]));
	return json_pack("{s:s, s:s, s:o, s:o, s:b, s:o}", "state", ddio_state_name(ddio->state),
			 "evidence", ddio_evidence_name(ddio->evidence), "root_port",
			 result_text(ddio->port), "registers", registers, "low_confidence",
			 ddio->low_confidence, "why", result_text(ddio->why));
}

static json_t *judgement_json(const struct readiness *readiness)
{
	const struct verdict_row *row = readiness->row;
	char because[512];

	readiness_because(readiness, because, sizeof(because));
	return json_pack("{s:s, s:i, s:s, s:o, s:b, s:b}", "row", row->name, "exit_code",
			 row->exit_code, "reason", row->reason, "because", result_text(because),
			 "assumed", readiness_assumed(readiness), "lenient", readiness->lenient);
}

static const char *direct_write_why(const struct readiness *readiness)
{
	if (readiness->row->direct_write && readiness_assumed(readiness))
		return "It rests on the operator's statement: if that is wrong, data is lost.";
	return readiness->row->direct_write_why;
}

json_t *readiness_json(const struct readiness *readiness)
{
	const struct verdict_row *row = readiness->row;

	return json_pack("{s:o, s:o, s:s, s:o, s:{s:b, s:s}}", "checks",
			 checks_json(readiness->findings), "ddio", ddio_json(&readiness->ddio),
			 "verdict", readiness_verdict_name(row->verdict), "judgement",
			 judgement_json(readiness), "direct_write_to_pmem", "value",
			 row->direct_write, "why", direct_write_why(readiness));
}
