/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rows.c -- the parser of a connection's numbers: apart from their table, which librpmem has
 * without a command line.
 */
#include "rows.h"

#include <string.h>

#include "common/base/units.h"

error_t connection_knob_option(const char *option, const char *arg, void *knobs)
{
	const struct connection_knob_row *row = connection_knob_rows;
	uint64_t value;
	int ret;

	while (strcmp(row->option, option + 2) != 0)
		row++;
	ret = row->number == RPMA_CONN_OPT_INLINE_SIZE ? units_parse_size(arg, &value)
						       : units_parse_number(arg, &value);
	if (ret != 0 || value > row->most)
		return cli_wrong_value(option, arg, row->expected);
	((struct connection_knobs *)knobs)->value[row - connection_knob_rows] = (uint32_t)value;
	return 0;
}
