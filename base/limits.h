/* Bounds on what a model file may ask of us.  All can be raised by option.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_BASE_LIMITS_H
#define IG_BASE_LIMITS_H

#include "base/status.h"

/*  LIMIT(field, default, meaning)  */
#define IG_LIMIT_LIST(LIMIT)                                                       \
    LIMIT(graph_depth, 64, "nested graphs, messages or types")                     \
    LIMIT(source_depth, 256, "nested blocks, expressions or types of a source")    \
    LIMIT(node_count, 2000000, "nodes of a model, all graphs together")            \
    LIMIT(rank, 32, "dimensions of one tensor")                                    \
    LIMIT(operand_count, 65535, "operands of one op")                              \
    LIMIT(string_bytes, 1 << 20, "bytes of one name")                              \
    LIMIT(inline_bytes, 64 << 10, "bytes of one constant that passes may compute") \
    LIMIT(dim_terms, 64, "terms of one dimension expression")                      \
    LIMIT(kernel_ops, 60000, "ops of one kernel")                                  \
    LIMIT(memory_bytes, 8LL << 30, "memory of the compiler, weights not counted")  \
    LIMIT(interpret_bytes, 8LL << 30, "memory of one interpreted run")             \
    LIMIT(loop_trips, 1LL << 32, "trips of one loop, interpreted or imported")     \
    LIMIT(archive_entries, 1 << 18, "entries of an archive")                       \
    LIMIT(inflate_bytes, 4LL << 30, "bytes that an archive's entries inflate to")  \
    LIMIT(source_bytes, 64 << 20, "bytes of one source or pickle of an archive")   \
    LIMIT(pickle_values, 1 << 22, "values of an archive's pickles")                \
    LIMIT(script_steps, 3000000, "steps of a TorchScript program at import")       \
    LIMIT(script_bytes, 512 << 20, "memory of a TorchScript program at import")    \
    LIMIT(pickle_depth, 500, "nesting of a pickle's values")

typedef struct ig_limits {
#define IG_LIMIT_FIELD(field, value, meaning) int64_t field;
    IG_LIMIT_LIST(IG_LIMIT_FIELD)
#undef IG_LIMIT_FIELD
} ig_limits;

extern const ig_limits ig_limits_default;

#endif
