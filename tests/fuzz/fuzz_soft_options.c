/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_soft_options.c -- the words of RPMA_SOFT.
 *
 * What is refused has a message. Faults that are taken do what the device relies on, and
 * the word of each is taken alone as well.
 */
#include "fuzz.h"
#include "soft_device/faults/fault.h"

/* The hooks keep an operation within the ranges that the device relies on. */
static void meet_faults(void)
{
	const uint64_t due_ns = fault_due_ns(SOFT_OP_WRITE, 8, 1);
	const int call_error = fault_call_slow("ibv_reg_mr"), error = fault_register();
	unsigned char bytes[8] = {0};

	hold(due_ns != 1 && due_ns <= INT64_MAX);
	hold(call_error >= 0 && call_error < 4096 && error >= 0 && error < 4096);
	hold((unsigned)fault_complete(SOFT_OP_WRITE) <= IBV_WC_GENERAL_ERR);
	hold((unsigned)fault_connect() <= CONNECT_UNREACHABLE);
	fault_rnr();
	fault_drop(1);
	fault_corrupt(SOFT_OP_WRITE, bytes, sizeof(bytes));
}

static void use_faults(const struct soft_options *options)
{
	static struct soft_options one;
	char error[SOFT_ERROR_MAX];
	struct fault_power power;
	int ret = fault_init(options, error);

	hold(fault_power(options, &power, error) == ret && power.at <= INT64_MAX);
	hold(strnlen(error, SOFT_ERROR_MAX) < SOFT_ERROR_MAX && (ret == 0) == (error[0] == '\0'));
	if (ret == 0)
		meet_faults();
	else
		hold(!fault_any || options->trace[0] != '\0' || options->checks ||
		     options->adversary);
	for (size_t i = 0; ret == 0 && i < options->faults_count; i++) {
		hold(strnlen(options->faults[i], SOFT_WORD_MAX) < SOFT_WORD_MAX);
		hold(soft_options_parse(options->faults[i], &one, error) == 0);
		hold(one.faults_count == 1 && fault_init(&one, error) == 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct soft_options options;
	char error[SOFT_ERROR_MAX], *text = malloc(size + 1);
	int ret;

	if (text == NULL)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	ret = soft_options_parse(text, &options, error);
	free(text);
	hold(strnlen(error, SOFT_ERROR_MAX) < SOFT_ERROR_MAX && (ret == 0) == (error[0] == '\0'));
	hold(options.faults_count <= SOFT_FAULTS_MAX);
	hold(strnlen(options.trace, SOFT_WORD_MAX) < SOFT_WORD_MAX);
	options.verbose = false; /* it prints what it hits */
	if (ret == 0)
		use_faults(&options);
	return 0;
}

size_t fuzz_seed(size_t index, uint8_t input[FUZZ_INPUT_MAX])
{
	static const char *const seeds[] = {
		"verbose forced-remote transport:tcp seed:77",
		"delay:op=write+read,time=1us..3us delay:median=2us,sigma=0.5",
		"rate:100Gbit rnr:every=50,times=2 drop:after=1000",
		"refuse:at=2 unreachable:every=3 register:at=4,errno=EACCES",
		"complete:op=flush,at=5,status=REM_ACCESS_ERR corrupt:op=all,every=9",
		"call:name=ibv_reg_mr,at=17,errno=ENOMEM powerfail:at=9,domain=eadr,ddio=off",
		"trace:/tmp/posted.%p delay:every=100,time=1us",
	};

	return fuzz_text(seeds, sizeof(seeds) / sizeof(seeds[0]), index, input);
}
