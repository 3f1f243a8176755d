/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * paper.h -- text for people: wrapped to the terminal, labels in a margin.
 *
 * What machines say is foreign: nothing of it reaches the terminal as a
 * control character.
 */
#ifndef PAPER_H
#define PAPER_H

#include <stdbool.h>
#include <stdio.h>

enum paper_ink { PAPER_PLAIN, PAPER_STRONG, PAPER_GOOD, PAPER_DOUBTFUL, PAPER_BAD, PAPER_FAINT };

struct paper {
	FILE *file;
	int columns;
	bool inked;
};

void paper_open(struct paper *paper, FILE *file);
/* 0, or -EIO with the sentence stored where not all of it could be written. */
int paper_close(struct paper *paper);

/*
 * The label, then text from the given column on, wrapped; a newline in the text
 * begins a new line.
 */
void paper_line(struct paper *paper, enum paper_ink ink, int column, const char *label,
		const char *text);

#endif /* PAPER_H */
