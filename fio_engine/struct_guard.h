/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * struct_guard.h -- are the structs of the fio that runs laid out as in the headers that the
 * engine was built with?
 *
 * Names of releases do not tell: sources between two releases have the name of the earlier one. So
 * what fio itself shows of its layout is held against the headers, in the order in which it can be
 * read without harm. Each check prints why it fails.
 */
#pragma once

#include "fio_headers.h"

/* When the engine is loaded: fio's table of options, and the size of a job. */
bool struct_guard_program(void);
/*
 * Before a hook touches a job: are its parts where the headers have them? Its
 * io_ops has to be a table of this engine.
 */
bool struct_guard_job(struct thread_data *td, bool (*is_table)(const struct ioengine_ops *));
/* The same of an io_u that fio has just handed over. */
bool struct_guard_io_u(const struct io_u *io_u);
