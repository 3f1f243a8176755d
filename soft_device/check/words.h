/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * words.h -- what `rpma-soft --check=WORDS` asks for: the launcher refuses what the device would.
 *
 *	KIND		report this kind only; several add up
 *	strict		warnings count as errors do
 *	notes		print notes as well
 *	halt		end the process at the first error
 *	every		look at each request, not at one of 16 of a place that has posted many
 *	durable-on-send	take each message for a claim that what came before it is durable
 *	watch		have the processor watch memory that a completion is to bring
 *	exit=N		the exit status of a process with errors (99)
 *	suppressions=FILE	lines KIND:FUNCTION, both may be patterns; # begins a comment
 *	json=FILE	append a line of JSON for each finding
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kinds.h"
#include "soft_device/process/options.h"

_Static_assert(CHECK_KINDS <= 64, "a bit for each");

struct check_words {
	uint64_t kinds; /* a bit for each that is reported */
	bool strict;
	bool notes;
	bool halt;
	bool every;
	bool durable_on_send;
	bool watch;
	int exit_status;
	char suppressions[SOFT_CHECK_MAX];
	char json[SOFT_CHECK_MAX];
};

/* Parses soft_options.check: 0, or -EINVAL with one error message that names the word. */
int check_words_parse(const char *text, struct check_words *words, char error[SOFT_ERROR_MAX]);
