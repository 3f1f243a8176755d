/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * deny_vm COMMAND... -- runs COMMAND in a place that lets no process touch the
 * memory or the descriptors of another, as some container runtimes do.
 *
 * A seccomp filter answers process_vm_readv, process_vm_writev and pidfd_getfd
 * with EPERM. Filters stay through exec, so all that COMMAND starts has it.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif

enum { CANNOT_RUN = 126 };

/* The jumps are counted from the next instruction: to the last, if equal. */
static struct sock_filter filter[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 3, 0),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 2, 0),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_getfd, 1, 0),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
};

int main(int argc, char **argv)
{
	struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};

	if (argc < 2) {
		fprintf(stderr, "usage: %s COMMAND [ARGUMENT...]\n", argv[0]);
		return CANNOT_RUN;
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		perror("deny_vm: prctl");
		return CANNOT_RUN;
	}
	execvp(argv[1], argv + 1);
	perror(argv[1]);
	return CANNOT_RUN;
}
