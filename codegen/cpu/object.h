/* A relocatable ELF object as LLVM makes it: its sections and symbols, checked.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_CODEGEN_CPU_OBJECT_H
#define IG_CODEGEN_CPU_OBJECT_H

#include "base/context.h"

#include <elf.h>

enum { IG_OBJECT_NOWHERE = -1 };

typedef struct ig_object_section {
    Elf64_Shdr header;
    const char *name;
    int64_t offset; /* offset in the image; IG_OBJECT_NOWHERE: not kept */
} ig_object_section;

typedef struct ig_object {
    ig_context *context;
    const char *kernel; /* for messages */
    ig_str bytes;       /* borrowed */
    uint16_t machine;   /* EM_X86_64 or EM_AARCH64 */
    ig_object_section *sections;
    uint32_t section_count;
} ig_object;

/* Reads the section table; each section that has bytes is inside the object.
 * IG_INTERNAL if it is no such object. */
ig_status ig_object_open(ig_object *object, ig_context *context, const char *kernel,
                         ig_str bytes, ig_arena *arena);
/* "kernel 'k': its object code cannot be made position-independent: `what` `name`" */
ig_status ig_object_report(const ig_object *object, const char *what, const char *name);

/* `size` bytes at `offset` of the object, or NULL when they are not all there. */
const char *ig_object_span(const ig_object *object, uint64_t offset, uint64_t size);
/* The section of that name, or NULL. */
const ig_object_section *ig_object_find(const ig_object *object, const char *name);

bool ig_object_symbol(const ig_object *object, const Elf64_Shdr *table, uint64_t index,
                      Elf64_Sym *out_symbol);
const char *ig_object_symbol_name(const ig_object *object, const Elf64_Shdr *table,
                                  const Elf64_Sym *symbol);
/* Where the symbol is in the image; IG_OBJECT_NOWHERE when it does not. */
int64_t ig_object_symbol_offset(const ig_object *object, const Elf64_Sym *symbol);

#endif
