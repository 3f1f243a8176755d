/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_zipf.c -- draws against the probabilities of the definition: 1 / k^theta,
 * divided by the sum of all.
 */
#include "tools/rpma-bench/measure/offsets.h"

#include <math.h>

#include "tests/lib/test.h"

#define DRAWS 250000

/* Pearson's test over ranks that are expected 100 times, the others as one. */
TEST(ranks_have_their_probabilities)
{
	static const double thetas[] = {0.1, 0.5, 0.99, 1, 1.2, 2.5};
	static const uint64_t ranks[] = {1, 2, 10, 1000, 100000};

	for (size_t t = 0; t < sizeof(thetas) / sizeof(thetas[0]); t++) {
		for (size_t n = 0; n < sizeof(ranks) / sizeof(ranks[0]); n++) {
			uint64_t *counts = calloc(ranks[n] + 1, sizeof(*counts));
			double sum = 0, chi = 0, rest = 0, rest_seen = 0;
			struct zipf zipf;
			int cells = 0;

			assert_non_null(counts);
			zipf_init(&zipf, ranks[n], thetas[t], 7 + n);
			for (int i = 0; i < DRAWS; i++) {
				uint64_t rank = zipf_next(&zipf);

				assert_in_range(rank, 1, ranks[n]);
				counts[rank]++;
			}
			for (uint64_t k = 1; k <= ranks[n]; k++)
				sum += pow((double)k, -thetas[t]);
			for (uint64_t k = 1; k <= ranks[n]; k++) {
				double wanted = DRAWS * pow((double)k, -thetas[t]) / sum;
				double off = (double)counts[k] - wanted;

				if (wanted < 100) {
					rest += wanted;
					rest_seen += (double)counts[k];
					continue;
				}
				chi += off * off / wanted;
				cells++;
			}
			if (rest > 100) {
				chi += (rest_seen - rest) * (rest_seen - rest) / rest;
				cells++;
			}
			/* its mean is the degrees of freedom, its variance twice as much */
			if (chi > cells - 1 + 5 * sqrt(2.0 * cells))
				fail_msg("theta %g, %llu ranks: chi square %g of %d cells",
					 thetas[t], (unsigned long long)ranks[n], chi, cells);
			free(counts);
		}
	}
}

TEST(a_seed_gives_the_same_draws)
{
	struct zipf a, b;

	zipf_init(&a, 1000000, 0.99, 5);
	zipf_init(&b, 1000000, 0.99, 5);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(zipf_next(&a), zipf_next(&b));
}
