/* SPDX-License-Identifier: BSD-3-Clause */
/* target_selector.c -- target words into numbers: of words first, of targets later. */
#include "target_selector.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/cli.h"
#include "common/base/failure.h"
#include "common/rdma/target.h"

static int out_of_memory(void)
{
	return failure_set(EXIT_INTERNAL, "options", "out of memory");
}

int target_selector_init(struct target_selector *selector)
{
	*selector = (struct target_selector){.words = {strdup("0")}};
	selector->count = selector->words[0] != NULL;
	return selector->count == 1 ? 0 : out_of_memory();
}

void target_selector_clear(struct target_selector *selector)
{
	for (size_t i = 0; i < selector->count; i++)
		free(selector->words[i]);
	selector->count = 0;
}

static bool is_number(const char *word)
{
	uint64_t number;

	return units_parse_number(word, &number) == 0 && number < PARAMS_TARGETS_MAX;
}

static bool is_kind(const char *word)
{
	for (int kind = 0; kind < TARGET_KINDS; kind++) {
		if (strcmp(word, target_kind_name((enum target_kind)kind)) == 0)
			return true;
	}
	return false;
}

/* The index of the word, which is added if it is new. */
static int find(struct target_selector *selector, const char *word, uint64_t *index)
{
	for (size_t i = 0; i < selector->count; i++) {
		if (strcmp(word, selector->words[i]) == 0) {
			*index = i;
			return 0;
		}
	}
	if (selector->count == PARAMS_TARGETS_MAX || !(is_number(word) || is_kind(word)))
		return -EINVAL;
	selector->words[selector->count] = strdup(word);
	if (selector->words[selector->count] == NULL)
		return -ENOMEM;
	*index = selector->count++;
	return 0;
}

static int add(struct target_selector *selector, const char *word, struct units_list *list)
{
	uint64_t index;
	int ret = find(selector, word, &index);

	for (size_t i = 0; ret == 0 && i < list->count; i++)
		ret = list->values[i] == index ? -EINVAL : 0;
	if (ret == 0) {
		list->values[list->count++] = index; /* each once: they fit */
		selector->zero |= index == 0;
	}
	return ret;
}

int target_selector_set(struct target_selector *selector, struct series *series, const char *text)
{
	struct units_list list = {0, calloc(PARAMS_TARGETS_MAX, sizeof(uint64_t))};
	char *copy = strdup(text), *rest = copy;
	int ret = copy == NULL || list.values == NULL ? -ENOMEM : 0;

	while (ret == 0 && rest != NULL)
		ret = add(selector, strsep(&rest, ","), &list);
	free(copy);
	if (ret == 0) {
		units_list_free(&series->values[AXIS_TARGET]);
		series->values[AXIS_TARGET] = list;
		return 0;
	}
	units_list_free(&list);
	if (ret == -ENOMEM)
		return out_of_memory();
	return -cli_wrong_value("--target", text, axes[AXIS_TARGET].expected);
}

/* "file" is said of any, whatever keeps it. */
static bool is_of(enum target_kind kind, const char *word)
{
	return strcmp(word, target_kind_name(kind)) == 0 ||
	       (strcmp(word, "file") == 0 && target_is_cached(kind));
}

/* A kind stands for the first target that is of it. */
static size_t look_up(const char *word, const struct message_welcome *welcome)
{
	uint64_t number;
	size_t i;

	if (units_parse_number(word, &number) == 0)
		return (size_t)number;
	for (i = 0; i < welcome->targets_count; i++) {
		if (is_of((enum target_kind)welcome->targets[i].kind, word))
			break;
	}
	return i;
}

int target_selector_resolve(const struct target_selector *selector,
			    const struct message_welcome *welcome, const char *who,
			    uint32_t resolved[PARAMS_TARGETS_MAX])
{
	for (size_t i = 0; i < selector->count; i++) {
		size_t found = look_up(selector->words[i], welcome);

		if (found >= welcome->targets_count)
			return failure_set(EXIT_WRONG_USAGE, "handshake",
					   "--target %s: %s offers %d target%s, and this is not "
					   "among them",
					   selector->words[i], who, welcome->targets_count,
					   welcome->targets_count == 1 ? "" : "s");
		resolved[i] = (uint32_t)found;
	}
	for (size_t i = 1; i < selector->count; i++) {
		for (size_t k = selector->zero ? 0 : 1; k < i; k++) {
			if (resolved[i] == resolved[k])
				return failure_set(EXIT_WRONG_USAGE, "handshake",
						   "--target %s and %s are the same target of %s",
						   selector->words[k], selector->words[i], who);
		}
	}
	return 0;
}
