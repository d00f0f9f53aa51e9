/* What debuggers and profilers are told about a kernel: its text, DWARF, lines.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     debug_info.c     LLVM's debug information: lines, arguments
 *     debug_lines.c    .debug_line of the object, as rows
 *     debug_object.c   the object, with its sections where the image has them
 */
#ifndef IG_CODEGEN_CPU_DEBUG_H
#define IG_CODEGEN_CPU_DEBUG_H

#include "codegen/backend.h"
#include "codegen/cpu/llvm_shim.h"
#include "codegen/cpu/object.h"

typedef struct ig_cpu_emitter ig_cpu_emitter;

/* Of the kernel that is emitted; all of it the emitter's arena's. */
typedef struct ig_cpu_debug {
    LLVMDIBuilderRef builder; /* the machine's */
    LLVMMetadataRef file, unit, scope;
    ig_str text;      /* the kernel as it prints */
    const char *name; /* the kernel's as a symbol: letters, digits, `_` and `.` */
    uint32_t *lines;  /* by id of the op; 1-based */
    uint32_t op_count;
} ig_cpu_debug;

/* Prints the kernel, and begins a unit for it in the emitter's module. */
void ig_cpu_debug_begin(ig_cpu_emitter *e, ig_cpu_debug *debug);
/* The function was made and the builder is in its entry block: its name, and
 * where its arguments are at every moment. */
void ig_cpu_debug_enter(ig_cpu_emitter *e);
/* Code built from now on does the work of `op`. */
void ig_cpu_debug_at(const ig_cpu_emitter *e, const ig_op *op);
/* The function is whole. */
void ig_cpu_debug_end(const ig_cpu_emitter *e);

/* The rows of the object's line table, sorted by offset in the image. */
ig_status ig_cpu_debug_lines(const ig_object *object, ig_arena *arena,
                             ig_kernel_debug *out);
/* A copy of the object whose allocated sections are those of the image, with their
 * places in it as addresses; and where in it the text's folder is to be written. */
ig_status ig_cpu_debug_object(const ig_object *object, ig_arena *arena,
                              ig_kernel_debug *out);

/* Stands for the folder until a process writes the text into one. */
enum { IG_CPU_FOLDER_BYTES = 512 };
void ig_cpu_debug_folder(char folder[IG_CPU_FOLDER_BYTES]);

#endif
