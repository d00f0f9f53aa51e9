/* Facts of a program's kernels, and the tools that are told of them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_RUNTIME_OBSERVE_OBSERVE_H
#define IG_RUNTIME_OBSERVE_OBSERVE_H

#include "runtime/format_debug.h"
#include "runtime/program/program.h"

enum { IG_OBSERVE_PATH_BYTES = 4096, IG_OBSERVE_LABEL_BYTES = 256 };

/* A kernel in memory.  Without debug information path is "" and the rest zero. */
typedef struct ig_observed {
    const char *code;
    size_t size;
    char label[IG_OBSERVE_LABEL_BYTES]; /* "gemm_add_relu [/bot/Relu]" */
    char path[IG_OBSERVE_PATH_BYTES];   /* of the file that has its text */
    ig_str object;                      /* ELF: ig_debug_kernel */
    ig_debug_span folder;
    const ig_debug_line *lines;
    size_t line_count;
} ig_observed;

/* Of which folder a message tells, and where it goes. */
typedef struct ig_observe_folder {
    char path[IG_OBSERVE_PATH_BYTES]; /* absolute */
    bool is_new;                      /* made by us, with a name that nobody gave */
} ig_observe_folder;

/* Each gives IG_IO or IG_LIMIT after a message. */
typedef ig_status ig_tell_fn(const ig_observed *kernel, const ig_message *message);

/* names.c: label of kernel `number`: its name, and the nodes whose work it does. */
void ig_observe_label(const ig_program *program, uint32_t index,
                      char label[IG_OBSERVE_LABEL_BYTES]);

/* folder.c.  The folder for files of this process: `wanted`, INGOT_OBSERVE_DIR, or a
 * new one beneath TMPDIR. */
ig_status ig_observe_folder_open(const char *wanted, ig_observe_folder *out,
                                 const ig_message *message);
/* Makes a folder "MODEL-PID-N" in it, `path`. */
ig_status ig_observe_folder_enter(const ig_observe_folder *folder, const char *model,
                                  char path[IG_OBSERVE_PATH_BYTES],
                                  const ig_message *message);
ig_status ig_observe_write(const char *path, ig_str text, const ig_message *message);

/* .eh_frame and, after it, .eh_frame_hdr. */
typedef struct ig_unwind {
    char *bytes; /* free() it; NULL: there is nothing to tell */
    size_t size, header_size;
} ig_unwind;

/* unwind.c: of a kernel with debug information, to follow its code at the next multiple
 * of 8.  False: out of memory. */
bool ig_unwind_info(const ig_observed *kernel, ig_unwind *out);

/* perf_map.c */
ig_tell_fn ig_perf_map_add;
/* jitdump.c: the file is in `folder`, and one for each process. */
ig_status ig_jitdump_open(const ig_observe_folder *folder, const ig_message *message);
ig_tell_fn ig_jitdump_add;
/* gdb.c.  The entry is gdb's until it is dropped. */
typedef struct ig_gdb_entry ig_gdb_entry;
ig_status ig_gdb_add(const ig_observed *kernel, const char *folder,
                     ig_gdb_entry **out_entry, const ig_message *message);
void ig_gdb_drop(ig_gdb_entry *entry);

/* observe.c */
IG_API ig_observe_start_fn ig_observe_start;

#endif
