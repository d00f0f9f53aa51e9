/* From a relocatable object to position-independent bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_CODEGEN_CPU_IMAGE_H
#define IG_CODEGEN_CPU_IMAGE_H

#include "codegen/cpu/object.h"

typedef struct ig_code_image {
    const void *bytes; /* the arena's */
    size_t size;
    int64_t entry;           /* byte offset of the function asked for */
    const ig_object *object; /* that it was made of, with the sections' places */
} ig_code_image;

/* Lays out the code and read-only data of an ELF object and resolves what refers
 * from one to another.  `kernel` is for messages; `symbol` is the function to enter.
 * IG_INTERNAL, naming kernel and symbol, for whatever would need a linker. */
ig_status ig_code_image_flatten(ig_context *context, const char *kernel, ig_str bytes,
                                const char *symbol, ig_arena *arena,
                                ig_code_image *out_image);

#endif
