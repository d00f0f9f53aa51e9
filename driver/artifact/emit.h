/* Other forms of an artifact: an object file, a C header, a shared library.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The artifact's bytes are data in each: one symbol and its size, which the runtime
 * opens with ig_program_open_memory.  The text holds its code once more, so that it
 * runs where no memory may become executable.
 */
#ifndef IG_DRIVER_ARTIFACT_EMIT_H
#define IG_DRIVER_ARTIFACT_EMIT_H

#include "base/platform/platform.h"
#include "base/vec.h"
#include "driver/host.h"

/* "out/my-model.o" and "libmy-model.so" -> "ingot_my_model". */
const char *ig_emit_symbol(ig_arena *arena, const char *path);

/* The entries of code for CPUs in a container's parts, which it borrows. */
typedef IG_VEC(ig_file_part) ig_part_list;
void ig_emit_find_code(ig_arena *arena, const ig_file_part *parts, size_t count,
                       ig_part_list *out_code);

typedef struct ig_emit_target {
    const char *symbol;
    bool is_arm64; /* else the object is for x86-64 */
} ig_emit_target;

/* An ELF object around the parts of a container, which it borrows. */
void ig_emit_object(ig_arena *arena, const ig_emit_target *target,
                    const ig_file_part *parts, size_t count, ig_file_part **out_parts,
                    size_t *out_count);

/* Inline functions over that symbol, and the signature. */
ig_str ig_emit_header(ig_arena *arena, const char *symbol, ig_module *module);

/* Links an object into a shared library at `path`, by the system's cc. */
ig_status ig_emit_shared(ig_context *context, const char *path,
                         const ig_file_part *parts, size_t count);

#endif
