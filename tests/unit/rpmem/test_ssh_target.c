/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_ssh_target.c -- which targets there are, and what is refused: the grammar of
 * librpmem(7), and names that ssh or a shell would act on.
 */
#include "common/base/failure.h"
#include "librpmem/src/ssh_target.h"
#include "tests/lib/test.h"

#define TEN "0123456789"

TEST(good_targets_are_taken_apart)
{
	static const struct {
		const char *text, *user, *host, *port;
		bool is_ipv6;
	} cases[] = {
		{"host", "", "host", "", false},
		{"host:2222", "", "host", "2222", false},
		{"user@host", "user", "host", "", false},
		{"user@host.example:1", "user", "host.example", "1", false},
		{"192.0.2.1:65535", "", "192.0.2.1", "65535", false},
		{"2001:db8::1", "", "2001:db8::1", "", true},
		{"user@2001:db8::1", "user", "2001:db8::1", "", true},
		{"[2001:db8::1]", "", "2001:db8::1", "", true},
		{"[::1]:22", "", "::1", "22", true},
		{"user@[fe80::1%eth0]:00022", "user", "fe80::1%eth0", "22", true},
		{"first.last-1_x+y@host_name", "first.last-1_x+y", "host_name", "", false},
		{TEN TEN TEN "01@host", TEN TEN TEN "01", "host", "", false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ssh_target got;

		EQUAL((ssh_target_parse(cases[i].text, &got), 0), (got.user, cases[i].user),
		      (got.host, cases[i].host), (got.port, cases[i].port),
		      (got.is_ipv6, cases[i].is_ipv6));
	}
}

static void expect_refusal(const char *text)
{
	struct ssh_target got;

	memset(&got, 0x5a, sizeof(got));
	failure_get()->text[0] = '\0';
	if (ssh_target_parse(text, &got) != -EINVAL)
		fail_msg("'%s' is taken", text);
	assert_true(failure_get()->text[0] != '\0');
	assert_int_equal(got.host[0], 0x5a);
}

TEST(malformed_targets_are_refused)
{
	static const char *const cases[] = {
		"",	   "@",		  "@host",	 "user@",     ":22",	   "user@:22",
		"host:",   "host:0",	  "host:65536",	 "host:port", "host:22x",  "host: 22",
		"host:-1", "host:+22",	  "host:000022", "[::1",      "[]",	   "[]:22",
		"[::1]22", "[::1]:",	  "[::1]:0",	 "[host]",    "[host]:22", "::1::2",
		"a:b:c",   "user@a@host", "fe80::1%",	 "[::1]]",    "host]",
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect_refusal(cases[i]);
}

TEST(dangerous_targets_are_refused)
{
	static const char *const cases[] = {"-oProxyCommand=id", "-oProxyCommand=id@host",
					    "user@-oProxyCommand=id", "-l@host", "[-oX]"};
	char text[16];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect_refusal(cases[i]);
	for (const char *at = " \n\t\177;`$()|&<>'\"\\{}"; *at != '\0'; at++) {
		snprintf(text, sizeof(text), "ho%cst", *at);
		expect_refusal(text);
		snprintf(text, sizeof(text), "us%cer@host", *at);
		expect_refusal(text);
	}
}

TEST(nothing_is_cut)
{
	char text[600];

	memset(text, 'h', sizeof(text));
	text[256] = '\0';
	expect_refusal(text);
	text[255] = '\0';
	assert_int_equal(ssh_target_parse(text, &(struct ssh_target){.user = ""}), 0);
	strcpy(text, TEN TEN TEN "012@host");
	expect_refusal(text);
}
