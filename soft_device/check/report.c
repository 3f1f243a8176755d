/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * report.c -- findings: composed, counted, printed.
 *
 * A finding is printed at once, as the program may crash or hang because of it, by one write(2); of
 * the same kind and stack once, and then counted.
 */
#include "report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "soft_device/process/cancel.h"
#include "symbol.h"

#define IN_FULL	    20u
#define FRAMES	    6u
#define REPORT_ROOM 6000u

struct counted {
	struct counted *next;
	enum check_kind kind;
	enum check_level level;
	uint32_t stack;
	uint64_t times;
	bool printed;
	bool suppressed;
	bool retracted;
};

pthread_mutex_t check_lock = PTHREAD_MUTEX_INITIALIZER;
struct check_counts check_counts;
_Atomic uint64_t check_requests, check_passed;

static struct counted *counted;
static uint32_t printed;

/* --- composing --- */

void check_find(struct check_finding *finding, enum check_kind kind, uint32_t stack,
		const char *format, ...)
{
	va_list args;

	finding->kind = kind;
	finding->level = check_kinds[kind].level;
	finding->stack = stack;
	finding->lines = 0;
	va_start(args, format);
	vsnprintf(finding->sentence, sizeof(finding->sentence), format, args);
	va_end(args);
}

void check_line(struct check_finding *finding, const char *name, const char *format, ...)
{
	va_list args;

	if (finding->lines == CHECK_LINES)
		return;
	finding->line[finding->lines].name = name;
	finding->line[finding->lines].stack = 0;
	va_start(args, format);
	vsnprintf(finding->line[finding->lines].text, CHECK_TEXT_BYTES, format, args);
	va_end(args);
	finding->lines++;
}

void check_place(struct check_finding *finding, const char *name, uint32_t stack)
{
	if (finding->lines == CHECK_LINES || stack == 0)
		return;
	finding->line[finding->lines].name = name;
	finding->line[finding->lines].stack = stack;
	finding->lines++;
}

bool check_wants(enum check_kind kind)
{
	return (check_words.kinds >> kind & 1) != 0 &&
	       (check_kinds[kind].level != CHECK_NOTE || check_words.notes);
}

bool check_wants_notes(void)
{
	return check_words.notes;
}

bool check_has_errors(void)
{
	return atomic_load(&check_counts.errors) > 0 || check_holds_errors();
}

/* --- stacks in words --- */

/* Another function without a name of one object. */
static bool says_nothing(const struct symbol *symbol, const struct symbol *last)
{
	return last != NULL && strcmp(symbol->function, "??") == 0 && last->line == 0 &&
	       strcspn(symbol->file, "+") == strcspn(last->file, "+") &&
	       strncmp(symbol->file, last->file, strcspn(last->file, "+")) == 0;
}

/* It calls main() or the function of a thread. */
static bool is_start(const struct symbol *symbol)
{
	static const char *const names[] = {"__libc_start_call_main",
					    "__libc_start_main",
					    "__libc_start_main@@GLIBC_2.34",
					    "_start",
					    "start_thread",
					    "clone",
					    "__clone3",
					    "clone3"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(symbol->function, names[i]) == 0)
			return true;
	return false;
}

/* "f a.c:3", behind what is there; how long it is then. */
static size_t put_frame(const struct symbol *symbol, char *text, size_t used, size_t room)
{
	int more;

	if (symbol->line > 0)
		more = snprintf(text + used, room - used, "%s%s %s:%d", used > 0 ? " < " : "",
				symbol->function, symbol->file, symbol->line);
	else
		more = snprintf(text + used, room - used, "%s%s %s", used > 0 ? " < " : "",
				symbol->function, symbol->file);
	if (more < 0)
		return used;
	return used + (size_t)more < room ? used + (size_t)more : room - 1;
}

void report_stack(const struct stack *stack, char *text, size_t room)
{
	struct symbol_walk walk = {.stack = stack};
	const struct symbol *symbol, *last = NULL;
	unsigned frames = 0;
	size_t used = 0;

	text[0] = '\0';
	while (frames < FRAMES && (symbol = symbol_next(&walk)) != NULL) {
		if (frames > 0 && is_start(symbol))
			return;
		if (says_nothing(symbol, last))
			continue;
		used = put_frame(symbol, text, used, room);
		frames++;
		last = symbol;
		if (strcmp(symbol->function, "main") == 0 && !walk.is_in_script)
			return;
	}
}

const char *report_function(const struct stack *stack)
{
	const struct symbol *symbol = symbol_next(&(struct symbol_walk){.stack = stack});

	return symbol == NULL ? "*" : symbol->function;
}

void check_place_text(uint32_t stack, char *text, size_t room)
{
	const struct stack *found = stack_get(stack);

	text[0] = '\0';
	if (found == NULL)
		return;
	pthread_mutex_lock(&check_lock);
	report_stack(found, text, room);
	pthread_mutex_unlock(&check_lock);
}

/* --- printing --- */

static void print(const char *text, size_t length)
{
	while (length > 0) {
		const ssize_t written = write(STDERR_FILENO, text, length);

		if (written <= 0)
			return;
		text += written;
		length -= (size_t)written;
	}
}

static __attribute__((format(printf, 3, 4))) size_t append(char *text, size_t used,
							   const char *format, ...)
{
	va_list args;
	int more;

	va_start(args, format);
	more = vsnprintf(text + used, REPORT_ROOM - used, format, args);
	va_end(args);
	if (more < 0)
		return used;
	return used + (size_t)more < REPORT_ROOM ? used + (size_t)more : REPORT_ROOM - 1;
}

static void print_finding(const struct check_finding *finding)
{
	static char text[REPORT_ROOM]; /* under the lock */
	char place[CHECK_TEXT_BYTES];
	size_t used;

	used = append(text, 0, "== rpma-soft: %s: %s%s\n", check_kinds[finding->kind].id,
		      finding->level == CHECK_WARNING ? "warning: "
		      : finding->level == CHECK_NOTE  ? "note: "
						      : "",
		      finding->sentence);
	for (unsigned i = 0; i < finding->lines; i++) {
		const uint32_t number = finding->line[i].stack;

		if (number != 0)
			report_stack(stack_get(number), place, sizeof(place));
		used = append(text, used, "     %-15s %s\n", finding->line[i].name,
			      number != 0 ? place : finding->line[i].text);
	}
	used = append(text, used, "     %-15s %s:%s\n", "suppress with",
		      check_kinds[finding->kind].id, report_function(stack_get(finding->stack)));
	print(text, used);
}

/* --- counting --- */

static struct counted *find(enum check_kind kind, uint32_t stack)
{
	struct counted *at = counted;

	while (at != NULL && (at->kind != kind || at->stack != stack))
		at = at->next;
	return at;
}

static void count(const struct check_finding *finding)
{
	if (finding->level == CHECK_ERROR && atomic_fetch_add(&check_counts.errors, 1) == 0)
		finish_arm();
	else if (finding->level == CHECK_WARNING)
		atomic_fetch_add(&check_counts.warnings, 1);
}

/* The first of its kind and stack. */
static void report_new(const struct check_finding *finding)
{
	const bool suppressed = suppress_matches(finding->kind, stack_get(finding->stack));
	struct counted *made = malloc(sizeof(*made));

	if (suppressed) {
		atomic_fetch_add(&check_counts.suppressed, 1);
	} else {
		count(finding);
		if (printed < IN_FULL)
			print_finding(finding);
		json_finding(finding);
	}
	if (made == NULL)
		return;
	*made = (struct counted){.next = counted,
				 .kind = finding->kind,
				 .level = finding->level,
				 .stack = finding->stack,
				 .times = 1,
				 .suppressed = suppressed,
				 .printed = printed++ < IN_FULL};
	counted = made;
}

void check_report(const struct check_finding *finding)
{
	struct counted *before;
	int cancel;

	if (!check_wants(finding->kind))
		return;
	cancel = cancel_off(); /* printing is a cancellation point */
	pthread_mutex_lock(&check_lock);
	before = find(finding->kind, finding->stack);
	if (before != NULL && before->level >= finding->level && !before->retracted)
		before->times++;
	else
		report_new(finding);
	pthread_mutex_unlock(&check_lock);
	cancel_restore(cancel);
	if (check_words.halt && atomic_load(&check_counts.errors) > 0) {
		finish_print();
		_exit(finish_status(0));
	}
}

void check_retract(enum check_kind kind, uint32_t stack, const char *why)
{
	const int cancel = cancel_off();
	struct counted *at;
	char line[CHECK_TEXT_BYTES];
	int length;

	pthread_mutex_lock(&check_lock);
	at = find(kind, stack);
	if (at != NULL && !at->retracted && !at->suppressed && at->level == CHECK_ERROR) {
		at->retracted = true;
		json_withdrawn(kind, stack, why);
		atomic_fetch_sub(&check_counts.errors, 1);
		length = snprintf(line, sizeof(line), "== rpma-soft: %s: withdrawn: %s\n",
				  check_kinds[kind].id, why);
		if (length > 0)
			print(line, (size_t)length);
	}
	pthread_mutex_unlock(&check_lock);
	cancel_restore(cancel);
}

void report_repeats(void)
{
	static char text[REPORT_ROOM];
	char place[CHECK_TEXT_BYTES] = "";
	size_t used = 0;

	pthread_mutex_lock(&check_lock);
	for (struct counted *at = counted; at != NULL; at = at->next) {
		const struct stack *stack = stack_get(at->stack);

		if ((at->times == 1 && at->printed) || used > REPORT_ROOM - 600)
			continue;
		if (stack != NULL)
			report_stack(stack, place, sizeof(place));
		else
			snprintf(place, sizeof(place), "an unknown place");
		used = append(text, used, "== rpma-soft: %s at %s: seen %llu times\n",
			      check_kinds[at->kind].id, place, (unsigned long long)at->times);
	}
	pthread_mutex_unlock(&check_lock);
	print(text, used);
}

void report_forget(void)
{
	counted = NULL; /* the parent tells them */
	printed = 0;
	atomic_store(&check_counts.errors, 0);
	atomic_store(&check_counts.warnings, 0);
	atomic_store(&check_counts.suppressed, 0);
	atomic_store(&check_requests, 0);
	atomic_store(&check_passed, 0);
}
