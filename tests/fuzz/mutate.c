/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mutate.c -- feeds a parser good bytes, changed a little: bits flipped,
 * fields set to extremes, cut and extended. Usage: mutate_SUBJECT ROUNDS, or
 * mutate_SUBJECT --seeds DIR, which writes the good bytes for libFuzzer to start from. A round in
 * which the parser crashes is named; mutate_SUBJECT ROUNDS FIRST begins with that round.
 */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "fuzz.h"
#include "names/random.h"

/* A sanitizer ends the process in a way of its own; NULL without one. */
__attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)(void));

static uint64_t state = 1;
static const char *program;
static volatile long current_round;

static size_t mutate(uint8_t *input, size_t len)
{
	static const uint8_t extremes[] = {0x00, 0x01, 0x7f, 0x80, 0xff};

	for (uint64_t changes = random_next(&state) % 4; changes > 0 && len > 0; changes--) {
		size_t at = (size_t)(random_next(&state) % len);

		switch (random_next(&state) % 5) {
		case 0:
			input[at] ^= (uint8_t)(1U << random_next(&state) % 8);
			break;
		case 1:
			input[at] = extremes[random_next(&state) % sizeof(extremes)];
			break;
		case 2:
			memset(input + at, 0xff, len - at < 8 ? len - at : 8);
			break;
		case 3:
			len = at;
			break;
		default:
			if (len < FUZZ_INPUT_MAX - 8)
				len += (size_t)(random_next(&state) % 8);
			break;
		}
	}
	return len;
}

/* In memory of exactly its size, so that a sanitizer sees a byte too far. */
static void feed(const uint8_t *input, size_t len)
{
	uint8_t *exact = malloc(len > 0 ? len : 1);

	if (exact == NULL)
		abort();
	memcpy(exact, input, len);
	LLVMFuzzerTestOneInput(exact, len);
	free(exact);
}

static int write_seed(const char *directory, size_t index, const uint8_t *input, size_t len)
{
	char path[4096];
	size_t written;
	FILE *file;

	snprintf(path, sizeof(path), "%s/seed-%zu", directory, index);
	file = fopen(path, "w");
	if (file == NULL) {
		perror(path);
		return 1;
	}
	written = fwrite(input, 1, len, file);
	if (fclose(file) != 0 || written != len) {
		perror(path);
		return 1;
	}
	return 0;
}

static int write_seeds(const char *directory)
{
	uint8_t input[FUZZ_INPUT_MAX] = {0};
	size_t len;
	int ret = 0;

	for (size_t i = 0; ret == 0 && (len = fuzz_seed(i, input)) > 0; i++)
		ret = write_seed(directory, i, input, len);
	return ret;
}

/* Also in a signal handler: the process ends, and glibc's takes no lock for numbers and a text. */
static void name_round(void)
{
	char line[512];
	/* NOLINTNEXTLINE(bugprone-signal-handler,cert-sig30-c) */
	int len = snprintf(line, sizeof(line),
			   "%s: round %ld crashed the parser; again: %s %ld %ld\n", program,
			   current_round, program, current_round + 1, current_round);

	if (len > 0 && write(STDERR_FILENO, line, (size_t)len) < 0)
		_exit(70);
}

static void on_crash(int number)
{
	name_round();
	signal(number, SIG_DFL);
	raise(number);
}

static void name_round_of_a_crash(const char *name)
{
	static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

	program = name;
	if (__sanitizer_set_death_callback != NULL) {
		__sanitizer_set_death_callback(name_round);
		return;
	}
	for (size_t i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++)
		signal(crashes[i], on_crash);
}

int main(int argc, char **argv)
{
	long rounds = argc >= 2 ? strtol(argv[1], NULL, 10) : 0;
	long first = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
	uint8_t input[FUZZ_INPUT_MAX] = {0};
	size_t seeds = 0;

	if (argc == 3 && strcmp(argv[1], "--seeds") == 0)
		return write_seeds(argv[2]);
	while (fuzz_seed(seeds, input) > 0)
		seeds++;
	if (rounds <= 0 || seeds == 0) {
		fprintf(stderr, "usage: %s ROUNDS [FIRST] | --seeds DIR\n", argv[0]);
		return 64;
	}
	name_round_of_a_crash(argv[0]);
	for (current_round = 0; current_round < rounds; current_round++) {
		size_t len = mutate(input, fuzz_seed((size_t)current_round % seeds, input));

		if (current_round >= first)
			feed(input, len);
	}
	return 0;
}
