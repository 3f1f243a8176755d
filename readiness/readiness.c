/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * readiness.c -- one inspection of a platform: gather, check, judge.
 *
 * Called by rpma-ddio-check, and by both ends of rpma-bench. The checks are
 * shown in the order of the tables here.
 */
#include "readiness.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers.h"
#include "checks.h"
#include "common/base/text_writer.h"
#include "common/json/result.h"
#include "gather.h"

/*
 * Reporting of findings by the checks.
 *
 * Parts of it are text of the machine, or of a tree from elsewhere: what
 * a terminal or JSON would choke on is replaced here, for every check.
 */

#define FORMAT(field, format)                                                                      \
	do {                                                                                       \
		va_list args;                                                                      \
                                                                                                   \
		va_start(args, format);                                                            \
		vsnprintf(field, sizeof(field), format, args);                                     \
		va_end(args);                                                                      \
		text_replace_controls(field);                                                      \
	} while (0)

void finding_value(struct readiness_finding *finding, const char *format, ...)
{
	FORMAT(finding->value, format);
}

void finding_source(struct readiness_finding *finding, const char *format, ...)
{
	FORMAT(finding->source, format);
}

void finding_meaning(struct readiness_finding *finding, const char *format, ...)
{
	FORMAT(finding->meaning, format);
}

void finding_fix(struct readiness_finding *finding, const char *format, ...)
{
	FORMAT(finding->fix, format);
}

void finding_say(struct readiness_finding *finding, enum readiness_status status,
		 const char *meaning, const char *fix)
{
	finding->status = status;
	finding_meaning(finding, "%s", meaning);
	finding_fix(finding, "%s", fix != NULL ? fix : "");
}

static const struct readiness_check *const tables[] = {
	checks_device, checks_pci,	  checks_ddio,	 checks_target, checks_pmem,
	checks_cxl,    checks_capability, checks_limits, checks_system, checks_peer,
};

const struct readiness_check *readiness_check_at(size_t index)
{
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		for (const struct readiness_check *check = tables[i]; check->id != NULL; check++) {
			if (index-- == 0)
				return check;
		}
	}
	return NULL;
}

size_t readiness_check_index(const char *id)
{
	const struct readiness_check *check;

	for (size_t i = 0; (check = readiness_check_at(i)) != NULL; i++) {
		if (strcmp(check->id, id) == 0)
			return i;
	}
	return SIZE_MAX;
}

const struct readiness_finding *readiness_find(const struct readiness_finding *findings,
					       const char *id)
{
	size_t index = readiness_check_index(id);

	return index < READINESS_CHECKS_MAX ? &findings[index] : NULL;
}

const char *readiness_status_name(enum readiness_status status)
{
	static const char *const names[READINESS_STATUSES] = {
		[READINESS_PASS] = "PASS",	 [READINESS_WARN] = "WARN",
		[READINESS_FAIL] = "FAIL",	 [READINESS_UNKNOWN] = "UNKNOWN",
		[READINESS_SKIP] = "SKIP",	 [READINESS_INFO] = "INFO",
		[READINESS_ASSUMED] = "ASSUMED",
	};

	return names[status];
}

const char *readiness_effect_name(enum readiness_effect effect)
{
	static const char *const names[] = {
		[READINESS_BLOCKS] = "blocks",
		[READINESS_ADVISES] = "advises",
		[READINESS_WEIGHED] = "is weighed",
	};

	return names[effect];
}

void readiness_check_all(const struct facts *facts, struct readiness_finding *findings)
{
	const struct readiness_check *check;

	memset(findings, 0, READINESS_CHECKS_MAX * sizeof(*findings));
	for (size_t i = 0; i < READINESS_CHECKS_MAX && (check = readiness_check_at(i)) != NULL;
	     i++) {
		/* a check without a finding must not pass */
		findings[i].status = READINESS_UNKNOWN;
		check->inspect(facts, &findings[i]);
	}
}

/* The claims of the caller, else those of a tree of facts. */
static void gather_claims(const struct answers *answers, const struct facts_claims *given,
			  struct facts_claims *claims)
{
	memset(claims, 0, sizeof(*claims));
	claims->ddio_assumed = KNOWN_NOT;
	if (given != NULL)
		*claims = *given;
	if (claims->probe.done)
		answers_note_probe(answers, &claims->probe);
	else if (claims->probe.why[0] == '\0' || !answers->root->machine)
		answers_of_probe(answers, &claims->probe);
}

static void gather_all(const struct gather *g, const struct readiness_cfg *cfg, struct facts *facts)
{
	gather_device(g, cfg->device, &facts->device);
	gather_pci(g, &facts->device, &facts->pci);
	gather_platform(g, &facts->device, &facts->platform);
	gather_guest(g, &facts->pci, &facts->platform);
	gather_target(g, cfg->target, &facts->target);
	gather_limits(g, &facts->limits);
	answers_of_device(g->answers, facts->device.name, &facts->verbs);
	gather_claims(g->answers, cfg->claims, &facts->claims);
}

int readiness_inspect(struct readiness *readiness, const struct readiness_cfg *cfg)
{
	struct answers answers;
	const struct gather g = {.root = cfg->root, .answers = &answers};
	int ret;

	memset(readiness, 0, sizeof(*readiness));
	ret = answers_open(&answers, cfg->root);
	if (ret == 0) {
		answers.record = cfg->record;
		gather_all(&g, cfg, &readiness->facts);
		readiness_check_all(&readiness->facts, readiness->findings);
		ddio_decide(&readiness->facts, &readiness->ddio);
		readiness->lenient = cfg->lenient;
		readiness->row =
			readiness_judge(&readiness->facts, readiness->findings, cfg->lenient);
	}
	answers_close(&answers);
	return ret;
}

void readiness_free(struct readiness *readiness)
{
	free(readiness->facts.pci.chains);
	readiness->facts.pci.chains = NULL;
}

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
