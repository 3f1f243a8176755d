/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * zipf.h -- ranks drawn from a Zipf distribution: rank k of n is as likely as
 * 1 / k^theta, so few of them are drawn most of the time.
 */
#ifndef BENCH_MEASURE_ZIPF_H
#define BENCH_MEASURE_ZIPF_H

#include <stdint.h>

struct zipf {
	uint64_t ranks;
	double theta;
	/* areas under the curve: up to the first rank, and up to the last */
	double first;
	double last;
	double sure; /* nearer to a rank than this, a draw needs no test */
	uint64_t random;
};

/* theta is above 0, and there is a rank at least. */
void zipf_init(struct zipf *zipf, uint64_t ranks, double theta, uint64_t seed);

/* 1 to ranks. */
uint64_t zipf_next(struct zipf *zipf);

#endif /* BENCH_MEASURE_ZIPF_H */
