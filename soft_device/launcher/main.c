/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * main.c -- rpma-soft: runs a command on the software RDMA device.
 *
 * It prepares an environment and becomes the command: the words of RPMA_SOFT,
 * checked by the device's own parser, and LD_PRELOAD with the device. A
 * sanitizer's runtime goes before the device, because it insists on being the
 * first of all libraries; its bare name does, the loader finds it as it would
 * for the command itself.
 *
 * Behind the device come two objects with the names of libibverbs and librdmacm
 * (name.c): with them loaded, neither a library that needs these nor dlopen()
 * looks for them. Their folder on LD_LIBRARY_PATH is for libibverbs.so, the
 * name that development packages add.
 */
#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include "doctor.h"
#include "program.h"
#include "repeat.h"
#include "soft_device/check/words.h"
#include "soft_device/faults/fault.h"

#define TOOL		  "rpma-soft"
#define LIBRARY		  "librpma-soft.so"
#define NAMES		  "librpma-soft" /* the folder beside it */
#define EXIT_LAUNCH_FAILS 125
#define EXIT_WRONG_USAGE  64

enum key {
	KEY_TRANSPORT = 0x100,
	KEY_SEED,
	KEY_DOCTOR,
	KEY_CHECK,
	KEY_EXPLAIN,
	KEY_ADVERSARY,
};

struct launch {
	char *words;	/* value of RPMA_SOFT, malloced */
	char **command; /* NULL-terminated, in argv; NULL: none, with --doctor */
	bool doctor;
	bool checks;
	char *seed; /* that --adversary has, malloced; NULL: without it */
};

static __attribute__((noreturn, format(printf, 2, 3))) void fail(int status, const char *format,
								 ...)
{
	va_list args;

	fputs(TOOL ": ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(status);
}

/* Adds a word to a list that may be NULL. */
static void append(char **list, const char *separator, const char *prefix, const char *word)
{
	char *longer;

	if (asprintf(&longer, "%s%s%s%s", *list != NULL ? *list : "",
		     *list != NULL && **list != '\0' ? separator : "", prefix, word) < 0)
		fail(EXIT_LAUNCH_FAILS, "out of memory");
	free(*list);
	*list = longer;
}

static const struct argp_option rows[] = {
	{"fault", 'f', "FAULT", 0, "Inject this fault, such as delay:time=2us; may be repeated", 1},
	{"transport", KEY_TRANSPORT, "auto|local|tcp", 0, "How bytes reach other processes (auto)",
	 1},
	{"seed", KEY_SEED, "N", 0, "Seed of everything random (1)", 1},
	{"check", KEY_CHECK, "WORDS", OPTION_ARG_OPTIONAL,
	 "Report mistakes of the program on the device, and end with status 99 if there are any; "
	 "WORDS, joined by commas: kinds of findings, strict, notes, halt, every, watch, exit=N, "
	 "suppressions=FILE, json=FILE",
	 2},
	{"adversary", KEY_ADVERSARY, "SEED", OPTION_ARG_OPTIONAL,
	 "Execute any schedule that the specification allows, chosen by SEED (a random one); "
	 "behind "
	 "it, joined by commas, what is to differ: late, parts, passes, atomics",
	 2},
	{"explain", KEY_EXPLAIN, "ID", 0,
	 "Explain this kind of finding, or list all kinds; start nothing", 2},
	{"verbose", 'v', NULL, 0, "Print what the device does", 2},
	{"doctor", KEY_DOCTOR, NULL, 0,
	 "Print what the device offers, whether COMMAND gets it and which processes it reaches; "
	 "start nothing",
	 2},
	{"help", 'h', NULL, 0, "Print this help", 3},
	{"version", 'V', NULL, 0, "Print the version", 3},
	{0},
};

static error_t parse_row(int key, char *arg, struct argp_state *state);

static const struct argp parser = {
	rows,
	parse_row,
	"COMMAND [ARG...]",
	"Run COMMAND on the software RDMA device, in place of libibverbs and librdmacm.\v"
	"The manual rpma-soft(1) has the faults. Exit status: that of COMMAND; 64 wrong usage, 125 "
	"the device is missing, 126 COMMAND cannot be run on it, 127 COMMAND is not found.",
	NULL,
	NULL,
	NULL};

static __attribute__((noreturn)) void answer(int key)
{
	char name[] = TOOL;

	if (key == 'h')
		argp_help(&parser, stdout, ARGP_HELP_USAGE | ARGP_HELP_LONG | ARGP_HELP_DOC, name);
	else
		puts(TOOL " " RPMA_VERSION);
	exit(fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_LAUNCH_FAILS);
}

/* Each is a word of its own, as those have a limit. */
static void append_checks(char **words, char *list)
{
	char *word;

	if (list == NULL)
		append(words, " ", "", "check");
	while (list != NULL && (word = strsep(&list, ",")) != NULL)
		append(words, " ", "check:", word);
}

/* The last one counts. */
static void take_adversary(struct launch *launch, const char *given)
{
	uint32_t drawn;

	free(launch->seed);
	launch->seed = NULL;
	if (given != NULL)
		append(&launch->seed, "", "", given);
	else if (getrandom(&drawn, sizeof(drawn), 0) != sizeof(drawn) ||
		 asprintf(&launch->seed, "%u", drawn) < 0)
		fail(EXIT_LAUNCH_FAILS, "no random seed: %s", strerror(errno));
	append(&launch->words, " ", "adversary:", launch->seed);
}

static void explain_one(const struct check_kind_text *kind)
{
	printf("%s (%s)\n  %s\n\nWhat is demanded\n  %s\nWhat hardware does\n  %s\nHow to mend "
	       "it\n  %s\n",
	       kind->id, check_level_name(kind->level), kind->what, kind->demands, kind->hardware,
	       kind->mend);
}

static __attribute__((noreturn)) void explain(const char *id)
{
	const enum check_kind kind = check_kind_find(id);

	if (strcmp(id, "list") == 0) {
		for (unsigned i = 0; i < CHECK_KINDS; i++)
			printf("%-25s %-8s %s\n", check_kinds[i].id,
			       check_level_name(check_kinds[i].level), check_kinds[i].what);
	} else if (kind != CHECK_KINDS) {
		explain_one(&check_kinds[kind]);
	} else {
		fail(EXIT_WRONG_USAGE, "%s: no such kind of finding: --explain list has all", id);
	}
	exit(fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_LAUNCH_FAILS);
}

/* argp's signature. NOLINTNEXTLINE(readability-non-const-parameter) */
static error_t parse_row(int key, char *arg, struct argp_state *state)
{
	struct launch *launch = state->input;

	switch (key) {
	case 'f':
		append(&launch->words, " ", "", arg);
		break;
	case KEY_TRANSPORT:
		append(&launch->words, " ", "transport:", arg);
		break;
	case KEY_SEED:
		append(&launch->words, " ", "seed:", arg);
		break;
	case 'v':
		append(&launch->words, " ", "", "verbose");
		break;
	case KEY_CHECK:
		append_checks(&launch->words, arg);
		break;
	case KEY_ADVERSARY:
		take_adversary(launch, arg);
		break;
	case KEY_EXPLAIN:
		explain(arg);
	case KEY_DOCTOR:
		launch->doctor = true;
		break;
	case 'h':
	case 'V':
		answer(key);
	case ARGP_KEY_ARG:
		/* the rest is the command's */
		launch->command = &state->argv[state->next - 1];
		state->next = state->argc;
		break;
	case ARGP_KEY_ERROR:
		fail(EXIT_WRONG_USAGE,
		     "%s: unknown option, or its value is missing: expected --fault, --transport, "
		     "--seed, --check, --adversary, --explain, --verbose, --doctor, --help or "
		     "--version",
		     state->argv[state->next - 1]);
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static void parse(struct launch *launch, int argc, char **argv)
{
	const char *before = getenv("RPMA_SOFT");
	char error[SOFT_ERROR_MAX];
	struct soft_options options;
	struct check_words words;

	append(&launch->words, "", "", before != NULL ? before : "");
	argp_parse(&parser, argc, argv, ARGP_IN_ORDER | ARGP_NO_HELP | ARGP_NO_ERRS, NULL, launch);
	if (soft_options_parse(launch->words, &options, error) != 0 ||
	    fault_init(&options, error) != 0)
		fail(EXIT_WRONG_USAGE, "%s", error);
	launch->checks = options.checks;
	if (check_words_parse(options.check, &words, error) != 0)
		fail(EXIT_WRONG_USAGE, "%s", error);
	if (launch->command == NULL && !launch->doctor)
		fail(EXIT_WRONG_USAGE, "no COMMAND given (" TOOL " --help)");
}

/* Beside this program, as in a build; where it is installed from here; where it should be. */
static void find_library(char path[PATH_MAX])
{
	static const char *const relatives[] = {"", RPMA_SOFT_LIBDIR_FROM_BINDIR "/"};
	char here[PATH_MAX], *slash, joined[PATH_MAX + 64];
	ssize_t len = readlink("/proc/self/exe", here, sizeof(here) - 1);

	if (len < 0)
		fail(EXIT_LAUNCH_FAILS, "/proc/self/exe: %s", strerror(errno));
	here[len] = '\0';
	slash = strrchr(here, '/');
	*(slash != NULL ? slash + 1 : here) = '\0';
	for (size_t i = 0; i < sizeof(relatives) / sizeof(relatives[0]); i++) {
		snprintf(joined, sizeof(joined), "%s%s" LIBRARY, here, relatives[i]);
		if (realpath(joined, path) != NULL)
			return;
	}
	if (realpath(RPMA_SOFT_LIBDIR "/" LIBRARY, path) == NULL)
		fail(EXIT_LAUNCH_FAILS,
		     "no " LIBRARY " in %s, %s" RPMA_SOFT_LIBDIR_FROM_BINDIR
		     " or " RPMA_SOFT_LIBDIR,
		     here, here);
}

/* The runtime that the device or the command needs first; "" if none. */
static const char *choose_runtime(const struct elf_file *device, const char *library,
				  const struct program *program)
{
	const struct elf_file *elf = &program->elf;

	if (device->runtime[0] == '\0')
		return elf->runtime;
	if (elf->runtime_inside ||
	    (elf->runtime[0] != '\0' && strcmp(elf->runtime, device->runtime) != 0))
		fail(PROGRAM_CANNOT_BE_RUN,
		     "%s is built with %s and %s with %s: build both with the same compiler and "
		     "sanitizer",
		     program->binary, elf->runtime_inside ? "a sanitizer of its own" : elf->runtime,
		     library, device->runtime);
	return device->runtime;
}

/* The last one is for --check. */
static const char *const names[] = {"libibverbs.so.1", "librdmacm.so.1", "librpma-soft-heap.so"};
#define NAMES_ALWAYS 2

/*
 * The loader splits LD_PRELOAD at blanks and colons and knows no quoting: of a path with a blank
 * the name alone goes there, and LD_LIBRARY_PATH, which is split otherwise, has the folder.
 */
static const char *loadable(const char *path)
{
	return strchr(path, ' ') != NULL ? strrchr(path, '/') + 1 : path;
}

static void set_library_path(const char *folder, const char *library)
{
	const char *before = getenv("LD_LIBRARY_PATH");
	const size_t bytes = strlen(folder);
	char *list = NULL;

	if (strpbrk(library, ":;") != NULL)
		fail(EXIT_LAUNCH_FAILS, "%s: the loader takes no path with a colon or a semicolon",
		     library);
	if (before != NULL && strncmp(before, folder, bytes) == 0 &&
	    (before[bytes] == ':' || before[bytes] == '\0'))
		return; /* a launcher within a launcher */
	append(&list, "", "", folder);
	if (loadable(library) != library) {
		append(&list, ":", "", library);
		*strrchr(list, '/') = '\0';
	}
	if (before != NULL && before[0] != '\0')
		append(&list, ":", "", before);
	if (setenv("LD_LIBRARY_PATH", list, 1) != 0)
		fail(EXIT_LAUNCH_FAILS, "out of memory");
	free(list);
}

static bool is_device(const char *library)
{
	const char *slash = strrchr(library, '/');
	const char *name = slash != NULL ? slash + 1 : library;
	bool is = strcmp(name, LIBRARY) == 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		is = is || strcmp(name, names[i]) == 0;
	return is;
}

static void append_device(char **list, const char *folder, const char *library, bool checks)
{
	const size_t count = checks ? sizeof(names) / sizeof(names[0]) : NAMES_ALWAYS;
	char path[PATH_MAX + 64];

	append(list, ":", "", loadable(library));
	for (size_t i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		if (access(path, R_OK) != 0)
			fail(EXIT_LAUNCH_FAILS, "%s: %s", path, strerror(errno));
		append(list, ":", "", loadable(path));
	}
}

/* Runtimes first, then the device, then what was to be preloaded before. */
static void set_preload(const char *runtime, const char *library, bool checks)
{
	const char *before = getenv("LD_PRELOAD");
	char *first = NULL, *last = NULL, *copy = NULL, *save = NULL, *folder = NULL;

	append(&folder, "", "", library);
	*(strrchr(folder, '/') + 1) = '\0';
	append(&folder, "", "", NAMES);
	append(&copy, "", "", before != NULL ? before : "");
	if (runtime[0] != '\0')
		append(&first, ":", "", runtime);
	for (char *word = strtok_r(copy, " :", &save); word != NULL;
	     word = strtok_r(NULL, " :", &save)) {
		if (elf_file_is_runtime(word) && strcmp(word, runtime) != 0)
			append(&first, ":", "", word);
		else if (!elf_file_is_runtime(word) && !is_device(word))
			append(&last, ":", "", word);
	}
	set_library_path(folder, library);
	append_device(&first, folder, library, checks && runtime[0] == '\0');
	if (last != NULL)
		append(&first, ":", "", last);
	if (setenv("LD_PRELOAD", first, 1) != 0)
		fail(EXIT_LAUNCH_FAILS, "out of memory");
	free(first);
	free(last);
	free(copy);
	free(folder);
}

/* A connection takes descriptors: as many as the system lets us have. */
static void raise_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/* The environment that a command would get, and how far it gets with it. */
static int examine(const struct launch *launch, const struct elf_file *device, const char *library)
{
	char reason[PROGRAM_REASON_BYTES];
	struct program program;

	if (setenv("RPMA_SOFT", launch->words, 1) != 0)
		fail(EXIT_LAUNCH_FAILS, "out of memory");
	raise_file_limit();
	if (launch->command == NULL)
		return doctor(library, NULL, NULL, NULL);
	if (program_find(&program, launch->command[0], reason) != 0)
		return doctor(library, launch->command[0], NULL, reason);
	set_preload(choose_runtime(device, library, &program), library, launch->checks);
	return doctor(library, launch->command[0], &program, NULL);
}

static __attribute__((noreturn)) void run(const struct launch *launch,
					  const struct program *program, char **argv)
{
	const char *before = getenv("RPMA_SOFT"); /* setenv() does not end what main() was given */
	int error;

	if (setenv("RPMA_SOFT", launch->words, 1) != 0)
		fail(EXIT_LAUNCH_FAILS, "out of memory");
	raise_file_limit();
	if (launch->seed != NULL)
		exit(repeat_run(&(struct repeat){launch->seed, before, argv, launch->command},
				program->path));
	execvp(program->path, launch->command);
	error = errno;
	fail(error == ENOENT ? PROGRAM_NOT_FOUND : PROGRAM_CANNOT_BE_RUN, "cannot run %s: %s",
	     launch->command[0], strerror(error));
}

int main(int argc, char **argv)
{
	char reason[PROGRAM_REASON_BYTES], library[PATH_MAX];
	struct launch launch = {.words = NULL};
	struct elf_file device;
	struct program program;
	int status, ret;

	parse(&launch, argc, argv);
	find_library(library);
	ret = elf_file_read(library, &device);
	if (ret)
		fail(EXIT_LAUNCH_FAILS, "%s: %s", library, strerror(-ret));
	if (launch.doctor) {
		status = examine(&launch, &device, library);
		free(launch.words);
		return status;
	}
	status = program_find(&program, launch.command[0], reason);
	if (status != 0)
		fail(status, "%s", reason);
	set_preload(choose_runtime(&device, library, &program), library, launch.checks);
	run(&launch, &program, argv);
}
