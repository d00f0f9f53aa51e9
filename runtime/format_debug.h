/* The artifact's entry of debug information, byte for byte.
 * SPDX-License-Identifier: Apache-2.0
 *
 * What debuggers and profilers are told of the code of one level.  The runtime does not
 * read it; libingot-observe does, and checks each offset.
 */
#ifndef IG_RUNTIME_FORMAT_DEBUG_H
#define IG_RUNTIME_FORMAT_DEBUG_H

#include "runtime/format.h"

#define IG_DEBUG_MAGIC "ingotDBG"
#define IG_ENTRY_DEBUG "debug/"

/* The entry "debug/<family>-<level>", which only libingot-observe reads: this header, a
 * record a kernel, and what these name by offset in the entry. */
typedef struct ig_debug_header {
    char magic[8];
    uint32_t version;
    uint32_t kernel_count;
    uint64_t bytes;  /* of the whole entry */
    ig_hash128 code; /* of the code entry that it is about */
    ig_hash128 hash; /* of all bytes after this field */
} ig_debug_header;

typedef struct ig_debug_span {
    uint64_t offset, bytes;
} ig_debug_span;

/* All zero: there is nothing about this kernel. */
typedef struct ig_debug_kernel {
    uint64_t code;        /* where its code begins in the image */
    ig_debug_span file;   /* name of the file for its text, without a folder */
    ig_debug_span text;   /* the kernel in text form */
    ig_debug_span object; /* relocatable ELF; addresses of sections count from `code` */
    ig_debug_span folder; /* in the object: room for the folder of the file */
    ig_debug_span lines;  /* ig_debug_line, in the order of the code */
} ig_debug_kernel;

/* The code from `offset` (counted from the kernel's) on is of that line of its text. */
typedef struct ig_debug_line {
    uint32_t offset, line;
} ig_debug_line;

_Static_assert(sizeof(ig_debug_header) == 56, "format");
_Static_assert(sizeof(ig_debug_kernel) == 88, "format");

#endif
