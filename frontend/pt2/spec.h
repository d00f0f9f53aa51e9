/* Trees of containers, as torch.utils._pytree writes them.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     [1, {"type": "builtins.dict", "context": "[\"x\"]", "children_spec": [...]}]
 */
#ifndef IG_FRONTEND_PT2_SPEC_H
#define IG_FRONTEND_PT2_SPEC_H

#include "frontend/pt2/source.h"

typedef enum ig_pt2_spec_kind {
    IG_PT2_LEAF,
    IG_PT2_TUPLE,
    IG_PT2_LIST,
    IG_PT2_DICT,   /* keys are strings or integers, as the text of literals */
    IG_PT2_RECORD, /* a named tuple: keys are its fields */
} ig_pt2_spec_kind;

typedef struct ig_pt2_spec ig_pt2_spec;
struct ig_pt2_spec {
    ig_pt2_spec_kind kind;
    const char *class_name; /* of a RECORD: "Point" */
    const char **keys;
    ig_pt2_spec *items;
    size_t count;
};

/* Reads the text of a tree.  `records` says the fields of named tuples
 * (treespec_namedtuple_fields), and may be NULL. */
ig_status ig_pt2_read_spec(ig_pt2_source *source, ig_str text, const ig_json *records,
                           ig_pt2_spec *out_spec);
size_t ig_pt2_spec_leaves(const ig_pt2_spec *spec);

#endif
