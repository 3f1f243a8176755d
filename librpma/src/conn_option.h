/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * conn_option.h -- the numbers that a connection is configured with, by name.
 */
#ifndef RPMA_CONN_OPTION_H
#define RPMA_CONN_OPTION_H

#include <librpma.h>

enum { RPMA_CONN_OPTIONS = RPMA_CONN_OPT_CONNECT_MS + 1 };

extern const uint32_t rpma_conn_option_defaults[RPMA_CONN_OPTIONS];

#endif /* RPMA_CONN_OPTION_H */
