/* A module: all that its graphs share, and the bytes that it keeps once.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Below dims, types and graphs, which are made in a module's memory.
 */
#ifndef IG_IR_MODULE_MODULE_H
#define IG_IR_MODULE_MODULE_H

#include "base/context.h"
#include "base/map.h"
#include "base/platform/platform.h"
#include "base/vec.h"

typedef struct ig_module ig_module;
typedef struct ig_graph ig_graph;
typedef struct ig_weight ig_weight;
typedef struct ig_origin_union ig_origin_union;
typedef struct ig_op_gone ig_op_gone;

struct ig_module {
    ig_context *context;
    const char *name;
    const char *path;              /* that it was made for, or NULL */
    const char *folder;            /* of the file it was read from, up to its last `/`;
                                    NULL: none, or not known */
    const char *producer, *opsets; /* as the file says, for people; or NULL */
    ig_arena arena;
    ig_map strings, types, weights_by_name, graphs_by_name;
    IG_VEC(ig_graph *) graphs;
    IG_VEC(ig_weight *) weights;
    IG_VEC(ig_location) locations; /* [0] is "unknown" */
    IG_VEC(ig_origin_union) unions;
    ig_map union_of; /* private to ir/origin.c */
    IG_VEC(ig_op_gone) gone;
    IG_VEC(ig_file_map) files; /* mappings that constants borrow from; owned */
    struct ig_dim_table *dims; /* private to ir/dim*.c */
    void *scratch;             /* private to ir/: see ig_module_scratch */
    size_t scratch_size;
    ig_map beside; /* private: see ig_module_beside */
};

/* Interned: equal bytes are the same pointer, as long as the module lives. */
const void *ig_module_bytes(ig_module *module, const void *bytes, size_t size);
const char *ig_module_string(ig_module *module, ig_str text);

#endif
