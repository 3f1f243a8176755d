/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shapes.h -- axes whose values are words, some of them with a number: burst:8 of
 * --arrivals, zipf:1.2 of --pattern. Values are those of struct params.
 */
#ifndef BENCH_OPTIONS_SHAPES_H
#define BENCH_OPTIONS_SHAPES_H

#include <stdint.h>

#include "common/base/units.h"

units_parser shape_parse_arrivals, shape_parse_pattern;
const char *shape_print_arrivals(uint64_t value, char text[UNITS_TEXT_BYTES]);
const char *shape_print_pattern(uint64_t value, char text[UNITS_TEXT_BYTES]);

/* Works like units_parse_list(), without ranges. */
int shape_parse_list(const char *text, units_parser *parse, struct units_list *list);

#endif /* BENCH_OPTIONS_SHAPES_H */
