/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alias.c -- a shared object with the name of an engine that fio had.
 *
 * The loader finds it where ldconfig put it, and the engine behind it, which
 * exports the operations by this name too. There is nothing else in it.
 */
extern char librpma_alias[] __attribute__((visibility("hidden")));
char librpma_alias[] = "";
