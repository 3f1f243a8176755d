/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * doctor.h -- rpma-soft --doctor: one screen about the device, a program and the other processes.
 */
#pragma once

#include "program.h"

#define DOCTOR_GOOD	    0
#define DOCTOR_BAD	    1 /* no device, or the program does not get it */
#define DOCTOR_UNDETERMINED 3

/*
 * Prints it, and gives the exit status. `word` is the program as the user named it, NULL for none;
 * `program` is what it names, or NULL with the reason why it cannot be run on the device. The
 * environment is that with which it would be started.
 */
int doctor(const char *library, const char *word, const struct program *program,
	   const char *reason);
