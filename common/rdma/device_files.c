/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * device_files.c -- whether this process may open the device files of RDMA.
 */
#include "device_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/base/failure.h"

#define RDMA_CM "dev/infiniband/rdma_cm"
#define CLASS	"sys/class/infiniband_verbs"

/* 0 or the errno that opening it would give. */
static int refusal(const struct sysroot *root, const char *path)
{
	return faccessat(root->fd, path, R_OK | W_OK, AT_EACCESS) == 0 ? 0 : errno;
}

int device_files_check(const struct sysroot *root)
{
	int error = refusal(root, RDMA_CM);

	if (error == 0)
		return 0;
	if (error == ENOENT)
		return failure_because(
			CAUSE_NO_DEVICE, EXIT_NO_DEVICE, "device",
			"this host has RDMA devices, but not /" RDMA_CM ": load the module "
			"(modprobe rdma_ucm), give the container /dev/infiniband, or ask for the "
			"software device (--device soft, or rpma-soft COMMAND)");
	return failure_because(CAUSE_NO_PERMISSION, EXIT_NO_DEVICE, "device",
			       "this user cannot open /" RDMA_CM
			       " (%s): give access to it, or ask for the "
			       "software device (--device soft, or rpma-soft COMMAND)",
			       strerror(error));
}

/* Counts the devices that may be opened; of the first other one the file, the name and why. */
struct refused {
	size_t opens;
	int error;
	char file[64];
	char device[64];
};

static void ask(const struct sysroot *root, const char *name, struct refused *r)
{
	char file[64];
	int error;

	if (snprintf(file, sizeof(file), "dev/infiniband/%s", name) >= (int)sizeof(file))
		return;
	error = refusal(root, file);
	if (error == 0) {
		r->opens++;
	} else if (r->error == 0) {
		r->error = error;
		snprintf(r->file, sizeof(r->file), "%s", file);
		if (!sysroot_line(root, r->device, sizeof(r->device), CLASS "/%s/ibdev", name))
			snprintf(r->device, sizeof(r->device), "?");
	}
}

int device_files_blame(const struct sysroot *root, const char *address)
{
	DIR *class = sysroot_directory(root, CLASS);
	const struct dirent *entry;
	struct refused r = {0};

	while (class != NULL && (entry = readdir(class)) != NULL) {
		if (strncmp(entry->d_name, "uverbs", 6) == 0)
			ask(root, entry->d_name, &r);
	}
	if (class != NULL)
		closedir(class);
	if (r.error == 0)
		return 0;
	return failure_because(CAUSE_NO_PERMISSION, EXIT_NO_DEVICE, "device",
			       "this user cannot open /%s of the RDMA device %s (%s)%s%s", r.file,
			       r.device, strerror(r.error),
			       r.opens > 0 ? ", or no other device has the address or a route to "
					   : ": give access to it",
			       r.opens > 0 ? address : "");
}
