/* SPDX-License-Identifier: BSD-3-Clause */
/* test_powerfail.c -- the fault powerfail: the platform that it describes. */
#include "tests/unit/soft/fault_test.h"

TEST(it_is_strict_unless_said)
{
	const struct fault_power strict = power_of("powerfail:at=9");
	const struct fault_power lax = power_of("powerfail:domain=eadr,ddio=off,at=1");

	assert_int_equal(strict.at, 9);
	assert_false(strict.eadr);
	assert_false(strict.no_ddio);
	assert_int_equal(lax.at, 1);
	assert_true(lax.eadr);
	assert_true(lax.no_ddio);
	assert_false(power_of("powerfail:domain=adr,at=1").eadr);
	assert_false(power_of("powerfail:ddio=on,at=1").no_ddio);
}

TEST(without_it_no_power_fails)
{
	assert_int_equal(power_of("").at, 0);
	assert_int_equal(power_of("refuse:at=3").at, 0);
}

TEST(other_processes_meet_it)
{
	use_faults("powerfail:at=1");
	assert_false(fault_any); /* its own operations take the short way */
}

TEST(power_fails_once)
{
	struct soft_options options;
	struct fault_power power;
	char error[SOFT_ERROR_MAX];

	soft_options_parse("powerfail:at=1 powerfail:at=2", &options, error);
	assert_int_equal(fault_power(&options, &power, error), -EINVAL);
	assert_string_equal(error, "powerfail:at=2: a second fault powerfail");
}

TEST(wrong_words_are_refused)
{
	ASSERT_REFUSED("powerfail", "powerfail:ddio=on", "powerfail:every=3",
		       "powerfail:at=", "powerfail:at=1,domain=adr|eadr",
		       "powerfail:at=1,ddio=yes");
}
