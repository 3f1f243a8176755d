/* SPDX-License-Identifier: BSD-3-Clause */
/* names.h -- numbers of verbs.h by their names, for messages. */
#pragma once

#include <infiniband/verbs.h>
#include <stdint.h>

#define NAMES_BYTES 384

/* "INIT"; "state 9" has no name: "unknown". */
const char *name_of_state(enum ibv_qp_state state);
/* "REM_ACCESS_ERR", without IBV_WC_. */
const char *name_of_status(enum ibv_wc_status status);
/* The same the other way; IBV_WC_SUCCESS: no failure has this name. */
enum ibv_wc_status status_of_name(const char *name);
/* "IBV_QP_AV, IBV_QP_PORT"; bits without a name as a number. "none" for 0. */
const char *names_of_qp_mask(uint32_t mask, char text[NAMES_BYTES]);
const char *names_of_access(uint32_t access, char text[NAMES_BYTES]);
