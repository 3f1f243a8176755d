/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fio_headers.h -- fio's own headers, as they are to be read without fio's
 * configure having been run.
 *
 * These few answers of configure are all that the headers ask for on Linux with
 * a glibc from 2.30 on; what else they depend on is at the end of structs that
 * fio alone allocates. Included by the files that speak with fio, and by no
 * header.
 */
#pragma once

#define CONFIG_64BIT
#define CONFIG_LITTLE_ENDIAN
#define CONFIG_HAVE_BOOL
#define CONFIG_HAVE_GETTID
#define CONFIG_HAVE_KERNEL_RWF_T
#define CONFIG_HAVE_STATX
#define CONFIG_PWRITEV2
#define CONFIG_STRSEP
#define CONFIG_SYNC_FILE_RANGE

#include <fio.h>
#include <fio_sem.h>
#include <lib/pow2.h>
#include <optgroup.h>
