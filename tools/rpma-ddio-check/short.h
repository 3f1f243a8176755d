/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * short.h -- --short: the verdict, what stands in its way, and what to do.
 */
#ifndef SHORT_H
#define SHORT_H

#include <jansson.h>

/* The document has "advice". */
int short_print(const json_t *document);

#endif /* SHORT_H */
