/* Trees of containers, as torch.utils._pytree writes them.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     [1, {"type": "builtins.dict", "context": "[\"x\"]", "children_spec": [...]}]
 */
#ifndef IG_FRONTEND_PT2_SPEC_H
#define IG_FRONTEND_PT2_SPEC_H

#include "frontend/pt2/json.h"

#include "ir/signature.h"

typedef enum ig_pt2_spec_kind {
    IG_PT2_LEAF,
    IG_PT2_TUPLE,
    IG_PT2_LIST,
    IG_PT2_DICT,   /* keys are strings or integers */
    IG_PT2_RECORD, /* a named tuple: keys are its fields */
    IG_PT2_JAGGED, /* an object of TorchRec's; items are its tensors, or None */
} ig_pt2_spec_kind;

/* A class of TorchRec's (jagged.c). */
typedef struct ig_pt2_jagged {
    const char *type;       /* as a spec names it */
    const char *class_name; /* "KeyedJaggedTensor" */
    ig_node_kind node;      /* its kind among trees */
    const char *fixed[2];   /* fields that the spec's context says */
    bool is_keyed_tensor;   /* the one item is `values` */
} ig_pt2_jagged;

typedef struct ig_pt2_spec ig_pt2_spec;
struct ig_pt2_spec {
    ig_pt2_spec_kind kind;
    const char *class_name;      /* of a RECORD: "Point" */
    const ig_pt2_jagged *jagged; /* of JAGGED; its keys are the fixed fields */
    const ig_json **keys;
    ig_pt2_spec *items;
    size_t count;
};

/* Whom reading the program reports to. */
typedef struct ig_pt2_reader {
    ig_context *context;
    ig_arena *arena;
    ig_location where;
} ig_pt2_reader;

ig_status ig_pt2_report(const ig_pt2_reader *reader, ig_status status,
                        const char *format, ...) IG_PRINTF(3, 4);

/* Reads the text of a tree.  `records` says the fields of named tuples
 * (treespec_namedtuple_fields), and may be NULL. */
ig_status ig_pt2_read_spec(const ig_pt2_reader *reader, ig_str text,
                           const ig_json *records, ig_pt2_spec *out_spec);
size_t ig_pt2_spec_leaves(const ig_pt2_spec *spec);

/* ---- TorchRec's classes (jagged.c) ---- */

/* The meaning of a JAGGED spec's items; those that follow have to be None. */
enum {
    IG_PT2_VALUES,
    IG_PT2_WEIGHTS,
    IG_PT2_LENGTHS,
    IG_PT2_OFFSETS,
    IG_PT2_JAGGED_ITEMS
};

/* The class that a spec's type names, or NULL. */
const ig_pt2_jagged *ig_pt2_jagged_find(const char *type);
/* The source of all of them, and the name of its file. */
extern const char ig_pt2_jagged_file[], ig_pt2_jagged_source[];

#endif
