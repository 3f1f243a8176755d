/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * block.c -- names what was looked at.
 */
#include "block.h"

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
