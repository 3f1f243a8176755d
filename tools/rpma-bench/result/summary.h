/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * summary.h -- statistics over repeats and windows; numbers in, numbers out.
 */
#ifndef BENCH_RESULT_SUMMARY_H
#define BENCH_RESULT_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>

struct summary_interval {
	double mean;
	bool known; /* at least two values: the rest means something */
	double low; /* 95 %, Student t */
	double high;
	double cv; /* coefficient of variation */
};

struct summary_interval summary_mean(const double *values, size_t count);

/* The 97.5 % quantile of Student's t. */
double summary_t975(size_t degrees_of_freedom);

/* Sorts the values; 0 without any. */
double summary_median(double *values, size_t count);

/* Farther from the median than 3 scaled median deviations; flags[count] is filled. */
size_t summary_flag(const double *values, size_t count, bool *flags);

/*
 * 1: no trend over the windows (the fitted line moves less than 1 % of the
 * mean from one window to the next) and a deviation below 3 %; 0: not steady;
 * -1: fewer than 10 windows, unknown.
 */
int summary_steady(const double *windows, size_t count);

#endif /* BENCH_RESULT_SUMMARY_H */
