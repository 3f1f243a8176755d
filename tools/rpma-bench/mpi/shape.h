/* SPDX-License-Identifier: BSD-3-Clause */
/* shape.h -- who of several ranks serves, and who measures whom. */
#pragma once

#include <stdbool.h>

enum shape {
	SHAPE_CLIENT,	  /* all measure one server that is none of them */
	SHAPE_PAIRS,	  /* odd ranks serve, each to the rank before it */
	SHAPE_ALL_TO_ALL, /* all serve, and each measures all others at once */
	SHAPES
};

extern const char *const shape_names[SHAPES];

/* Can this number of ranks take that shape? -EINVAL with the error message set. */
int shape_check(enum shape shape, int ranks);

bool shape_serves(enum shape shape, int rank);
/* No rank measures another if the shape is SHAPE_CLIENT. */
bool shape_measures(enum shape shape, int rank, int other);
/* How many clients a rank has. */
int shape_clients(enum shape shape, int rank, int ranks);
