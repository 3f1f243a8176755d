/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * symbol.c -- see symbol.h.
 *
 * An address is looked up once. libdw is opened by dlopen(3), so that a program without findings
 * does not load it, and the device runs where it is not installed.
 */
#include "symbol.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#if __has_include(<elfutils/libdwfl.h>)
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#define HAS_LIBDW 1
#endif

#include "script.h"

#define BUCKETS 1024u

struct known {
	struct known *next;
	uintptr_t pc;
	struct symbol symbol;
};

static struct known *buckets[BUCKETS];

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

#ifdef HAS_LIBDW
static bool is_verbs_header(const char *path)
{
	const char *name = last_part(path);

	return strcmp(name, "verbs.h") == 0 || strcmp(name, "rdma_verbs.h") == 0;
}

#define FUNCTIONS(X)                                                                               \
	X(dwfl_begin)                                                                              \
	X(dwfl_report_begin_add)                                                                   \
	X(dwfl_report_end)                                                                         \
	X(dwfl_linux_proc_report)                                                                  \
	X(dwfl_linux_proc_find_elf)                                                                \
	X(dwfl_build_id_find_debuginfo)                                                            \
	X(dwfl_addrmodule)                                                                         \
	X(dwfl_module_addrname)                                                                    \
	X(dwfl_module_addrdie)                                                                     \
	X(dwfl_module_getsrc)                                                                      \
	X(dwfl_lineinfo)                                                                           \
	X(dwarf_getscopes)                                                                         \
	X(dwarf_getscopes_die)                                                                     \
	X(dwarf_tag)                                                                               \
	X(dwarf_diename)                                                                           \
	X(dwarf_decl_file)                                                                         \
	X(dwarf_attr)                                                                              \
	X(dwarf_formudata)                                                                         \
	X(dwarf_getsrcfiles)                                                                       \
	X(dwarf_filesrc)

static struct {
#define X(name) __typeof__(name) *(name);
	FUNCTIONS(X)
#undef X
} dw;

static Dwfl *dwfl; /* NULL: libdw is not there */

static void find(void *library, const char *name, void *function, bool *all)
{
	void *symbol = dlsym(library, name);

	memcpy(function, &symbol, sizeof(symbol)); /* ISO C has no cast from one to the other */
	*all = *all && symbol != NULL;
}

static void open_libdw(void)
{
	static Dwfl_Callbacks callbacks;
	static char *debuginfo_path;
	static bool tried;
	void *library;
	bool all = true;

	if (tried)
		return;
	tried = true;
	library = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
	if (library == NULL)
		return;
#define X(name) find(library, #name, &dw.name, &all);
	FUNCTIONS(X)
#undef X
	if (!all)
		return;
	callbacks.find_elf = dw.dwfl_linux_proc_find_elf;
	/* not the standard one, which may ask servers */
	callbacks.find_debuginfo = dw.dwfl_build_id_find_debuginfo;
	callbacks.debuginfo_path = &debuginfo_path;
	dwfl = dw.dwfl_begin(&callbacks);
}

/* Its module; objects that were loaded since are looked for. */
static Dwfl_Module *module_of(uintptr_t pc)
{
	Dwfl_Module *module;

	open_libdw();
	if (dwfl == NULL)
		return NULL;
	module = dw.dwfl_addrmodule(dwfl, pc);
	if (module != NULL)
		return module;
	dw.dwfl_report_begin_add(dwfl);
	dw.dwfl_linux_proc_report(dwfl, getpid());
	dw.dwfl_report_end(dwfl, NULL, NULL);
	return dw.dwfl_addrmodule(dwfl, pc);
}

static uint64_t number_in(Dwarf_Die *die, unsigned attribute)
{
	Dwarf_Attribute found;
	Dwarf_Word value = 0;

	if (dw.dwarf_attr(die, attribute, &found) == NULL ||
	    dw.dwarf_formudata(&found, &value) != 0)
		return 0;
	return value;
}

static bool is_inlined_wrapper(Dwarf_Die *die)
{
	const char *file;

	if (dw.dwarf_tag(die) != DW_TAG_inlined_subroutine)
		return false;
	file = dw.dwarf_decl_file(die);
	return file != NULL && is_verbs_header(file);
}

/* The scopes in the code that contain the address, the innermost first; to be freed. 0: none. */
static int scopes_of(Dwarf_Die *unit, Dwarf_Addr address, Dwarf_Die **scopes)
{
	Dwarf_Die *innermost = NULL;
	int count = dw.dwarf_getscopes(unit, address, &innermost);

	/* beyond an inlined function these are the scopes of its definition, not of its call */
	if (count > 0)
		count = dw.dwarf_getscopes_die(&innermost[0], scopes);
	free(innermost);
	return count > 0 ? count : 0;
}

/* The place of the call of an inlined function. */
static void put_call(Dwarf_Die *unit, Dwarf_Die *call, struct symbol *symbol)
{
	const uint64_t at = number_in(call, DW_AT_call_file);
	const char *name = NULL;
	Dwarf_Files *files;
	size_t count;

	symbol->line = (int)number_in(call, DW_AT_call_line);
	if (dw.dwarf_getsrcfiles(unit, &files, &count) == 0 && at < count)
		name = dw.dwarf_filesrc(files, at, NULL, NULL);
	if (name != NULL)
		snprintf(symbol->file, sizeof(symbol->file), "%s", last_part(name));
}

static void put_name(Dwarf_Die *scope, struct symbol *symbol)
{
	const char *name = dw.dwarf_diename(scope);

	if (name != NULL)
		snprintf(symbol->function, sizeof(symbol->function), "%s", name);
}

/*
 * The functions that were inlined at the address, and what they were inlined into. Those of verbs.h
 * give the place of their call, and count no further.
 */
static void put_scopes(Dwarf_Die *unit, Dwarf_Addr address, struct symbol *symbol)
{
	Dwarf_Die *scopes = NULL;
	const int count = scopes_of(unit, address, &scopes);

	for (int i = 0; i < count; i++) {
		const int tag = dw.dwarf_tag(&scopes[i]);

		if (tag == DW_TAG_subprogram) {
			put_name(&scopes[i], symbol);
			break;
		}
		if (tag != DW_TAG_inlined_subroutine)
			continue;
		if (!is_inlined_wrapper(&scopes[i])) {
			put_name(&scopes[i], symbol);
			symbol->outer = calloc(1, sizeof(*symbol));
			if (symbol->outer == NULL)
				break;
			*symbol->outer = *symbol;
			symbol = symbol->outer;
			symbol->outer = NULL;
		}
		put_call(unit, &scopes[i], symbol);
	}
	free(scopes);
}

/* False: it has no debug information. */
static bool look_up_line(uintptr_t pc, struct symbol *symbol)
{
	Dwfl_Module *module = module_of(pc);
	Dwfl_Line *line = module == NULL ? NULL : dw.dwfl_module_getsrc(module, pc);
	const char *name = module == NULL ? NULL : dw.dwfl_module_addrname(module, pc);
	const char *file = NULL;
	Dwarf_Addr bias = 0;
	Dwarf_Die *unit;

	if (name != NULL)
		snprintf(symbol->function, sizeof(symbol->function), "%s", name);
	if (line != NULL)
		file = dw.dwfl_lineinfo(line, NULL, &symbol->line, NULL, NULL, NULL);
	if (file == NULL)
		return false;
	snprintf(symbol->file, sizeof(symbol->file), "%s", last_part(file));
	unit = dw.dwfl_module_addrdie(module, pc, &bias);
	if (unit != NULL)
		put_scopes(unit, pc - bias, symbol);
	symbol->is_wrapper = is_verbs_header(symbol->file);
	return true;
}
#else
static bool look_up_line(uintptr_t pc, struct symbol *symbol)
{
	(void)pc;
	(void)symbol;
	return false;
}
#endif

/* The name as it is in the source, where that is of C++ and has its library. */
static void demangle(struct symbol *symbol)
{
	char *(*cxa_demangle)(const char *, char *, size_t *, int *) =
		dlsym(RTLD_DEFAULT, "__cxa_demangle");
	char *name;

	if (cxa_demangle == NULL || strncmp(symbol->function, "_Z", 2) != 0)
		return;
	name = cxa_demangle(symbol->function, NULL, NULL, NULL);
	if (name != NULL)
		snprintf(symbol->function, sizeof(symbol->function), "%s", name);
	free(name);
}

static void look_up_object(uintptr_t pc, struct symbol *symbol)
{
	Dl_info info;

	symbol->line = 0;
	if (dladdr((const void *)pc, &info) == 0 || info.dli_fname == NULL) /* NOLINT */
		return;
	snprintf(symbol->file, sizeof(symbol->file), "%s+%#lx", last_part(info.dli_fname),
		 (unsigned long)(pc - (uintptr_t)info.dli_fbase));
	if (strcmp(symbol->function, "??") == 0 && info.dli_sname != NULL)
		snprintf(symbol->function, sizeof(symbol->function), "%s", info.dli_sname);
}

static void look_up(uintptr_t pc, struct symbol *symbol)
{
	snprintf(symbol->function, sizeof(symbol->function), "??");
	if (!look_up_line(pc, symbol))
		look_up_object(pc, symbol);
	demangle(symbol);
}

/* --- on a stack of its own: libdw takes more than a small one of the program has --- */

#define STACK_BYTES (1024u * 1024)

static struct {
	ucontext_t here, there;
	void *stack;
	uintptr_t pc;
	struct symbol *symbol;
} aside;

static void look_up_there(void)
{
	look_up(aside.pc, aside.symbol);
}

/* A sanitizer would warn of it, and has its programs run on large stacks. */
static bool has_sanitizer(void)
{
	return dlsym(RTLD_DEFAULT, "__asan_init") != NULL ||
	       dlsym(RTLD_DEFAULT, "__tsan_init") != NULL;
}

static bool has_stack(void)
{
	if (has_sanitizer())
		return false;
	if (aside.stack == NULL)
		aside.stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	return aside.stack != MAP_FAILED;
}

static void look_up_aside(uintptr_t pc, struct symbol *symbol)
{
	if (!has_stack() || getcontext(&aside.there) != 0) {
		look_up(pc, symbol);
		return;
	}
	aside.pc = pc;
	aside.symbol = symbol;
	aside.there.uc_stack = (stack_t){.ss_sp = aside.stack, .ss_size = STACK_BYTES};
	aside.there.uc_link = &aside.here;
	makecontext(&aside.there, look_up_there, 0);
	swapcontext(&aside.here, &aside.there);
}

const struct symbol *symbol_of(uintptr_t pc)
{
	static const struct symbol none = {.function = "??"};
	struct known **bucket = &buckets[(pc >> 2) % BUCKETS];
	struct known *known = *bucket;

	while (known != NULL && known->pc != pc)
		known = known->next;
	if (known != NULL)
		return &known->symbol;
	known = calloc(1, sizeof(*known));
	if (known == NULL)
		return &none;
	known->pc = pc;
	look_up_aside(pc - 1, &known->symbol);
	known->next = *bucket;
	*bucket = known;
	return &known->symbol;
}

/* The function itself, or what it was inlined into. */
static const struct symbol *past_wrappers(const struct symbol *symbol)
{
	while (symbol != NULL && symbol->is_wrapper)
		symbol = symbol->outer;
	return symbol;
}

const struct symbol *symbol_next(struct symbol_walk *walk)
{
	const struct stack *stack = walk->stack;
	const struct symbol *symbol = past_wrappers(walk->next);

	if (stack == NULL)
		return NULL;
	while (symbol == NULL && !walk->is_in_script && walk->taken < stack->count)
		symbol = past_wrappers(symbol_of(stack->pc[walk->taken++]));
	if (stack->script != NULL && !walk->is_in_script &&
	    (symbol == NULL || script_is_interpreter(symbol))) {
		walk->is_in_script = true;
		symbol = stack->script;
	}
	walk->next = symbol == NULL ? NULL : symbol->outer;
	return symbol;
}
