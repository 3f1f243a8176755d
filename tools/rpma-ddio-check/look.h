/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * look.h -- looks at the machine, or at a tree of one, and tells.
 */
#ifndef LOOK_H
#define LOOK_H

#include "options.h"

/* *exit_code is that of the verdict; -errno with the sentence stored where there is none. */
int look(const struct options *options, int *exit_code);

#endif /* LOOK_H */
