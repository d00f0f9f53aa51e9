/* The inside of ig_module_reduce.  SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_DRIVER_DEFECT_REDUCTION_H
#define IG_DRIVER_DEFECT_REDUCTION_H

#include "driver/host.h"
#include "frontend/onnx/edit/edit.h"
#include "ingot/defect.h"
#include "ir/graph.h"

/* The result of a check; STOP ends everything. */
enum { STOP = -1, NO = 0, YES = 1 };

/* A value of the file's main graph. */
typedef struct named_value {
    const char *name;
    const ig_value *value;
} named_value;

/* Numbers of nodes or values, rising. */
typedef struct id_list {
    ig_arena *arena;
    size_t *items, count;
} id_list;

typedef struct reduction {
    ig_module *module; /* the caller's */
    const char *path;
    const ig_argument *inputs;
    size_t input_count;
    ig_reduction how;
    ig_arena arena, scratch; /* scratch: of one variant */
    ig_module *file;         /* that the editor belongs to */
    ig_onnx_editor *editor;
    /* Known values: */
    ig_module *model, *exposed; /* read anew for the names of its values */
    IG_VEC(named_value) names;
    ig_map index_of;           /* value -> 1 + its place in ig_module_values */
    ig_map computed;           /* values that the inputs' elements have a part in */
    const ig_argument *values; /* of the interpreter's run; NULL: it did not work */
    bool is_open;              /* extents stay open */
    /* The variant: */
    size_t node_count;
    uint8_t *fates; /* by node: ig_onnx_fate */
    IG_VEC(ig_onnx_extent) extents;
    bool has_plain_weights;
    /* Its file: */
    ig_onnx_written written;
    ig_argument *arguments; /* what its inputs read */
    bool is_written;
    uint64_t key[2]; /* hash of all that */
    ig_map verdicts; /* of models so far: key -> 1 + YES or NO */
    int verdict;
} reduction;

/* 0, 1, 2 … as many as `count` says.  For ig_driver_guard. */
ig_status ids_all(void *id_list);

/* Runs the model once.  An error is that of reading it, or IG_CANCELLED. */
ig_status reduction_run(reduction *r);
/* Gives the editor the known values.  For ig_driver_guard. */
ig_status reduction_know(void *reduction);

ig_onnx_variant reduction_variant(const reduction *r);
/* Asks about the variant that `r` has; STOP stays. */
int reduction_try(reduction *r);

/* Fewer nodes: `list` becomes those that are left, which are kept or passed by. */
void reduce_nodes(reduction *r, id_list *list);
/* Shorter extents, and weights that are 1. */
ig_status reduce_values(reduction *r);

#endif
