/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * point_check.h -- which points of a plan the server can serve: asked before the
 * first is measured, so that one that is impossible does not end a long run half-way.
 */
#ifndef BENCH_CLIENT_POINT_CHECK_H
#define BENCH_CLIENT_POINT_CHECK_H

#include "run.h"

/*
 * Asks the server about every point; those that it cannot serve get the reason in
 * run->unsupported. -EIO with the error message set: the connection failed, no point is
 * left, or, of several clients that measure together, any point is unsupported.
 */
int points_check(struct run *run);

/* Keeps the error message as the reason why a point is not measured. As points_check(). */
int point_set_unsupported(struct run *run, size_t point);

/* 0, or -EIO with the first reason as the error message: every point is unsupported. */
int points_left(const struct run *run);

#endif /* BENCH_CLIENT_POINT_CHECK_H */
