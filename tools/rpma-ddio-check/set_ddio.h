/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * set_ddio.h -- --set: switches allocation of device writes in the root ports of a device.
 *
 * The only thing of this tool that writes to hardware. It does so only where the check
 * knows the register beyond doubt, one byte of it, and reads it back.
 */
#pragma once

#include "common/host/sysroot.h"
#include "options.h"

/* 0, or a failure with its message; nothing was written then, unless the message names a write. */
int set_ddio(const struct options *options, const struct sysroot *root);
