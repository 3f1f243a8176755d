/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * repeat_schema.h -- which keys a repeat has, with their types and ranges: what
 * a journal may bring, and what is taken of a server's report.
 */
#pragma once

#include "common/json/json_schema.h"

/* Rates and bytes follow from ops and elapsed_ns: repeat_put_rates() makes them, others check it.
 */
extern const struct schema repeat_fields[];

/* The report of server_report_json() in server/report.c, but for its interference. */
extern const struct schema report_fields[];
