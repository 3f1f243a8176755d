/* SPDX-License-Identifier: BSD-3-Clause */
/* test_advice.c -- steps that lead to ready, or none. */
#include "common/base/failure.h"
#include "made_ddio.h"
#include "made_facts.h"
#include "readiness/advice.h"

static struct readiness *r; /* a host where all is well */
static struct advice advice;

static int setup(void **state)
{
	struct facts *facts = made_facts();

	r = calloc(1, sizeof(*r));
	assert_non_null(r);
	r->facts = *facts;
	free(facts);
	return 0;
}

static int teardown(void **state)
{
	readiness_free(r);
	free(r);
	return 0;
}

#define ADVICE_TEST(name) TEST(name, setup, teardown)

static void judge(void)
{
	readiness_check_all(&r->facts, r->findings);
	ddio_decide(&r->facts, &r->ddio);
	r->row = readiness_judge(&r->facts, r->findings, r->lenient);
}

/* The advice, of which the facts know nothing: they are as they were. */
static void advise(void)
{
	const uint32_t before = r->facts.pci.count > 0
					? r->facts.pci.chains[0].functions[0].config.bytes[0x180]
					: 0;

	judge();
	assert_int_equal(advice_make(r, &advice), 0);
	if (r->facts.pci.count > 0)
		assert_int_equal(r->facts.pci.chains[0].functions[0].config.bytes[0x180], before);
	assert_true(advice.count <= ADVICE_STEPS_MAX);
	if (advice.count > 0)
		assert_ptr_equal(advice.steps[advice.count - 1].row, advice.row);
	assert_int_equal(advice.open[0] == '\0', advice.row->exit_code == EXIT_GOOD);
}

ADVICE_TEST(a_host_that_is_ready_needs_nothing)
{
	advise();
	EQUAL((advice.count, 0), (advice.row->verdict, VERDICT_APM_READY));
}

/* Bits 7 and 3 as --set ddio=off clears them. */
ADVICE_TEST(an_open_port_is_switched_off)
{
	made_registers(made_port(&r->facts), 0x00183099, 0);
	advise();
	EQUAL((advice.count, 1), (advice.steps[0].checks, "DDIO-04"),
	      (advice.steps[0].text, HAS("--set ddio=off")),
	      (advice.row->verdict, VERDICT_APM_READY));
}

/* 0x180 of Ice Lake is no register, so nothing is to be written there. */
ADVICE_TEST(where_no_register_is_known_the_menu_is_advised)
{
	r->facts.platform.model = 0x6a;
	advise();
	assert_int_equal(advice.count, 1);
	assert_null(strstr(advice.steps[0].text, "--set"));
	EQUAL((advice.steps[0].text, HAS("--assume-ddio off:WHY")),
	      (advice.row->verdict, VERDICT_APM_READY));
}

ADVICE_TEST(two_faults_take_two_steps)
{
	made_registers(made_port(&r->facts), 0x00183091, 0);
	r->facts.limits.memlock_bytes = 65536;
	r->facts.limits.may_lock = KNOWN_NO;
	advise();
	EQUAL((advice.count, 2), (advice.steps[0].checks, "LIM-01"),
	      (advice.steps[0].row->verdict, VERDICT_GPSPM_ONLY),
	      (advice.steps[1].row->verdict, VERDICT_APM_READY));
}

/* A namespace must not be made again, and erased, because its mode cannot be read. */
ADVICE_TEST(what_is_unknown_is_not_mended)
{
	r->facts.target.namespaces[0].mode[0] = '\0';
	advise();
	EQUAL((advice.count, 0), (advice.open, HAS("PM-05 UNKNOWN")));
}

ADVICE_TEST(a_statement_that_is_contradicted_is_left_out)
{
	made_registers(made_port(&r->facts), 0x00183091, 0);
	r->facts.claims.ddio_assumed = KNOWN_NO;
	advise();
	EQUAL((advice.count, 2), (advice.steps[0].checks, "DDIO-05"),
	      (advice.row->verdict, VERDICT_APM_READY));
}

ADVICE_TEST(what_no_step_solves_stays_open)
{
	r->facts.target.regions[0].persistence_domain[0] = '\0';
	made_registers(made_port(&r->facts), 0x00183091, 0);
	advise();
	assert_non_null(strstr(advice.open, "PM-06 UNKNOWN"));
	assert_int_not_equal(advice.row->exit_code, EXIT_GOOD);
}
