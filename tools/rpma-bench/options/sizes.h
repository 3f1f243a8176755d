/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sizes.h -- lists of sizes in which items may be mixes of them (protocol/size_mix.h).
 */
#ifndef BENCH_OPTIONS_SIZES_H
#define BENCH_OPTIONS_SIZES_H

#include "axes.h"

/* A value that stands for a mix is as large or larger: no size is. */
#define SIZES_MIX (1ULL << 63)

/* Equal mixes have equal values. */
uint64_t sizes_value_of_mix(const struct size_mix *mix);

/* The list, with mixes added to the series; those are the series' to drop where it fails too. */
int sizes_parse(struct series *series, const char *text, struct units_list *list);
/* Keeps the first ones. */
void sizes_drop_mixes(struct series *series, size_t left);

units_parser shape_parse_arrivals, shape_parse_pattern;
const char *shape_print_arrivals(uint64_t value, char text[UNITS_TEXT_BYTES]);
const char *shape_print_pattern(uint64_t value, char text[UNITS_TEXT_BYTES]);

/* Works like units_parse_list(), without ranges. */
int shape_parse_list(const char *text, units_parser *parse, struct units_list *list);

#endif /* BENCH_OPTIONS_SIZES_H */
