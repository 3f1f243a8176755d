/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * journal_line.h -- is a line of a journal one that this very run could have
 * written? Asked by journal.c, of lines that --resume reads back.
 */
#ifndef JOURNAL_LINE_H
#define JOURNAL_LINE_H

#include <jansson.h>
#include <stdbool.h>

#include "form.h"
#include "plan.h"

/* Its repeat can go into a result as it is; or why says where it differs from what was expected. */
bool journal_line_good(const json_t *line, const struct plan *plan, char why[FORM_WHY_MAX]);

#endif /* JOURNAL_LINE_H */
