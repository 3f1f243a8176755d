/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * summary.c -- what several repeats say together.
 *
 * Intervals are over the figures of repeats, not over single operations: those
 * follow one another in one queue and do not show how repeats differ.
 */
#include "summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEADY_WINDOWS 10
#define STEADY_SLOPE   0.01
#define STEADY_CV      0.03
/* makes the median deviation estimate sigma of a normal distribution */
#define MAD_SCALE 1.4826

static double mean_of(const double *values, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += values[i];
	return sum / (double)count;
}

static double deviation_of(const double *values, size_t count, double mean)
{
	double squares = 0;

	for (size_t i = 0; i < count; i++)
		squares += (values[i] - mean) * (values[i] - mean);
	return sqrt(squares / (double)(count - 1));
}

/* Exact to 30 degrees; beyond, Cornish-Fisher around the normal quantile. */
double summary_t975(size_t degrees_of_freedom)
{
	static const double table[] = {
		12.7062, 4.30265, 3.18245, 2.77645, 2.57058, 2.44691, 2.36462, 2.30600,
		2.26216, 2.22814, 2.20099, 2.17881, 2.16037, 2.14479, 2.13145, 2.11991,
		2.10982, 2.10092, 2.09302, 2.08596, 2.07961, 2.07387, 2.06866, 2.06390,
		2.05954, 2.05553, 2.05183, 2.04841, 2.04523, 2.04227,
	};
	const double z = 1.959963984540054;
	double n = (double)degrees_of_freedom;

	if (degrees_of_freedom >= 1 && degrees_of_freedom <= sizeof(table) / sizeof(table[0]))
		return table[degrees_of_freedom - 1];
	return z + (z * z * z + z) / (4 * n) +
	       (5 * pow(z, 5) + 16 * z * z * z + 3 * z) / (96 * n * n);
}

/* Logarithms are taken of ratios to the first value: equal values have that mean exactly. */
struct summary_interval summary_over(const double *values, size_t count)
{
	struct summary_interval out = {0};
	double sum = 0, squares = 0, half;

	for (size_t i = 0; i < count; i++) {
		if (!(values[i] > 0))
			return out;
		sum += log(values[i] / values[0]);
	}
	if (count > 0)
		out.mean = values[0] * exp(sum / (double)count);
	if (count < SUMMARY_REPEATS_MIN)
		return out;
	for (size_t i = 0; i < count; i++)
		squares += pow(log(values[i] / out.mean), 2);
	out.cv = sqrt(squares / (double)(count - 1));
	half = summary_t975(count - 1) * out.cv / sqrt((double)count);
	out.known = true;
	out.low = out.mean * exp(-half);
	out.high = out.mean * exp(half);
	return out;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double summary_median(double *values, size_t count)
{
	if (count == 0)
		return 0;
	qsort(values, count, sizeof(*values), ascending);
	return count % 2 == 1 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

size_t summary_flag(const double *values, size_t count, bool *flags)
{
	double *scratch = calloc(count > 0 ? count : 1, sizeof(*scratch));
	double median, limit;
	size_t flagged = 0;

	memset(flags, 0, count * sizeof(*flags));
	/* with fewer than four the median deviation is meaningless */
	if (scratch == NULL || count < 4) {
		free(scratch);
		return 0;
	}
	memcpy(scratch, values, count * sizeof(*scratch));
	median = summary_median(scratch, count);
	for (size_t i = 0; i < count; i++)
		scratch[i] = fabs(values[i] - median);
	limit = 3 * MAD_SCALE * summary_median(scratch, count);
	for (size_t i = 0; i < count; i++) {
		flags[i] = fabs(values[i] - median) > limit;
		flagged += flags[i];
	}
	free(scratch);
	return flagged;
}

int summary_steady(const double *windows, size_t count)
{
	double mean, middle = (double)(count - 1) / 2, top = 0, bottom = 0;

	if (count < STEADY_WINDOWS)
		return -1;
	mean = mean_of(windows, count);
	if (mean <= 0)
		return 0;
	for (size_t i = 0; i < count; i++) {
		top += ((double)i - middle) * (windows[i] - mean);
		bottom += ((double)i - middle) * ((double)i - middle);
	}
	return fabs(top / bottom) < STEADY_SLOPE * mean &&
	       deviation_of(windows, count, mean) < STEADY_CV * mean;
}
