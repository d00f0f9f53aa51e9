/* Tables of a listing: shared by describe.c and describe_tables.c.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_FRONTEND_TORCH_ENTRY_DESCRIBE_H
#define IG_FRONTEND_TORCH_ENTRY_DESCRIBE_H

#include "frontend/torch/language/code.h"
#include "frontend/torch/eval/program.h"

/* Rows of the listing's tables, as JSON objects; `put_table` writes the commas. */
typedef struct ig_ts_tables {
    ig_arena *arena;
    ig_writer *out;
    size_t count;
} ig_ts_tables;

void ig_ts_put_table(ig_ts_tables *to, const char *name, int64_t rows, int64_t dim,
                     const char *dtype);
/* Tables that FBGEMM's look-ups in the methods of this class name; `module` is the
 * object, `path` ends with '.' unless it is empty. */
void ig_ts_put_lookups(ig_ts_tables *to, const ig_class *class, const ig_py *module,
                       const char *path);

#endif
