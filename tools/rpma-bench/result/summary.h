/* SPDX-License-Identifier: BSD-3-Clause */
/* summary.h -- statistics over repeats and windows; numbers in, numbers out. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* An interval takes as many complete repeats: of two it is a guess. */
#define SUMMARY_REPEATS_MIN 3

struct summary_interval {
	double mean; /* geometric */
	bool known;  /* enough values, all above 0: the rest means something */
	double low;  /* 95 % */
	double high;
	double cv; /* standard deviation of the logarithms: about the coefficient of variation */
};

/*
 * The geometric mean, and Student's t interval over the logarithms of the
 * values: from mean / e^h to mean * e^h, with h = t * cv / sqrt(count). It is
 * never negative. The mean is 0 if a value is 0, or if there is none.
 */
struct summary_interval summary_over(const double *values, size_t count);

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
