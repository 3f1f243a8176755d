/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alias_loader.c -- as alias.c, where the engine is built for several releases of fio:
 * ALIAS is the name of the table.
 */
#include "loader.h"

void get_ioengine(void **table)
{
	*table = loader_table(ALIAS);
}
