/* SPDX-License-Identifier: BSD-3-Clause */
/* parts.h -- the parts of an end that zoo.c and cm.c make; the programs need zoo.h alone. */
#pragma once

#include "zoo.h"

/* Looks for the IPv4 address of the end's context, of the kind in its options. */
bool end_find_gid(struct end *end);
void end_make_parts(struct end *end); /* all but the QP */
struct ibv_qp_init_attr end_qp_init(const struct end *end);
