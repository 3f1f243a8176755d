/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_verdict.c -- each row of the verdict, and which of two goes first.
 *
 * The situations are those of a host where all is well, with one or two things
 * changed; findings are set by hand, so that rows are told apart.
 */
#include "made_facts.h"
#include "readiness/ddio.h"
#include "readiness/readiness.h"

/* The changes; several together make a situation. */
enum change {
	NONE = 0,
	NO_DEVICE = 1 << 0,
	STATEMENT_CONFLICT = 1 << 1,
	PROBE_CONFLICT = 1 << 2,
	OTHER_FAIL = 1 << 3,
	NO_TARGET = 1 << 4,
	PM_UNKNOWN = 1 << 5,
	PM_WARN = 1 << 6,
	EMULATED = 1 << 7,
	CXL = 1 << 8,
	CPU_CACHE = 1 << 9,
	NO_DOMAIN = 1 << 10,
	TWO_DOMAINS = 1 << 11,
	SOFTWARE = 1 << 12,
	NATIVE = 1 << 13,
	DDIO_IS_ON = 1 << 14,
	DDIO_MAY_BE_ON = 1 << 15,
	DDIO_ALMOST_OFF = 1 << 16,
	DDIO_NOT_KNOWN = 1 << 17,
	ASSUMED_OFF = 1 << 18,
	PROBED_OFF = 1 << 19,
	LENIENT = 1 << 20,
	PM_SKIP = 1 << 21,
	OLD_PLATFORM = 1 << 22,
	NO_SYSFS = 1 << 23,
};

struct situation {
	unsigned changes;
	const char *row;
};

static const struct situation situations[] = {
	/* each row */
	{NO_DEVICE, "no-device"},
	{NO_SYSFS, "no-device"},
	{STATEMENT_CONFLICT, "conflict"},
	{PROBE_CONFLICT, "conflict"},
	{OTHER_FAIL, "failed"},
	{NO_TARGET, "no-target"},
	{PM_UNKNOWN, "unproven"},
	{PM_WARN, "unproven"},
	{EMULATED, "unproven"},
	{CXL, "unproven"},
	{CPU_CACHE, "eadr"},
	{NO_DOMAIN, "unproven"},
	{TWO_DOMAINS, "unproven"},
	{SOFTWARE, "software"},
	{NONE, "ddio-off"},
	{PM_SKIP, "ddio-off"},
	{DDIO_NOT_KNOWN | PROBED_OFF, "ddio-off"},
	{DDIO_ALMOST_OFF | LENIENT, "ddio-off-lenient"},
	{OLD_PLATFORM | LENIENT, "ddio-off-lenient"},
	{DDIO_NOT_KNOWN | ASSUMED_OFF, "ddio-assumed-off"},
	{DDIO_NOT_KNOWN | NATIVE, "native"},
	{DDIO_IS_ON, "ddio-on"},
	{DDIO_MAY_BE_ON, "ddio-on-possible"},
	{DDIO_ALMOST_OFF, "ddio-off-warn"},
	{OLD_PLATFORM, "ddio-off-warn"},
	{DDIO_NOT_KNOWN, "ddio-unknown"},

	/* unknown is never off: what does not lift a doubt */
	{DDIO_NOT_KNOWN | LENIENT, "ddio-unknown"},
	{DDIO_MAY_BE_ON | LENIENT, "ddio-on-possible"},
	{DDIO_IS_ON | LENIENT, "ddio-on"},
	{SOFTWARE | ASSUMED_OFF, "software"},
	{SOFTWARE | PROBED_OFF, "software"},
	{SOFTWARE | LENIENT, "software"},
	{NO_DOMAIN | ASSUMED_OFF | DDIO_NOT_KNOWN, "unproven"},
	{NO_DOMAIN | NATIVE, "unproven"},

	/* which of two goes first */
	{NO_DEVICE | STATEMENT_CONFLICT | OTHER_FAIL | NO_TARGET, "no-device"},
	{STATEMENT_CONFLICT | OTHER_FAIL, "conflict"},
	{PROBE_CONFLICT | NO_TARGET, "conflict"},
	{OTHER_FAIL | NO_TARGET, "failed"},
	{OTHER_FAIL | CPU_CACHE, "failed"},
	{OTHER_FAIL | NATIVE, "failed"},
	{NO_TARGET | PM_UNKNOWN, "no-target"},
	{NO_TARGET | CPU_CACHE, "no-target"},
	{NO_TARGET | NATIVE, "no-target"},
	{PM_UNKNOWN | CPU_CACHE, "unproven"},
	{EMULATED | CPU_CACHE, "unproven"},
	{CXL | NATIVE, "unproven"},
	{PM_WARN | NO_DOMAIN, "unproven"},
	{CPU_CACHE | DDIO_IS_ON, "eadr"},
	{CPU_CACHE | SOFTWARE, "eadr"},
	{CPU_CACHE | NATIVE, "eadr"},
	{CPU_CACHE | DDIO_NOT_KNOWN | ASSUMED_OFF, "eadr"},
	{NO_DOMAIN | SOFTWARE, "unproven"},
	{NO_DOMAIN | DDIO_IS_ON, "unproven"},
	{SOFTWARE | DDIO_IS_ON, "software"},
	{SOFTWARE | NATIVE, "native"},
	{NATIVE, "ddio-off"},
	{NATIVE | DDIO_ALMOST_OFF | LENIENT, "ddio-off-lenient"},
	{NATIVE | DDIO_NOT_KNOWN | ASSUMED_OFF, "ddio-assumed-off"},
	{NATIVE | DDIO_IS_ON, "native"},
	{NATIVE | DDIO_MAY_BE_ON, "native"},
	{NATIVE | DDIO_ALMOST_OFF, "native"},
};

#define SITUATIONS (sizeof(situations) / sizeof(situations[0]))

static struct readiness_finding findings[READINESS_CHECKS_MAX];

static void set(const char *id, enum readiness_status status)
{
	size_t index = readiness_check_index(id);

	assert_in_range(index, 0, READINESS_CHECKS_MAX - 1);
	findings[index].status = status;
	snprintf(findings[index].meaning, sizeof(findings[index].meaning), "%s is so.", id);
}

static void change_findings(unsigned changes)
{
	for (size_t i = 0; i < READINESS_CHECKS_MAX; i++)
		findings[i] = (struct readiness_finding){.status = READINESS_PASS};
	set("CAP-01", changes & NATIVE ? READINESS_PASS : READINESS_INFO);
	if (changes & NO_DEVICE)
		set("DEV-01", READINESS_FAIL);
	if (changes & NO_SYSFS)
		set("DEV-01", READINESS_UNKNOWN);
	if (changes & STATEMENT_CONFLICT)
		set("DDIO-05", READINESS_FAIL);
	if (changes & PROBE_CONFLICT)
		set("DDIO-06", READINESS_FAIL);
	if (changes & OTHER_FAIL)
		set("LIM-02", READINESS_FAIL);
	if (changes & PM_UNKNOWN)
		set("PM-04", READINESS_UNKNOWN);
	if (changes & PM_WARN)
		set("PM-05", READINESS_WARN);
	if (changes & PM_SKIP)
		set("PM-03", READINESS_SKIP);
	if (changes & EMULATED)
		set("PM-07", READINESS_WARN);
	if (changes & CXL)
		set("PM-09", READINESS_UNKNOWN);
	if (changes & (NO_DOMAIN | TWO_DOMAINS))
		set("PM-06", READINESS_UNKNOWN);
}

static void domain(struct facts_region *region, const char *text)
{
	snprintf(region->persistence_domain, sizeof(region->persistence_domain), "%s", text);
}

static void change_target(struct facts_target *target, unsigned changes)
{
	if (changes & NO_TARGET)
		target->shape = TARGET_NOT_GIVEN;
	if (changes & CPU_CACHE)
		domain(&target->regions[0], "cpu_cache");
	if (changes & NO_DOMAIN)
		domain(&target->regions[0], "");
	if (changes & TWO_DOMAINS) {
		target->regions[1] = target->regions[0];
		domain(&target->regions[1], "cpu_cache");
		target->regions_count = 2;
	}
}

static void change_ddio(struct facts *facts, unsigned changes)
{
	if (changes & DDIO_IS_ON)
		made_registers(made_port(facts), 0x00183091, 0);
	if (changes & (DDIO_ALMOST_OFF | DDIO_MAY_BE_ON))
		made_registers(made_port(facts), 0x00183019, 0);
	if (changes & DDIO_MAY_BE_ON)
		made_control(made_nic(facts), 0x2930);
	if (changes & DDIO_NOT_KNOWN)
		facts->platform.model = 0x6a;
	if (changes & OLD_PLATFORM) {
		facts->platform.model = 0x4f;
		made_put(made_port(facts), 2, 0x6f02, 2);
		made_port(facts)->device = 0x6f02;
	}
	if (changes & ASSUMED_OFF)
		facts->claims.ddio_assumed = KNOWN_NO;
	if (changes & PROBED_OFF)
		facts->claims.probe = made_probe(1000000000, 990000000, 65536);
}

static struct facts *change(unsigned changes)
{
	struct facts *facts = made_facts();

	if (changes & NO_DEVICE)
		memset(&facts->device, 0, sizeof(facts->device));
	if (changes & SOFTWARE) {
		facts->device.kind = DEVICE_RXE;
		facts->pci.count = 0;
	}
	change_target(&facts->target, changes);
	change_ddio(facts, changes);
	change_findings(changes);
	return facts;
}

TEST(each_situation_has_its_row)
{
	for (size_t i = 0; i < SITUATIONS; i++) {
		struct facts *facts = change(situations[i].changes);
		const struct verdict_row *row =
			readiness_judge(facts, findings, (situations[i].changes & LENIENT) != 0);

		if (strcmp(row->name, situations[i].row) != 0)
			fail_msg("situation %zu: %s in place of %s", i, row->name,
				 situations[i].row);
		made_free(facts);
	}
}

TEST(each_row_has_a_situation)
{
	for (size_t row = 0; row < READINESS_ROWS; row++) {
		size_t i = 0;

		while (i < SITUATIONS && strcmp(situations[i].row, readiness_rows[row].name) != 0)
			i++;
		if (i == SITUATIONS)
			fail_msg("%s has none", readiness_rows[row].name);
	}
}

/* A wrong true loses data: only where writes are known, or said, to reach the domain. */
TEST(true_is_recommended_where_ready)
{
	for (size_t i = 0; i < READINESS_ROWS; i++) {
		const struct verdict_row *row = &readiness_rows[i];

		assert_int_equal(row->direct_write, row->verdict == VERDICT_APM_READY ||
							    row->verdict == VERDICT_APM_READY_EADR);
	}
}

/* Does it keep a verdict from being ready, by itself? As rpma-ddio-check(1) documents. */
static bool blocks(const char *id, enum readiness_status status)
{
	static const char *const unknown[] = {"DEV-01", "DEV-02", "DEV-05", "PCI-04", "DDIO-05",
					      "PM-01",	"PM-02",  "PM-03",  "PM-04",  "PM-05",
					      "PM-06",	"PM-07",  "PM-08",  "PM-09",  "PM-10",
					      "PM-11",	"ODP-01", "LIM-01", "LIM-02"};
	static const char *const warn[] = {"DEV-01", "PM-01", "PM-02", "PM-03", "PM-04",
					   "PM-05",  "PM-06", "PM-07", "PM-09"};
	const char *const *ids = status == READINESS_UNKNOWN ? unknown : warn;
	size_t count = status == READINESS_UNKNOWN ? sizeof(unknown) / sizeof(unknown[0])
						   : sizeof(warn) / sizeof(warn[0]);

	if (status == READINESS_FAIL)
		return true;
	if (status != READINESS_UNKNOWN && status != READINESS_WARN)
		return false;
	for (size_t i = 0; i < count; i++) {
		if (strcmp(ids[i], id) == 0)
			return true;
	}
	return false;
}

TEST(what_blocks_is_never_ready)
{
	const struct readiness_check *check;

	for (size_t i = 0; (check = readiness_check_at(i)) != NULL; i++) {
		for (int status = 0; status < READINESS_STATUSES; status++) {
			struct facts *facts = change(NONE);
			bool ready;

			set(check->id, (enum readiness_status)status);
			ready = readiness_judge(facts, findings, true)->exit_code == 0;
			if (ready == blocks(check->id, (enum readiness_status)status))
				fail_msg("%s %s", check->id,
					 readiness_status_name((enum readiness_status)status));
			made_free(facts);
		}
	}
}

static struct readiness *judged(unsigned changes)
{
	struct readiness *readiness = calloc(1, sizeof(*readiness));
	struct facts *facts = change(changes);

	assert_non_null(readiness);
	readiness->facts = *facts;
	free(facts);
	memcpy(readiness->findings, findings, sizeof(findings));
	ddio_decide(&readiness->facts, &readiness->ddio);
	readiness->row = readiness_judge(&readiness->facts, findings, false);
	return readiness;
}

static void judged_free(struct readiness *readiness)
{
	readiness_free(readiness);
	free(readiness);
}

static void is_because(unsigned changes, const char *expected)
{
	struct readiness *readiness = judged(changes);
	char text[256];

	readiness_because(readiness, text, sizeof(text));
	assert_string_equal(text, expected);
	judged_free(readiness);
}

TEST(what_counted_is_named)
{
	is_because(NONE, "");
	is_because(OTHER_FAIL, "LIM-02 FAIL: LIM-02 is so.");
	is_because(STATEMENT_CONFLICT | PROBE_CONFLICT,
		   "DDIO-05 FAIL, DDIO-06 FAIL: DDIO-05 is so.");
	is_because(PM_UNKNOWN | EMULATED, "PM-04 UNKNOWN, PM-07 WARN: PM-04 is so.");
	is_because(DDIO_MAY_BE_ON, "bit 7 is 0, but bit 3 is 1: No Snoop writes allocate, and No "
				   "Snoop is enabled in the NIC");
	is_because(NO_DOMAIN, "PM-06 UNKNOWN: PM-06 is so.");
}

TEST(a_long_reason_is_cut)
{
	struct readiness *readiness = judged(STATEMENT_CONFLICT | PROBE_CONFLICT);
	char text[20];

	readiness_because(readiness, text, sizeof(text));
	assert_string_equal(text, "DDIO-05 FAIL, DDIO-");
	judged_free(readiness);
}

TEST(a_statement_is_marked)
{
	struct readiness *said = judged(DDIO_NOT_KNOWN | ASSUMED_OFF), *seen = judged(ASSUMED_OFF);

	EQUAL((readiness_assumed(said), true), (readiness_assumed(seen), false));
	judged_free(said);
	judged_free(seen);
}
