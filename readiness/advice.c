/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * advice.c -- tries the remedies one after the other.
 *
 * Their words are the check's own, unless a remedy has better ones. Each is tried once, so
 * there is an end.
 */
#include "advice.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain.h"
#include "checks.h"
#include "common/base/failure.h"
#include "common/json/result.h"
#include "platforms.h"

#define REMEDIES   18

#define DDIO_STATE "DDIO-04" /* remedies of what the verdict reports of DDIO */

struct remedy {
	const char *check;
	/* The step has the words of the check, which it may replace. False: it cannot help. */
	bool (*change)(struct readiness *r, struct advice_step *step);
	bool of_unknown; /* what is unknown can be stated */
};

/* In the order in which they are tried. */
extern const struct remedy remedies[REMEDIES];

#define STEP(step, ...) snprintf((step)->text, sizeof((step)->text), __VA_ARGS__)

static bool activate_ports(struct readiness *r, struct advice_step *step)
{
	struct facts_device *device = &r->facts.device;

	(void)step;
	for (size_t i = 0; i < device->ports_count; i++) {
		struct facts_port *port = &device->ports[i];

		if (port->state[0] != '\0')
			snprintf(port->state, sizeof(port->state), "4: ACTIVE");
		if (port->phys_state[0] != '\0')
			snprintf(port->phys_state, sizeof(port->phys_state), "5: LinkUp");
	}
	return device->ports_count > 0;
}

static bool order_writes(struct readiness *r, struct advice_step *step)
{
	bool changed = false;

	(void)step;
	for (size_t i = 0; i < r->facts.pci.count; i++) {
		struct facts_chain *chain = &r->facts.pci.chains[i];

		for (size_t f = chain->count - chain->nics; f < chain->count; f++) {
			struct pci_config *config = &chain->functions[f].config;
			size_t at = pci_config_capability(config, PCI_CAP_ID_EXP);

			if (at == 0 || at + PCI_EXP_DEVCTL >= config->len)
				continue;
			config->bytes[at + PCI_EXP_DEVCTL] &= (uint8_t)~PCI_EXP_DEVCTL_RELAX_EN;
			changed = true;
		}
	}
	return changed;
}

static bool withdraw_statement(struct readiness *r, struct advice_step *step)
{
	r->facts.claims.ddio_assumed = KNOWN_NOT;
	STEP(step, "Leave out --assume-ddio: what was read or measured contradicts it.");
	return true;
}

static bool bind_driver(struct readiness *r, struct advice_step *step)
{
	(void)step;
	snprintf(r->facts.target.driver, sizeof(r->facts.target.driver), "device_dax");
	return r->facts.target.size_bytes > 0;
}

static bool mount_dax(struct readiness *r, struct advice_step *step)
{
	struct facts_target *target = &r->facts.target;

	(void)step;
	target->dax_queue = target->dax_queue == KNOWN_NO ? KNOWN_YES : target->dax_queue;
	target->dax_mount = target->dax_mount == KNOWN_NO ? KNOWN_YES : target->dax_mount;
	target->answer.dax = target->answer.dax == 0 ? 1 : target->answer.dax;
	target->answer.map_sync = target->answer.map_sync > 0 ? 0 : target->answer.map_sync;
	return true;
}

static bool make_namespace(struct readiness *r, struct advice_step *step)
{
	struct facts_target *target = &r->facts.target;

	(void)step;
	if (target->shape == TARGET_ON_FSDAX && target->dax_queue == KNOWN_NO)
		target->dax_queue = KNOWN_YES;
	for (size_t i = 0; i < target->namespaces_count; i++) {
		char *mode = target->namespaces[i].mode;

		if (mode[0] != '\0')
			snprintf(mode, sizeof(target->namespaces[i].mode), "%s",
				 target->shape == TARGET_ON_DEVDAX ? "dax" : "memory");
	}
	return true;
}

static bool state_pmem(struct readiness *r, struct advice_step *step)
{
	struct facts_claims *claims = &r->facts.claims;

	if (r->facts.platform.guest == KNOWN_NO)
		return false;
	snprintf(claims->pmem_why, sizeof(claims->pmem_why), "checked on the host");
	if (r->facts.platform.guest == KNOWN_YES)
		STEP(step, "Run rpma-ddio-check on the host of this virtual machine. If the memory "
			   "is persistent there, state it here: --assume-pmem WHY.");
	else
		STEP(step, "Run this as root, who can read more. If that does not tell whether it "
			   "is a virtual machine, and the memory is persistent, state it: "
			   "--assume-pmem WHY.");
	step->finds_out = true;
	return true;
}

/* A CXL property that no register tells; the registers have to be well. */
static bool state_cxl(struct readiness *r, struct advice_step *step)
{
	struct facts_claims *claims = &r->facts.claims;

	snprintf(claims->pmem_why, sizeof(claims->pmem_why), "as its makers document");
	STEP(step, "Ask the makers of platform and device whether a power failure starts a global "
		   "persistent flush (GPF) and there is energy for it. If so, state it: "
		   "--assume-pmem WHY.");
	step->finds_out = true;
	return checks_cxl_stated(&r->facts);
}

static bool repair_modules(struct readiness *r, struct advice_step *step)
{
	struct facts_target *target = &r->facts.target;

	(void)step;
	for (size_t i = 0; i < target->regions_count; i++) {
		for (size_t d = 0; d < target->regions[i].dimms_count; d++) {
			char *flags = target->regions[i].dimms[d].flags;

			if (flags[0] != '\0')
				snprintf(flags, sizeof(target->regions[i].dimms[d].flags), "none");
		}
	}
	return true;
}

static bool clear_bad_blocks(struct readiness *r, struct advice_step *step)
{
	struct facts_target *target = &r->facts.target;

	(void)step;
	target->badblocks = target->badblocks > 0 ? 0 : target->badblocks;
	for (size_t i = 0; i < target->regions_count; i++) {
		int64_t *ranges = &target->regions[i].badblocks;

		*ranges = *ranges > 0 ? 0 : *ranges;
	}
	return true;
}

static bool make_writable(struct readiness *r, struct advice_step *step)
{
	struct facts_target *target = &r->facts.target;

	(void)step;
	target->read_only_mount = false;
	for (size_t i = 0; i < target->regions_count; i++) {
		int64_t *read_only = &target->regions[i].read_only;

		*read_only = *read_only > 0 ? 0 : *read_only;
	}
	return true;
}

static bool raise_memlock(struct readiness *r, struct advice_step *step)
{
	(void)step;
	r->facts.limits.memlock_bytes = INT64_MAX;
	return true;
}

static bool raise_open_files(struct readiness *r, struct advice_step *step)
{
	(void)step;
	r->facts.limits.open_files = INT64_MAX;
	return true;
}

/* --- DDIO --------------------------------------------------------------------------- */

/* The same as what rpma-ddio-check --set ddio=off writes; false: to no port. */
static bool switch_off(struct readiness *r, struct advice_step *step)
{
	bool changed = false, written = true;

	for (size_t i = 0; i < r->facts.pci.count; i++) {
		struct facts_chain *chain = &r->facts.pci.chains[i];
		uint8_t *byte = &chain->functions[0].config.bytes[DDIO_PERFCTRLSTS_0];
		struct ddio ddio;

		ddio_of_chain(&r->facts.platform, chain, &ddio);
		if (!ddio.read || (*byte & DDIO_SWITCHES) == 0)
			continue;
		*byte &= (uint8_t)~DDIO_SWITCHES;
		changed = true;
		written = written && !ddio.low_confidence;
	}
	if (changed && written)
		STEP(step,
		     "As root: rpma-ddio-check --device %s --set ddio=off. It lasts until the next "
		     "boot; the firmware's menu may have a switch that lasts.",
		     r->facts.device.name);
	else
		STEP(step, "Turn DDIO off in the firmware's menu.");
	return changed;
}

static bool switch_tph_off(struct readiness *r, struct advice_step *step)
{
	bool changed = false;

	for (size_t i = 0; i < r->facts.pci.count; i++) {
		struct facts_chain *chain = &r->facts.pci.chains[i];

		for (size_t f = chain->count - chain->nics; f < chain->count; f++) {
			struct pci_config *config = &chain->functions[f].config;
			size_t at = pci_config_extended(config, PCI_EXT_CAP_ID_TPH);

			if (at == 0 || pci_config_tph(config) <= 0)
				continue;
			config->bytes[at + 9] &= (uint8_t)~3; /* bits 9:8 of its control */
			changed = true;
		}
	}
	STEP(step, "%s", PLATFORM_TPH_OFF);
	return changed;
}

/* Steps that find out what only a measurement or the operator can tell. */
static bool find_out(struct readiness *r, struct advice_step *step)
{
	const bool root = r->ddio.needs_root;

	if (r->ddio.state != DDIO_UNKNOWN && r->ddio.evidence != DDIO_PROBE)
		return false;
	r->facts.claims.ddio_assumed = KNOWN_NO;
	if (root)
		STEP(step, "Run this as root, which can read the register of the root port %s.",
		     r->ddio.port);
	else
		STEP(step, "%s", platform_first(&r->facts.platform));
	step->finds_out = root || r->facts.platform.guest == KNOWN_YES ||
			  !platform_find(&r->facts.platform)->by_menu;
	return true;
}

static bool accept_doubt(struct readiness *r, struct advice_step *step)
{
	r->lenient = true;
	STEP(step,
	     "Measure it as root with --probe; or accept what the registers show with --lenient, "
	     "while nothing enables what is disabled in the NIC.");
	return true;
}

const struct remedy remedies[REMEDIES] = {
	{"DEV-02", activate_ports, false},  {"PM-02", bind_driver, false},
	{"PM-05", make_namespace, false},   {"PM-03", mount_dax, false},
	{"PM-04", mount_dax, false},	    {"PM-07", state_pmem, true},
	{"PM-09", state_cxl, true},	    {"PM-08", repair_modules, false},
	{"PM-10", clear_bad_blocks, false}, {"PM-11", make_writable, false},
	{"LIM-01", raise_memlock, false},   {"LIM-02", raise_open_files, false},
	{"PCI-04", order_writes, false},    {"DDIO-05", withdraw_statement, false},
	{DDIO_STATE, switch_off, false},    {DDIO_STATE, switch_tph_off, false},
	{DDIO_STATE, find_out, false},	    {DDIO_STATE, accept_doubt, false},
};

static struct readiness *copy_of(const struct readiness *from)
{
	struct readiness *copy = malloc(sizeof(*copy));

	if (copy == NULL)
		return NULL;
	*copy = *from;
	copy->facts.pci.chains = calloc(FACTS_CHAINS_MAX, sizeof(*copy->facts.pci.chains));
	if (copy->facts.pci.chains == NULL) {
		free(copy);
		return NULL;
	}
	if (from->facts.pci.chains != NULL)
		memcpy(copy->facts.pci.chains, from->facts.pci.chains,
		       from->facts.pci.count * sizeof(*copy->facts.pci.chains));
	return copy;
}

static void discard(struct readiness *copy)
{
	if (copy != NULL)
		readiness_free(copy);
	free(copy);
}

static bool keeps_from_ready(const struct readiness_check *check,
			     const struct readiness_finding *finding)
{
	return finding->status == READINESS_FAIL ||
	       (finding->status == READINESS_UNKNOWN && check->if_unknown == READINESS_BLOCKS) ||
	       (finding->status == READINESS_WARN && check->if_warn == READINESS_BLOCKS);
}

static size_t count_obstacles(const struct readiness *r)
{
	const struct readiness_check *check;
	size_t n = 0;

	for (size_t i = 0; (check = readiness_check_at(i)) != NULL; i++)
		n += keeps_from_ready(check, &r->findings[i]);
	return n;
}

/*
 * DDIO is asked for once nothing else stands in the way. What is only unknown is not to
 * be mended, as it may be well, unless it is for the operator to state.
 */
static bool is_due(const struct readiness *r, const struct remedy *remedy)
{
	size_t index = readiness_check_index(remedy->check);

	if (strcmp(remedy->check, DDIO_STATE) == 0)
		return r->row->exit_code != EXIT_GOOD && strncmp(r->row->name, "ddio-", 5) == 0;
	return (remedy->of_unknown || r->findings[index].status != READINESS_UNKNOWN) &&
	       keeps_from_ready(readiness_check_at(index), &r->findings[index]);
}

static bool gets_further(const struct readiness *before, const struct readiness *after)
{
	size_t was = count_obstacles(before), is = count_obstacles(after);

	return is < was || (is == was && (after->row->exit_code == EXIT_GOOD ||
					  after->ddio.state != before->ddio.state));
}

/* The facts after it; NULL: it does not help. */
static struct readiness *attempt(const struct readiness *before, const struct remedy *remedy,
				 struct advice_step *step, int *error)
{
	const struct readiness_finding *finding = readiness_find(before->findings, remedy->check);
	struct readiness *after = copy_of(before);

	if (after == NULL) {
		*error = -ENOMEM;
		return NULL;
	}
	*step = (struct advice_step){.finds_out = false};
	snprintf(step->checks, sizeof(step->checks), "%s", remedy->check);
	snprintf(step->text, sizeof(step->text), "%s", finding->fix);
	if (remedy->change(after, step) && step->text[0] != '\0') {
		readiness_check_all(&after->facts, after->findings);
		ddio_decide(&after->facts, &after->ddio);
		after->row = readiness_judge(&after->facts, after->findings, after->lenient);
		step->row = after->row;
		if (gets_further(before, after))
			return after;
	}
	discard(after);
	return NULL;
}

/* Two checks may ask for the same, such as to run as root. */
static void add(struct advice *advice, const struct advice_step *step)
{
	struct advice_step *last = advice->count > 0 ? &advice->steps[advice->count - 1] : NULL;
	size_t len;

	if (last != NULL && strcmp(last->text, step->text) == 0) {
		len = strlen(last->checks);
		snprintf(last->checks + len, sizeof(last->checks) - len, ", %s", step->checks);
		last->row = step->row;
	} else if (advice->count < ADVICE_STEPS_MAX) {
		advice->steps[advice->count++] = *step;
	}
}

/* The first remedy that helps; NULL: there is none, or *error. */
static struct readiness *improve(const struct readiness *now, bool used[REMEDIES],
				 struct advice *advice, int *error)
{
	struct advice_step step;

	for (size_t i = 0; i < REMEDIES && *error == 0; i++) {
		struct readiness *next;

		if (used[i] || !is_due(now, &remedies[i]))
			continue;
		used[i] = true;
		next = attempt(now, &remedies[i], &step, error);
		if (next != NULL) {
			add(advice, &step);
			return next;
		}
	}
	return NULL;
}

static void conclude(const struct readiness *end, struct advice *advice)
{
	const struct readiness_check *check;
	const char *fix, *separator;
	char because[512];
	size_t i = 0;

	advice->row = end->row;
	if (end->row->exit_code == EXIT_GOOD)
		return;
	readiness_because(end, because, sizeof(because));
	while ((check = readiness_check_at(i)) != NULL &&
	       !keeps_from_ready(check, &end->findings[i]))
		i++;
	if (because[0] == '\0')
		snprintf(because, sizeof(because), "%s", end->row->reason);
	i = check != NULL ? i : readiness_check_index(DDIO_STATE);
	fix = end->findings[i].fix;
	separator = fix[0] == '\0' ? "" : because[strlen(because) - 1] == '.' ? " " : ". ";
	snprintf(advice->open, sizeof(advice->open), "%s%s%s", because, separator, fix);
}

int advice_make(const struct readiness *readiness, struct advice *advice)
{
	struct readiness *now = copy_of(readiness), *next;
	bool used[REMEDIES] = {false};
	int error = now == NULL ? -ENOMEM : 0;

	memset(advice, 0, sizeof(*advice));
	while (error == 0 && (next = improve(now, used, advice, &error)) != NULL) {
		discard(now);
		now = next;
	}
	if (error == 0)
		conclude(now, advice);
	discard(now);
	return error;
}

json_t *advice_json(const struct advice *advice)
{
	json_t *steps = json_array();

	for (size_t i = 0; i < advice->count; i++) {
		const struct advice_step *s = &advice->steps[i];

		json_array_append_new(steps, json_pack("{s:s, s:o, s:b, s:s}", "checks", s->checks,
						       "text", result_text(s->text), "finds_out",
						       s->finds_out, "verdict",
						       readiness_verdict_name(s->row->verdict)));
	}
	return json_pack("{s:o, s:s, s:o}", "steps", steps, "verdict",
			 readiness_verdict_name(advice->row->verdict), "open",
			 result_text(advice->open));
}
