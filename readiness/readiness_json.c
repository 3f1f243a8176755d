/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * readiness_json.c -- one inspection as the schema rpma-ddio-check/1 has it.
 */
#include "readiness.h"

#include <stdio.h>

#include "common/json/result.h"

static const char *const shapes[] = {
	[TARGET_NOT_GIVEN] = "none",   [TARGET_MISSING] = "missing", [TARGET_NOT_PMEM] = "not-pmem",
	[TARGET_ON_DEVDAX] = "devdax", [TARGET_ON_FSDAX] = "fsdax",  [TARGET_ON_BLOCK] = "block",
};

static json_t *device_json(const struct facts_device *device)
{
	const struct adapter *adapter = adapter_find(device->kind, &device->ids);

	if (!device->found)
		return json_null();
	return json_pack("{s:o, s:s, s:o, s:o, s:s, s:o}", "name", result_text(device->name),
			 "kind", device_kind_name(device->kind), "asked",
			 result_text(device->asked), "driver", result_text(device->ids.driver),
			 "placement", adapter_placement_name(adapter->placement),
			 "placement_source", result_text(adapter->source));
}

static json_t *target_json(const struct facts_target *target)
{
	if (target->shape == TARGET_NOT_GIVEN)
		return json_null();
	return json_pack("{s:o, s:s}", "path", result_text(target->path), "shape",
			 shapes[target->shape]);
}

json_t *readiness_block(const struct readiness *readiness)
{
	json_t *block = json_pack("{s:s, s:o, s:o}", "schema", "rpma-ddio-check/1", "device",
				  device_json(&readiness->facts.device), "target",
				  target_json(&readiness->facts.target));
	json_t *rest = readiness_json(readiness);

	json_object_update(block, rest);
	json_decref(rest);
	return block;
}

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
