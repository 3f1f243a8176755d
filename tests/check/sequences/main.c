/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sequences legal|illegal FIRST [LAST]: runs the sequences of these seeds, each in a process of its
 * own, and prints their transcript. An illegal one begins with the kind of finding it is to give.
 */
#include "sequence.h"

#include <sys/wait.h>

#define STATUS_OF_A_FINDING 99 /* with rpma-soft --check */
#define STATUS_OF_A_MISTAKE 17 /* what was to fail has failed: the program does not succeed */

static bool is_on_rxe;

/*
 * Has libibverbs and librdmacm do what they do once in a process, before the others are forked: to
 * load the drivers and look for devices takes an emulated machine longer than a sequence.
 */
static void find_device(void)
{
	struct ibv_device **list = HAVE(ibv_get_device_list(NULL));

	is_on_rxe = list[0] != NULL && strncmp(ibv_get_device_name(list[0]), "rxe", 3) == 0;
	ibv_free_device_list(list);
	if (is_on_rxe)
		rdma_destroy_event_channel(HAVE(rdma_create_event_channel()));
}

static int run(const char *which, unsigned seed)
{
	sequence = (struct sequence){.random = seed, .seed = seed, .is_on_rxe = is_on_rxe};
	if (strcmp(which, "legal") == 0) {
		legal_sequence();
		return 0;
	}
	illegal_sequence();
	return STATUS_OF_A_MISTAKE;
}

static bool is_expected(const char *which, int status)
{
	if (!WIFEXITED(status))
		return false;
	if (strcmp(which, "legal") == 0)
		return WEXITSTATUS(status) == 0;
	return WEXITSTATUS(status) == STATUS_OF_A_MISTAKE ||
	       WEXITSTATUS(status) == STATUS_OF_A_FINDING;
}

/* True if the process of this seed ended as it should. */
static bool run_apart(const char *which, unsigned seed)
{
	int status = 0;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0)
		exit(run(which, seed));
	if (child < 0 || waitpid(child, &status, 0) != child) {
		perror("sequences: a process for a seed");
		exit(2);
	}
	if (is_expected(which, status))
		return true;
	printf("%u ended with %s %d\n", seed, WIFEXITED(status) ? "status" : "signal",
	       WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	return false;
}

int main(int argc, char **argv)
{
	unsigned first, last;
	bool all_good = true;

	if (argc < 3 || argc > 4 ||
	    (strcmp(argv[1], "legal") != 0 && strcmp(argv[1], "illegal") != 0)) {
		fprintf(stderr, "usage: sequences legal|illegal FIRST [LAST]\n");
		return 64;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	find_device();
	first = (unsigned)strtoul(argv[2], NULL, 10);
	last = argc == 4 ? (unsigned)strtoul(argv[3], NULL, 10) : first;
	for (unsigned seed = first; seed <= last; seed++)
		all_good &= run_apart(argv[1], seed);
	return all_good ? 0 : 1;
}
