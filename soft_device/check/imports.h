/* SPDX-License-Identifier: BSD-3-Clause */
/* imports.h -- whether the program, or a library of it, refers to a symbol. */
#pragma once

#include <stdbool.h>

/* In an object that is loaded, as a symbol that it leaves to others. */
bool imports_symbol(const char *name);
