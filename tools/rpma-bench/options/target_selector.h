/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * target_selector.h -- the words with which a user chooses among the targets a server
 * offers: their numbers, or their kinds.
 *
 * A server's targets are known only when it has answered, so the target axis
 * counts these words; target_selector_resolve finds the targets they stand for.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "axes.h"
#include "tools/rpma-bench/protocol/message.h"

struct target_selector {
	size_t count;			 /* at least 1: */
	char *words[PARAMS_TARGETS_MAX]; /* owned; the first is always "0", */
	bool zero;			 /* which may be there without being chosen */
};

int target_selector_init(struct target_selector *selector); /* -EIO: no memory */
void target_selector_clear(struct target_selector *selector);

/* Sets the target axis of a series to a list of words; -EINVAL with the error message set. */
int target_selector_set(struct target_selector *selector, struct series *series, const char *text);

/*
 * resolved[i] is the number of the offered target that word i means. -EINVAL
 * with the error message set for what is not offered, and for two words that
 * mean the same target: its points would be there twice. who names the server.
 */
int target_selector_resolve(const struct target_selector *selector,
			    const struct message_welcome *welcome, const char *who,
			    uint32_t resolved[PARAMS_TARGETS_MAX]);
