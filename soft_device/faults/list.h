/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * list.h -- the faults there are, in the order in which messages and the manual name them.
 *
 * A row is the name of a file of this folder, which defines its `struct fault_ops`.
 */
#pragma once

#define FAULT_LIST(ROW)                                                                            \
	ROW(delay)                                                                                 \
	ROW(pause)                                                                                 \
	ROW(rate)                                                                                  \
	ROW(rnr)                                                                                   \
	ROW(drop)                                                                                  \
	ROW(refuse)                                                                                \
	ROW(unreachable)                                                                           \
	ROW(register)                                                                              \
	ROW(complete)                                                                              \
	ROW(corrupt)                                                                               \
	ROW(call)                                                                                  \
	ROW(powerfail)
