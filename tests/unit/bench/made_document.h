/* SPDX-License-Identifier: BSD-3-Clause */
/* made_document.h -- a run of one point, for the tests of its document. */
#pragma once

#include "tests/lib/test.h"
#include "tools/rpma-bench/result/record.h"
#include "tools/rpma-bench/result/repeat.h"

extern struct options options;
extern struct params point;
extern struct record run;
extern json_t *repeats[1];

/* One point of one complete repeat, to 1 MiB of memory of a server. */
int document_setup(void **state);
int document_teardown(void **state);
#define RUN_TEST(name) TEST(name, document_setup, document_teardown)

/* A repeat of the point; a server's report on it may be NULL. */
void document_add_repeat(struct repeat r, const char *report);

bool document_warned(const json_t *document, const char *code, const char *words);

/* The run warns of it; the words are NULL when the code must not be there. */
void document_expect_warning(const char *code, const char *words);
