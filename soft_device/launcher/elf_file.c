/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * elf_file.c -- reads headers and dynamic section of an ELF file.
 *
 * A mapped view with every offset checked: a damaged file is an error, never
 * a crash. A runtime that is linked in statically, as clang does, shows by the
 * name of its start function among the dynamic names.
 */
#include "elf_file.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct view {
	const uint8_t *bytes;
	size_t size;
};

static const void *at(const struct view *view, uint64_t offset, uint64_t size)
{
	if (offset > view->size || size > view->size - offset)
		return NULL;
	return view->bytes + offset;
}

/* The n-th program header, NULL beyond the last or when it is cut off. */
static bool header(const struct view *view, const ElfW(Ehdr) * file, unsigned int n,
		   ElfW(Phdr) * out)
{
	const void *from = n < file->e_phnum && file->e_phentsize == sizeof(*out)
				   ? at(view, file->e_phoff + n * sizeof(*out), sizeof(*out))
				   : NULL;

	if (from == NULL)
		return false;
	memcpy(out, from, sizeof(*out));
	return true;
}

/* The offset in the file of the bytes that are loaded at an address. */
static bool offset_of(const struct view *view, const ElfW(Ehdr) * file, uint64_t address,
		      uint64_t *offset)
{
	ElfW(Phdr) p;

	for (unsigned int i = 0; header(view, file, i, &p); i++) {
		if (p.p_type == PT_LOAD && address >= p.p_vaddr &&
		    address - p.p_vaddr < p.p_filesz) {
			*offset = p.p_offset + (address - p.p_vaddr);
			return true;
		}
	}
	return false;
}

/* The n-th entry of the dynamic section; false at its end. */
static bool dynamic(const struct view *view, const ElfW(Phdr) * section, size_t n, ElfW(Dyn) * out)
{
	const void *from = NULL;

	if (n < section->p_filesz / sizeof(*out))
		from = at(view, section->p_offset + n * sizeof(*out), sizeof(*out));
	if (from == NULL)
		return false;
	memcpy(out, from, sizeof(*out));
	return out->d_tag != DT_NULL;
}

bool elf_file_is_runtime(const char *library)
{
	static const char *const names[] = {
		"libasan.so",	    "libhwasan.so",	"libtsan.so",	     "liblsan.so",
		"libclang_rt.asan", "libclang_rt.tsan", "libclang_rt.hwasan"};
	const char *slash = strrchr(library, '/');
	const char *name = slash != NULL ? slash + 1 : library;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return true;
	}
	return false;
}

static bool has_name(const struct view *names, const char *name)
{
	return memmem(names->bytes, names->size, name, strlen(name) + 1) != NULL;
}

static void read_dynamic(const struct view *view, const ElfW(Ehdr) * header_of_file,
			 const ElfW(Phdr) * section, struct elf_file *file)
{
	struct view names = {NULL, 0};
	uint64_t address = 0, offset;
	ElfW(Dyn) d;

	for (size_t i = 0; dynamic(view, section, i, &d); i++) {
		if (d.d_tag == DT_STRTAB)
			address = d.d_un.d_ptr;
		else if (d.d_tag == DT_STRSZ)
			names.size = d.d_un.d_val;
	}
	if (!offset_of(view, header_of_file, address, &offset) ||
	    (names.bytes = at(view, offset, names.size)) == NULL)
		return;
	for (size_t i = 0; dynamic(view, section, i, &d) && file->runtime[0] == '\0'; i++) {
		const char *name = d.d_tag == DT_NEEDED ? at(&names, d.d_un.d_val, 1) : NULL;
		size_t left = names.size - (size_t)d.d_un.d_val;

		if (name != NULL && strnlen(name, left) < left &&
		    strlen(name) < sizeof(file->runtime) && elf_file_is_runtime(name))
			memcpy(file->runtime, name, strlen(name) + 1);
	}
	file->runtime_inside = file->runtime[0] == '\0' &&
			       (has_name(&names, "__asan_init") || has_name(&names, "__tsan_init"));
}

static void read_loader(const struct view *view, const ElfW(Phdr) * section, struct elf_file *file)
{
	const char *path = at(view, section->p_offset, section->p_filesz);

	file->has_loader = true;
	if (path != NULL && section->p_filesz > 0 && section->p_filesz <= sizeof(file->loader) &&
	    path[section->p_filesz - 1] == '\0')
		memcpy(file->loader, path, section->p_filesz);
}

static int read_view(const struct view *view, struct elf_file *file)
{
	ElfW(Ehdr) e;
	ElfW(Phdr) p;

	if (view->size < sizeof(e) || memcmp(view->bytes, ELFMAG, SELFMAG) != 0)
		return -ENOEXEC;
	memcpy(&e, view->bytes, sizeof(e));
	file->class = e.e_ident[EI_CLASS];
	file->machine = e.e_machine;
	if (file->class != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32))
		return 0;
	for (unsigned int i = 0; header(view, &e, i, &p); i++) {
		if (p.p_type == PT_INTERP)
			read_loader(view, &p, file);
		else if (p.p_type == PT_DYNAMIC)
			read_dynamic(view, &e, &p, file);
	}
	return 0;
}

int elf_file_read(const char *path, struct elf_file *file)
{
	struct view view;
	struct stat st;
	void *bytes;
	int fd = open(path, O_RDONLY | O_CLOEXEC), ret;

	memset(file, 0, sizeof(*file));
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) != 0) {
		ret = -errno;
		goto out;
	}
	ret = -ENOEXEC;
	if (!S_ISREG(st.st_mode) || st.st_size == 0)
		goto out;
	bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED) {
		ret = -errno;
		goto out;
	}
	view.bytes = bytes;
	view.size = (size_t)st.st_size;
	ret = read_view(&view, file);
	munmap(bytes, (size_t)st.st_size);
out:
	close(fd);
	return ret;
}
