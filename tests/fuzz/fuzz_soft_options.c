/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_soft_options.c -- the words of RPMA_SOFT.
 *
 * What is taken must be within the ranges that the device relies on; what is
 * refused has a sentence. Each fault's own word gives the same fault again.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "soft_device/process/options.h"

static void hold(int condition)
{
	if (!condition)
		abort();
}

static void check_fault(const struct soft_fault *fault)
{
	hold(strnlen(fault->word, SOFT_WORD_MAX) < SOFT_WORD_MAX);
	hold(strnlen(fault->name, sizeof(fault->name)) < sizeof(fault->name));
	hold(fault->when.at == 0 || fault->when.every == 0);
	hold((fault->ops & ~(unsigned int)SOFT_OP_ALL) == 0);
	hold(fault->low_ns <= fault->high_ns);
	hold(fault->sigma >= 0 && fault->sigma <= 10);
	hold(fault->kind != SOFT_RATE || fault->bytes_per_s > 0);
	hold(fault->kind != SOFT_RNR || fault->times > 0);
	hold(fault->kind != SOFT_COMPLETE || fault->status > 0);
	hold(fault->kind != SOFT_POWERFAIL || fault->when.at > 0);
	hold((fault->kind != SOFT_CALL && fault->kind != SOFT_REGISTER) || fault->error > 0);
}

static int same(const struct soft_fault *a, const struct soft_fault *b)
{
	return a->kind == b->kind && a->when.at == b->when.at && a->when.every == b->when.every &&
	       a->ops == b->ops && a->low_ns == b->low_ns && a->high_ns == b->high_ns &&
	       a->median_ns == b->median_ns && a->bytes_per_s == b->bytes_per_s &&
	       a->times == b->times && a->after == b->after && a->error == b->error &&
	       a->status == b->status && strcmp(a->name, b->name) == 0 && a->eadr == b->eadr &&
	       a->ddio == b->ddio;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct soft_options options, again;
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
	for (size_t i = 0; ret == 0 && i < options.faults_count; i++) {
		check_fault(&options.faults[i]);
		hold(soft_options_parse(options.faults[i].word, &again, error) == 0);
		hold(same(&again.faults[0], &options.faults[i]));
	}
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

	if (index >= sizeof(seeds) / sizeof(seeds[0]))
		return 0;
	memcpy(input, seeds[index], strlen(seeds[index]));
	return strlen(seeds[index]);
}
