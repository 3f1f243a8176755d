/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * persist_choice.h -- which flush a target takes, and what --persist auto comes to.
 */
#ifndef BENCH_CLIENT_PERSIST_CHOICE_H
#define BENCH_CLIENT_PERSIST_CHOICE_H

#include "tools/rpma-bench/result/record.h"

/* The strongest flush that the server's word and its memory allow. */
enum rpma_flush_type persisting_flush(const struct message_welcome *welcome, uint32_t target);

/*
 * The persistence that auto tries first on the target: native, or what it has to be
 * with the reason stored in *choice.
 */
enum bench_persist persisting_first(const struct message_welcome *welcome, uint32_t target,
				    struct persist_choice *choice);
/* Settles *choice by what the first flush was. */
void persisting_settle(struct persist_choice *choice, bool native);

/*
 * 0, or -ENOTSUP with the error message set: it needs a flush that the target does not take.
 * who names the server, here and below.
 */
int persisting_check(const struct message_welcome *welcome, const struct params *params,
		     const char *who);
/* -ENOTSUP with the error message set: --persist native where flushes are reads. */
int persisting_not_native(const char *who);

#endif /* BENCH_CLIENT_PERSIST_CHOICE_H */
