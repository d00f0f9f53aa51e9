/* A golden file: what to run, its input, and the expected output.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     # run: fold,cse            a pipeline; empty or `verify`: only read and print
 *     # target: cpu:v3                 optional
 *     module @m { … }                  the input
 *     # expect:                        the exact output, up to the end of the file
 *     module @m { … }
 *
 * or, in place of the last part, lines that must each be found in the error messages:
 *
 *     # expect-error: 4:7: %x is not defined
 */
#ifndef IG_TOOLS_IGCHECK_GOLDEN_H
#define IG_TOOLS_IGCHECK_GOLDEN_H

#include <stdbool.h>
#include <stddef.h>

typedef struct golden {
    const char *path;
    char *text;        /* the whole file */
    size_t input_size; /* of the input, comments with it: from the start of text */
    char *pipeline, *target; /* NULL: absent */
    const char *expected;    /* in text; NULL: no `# expect:` */
    char **errors;           /* substrings */
    size_t error_count;
} golden;

/* False when the file cannot be read; `golden_close` in any case. */
bool golden_open(golden *file, const char *path);
void golden_close(golden *file);
/* Writes the file anew with `output` as the expectation (NULL: keeps no `# expect:`),
 * and with `errors`, one a line, where they are not NULL. */
bool golden_bless(const golden *file, const char *output, const char *errors);

/* A zero-terminated copy of `size` bytes; ends the program when memory is out. */
char *copy_text(const char *text, size_t size);

#endif
