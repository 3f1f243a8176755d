/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * options.h -- the command line of rpma-ddio-check.
 *
 * Texts point into argv or the environment.
 */
#pragma once

#include "common/base/cli.h"
#include "readiness/readiness.h"

enum set_choice { SET_NOTHING, SET_OFF, SET_ON, SET_RESTORE };
/* The words of --set. */
extern const char *const options_set_words[];

struct options {
	struct cli cli;
	const char *device;	/* NULL: auto */
	const char *target;	/* NULL: none */
	const char *sysroot;	/* NULL: this machine */
	const char *only;	/* NULL: every check; a valid list of ids otherwise */
	const char *explain;	/* NULL: inspect; a valid list of ids, or "all" otherwise */
	const char *dump_facts; /* NULL: no dump */
	struct facts_claims claims;
	bool lenient;
	bool probe;
	enum set_choice set;
	bool dry_run;	   /* print what --set would write */
	const char *state; /* the file of former values; not NULL with --set */
	bool all;	   /* every device on every target */
	bool short_form;
	bool json;
	int argc;
	char **argv;
};

/* 0, or -EINVAL with the error message set. */
int options_parse(struct options *options, int argc, char **argv);

/* Is this id in the list? A list of NULL, and "all", has every id. */
bool options_list_has(const char *list, const char *id);
