/* Golden files: cases one after the other, each with a pipeline, its input, and the
 * expected output.  SPDX-License-Identifier: Apache-2.0
 *
 *     # ---- relu_of_relu ----         begins a case, up to the next such
 *     # run: fold,cse                  a pipeline; empty, `verify`: only read and print
 *     # target: cpu:v3                 optional
 *     module @m { … }                  the input
 *     # expect:                        the exact output, up to the end of the case
 *     module @m { … }
 *
 * or, in place of the last part, lines that must each be found in the error messages,
 * where lines are counted from the one after the case's heading:
 *
 *     # expect-error: 4:7: %x is not defined
 *
 * A file without headings is one case.  Lines before the first heading are about the
 * file.
 */
#ifndef IG_TOOLS_IGCHECK_GOLDEN_H
#define IG_TOOLS_IGCHECK_GOLDEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct golden {
    const char *path;
    char *name;        /* of the case; "" in a file without headings */
    char *text;        /* of the case, without its heading */
    size_t input_size; /* of the input, comments with it: from the start of text */
    char *pipeline, *target; /* NULL: absent */
    const char *expected;    /* in text; NULL: no `# expect:` */
    char **errors;           /* substrings */
    size_t error_count;
    char *blessed; /* the case's text anew; NULL: as it was */
} golden;

/* All cases of a file. */
typedef struct golden_file {
    const char *path;
    char *head; /* the lines before the first heading */
    golden *cases;
    size_t count;
} golden_file;

/* False when the file cannot be read; `golden_close` in any case.  `path` is
 * borrowed. */
bool golden_open(golden_file *file, const char *path);
void golden_close(golden_file *file);

/* Replaces the case's text: `output` is the expectation (NULL: keeps no `# expect:`),
 * and so is `errors`, one a line, where it is not NULL.  `golden_write` writes it. */
void golden_bless(golden *one, const char *output, const char *errors);
/* Writes the file with the blessed texts; false when it cannot be written. */
bool golden_write(const golden_file *file);

/* A zero-terminated copy of `size` bytes; ends the program when memory is out. */
char *copy_text(const char *text, size_t size);

#endif
