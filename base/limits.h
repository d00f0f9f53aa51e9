/* Bounds on the resources that a model file may use. All can be raised by option.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_BASE_LIMITS_H
#define IG_BASE_LIMITS_H

#include "base/diag.h"

/*  LIMIT(field, default, meaning)  */
#define IG_LIMIT_LIST(LIMIT)                                                        \
    LIMIT(graph_depth, 64, "nested graphs, messages or types")                      \
    LIMIT(source_depth, 256, "nested blocks, expressions or types of a source")     \
    LIMIT(node_count, 2000000, "nodes of a model, all graphs together")             \
    LIMIT(rank, 32, "dimensions of one tensor")                                     \
    LIMIT(operand_count, 65535, "operands of one op")                               \
    LIMIT(string_bytes, 1 << 20, "bytes of one name")                               \
    LIMIT(inline_bytes, 64 << 10, "bytes of one constant that passes may compute")  \
    LIMIT(dim_terms, 64, "terms of one dimension expression")                       \
    LIMIT(kernel_ops, 60000, "ops of one kernel")                                   \
    LIMIT(memory_bytes, 8LL << 30, "memory of the compiler, weights not counted")   \
    LIMIT(interpret_bytes, 8LL << 30, "memory of one interpreted run")              \
    LIMIT(interpret_total, 1LL << 50, "bytes of all values of one interpreted run") \
    LIMIT(session_bytes, 8LL << 30, "memory of one session that a command opens")   \
    LIMIT(late_bytes, 64 << 20,                                                     \
          "of that for growth during a run, beyond 64 × the rest")                  \
    LIMIT(loop_trips, 1LL << 32, "trips of one loop, interpreted or imported")      \
    LIMIT(archive_entries, 1 << 18, "entries of an archive")                        \
    LIMIT(inflate_bytes, 4LL << 30, "bytes that an archive's entries inflate to")   \
    LIMIT(source_bytes, 64 << 20, "bytes of one source or pickle of an archive")    \
    LIMIT(pickle_values, 1 << 22, "values of an archive's pickles")                 \
    LIMIT(script_steps, 3000000, "steps of a TorchScript program at import")        \
    LIMIT(script_bytes, 44 << 20, "of TorchScript at import, or 56 × the file")     \
    LIMIT(isolate_bytes, 8LL << 30, "memory of an isolated compilation")            \
    LIMIT(isolate_seconds, 600, "time of an isolated compilation")                  \
    LIMIT(pickle_depth, 500, "nesting of a pickle's values")

typedef struct ig_limits {
#define IG_LIMIT_FIELD(field, value, meaning) int64_t field;
    IG_LIMIT_LIST(IG_LIMIT_FIELD)
#undef IG_LIMIT_FIELD
} ig_limits;

extern const ig_limits ig_limits_default;

typedef enum ig_limit_id {
#define IG_LIMIT_ID(field, value, meaning) IG_LIMIT_##field,
    IG_LIMIT_LIST(IG_LIMIT_ID)
#undef IG_LIMIT_ID
        IG_LIMIT_COUNT
} ig_limit_id;

typedef struct ig_limit_info {
    const char *name, *meaning;
    const char *hint; /* how to raise it */
    size_t offset;    /* in ig_limits */
} ig_limit_info;

extern const ig_limit_info ig_limit_infos[IG_LIMIT_COUNT];

int64_t ig_limit_value(const ig_limits *limits, ig_limit_id id);

/* Reports "SUBJECT exceeds limit graph_depth (64)" with the hint how to raise it, and
 * returns IG_LIMIT.  `subject` is a format: the thing that grew too large. */
ig_status ig_error_limit(ig_diag *diag, const ig_location *where,
                         const ig_limits *limits, ig_limit_id id, const char *subject,
                         ...) IG_PRINTF(5, 6);

#endif
