/* SPDX-License-Identifier: BSD-3-Clause */
/* test_elf_file.c -- what is read of ELF files, whole, cut off and damaged. */
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "soft_device/launcher/elf_file.h"
#include "tests/lib/test.h"

#define SELF "/proc/self/exe"

static uint8_t *self;
static size_t self_bytes;

static int load_self(void **state)
{
	struct stat st;
	int fd = open(SELF, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st) != 0)
		return -1;
	self_bytes = (size_t)st.st_size;
	self = malloc(self_bytes);
	if (self == NULL || read(fd, self, self_bytes) != (ssize_t)self_bytes)
		return -1;
	return close(fd);
}

static int free_self(void **state)
{
	free(self);
	return 0;
}

/* Reads a file that has these bytes. */
static int read_bytes(const uint8_t *bytes, size_t size, struct elf_file *file)
{
	char path[64];
	int fd = memfd_create("elf", MFD_CLOEXEC), ret;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ret = elf_file_read(path, file);
	close(fd);
	return ret;
}

TEST(a_program_of_this_machine)
{
	struct elf_file file;

	assert_int_equal(elf_file_read(SELF, &file), 0);
	assert_int_equal(file.class, ELFCLASS64);
	assert_true(file.has_loader);
}

TEST(what_is_no_elf_file)
{
	struct elf_file file;

	assert_int_equal(elf_file_read("/nowhere", &file), -ENOENT);
	assert_int_equal(elf_file_read("/", &file), -ENOEXEC);
	assert_int_equal(elf_file_read("/dev/null", &file), -ENOEXEC);
	assert_int_equal(read_bytes((const uint8_t *)"\x7f"
						     "ELF",
				    4, &file),
			 -ENOEXEC);
	assert_int_equal(read_bytes((const uint8_t *)"#!/bin/sh\n", 10, &file), -ENOEXEC);
}

TEST(a_file_that_is_cut_off_is_read_as_far_as_it_goes)
{
	struct elf_file file;

	for (size_t size = 0; size < self_bytes; size += size < 1024 ? 1 : 4099)
		assert_int_equal(read_bytes(self, size, &file),
				 size < sizeof(Elf64_Ehdr) ? -ENOEXEC : 0);
}

/* Makes each word of a range an extreme, one after the other. */
static void damage(size_t from, size_t to)
{
	static const uint64_t extremes[] = {0, 1, UINT32_MAX, INT64_MAX, UINT64_MAX};
	struct elf_file file;

	for (size_t at = from; at + 8 <= to; at += 4) {
		for (size_t i = 0; i < sizeof(extremes) / sizeof(extremes[0]); i++) {
			uint64_t kept;

			memcpy(&kept, self + at, sizeof(kept));
			memcpy(self + at, &extremes[i], sizeof(kept));
			assert_int_equal(read_bytes(self, self_bytes, &file), 0);
			memcpy(self + at, &kept, sizeof(kept));
		}
	}
}

TEST(a_damaged_file_does_no_harm)
{
	Elf64_Ehdr header;
	Elf64_Phdr p;

	memcpy(&header, self, sizeof(header));
	damage(SELFMAG, header.e_phoff + (size_t)header.e_phnum * sizeof(p));
	for (size_t i = 0; i < header.e_phnum; i++) {
		memcpy(&p, self + header.e_phoff + i * sizeof(p), sizeof(p));
		if (p.p_type == PT_DYNAMIC)
			damage(p.p_offset, p.p_offset + p.p_filesz);
	}
}

TEST(the_runtimes_that_come_first)
{
	assert_true(elf_file_is_runtime("libasan.so.8"));
	assert_true(elf_file_is_runtime("/usr/lib/libtsan.so.2"));
	assert_true(elf_file_is_runtime("libclang_rt.asan-x86_64.so"));
	assert_false(elf_file_is_runtime("libubsan.so.1"));
	assert_false(elf_file_is_runtime("/libasan.so/libc.so.6"));
	assert_false(elf_file_is_runtime("libc.so.6"));
}

int main(void)
{
	return test_run(load_self, free_self);
}
