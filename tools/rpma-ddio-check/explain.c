/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * explain.c -- prints the texts that the checks have of themselves.
 */
#include "explain.h"

#include "options.h"
#include "paper.h"

#define COLUMN 9

int explain(const char *list)
{
	const struct readiness_check *check;
	struct paper paper;
	bool first = true;

	paper_open(&paper, stdout);
	for (size_t i = 0; (check = readiness_check_at(i)) != NULL; i++) {
		if (!options_list_has(list, check->id))
			continue;
		if (!first)
			paper_line(&paper, PAPER_PLAIN, 0, "", "");
		paper_line(&paper, PAPER_STRONG, COLUMN, check->id, check->title);
		paper_line(&paper, PAPER_PLAIN, COLUMN, "", check->explain);
		first = false;
	}
	return paper_close(&paper);
}
