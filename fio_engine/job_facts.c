/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job_facts.c -- see job_facts.h.
 *
 * fio prints its list of options when all jobs have ended, from its main
 * process; what a job stands for is known to the job, which may be another
 * process by then. So the text is in memory that both share. As fio gives it to
 * free(), it is a block of malloc's whose pages are mapped again, shared.
 */
#include "job_facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define NAME "librpma"

static char *shared_text(size_t bytes)
{
	char *text = aligned_alloc(bytes, bytes);

	if (text && mmap(text, bytes, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) {
		free(text);
		return NULL;
	}
	return text;
}

static char *find(struct thread_data *td)
{
	struct flist_head *entry;

	flist_for_each(entry, &td->opt_list)
	{
		struct print_option *option = flist_entry(entry, struct print_option, list);

		if (!strcmp(option->name, NAME))
			return option->value;
	}
	return NULL;
}

bool facts_open(struct thread_data *td)
{
	struct print_option *option;

	if (find(td))
		return true;
	option = calloc(1, sizeof(*option));
	if (!option)
		return false;
	option->name = strdup(NAME);
	option->value = shared_text((size_t)sysconf(_SC_PAGESIZE));
	if (!option->name || !option->value) {
		free(option->name);
		free(option->value);
		free(option);
		return false;
	}
	memcpy(option->value, "unknown", sizeof("unknown"));
	flist_add_tail(&option->list, &td->opt_list);
	return true;
}

void facts_set(struct thread_data *td, const char *text)
{
	char *value = find(td);

	if (value)
		snprintf(value, (size_t)sysconf(_SC_PAGESIZE), "%s", text);
}
