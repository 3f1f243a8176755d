/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * accept.c -- runs cases, each in a process and a directory of its own.
 *
 *	accept                  all cases but the long ones
 *	accept --list           their names; the long ones with " long"
 *	accept CASE...          these
 *	accept --work ...       see accept_work.c
 *
 * "ok CASE", "not ok CASE" or "skip CASE: REASON" for each; the exit status is 1 if one failed.
 */
#include "accept.h"

#include <ftw.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define LIMIT_S	     600 /* a case that takes longer hangs, and fails */
#define LONG_LIMIT_S 900
#define IN_CASE	     "RPMEM_ACCEPT_CASE"
#define LIMITED	     "setpriv --bounding-set=-ipc_lock " /* in what it may lock, as others than root */

static const struct accept_case *const tables[] = {cases_of_create, cases_of_data};

static const struct accept_case *find(const char *name)
{
	for (size_t i = 0; i < COUNT(tables); i++) {
		for (const struct accept_case *one = tables[i]; one->name != NULL; one++) {
			if (strcmp(one->name, name) == 0)
				return one;
		}
	}
	fprintf(stderr, "accept: there is no case %s\n", name);
	exit(EXIT_FAILURE);
}

/* --- in the process of a case ---------------------------------------------------- */

static void expand(const char *assignment)
{
	const char *equals = strchr(assignment, '=');
	char name[64], value[8192] = "", *end = value;

	snprintf(name, sizeof(name), "%.*s", (int)(equals - assignment), assignment);
	for (const char *at = equals + 1; *at != '\0'; at++) {
		const char *old = getenv(name);

		if (strncmp(at, "%c", 2) == 0) {
			at++;
			end = stpcpy(end, old != NULL ? old : "");
		} else if (strncmp(at, "%l", 2) == 0) {
			at++;
			end = stpcpy(end, geteuid() == 0 ? LIMITED : "");
		} else {
			*end++ = *at;
			*end = '\0';
		}
	}
	setenv(name, value, 1);
}

/* The library was loaded before main(): it has to be loaded once more. */
static int start_again(const struct accept_case *one)
{
	char self[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[len > 0 ? len : 0] = '\0';
	for (size_t i = 0; i < COUNT(one->environment) && one->environment[i] != NULL; i++)
		expand(one->environment[i]);
	setenv(IN_CASE, one->name, 1);
	execl(self, self, one->name, (char *)NULL);
	return EXIT_FAILURE;
}

static int run_here(const struct accept_case *one)
{
	alarm(one->is_long ? LONG_LIMIT_S : LIMIT_S);
	one->run();
	return EXIT_SUCCESS;
}

/* --- all cases ------------------------------------------------------------------- */

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static int in_a_process(const struct accept_case *one)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(start_again(one));
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static bool run_case(const struct accept_case *one)
{
	char directory[PATH_MAX];
	int status;

	snprintf(directory, sizeof(directory), "%s/%s", setting("RPMEM_ACCEPT_DIR"), one->name);
	mkdir(directory, 0755);
	status = in_a_process(one);
	nftw(directory, remove_entry, 8, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
	if (status == EXIT_SUCCESS)
		printf("ok %s\n", one->name);
	else if (status != ACCEPT_SKIPPED) /* a case prints why it is skipped */
		printf("not ok %s (status %d)\n", one->name, status);
	fflush(stdout);
	return status == EXIT_SUCCESS || status == ACCEPT_SKIPPED;
}

static bool run_all(void)
{
	bool good = true;

	for (size_t i = 0; i < COUNT(tables); i++) {
		for (const struct accept_case *one = tables[i]; one->name != NULL; one++)
			good &= one->is_long || run_case(one);
	}
	return good;
}

static int list(void)
{
	for (size_t i = 0; i < COUNT(tables); i++) {
		for (const struct accept_case *one = tables[i]; one->name != NULL; one++)
			printf("%s%s\n", one->name, one->is_long ? " long" : "");
	}
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	bool good = true;

	if (getenv(IN_CASE) != NULL)
		return run_here(find(getenv(IN_CASE)));
	if (argc > 1 && strcmp(argv[1], "--list") == 0)
		return list();
	if (argc > 1 && strcmp(argv[1], "--work") == 0)
		return work(argc - 2, argv + 2);
	if (argc == 1)
		good = run_all();
	for (int i = 1; i < argc; i++)
		good &= run_case(find(argv[i]));
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
