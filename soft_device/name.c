/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * name.c -- libibverbs.so.1 and librdmacm.so.1: an object that has the name and the versions,
 * and needs librpma-soft.so, which has the functions.
 *
 * The loader takes a loaded object for a library that is needed, or given to dlopen(), if its
 * soname is the same. Functions are found in what that object needs.
 */
typedef int name_has_no_code; /* ISO C wants a declaration */
