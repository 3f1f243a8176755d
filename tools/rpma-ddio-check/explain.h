/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * explain.h -- what a check looks at, why, and what its statuses mean.
 */
#ifndef EXPLAIN_H
#define EXPLAIN_H

/* To standard output; list as options_list_has() takes it. */
int explain(const char *list);

#endif /* EXPLAIN_H */
