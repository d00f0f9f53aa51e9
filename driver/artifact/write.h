/* Writing artifacts: a plan as plain records, code, weights; out comes a container.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The driver pushes records (runtime/format.h) to the sections of an
 * ig_artifact_writer; the helpers intern texts and expressions and lay out constants.
 *
 *     ig_artifact_writer w;
 *     ig_artifact_init(&w, arena, build_id, "dlrm");
 *     IG_PUSH(w.arena, &w.symbols, (ig_plan_symbol){ .name = ... });
 *     IG_PUSH(w.arena, &w.steps, (ig_plan_step){ .kind = IG_STEP_launch, ... });
 *     ig_artifact_pack(&w, &contents, &parts, &part_count);
 *     ig_file_publish(path, parts, part_count, why);
 */
#ifndef IG_DRIVER_ARTIFACT_WRITE_H
#define IG_DRIVER_ARTIFACT_WRITE_H

#include "base/map.h"
#include "base/platform/platform.h"
#include "base/vec.h"
#include "base/writer.h"
#include "runtime/format_debug.h"

/* A constant's bytes on their way into an entry of weights; borrowed. */
typedef struct ig_artifact_span {
    const void *data;
    uint64_t offset, size;
} ig_artifact_span;

/* The entry of weights, which the plans of an artifact share. */
typedef struct ig_artifact_weights {
    IG_VEC(ig_artifact_span) spans;
    uint64_t bytes;
    ig_map known; /* hash -> number of a span + 1 */
} ig_artifact_weights;

typedef struct ig_artifact_writer {
    ig_arena *arena;
    ig_writer strings; /* the section `text`, which is not pushed to */
    ig_map text_of, expr_of;
    ig_plan_text build_id, model;
    const char *family;  /* "cpu" */
    int64_t arena_bytes; /* -1 unless the driver gives buffers fixed offsets */
    struct {             /* sections */
#define IG_ARTIFACT_VEC(name, record) IG_VEC(record) name;
        IG_PLAN_SECTIONS(IG_ARTIFACT_VEC)
#undef IG_ARTIFACT_VEC
    };
    ig_artifact_weights *weights; /* its own, or those of another plan */
} ig_artifact_writer;

void ig_artifact_init(ig_artifact_writer *writer, ig_arena *arena, const char *build_id,
                      const char *model);

/* Each gives the same number for the same content. */
ig_plan_text ig_artifact_text(ig_artifact_writer *writer, ig_str text);
uint32_t ig_artifact_expr(ig_artifact_writer *writer, const ig_plan_code *code,
                          uint32_t count);
uint32_t ig_artifact_int(ig_artifact_writer *writer, int64_t value);

/* The number of a host function, whose library its name's prefix tells. */
uint32_t ig_artifact_host(ig_artifact_writer *writer, const char *name,
                          uint32_t version);

/* Appends expression numbers to `lists`. */
ig_plan_range ig_artifact_list(ig_artifact_writer *writer, const uint32_t *exprs,
                               uint32_t count);

/* Embeds `size` bytes (borrowed until the container is written) and returns the number
 * of the constant.  Equal constants, also of two plans, are in the artifact once. */
uint32_t ig_artifact_constant(ig_artifact_writer *writer, ig_str name, const void *data,
                              uint64_t size);
/* A constant that stays in file number `file`.  `data` is hashed; NULL: not checked. */
uint32_t ig_artifact_reference(ig_artifact_writer *writer, ig_str name, uint32_t file,
                               uint64_t offset, uint64_t size, const void *data);

/* What debuggers and profilers are told of a kernel (ig_debug_kernel); borrowed. */
typedef struct ig_artifact_debug {
    ig_str file, text, object;
    ig_debug_span folder;
    const ig_debug_line *lines;
    size_t line_count;
} ig_artifact_debug;

/* A kernel of one level; `bytes` NULL: this level has not got it. */
typedef struct ig_artifact_kernel {
    const void *bytes;
    size_t size;
    uint64_t entry;                 /* offset of the function in `bytes` */
    const ig_artifact_debug *debug; /* or NULL */
} ig_artifact_kernel;

typedef struct ig_artifact_level {
    const ig_artifact_kernel *kernels; /* one each of the plan's section `kernels` */
} ig_artifact_level;

typedef struct ig_artifact_entry {
    ig_str name, data;
    const ig_file_part *parts; /* of an artifact in the artifact, after `data` */
    size_t part_count;
} ig_artifact_entry;

/* The plan of a further family, over the weights of the first. */
typedef struct ig_artifact_plan_of {
    ig_artifact_writer *writer;
    const ig_artifact_level *levels;
} ig_artifact_plan_of;

typedef struct ig_artifact_contents {
    ig_str manifest;                 /* JSON, for people */
    ig_str sources;                  /* JSON, for people; empty: no such entry */
    const ig_artifact_level *levels; /* one each of the plan's section `levels` */
    const ig_artifact_plan_of *others;
    size_t other_count;
    const ig_artifact_entry *extra; /* further entries */
    size_t extra_count;
} ig_artifact_contents;

/* The finished container as parts to be written one after the other; headers are the
 * arena's, weights the caller's. */
void ig_artifact_pack(ig_artifact_writer *writer, const ig_artifact_contents *contents,
                      ig_file_part **out_parts, size_t *out_count);

/* A container of these entries, which are borrowed. */
void ig_artifact_repack(ig_arena *arena, const ig_artifact_entry *entries, size_t count,
                        ig_file_part **out_parts, size_t *out_count);

/* The entry `plan` alone; ig_artifact_pack makes it too. */
ig_str ig_artifact_plan(ig_artifact_writer *writer);
ig_hash128 ig_artifact_hash(const void *data, size_t size);
/* Of the parts one after the other, as in a file. */
ig_hash128 ig_artifact_hash_parts(const ig_file_part *parts, size_t count);

#endif
