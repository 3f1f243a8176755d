/* SPDX-License-Identifier: BSD-3-Clause */
/* shape.c -- the three shapes in which ranks measure. */
#include "shape.h"

#include "common/base/failure.h"

const char *const shape_names[SHAPES] = {"client", "pairs", "all-to-all"};

int shape_check(enum shape shape, int ranks)
{
	if (shape == SHAPE_PAIRS && (ranks < 2 || ranks % 2 != 0))
		return failure_set(EXIT_WRONG_USAGE, "start",
				   "pairs: expected an even number of ranks, not %d (mpirun -n)",
				   ranks);
	if (shape == SHAPE_ALL_TO_ALL && ranks < 2)
		return failure_set(EXIT_WRONG_USAGE, "start",
				   "all-to-all needs at least two ranks (mpirun -n)");
	return 0;
}

bool shape_serves(enum shape shape, int rank)
{
	return shape == SHAPE_ALL_TO_ALL || (shape == SHAPE_PAIRS && rank % 2 == 1);
}

bool shape_measures(enum shape shape, int rank, int other)
{
	if (shape == SHAPE_PAIRS)
		return rank % 2 == 0 && other == rank + 1;
	return shape == SHAPE_ALL_TO_ALL && other != rank;
}

int shape_clients(enum shape shape, int rank, int ranks)
{
	int count = shape == SHAPE_CLIENT;

	for (int other = 0; other < ranks; other++)
		count += shape_measures(shape, rank, other);
	return count;
}
