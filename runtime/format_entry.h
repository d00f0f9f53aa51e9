/* The entries of an artifact, and the entry of code.
 * SPDX-License-Identifier: Apache-2.0
 *
 * runtime/format.h has the plan, runtime/format_debug.h the records of debuggers.
 */
#ifndef IG_RUNTIME_FORMAT_ENTRY_H
#define IG_RUNTIME_FORMAT_ENTRY_H

#include "base/status.h"

#define IG_PLAN_MAGIC "ingotPLN"
#define IG_CODE_MAGIC "ingotCOD"
#define IG_FORMAT_VERSION 6u
#define IG_FORMAT_FIRST 6u /* that is promised: later runtimes read it too */

/* A runtime reads its own format and the one before. */
static inline bool ig_format_is_read(uint32_t version) {
    return version >= IG_FORMAT_FIRST && version <= IG_FORMAT_VERSION &&
           version + 1 >= IG_FORMAT_VERSION;
}

enum {
    IG_ENTRY_ALIGN = 64,     /* of entries and embedded constants */
    IG_WEIGHTS_ALIGN = 4096, /* of the entries that hold weights */
    IG_CODE_ALIGN = 4096,    /* of the entries that hold code, and of images in them */
};

/* Families of targets.  An artifact has a plan for each family that it was compiled
 * for, over the same weights. */
#define IG_FAMILY_NAME_CPU "cpu" /* x86-64 */
#define IG_FAMILY_NAME_ARM64 "cpu-arm64"
#define IG_FAMILY_NAME_CUDA "cuda"

/* Names of entries.  The plan of the family cpu is "plan", that of another
 * "plan-<family>".  Code ends in a family's and a level's name ("code/cpu-v3"), level
 * weights in a level's. */
#define IG_ENTRY_MANIFEST "manifest.json"
#define IG_ENTRY_PLAN "plan"
#define IG_ENTRY_SOURCES "sources.json"
#define IG_ENTRY_CODE "code/"
#define IG_ENTRY_WEIGHTS "weights"
#define IG_ENTRY_LEVEL_WEIGHTS "weights-"

typedef struct ig_hash128 {
    uint8_t bytes[16]; /* XXH3-128, canonical (big-endian) form */
} ig_hash128;

/* ---- code ---- */

/* The entry "code/<family>-<level>", at a multiple of 4096 of the file: this header,
 * its kernels, then at image_offset, a multiple of 4096, the image.  A kernel has the
 * number and name of the plan's on every level of every family.  On a CPU an image is
 * position-independent code and read-only data without relocations, on a GPU modules
 * that hold kernels by their names. */
typedef struct ig_code_header {
    char magic[8];
    uint32_t version;
    uint32_t kernel_count;
    uint32_t header_bytes; /* sizeof(ig_code_header) */
    uint32_t record_bytes; /* sizeof(ig_code_kernel) */
    uint64_t code_bytes;   /* of the whole entry */
    ig_hash128 hash;       /* of all bytes after this field */
    uint64_t image_offset, image_bytes;
} ig_code_header;

typedef struct ig_code_kernel {
    uint64_t entry; /* offset in the image of an ig_kernel_fn_v0 (GPU: of the module);
                     * UINT64_MAX: absent */
    uint64_t bytes; /* of its code (GPU: of the module) */
} ig_code_kernel;

_Static_assert(sizeof(ig_code_header) == 64, "format");

#endif
