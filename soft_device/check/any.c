/* SPDX-License-Identifier: BSD-3-Clause */
/* any.c -- what is checked, for what is tested without the rest of this folder. */
#include "check.h"

bool check_any;
