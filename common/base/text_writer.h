/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * text_writer.h -- text for people: wrapped to the terminal, labels in a margin.
 *
 * Text from other machines is foreign: none of it reaches the terminal as a
 * control character.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

enum text_style { TEXT_PLAIN, TEXT_STRONG, TEXT_GOOD, TEXT_DOUBTFUL, TEXT_BAD, TEXT_FAINT };

struct text_writer {
	FILE *file;
	int columns;
	bool styled;
};

void text_writer_open(struct text_writer *writer, FILE *file);
/* 0, or -EIO with the error message set where not all of it could be written. */
int text_writer_close(struct text_writer *writer);

/*
 * The label, then text from the given column on, wrapped; a newline in the text
 * begins a new line.
 */
void text_writer_line(struct text_writer *writer, enum text_style style, int column,
		      const char *label, const char *text);

/* '?' for each control character: the text is one line, on any terminal. */
void text_replace_controls(char *text);
