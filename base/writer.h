/* A growable text or byte buffer in an arena.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_BASE_WRITER_H
#define IG_BASE_WRITER_H

#include "base/str.h"

#include <stdarg.h>

typedef struct ig_writer {
    ig_arena *arena;
    char *data; /* always zero-terminated once anything was written */
    size_t size, capacity;
} ig_writer;

void ig_writer_init(ig_writer *writer, ig_arena *arena);
void ig_put(ig_writer *writer, const char *format, ...) IG_PRINTF(2, 3);
void ig_put_list(ig_writer *writer, const char *format, va_list list) IG_PRINTF(2, 0);
void ig_put_bytes(ig_writer *writer, const void *bytes, size_t size);
void ig_put_str(ig_writer *writer, ig_str text);
void ig_put_char(ig_writer *writer, char c);
void ig_put_spaces(ig_writer *writer, int count);
/* Pads with zero bytes up to a multiple of `unit`. */
void ig_put_align(ig_writer *writer, size_t unit);
/* A quoted string with \" \\ \n \t \xNN escapes, as the IR parser reads it (bytes
 * outside printable ASCII are written as they are when they are valid UTF-8). */
void ig_put_quoted(ig_writer *writer, ig_str text);
/* The same for JSON: \u00NN escapes, and U+FFFD for each byte that is not UTF-8. */
void ig_put_json_string(ig_writer *writer, ig_str text);
/* The shortest decimal that reads back as the same double (or float). */
void ig_put_f64(ig_writer *writer, double value);
void ig_put_f32(ig_writer *writer, float value);
ig_str ig_writer_str(const ig_writer *writer);

#endif
