/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * parse.c -- from a word of RPMA_SOFT to a fault: its name, and after a colon keys and values
 * separated by commas.
 *
 * The keys that faults share have their rows here, the others in the file of the fault (ops.h).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops.h"
#include "soft_device/process/value.h"

#define ROW_OF(name) &name##_fault,
static const struct fault_ops *const list_of_ops[] = {FAULT_LIST(ROW_OF)};
#define LIST_LENGTH (sizeof(list_of_ops) / sizeof(list_of_ops[0]))

bool fault_time(const char *value, void *to)
{
	return value_time_ns(value, to) && *(const uint64_t *)to > 0;
}

bool fault_number(const char *value, void *to)
{
	return value_number(value, 1, INT64_MAX, to);
}

bool fault_errno(const char *value, void *to)
{
	return value_errno(value, to);
}

static bool parse_op(const char *value, void *to)
{
	static const struct value_word kinds[] = {
		{"write", SOFT_OP_WRITE}, {"read", SOFT_OP_READ},
		{"send", SOFT_OP_SEND},	  {"atomic", SOFT_OP_ATOMIC},
		{"flush", SOFT_OP_FLUSH}, {"recv", SOFT_OP_RECV},
		{"all", SOFT_OP_ALL},	  {NULL, 0},
	};
	char copy[SOFT_WORD_MAX], *rest = copy, *word;
	unsigned int *all = to;
	int kind;

	snprintf(copy, sizeof(copy), "%s", value);
	*all = 0;
	while ((word = strsep(&rest, "+")) != NULL) {
		if (!value_word(kinds, word, &kind))
			return false;
		*all |= (unsigned int)kind;
	}
	return true;
}

/* They set members of struct fault itself. */
static const struct {
	unsigned int bit;
	struct fault_key key;
} shared_keys[] = {
	{FAULT_AT, {"at", fault_number, "a number from 1", offsetof(struct fault, when.at), false}},
	{FAULT_EVERY,
	 {"every", fault_number, "a number from 1", offsetof(struct fault, when.every), false}},
	{FAULT_OP,
	 {"op", parse_op, "write, read, send, atomic, flush, recv or all, joined by +",
	  offsetof(struct fault, kinds), false}},
};
#define SHARED_KEYS (sizeof(shared_keys) / sizeof(shared_keys[0]))

/* NULL: the fault has no such key. A bit for each key that it has in *bit. */
static const struct fault_key *find_key(const struct fault_ops *ops, const char *name,
					unsigned int *bit)
{
	for (unsigned int i = 0; i < SHARED_KEYS; i++) {
		*bit = shared_keys[i].bit;
		if ((ops->takes & *bit) != 0 && strcmp(shared_keys[i].key.name, name) == 0)
			return &shared_keys[i].key;
	}
	*bit = 1u << SHARED_KEYS;
	for (const struct fault_key *key = ops->keys; key != NULL && key->name != NULL; key++) {
		if (strcmp(key->name, name) == 0)
			return key;
		*bit <<= 1;
	}
	return NULL;
}

/* One KEY=VALUE, or VALUE; "seen" collects the keys of the word. */
static int parse_item(char *item, struct fault *fault, unsigned int *seen, char *error)
{
	char *value = strchr(item, '=');
	const char *name = value != NULL ? item : "";
	const struct fault_key *key;
	unsigned int bit;
	char *to;

	if (value != NULL)
		*value++ = '\0';
	else
		value = item;
	key = find_key(fault->ops, name, &bit);
	if (key == NULL)
		return soft_options_refuse(error, "%s: expected %s", fault->word, fault->ops->form);
	if (*seen & bit)
		return soft_options_refuse(error, "%s: twice the same (%s)", fault->word,
					   fault->ops->form);
	*seen |= bit;
	to = bit < 1u << SHARED_KEYS ? (char *)fault : fault->own;
	if (!key->parse(value, to + key->at))
		return soft_options_refuse(error, "%s: %s is not %s", fault->word, value,
					   key->expected);
	return 0;
}

static bool lacks_key(const struct fault_ops *ops, unsigned int seen)
{
	unsigned int bit = 1u << SHARED_KEYS;

	for (const struct fault_key *key = ops->keys; key != NULL && key->name != NULL; key++) {
		if (key->is_needed && (seen & bit) == 0)
			return true;
		bit <<= 1;
	}
	return false;
}

static int parse_items(char *items, struct fault *fault, char *error)
{
	unsigned int seen = 0;
	char *item;
	int ret = 0;

	while (ret == 0 && (item = strsep(&items, ",")) != NULL)
		ret = parse_item(item, fault, &seen, error);
	if (ret != 0)
		return ret;
	if ((seen & FAULT_WHEN) == FAULT_WHEN || /* one or the other */
	    lacks_key(fault->ops, seen) ||
	    (fault->ops->is_whole != NULL && !fault->ops->is_whole(fault)))
		return soft_options_refuse(error, "%s: expected %s", fault->word, fault->ops->form);
	return 0;
}

static int refuse_name(const char *word, char *error)
{
	char names[SOFT_ERROR_MAX / 2];
	size_t used = 0;

	for (size_t i = 0; i < LIST_LENGTH && used < sizeof(names); i++)
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s, ",
					 list_of_ops[i]->name);
	return soft_options_refuse(error, "%s: no such fault or setting: %s" SOFT_SETTING_NAMES,
				   word, names);
}

static int parse_word(const char *word, struct fault *fault, char *error)
{
	char copy[SOFT_WORD_MAX], *items = copy;
	const char *name;
	size_t i = 0;

	snprintf(copy, sizeof(copy), "%s", word);
	name = strsep(&items, ":");
	while (i < LIST_LENGTH && strcmp(list_of_ops[i]->name, name) != 0)
		i++;
	if (i == LIST_LENGTH)
		return refuse_name(word, error);
	*fault = (struct fault){.ops = list_of_ops[i], .kinds = SOFT_OP_ALL};
	snprintf(fault->word, sizeof(fault->word), "%s", word);
	fault->own = calloc(1, list_of_ops[i]->own_bytes + 1); /* 0 bytes may be NULL */
	if (fault->own == NULL)
		return soft_options_refuse(error, "%s: out of memory", word);
	return parse_items(items, fault, error);
}

static bool is_second(const struct fault_list *list, const struct fault_ops *ops)
{
	for (size_t i = 0; i + 1 < list->count; i++) {
		if (list->fault[i].ops == ops)
			return true;
	}
	return false;
}

static int add(struct fault_list *list, const char *word, char *error)
{
	struct fault *fault = &list->fault[list->count++];
	int ret = parse_word(word, fault, error);

	if (ret == 0 && fault->ops->is_single && is_second(list, fault->ops))
		ret = soft_options_refuse(error, "%s: a second fault %s", word, fault->ops->name);
	return ret;
}

int fault_list_parse(struct fault_list *list, const struct soft_options *options,
		     char error[SOFT_ERROR_MAX])
{
	int ret = 0;

	memset(list, 0, sizeof(*list));
	error[0] = '\0';
	for (size_t i = 0; ret == 0 && i < options->faults_count; i++)
		ret = add(list, options->faults[i], error);
	if (ret != 0)
		fault_list_free(list);
	return ret;
}

void fault_list_free(struct fault_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->fault[i].own);
	memset(list, 0, sizeof(*list));
}
