/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_options.c -- the words of RPMA_SOFT: what they mean, and which are refused.
 */
#include <errno.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <infiniband/verbs.h>

#include "soft_device/process/options.h"

static struct soft_options options;
static char error[SOFT_ERROR_MAX];

static void parse(const char *text)
{
	if (soft_options_parse(text, &options, error) != 0)
		fail_msg("%s: %s", text, error);
}

static const struct soft_fault *parse_fault(const char *text)
{
	parse(text);
	assert_int_equal(options.faults_count, 1);
	assert_string_equal(options.faults[0].word, text);
	return &options.faults[0];
}

static void nothing_asked_is_the_defaults(void **state)
{
	static const char *const texts[] = {NULL, "", " \t\n "};

	for (size_t i = 0; i < 3; i++) {
		parse(texts[i]);
		assert_false(options.verbose);
		assert_false(options.forced_remote);
		assert_int_equal(options.transport, SOFT_TRANSPORT_AUTO);
		assert_int_equal(options.seed, 1);
		assert_int_equal(options.faults_count, 0);
	}
}

static void the_last_of_a_setting_counts(void **state)
{
	parse("transport:tcp seed:2 transport:local\tseed:18446744073709551615");
	assert_int_equal(options.transport, SOFT_TRANSPORT_LOCAL);
	assert_true(options.seed == UINT64_MAX);
	parse("  verbose forced-remote ");
	assert_true(options.verbose && options.forced_remote);
}

static void delays_are_fixed_uniform_or_lognormal(void **state)
{
	const struct soft_fault *f = parse_fault("delay:time=2us");

	assert_int_equal(f->kind, SOFT_DELAY);
	assert_int_equal(f->ops, SOFT_OP_ALL);
	assert_int_equal(f->low_ns, 2000);
	assert_int_equal(f->high_ns, 2000);
	f = parse_fault("delay:op=write+read,time=1.5us..3ms");
	assert_int_equal(f->ops, SOFT_OP_WRITE | SOFT_OP_READ);
	assert_int_equal(f->low_ns, 1500);
	assert_int_equal(f->high_ns, 3000000);
	f = parse_fault("delay:sigma=0.5,median=1s,op=flush");
	assert_int_equal(f->ops, SOFT_OP_FLUSH);
	assert_int_equal(f->median_ns, 1000000000);
	assert_true(f->sigma > 0.4999 && f->sigma < 0.5001);
}

static void delays_may_be_of_some_operations(void **state)
{
	const struct soft_fault *f = parse_fault("delay:every=100,time=200us");

	assert_int_equal(f->when.every, 100);
	assert_int_equal(f->low_ns, 200000);
	f = parse_fault("delay:op=write,at=7,median=1us,sigma=0");
	assert_int_equal(f->when.at, 7);
	assert_int_equal(f->when.every, 0);
}

static void a_secret_is_in_a_file(void **state)
{
	parse("");
	assert_string_equal(options.secret, "");
	parse("secret:/root/it verbose");
	assert_string_equal(options.secret, "/root/it");
}

static void a_trace_is_a_file_for_each_process(void **state)
{
	parse("seed:3");
	assert_string_equal(options.trace, "");
	parse("trace:/tmp/%p verbose trace:a:b.%p,c=d");
	assert_string_equal(options.trace, "a:b.%p,c=d");
	assert_int_equal(options.faults_count, 0);
}

static void rates_are_bits_or_bytes_in_powers_of_ten(void **state)
{
	static const struct {
		const char *word;
		uint64_t bytes_per_s;
	} cases[] = {
		{"rate:100Gbit", 12500000000},
		{"rate:10GB", 10000000000},
		{"rate:8bit", 1},
		{"rate:1kbit", 125},
		{"rate:1Mbit", 125000},
		{"rate:1.5kB", 1500},
		{"rate:2MB", 2000000},
		{"rate:7B", 7},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(parse_fault(cases[i].word)->kind, SOFT_RATE);
		assert_int_equal(options.faults[0].bytes_per_s, cases[i].bytes_per_s);
	}
}

static void a_full_stop_is_the_point_in_any_locale(void **state)
{
	/* not every system has one with a comma: then the default locale does */
	setlocale(LC_ALL, "de_DE.UTF-8");
	assert_int_equal(parse_fault("delay:time=1.5us")->low_ns, 1500);
	setlocale(LC_ALL, "C");
}

static void receive_faults(void **state)
{
	const struct soft_fault *f = parse_fault("rnr:every=50,times=3");

	assert_int_equal(f->kind, SOFT_RNR);
	assert_int_equal(f->when.every, 50);
	assert_int_equal(f->when.at, 0);
	assert_int_equal(f->times, 3);
	assert_int_equal(parse_fault("rnr:at=7")->times, 1);
}

static void connection_faults(void **state)
{
	assert_int_equal(parse_fault("drop:after=1000")->kind, SOFT_DROP);
	assert_int_equal(options.faults[0].after, 1000);
	assert_int_equal(parse_fault("refuse")->kind, SOFT_REFUSE);
	assert_int_equal(parse_fault("refuse:at=2")->when.at, 2);
	assert_int_equal(parse_fault("unreachable:every=3")->kind, SOFT_UNREACHABLE);
	assert_int_equal(options.faults[0].when.every, 3);
}

static void failing_calls_have_an_errno(void **state)
{
	const struct soft_fault *f = parse_fault("register:at=2");

	assert_int_equal(f->kind, SOFT_REGISTER);
	assert_int_equal(f->error, ENOMEM);
	assert_int_equal(parse_fault("register:every=3,errno=EACCES")->error, EACCES);
	f = parse_fault("call:at=17");
	assert_int_equal(f->kind, SOFT_CALL);
	assert_int_equal(f->error, ENOMEM);
	assert_string_equal(f->name, "");
	f = parse_fault("call:name=rdma_get_cm_event,every=2,errno=EIO");
	assert_string_equal(f->name, "rdma_get_cm_event");
	assert_int_equal(f->error, EIO);
}

static void failing_completions_have_a_status(void **state)
{
	const struct soft_fault *f = parse_fault("complete:op=write,at=5,status=REM_ACCESS_ERR");

	assert_int_equal(f->kind, SOFT_COMPLETE);
	assert_int_equal(f->ops, SOFT_OP_WRITE);
	assert_int_equal(f->status, IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(parse_fault("complete:status=GENERAL_ERR")->status, IBV_WC_GENERAL_ERR);
	assert_int_equal(parse_fault("corrupt:op=read+write,at=9")->kind, SOFT_CORRUPT);
	assert_int_equal(options.faults[0].ops, SOFT_OP_READ | SOFT_OP_WRITE);
}

static void power_failures_are_strict_unless_said(void **state)
{
	const struct soft_fault *f = parse_fault("powerfail:at=9");

	assert_int_equal(f->kind, SOFT_POWERFAIL);
	assert_int_equal(f->when.at, 9);
	assert_false(f->eadr);
	assert_true(f->ddio);
	f = parse_fault("powerfail:domain=eadr,ddio=off,at=1");
	assert_true(f->eadr);
	assert_false(f->ddio);
	assert_false(parse_fault("powerfail:domain=adr,at=1")->eadr);
	assert_true(parse_fault("powerfail:ddio=on,at=1")->ddio);
}

static void faults_stand_in_the_order_of_the_user(void **state)
{
	parse("rate:1GB verbose delay:time=1us refuse:at=1");
	assert_int_equal(options.faults_count, 3);
	assert_int_equal(options.faults[0].kind, SOFT_RATE);
	assert_int_equal(options.faults[1].kind, SOFT_DELAY);
	assert_int_equal(options.faults[2].kind, SOFT_REFUSE);
}

static void every_name_of_a_status_is_the_one_of_verbs(void **state)
{
	/* ibv_poll_cq(3) numbers them by their order */
	static const char *const names[] = {
		"LOC_LEN_ERR",	     "LOC_QP_OP_ERR",	  "LOC_EEC_OP_ERR",	"LOC_PROT_ERR",
		"WR_FLUSH_ERR",	     "MW_BIND_ERR",	  "BAD_RESP_ERR",	"LOC_ACCESS_ERR",
		"REM_INV_REQ_ERR",   "REM_ACCESS_ERR",	  "REM_OP_ERR",		"RETRY_EXC_ERR",
		"RNR_RETRY_EXC_ERR", "LOC_RDD_VIOL_ERR",  "REM_INV_RD_REQ_ERR", "REM_ABORT_ERR",
		"INV_EECN_ERR",	     "INV_EEC_STATE_ERR", "FATAL_ERR",		"RESP_TIMEOUT_ERR",
		"GENERAL_ERR",
	};
	char word[SOFT_WORD_MAX];

	for (int i = 0; i < (int)(sizeof(names) / sizeof(names[0])); i++) {
		snprintf(word, sizeof(word), "complete:status=%s", names[i]);
		assert_int_equal(parse_fault(word)->status, i + 1);
	}
}

static const char *const wrong_words[] = {
	/* no such thing */
	"dely:time=2us",
	":",
	"=",
	"VERBOSE",
	"verbose:1",
	"forced-remote:",
	"powerfail",
	"seed",
	"seed:",
	"seed:-1",
	"seed:1x",
	"seed:18446744073709551616",
	"transport",
	"transport:udp",
	"transport:local,tcp",
	"trace",
	"trace:",
	"secret",
	"secret:",
	"trace:/tmp/trace",
	"trace:/tmp/%d",
	"trace:/tmp/%",
	"trace:/tmp/%p.%p",
	"trace:/tmp/%%p",
	/* keys */
	"delay",
	"delay:",
	"delay:2us",
	"delay:tme=2us",
	"delay:time=2us,",
	"delay:op=write",
	"delay:time=2us,time=3us",
	"delay:time=2us,every=2,at=1",
	"delay:every=2",
	"delay:time=2us,median=1us",
	"delay:median=2us",
	"delay:sigma=1",
	"delay:time=1us,sigma=1",
	"drop",
	"drop:at=3",
	"rate",
	"rate:limit=1GB",
	"refuse:",
	"refuse:at=1,every=2",
	"complete:at=1",
	"powerfail:ddio=on",
	"powerfail:every=3",
	"rate:1GB,2GB",
	/* values */
	"delay:time=2",
	"delay:time=us",
	"delay:time=-1us",
	"delay:time=1e3us",
	"delay:time=.us",
	"delay:time=2us..1us",
	"delay:time=1us..",
	"delay:time=..1us",
	"delay:time=3601s",
	"delay:time=1us..2us..3us",
	"delay:median=0ns,sigma=1",
	"delay:median=1us,sigma=11",
	"delay:median=1us,sigma=x",
	"delay:median=1us,sigma=nan",
	"delay:op=,time=1us",
	"delay:op=write+,time=1us",
	"delay:op=wrote,time=1us",
	"rate:0B",
	"rate:100",
	"rate:1gbit",
	"rate:1GiB",
	"rate:9999999GB",
	"rate:infB",
	"rate:1GB/s",
	"rnr:every=0",
	"rnr:at=0",
	"rnr:at=0x1",
	"rnr:times=0",
	"rnr:at=9223372036854775808",
	"rnr:times=4294967296",
	"register:at=1,errno=12",
	"register:errno=ENOSUCH",
	"register:errno=",
	"complete:status=SUCCESS",
	"complete:status=rem_access_err",
	"complete:status=10",
	"call:name=malloc",
	"call:name=ibv_Reg",
	"call:name=ibv_reg_mr()",
	"call:name=",
	"powerfail:at=1,domain=adr|eadr",
	"powerfail:at=1,ddio=yes",
	"powerfail:at=",
};

static void wrong_words_are_refused_by_name(void **state)
{
	for (size_t i = 0; i < sizeof(wrong_words) / sizeof(wrong_words[0]); i++) {
		error[0] = 0;
		if (soft_options_parse(wrong_words[i], &options, error) != -EINVAL)
			fail_msg("%s was taken", wrong_words[i]);
		if (strncmp(error, wrong_words[i], strlen(wrong_words[i])) != 0 ||
		    strchr(error, '\n') != NULL)
			fail_msg("%s: the sentence is: %s", wrong_words[i], error);
	}
}

static void a_word_has_a_limit(void **state)
{
	char word[SOFT_WORD_MAX + 1];

	/* leading zeros may fill it up to its last byte */
	memset(word, '0', sizeof(word));
	memcpy(word, "seed:", 5);
	word[SOFT_WORD_MAX - 2] = '7';
	word[SOFT_WORD_MAX - 1] = '\0';
	parse(word);
	assert_int_equal(options.seed, 7);
	word[SOFT_WORD_MAX - 1] = '1';
	word[SOFT_WORD_MAX] = '\0';
	assert_int_equal(soft_options_parse(word, &options, error), -EINVAL);
	assert_non_null(strstr(error, "127 bytes"));
}

static void there_may_be_so_many_faults(void **state)
{
	char text[(SOFT_FAULTS_MAX + 1) * 16] = "";

	for (int i = 0; i < SOFT_FAULTS_MAX; i++)
		strcat(text, "rnr:at=1 ");
	parse(text);
	assert_int_equal(options.faults_count, SOFT_FAULTS_MAX);
	strcat(text, "refuse");
	assert_int_equal(soft_options_parse(text, &options, error), -EINVAL);
	assert_non_null(strstr(error, "refuse: more than 16"));
	assert_int_equal(soft_options_parse("powerfail:at=1 powerfail:at=2", &options, error),
			 -EINVAL);
	assert_non_null(strstr(error, "powerfail:at=2"));
}

static void a_when_counts_from_one(void **state)
{
	static const struct {
		struct soft_when when;
		const char *hits; /* among numbers 1 to 6 */
	} cases[] = {
		{{0, 0}, "111111"}, {{1, 0}, "100000"}, {{4, 0}, "000100"},
		{{0, 1}, "111111"}, {{0, 3}, "001001"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (uint64_t n = 1; n <= 6; n++)
			assert_int_equal(soft_when_hits(&cases[i].when, n),
					 cases[i].hits[n - 1] == '1');
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_asked_is_the_defaults),
		cmocka_unit_test(the_last_of_a_setting_counts),
		cmocka_unit_test(delays_are_fixed_uniform_or_lognormal),
		cmocka_unit_test(delays_may_be_of_some_operations),
		cmocka_unit_test(a_secret_is_in_a_file),
		cmocka_unit_test(a_trace_is_a_file_for_each_process),
		cmocka_unit_test(rates_are_bits_or_bytes_in_powers_of_ten),
		cmocka_unit_test(a_full_stop_is_the_point_in_any_locale),
		cmocka_unit_test(receive_faults),
		cmocka_unit_test(connection_faults),
		cmocka_unit_test(failing_calls_have_an_errno),
		cmocka_unit_test(failing_completions_have_a_status),
		cmocka_unit_test(power_failures_are_strict_unless_said),
		cmocka_unit_test(faults_stand_in_the_order_of_the_user),
		cmocka_unit_test(every_name_of_a_status_is_the_one_of_verbs),
		cmocka_unit_test(wrong_words_are_refused_by_name),
		cmocka_unit_test(a_word_has_a_limit),
		cmocka_unit_test(there_may_be_so_many_faults),
		cmocka_unit_test(a_when_counts_from_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
