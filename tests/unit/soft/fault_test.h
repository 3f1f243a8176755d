/* SPDX-License-Identifier: BSD-3-Clause */
/* fault_test.h -- faults from a string as users write it. */
#pragma once

#include "soft_device/faults/fault.h"
#include "tests/lib/test.h"

static inline void use_faults(const char *words)
{
	struct soft_options options;
	char error[SOFT_ERROR_MAX];

	if (soft_options_parse(words, &options, error) || fault_init(&options, error))
		fail_msg("%s", error);
}

static inline struct fault_power power_of(const char *words)
{
	struct soft_options options;
	struct fault_power power = {0};
	char error[SOFT_ERROR_MAX];

	if (soft_options_parse(words, &options, error) || fault_power(&options, &power, error))
		fail_msg("%s", error);
	return power;
}

/* Words of faults are refused, each with one message that begins with the word. */
static inline void assert_refused(const char *const *words, size_t count)
{
	struct soft_options options;
	char error[SOFT_ERROR_MAX];

	for (size_t i = 0; i < count; i++) {
		assert_int_equal(soft_options_parse(words[i], &options, error), 0);
		if (fault_init(&options, error) != -EINVAL)
			fail_msg("%s was taken", words[i]);
		if (strncmp(error, words[i], strlen(words[i])) != 0 || strchr(error, '\n') != NULL)
			fail_msg("%s: the message is: %s", words[i], error);
		assert_false(fault_any);
	}
}
#define ASSERT_REFUSED(...)                                                                        \
	do {                                                                                       \
		static const char *const words[] = {__VA_ARGS__};                                  \
		assert_refused(words, sizeof(words) / sizeof(words[0]));                           \
	} while (0)
