/* Signature trees: how the flat inputs and outputs of a graph form a call.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     forward(x: tensor, sizes: [4, 6], f: kjt(keys=["a", "b"], values=tensor,
 *             lengths=tensor, weights=none)) -> (tensor, {"y": tensor})
 *
 * A call of a model from Python takes and gives trees of tensors, numbers, strings and
 * containers.  Import fixes their structure: constants (numbers, strings, None, keys)
 * are in the tree with their value; each tensor, and each number that is
 * known only at run time, is a leaf.  Leaves in depth-first order are the graph's
 * arguments, and those of the result its results (state, which follows both, has no
 * leaf).
 *
 * A call may also change tensors that it is given.  Their values afterwards are further
 * trees, `… -> tensor after x: tensor`, whose leaves follow the result's.
 *
 * The same text describes the expected argument of a call: there tensors have types,
 * "f32[B, 13]", and `int`, `float` and `bool` without a value are known only at run
 * time.
 */
#ifndef IG_IR_SIGNATURE_H
#define IG_IR_SIGNATURE_H

#include "base/writer.h"

/*  NODE(name, word, fields): words are those of the text form; the fields of a kind
 *  that has always the same, in this order  */
#define IG_NODES(NODE)                                                               \
    NODE(TENSOR, "tensor", NULL)                                                     \
    NODE(INT, "int", NULL)                                                           \
    NODE(FLOAT, "float", NULL)                                                       \
    NODE(BOOL, "bool", NULL)                                                         \
    NODE(STR, "str", NULL)                                                           \
    NODE(NONE, "none", NULL)                                                         \
    NODE(LIST, "list", NULL)     /* [a, b] */                                        \
    NODE(TUPLE, "tuple", NULL)   /* (a, b), (a,), () */                              \
    NODE(DICT, "dict", NULL)     /* {"k": a}: children are key, value, key, … */   \
    NODE(RECORD, "record", NULL) /* Point(x=a, y=b): a named tuple of that class */  \
    NODE(OPTIONAL, "optional", "present value") /* present: a bool that is a leaf */ \
    NODE(COMPLEX, "complex", NULL) /* complex(1.5, -2.0); complex(f32[3, 2]) */      \
    NODE(QUANTIZED, "quantized", "values scale zero_point")                          \
    NODE(KJT, "kjt", "keys values lengths weights")                                  \
    NODE(KT, "kt", "keys length_per_key values")                                     \
    NODE(JT, "jt", "values lengths weights")

typedef enum ig_node_kind {
#define IG_NODE_ENUM(name, word, fields) IG_NODE_##name,
    IG_NODES(IG_NODE_ENUM)
#undef IG_NODE_ENUM
        IG_NODE_COUNT
} ig_node_kind;

/* The class of the record that a list of dicts is, one for each row of a matrix (ONNX's
 * ZipMap): its fields are `keys`, a LIST of INTs or STRs, and `values`. */
#define IG_NODE_ZIP_MAP "ai.onnx.ml.ZipMap"

typedef struct ig_node {
    ig_node_kind kind;
    bool is_leaf;   /* TENSOR always; INT, FLOAT, BOOL when not known */
    uint32_t count; /* children: they follow, each with its own after it */
    ig_str name;    /* of the argument or field, else empty */
    ig_str text;    /* STR: content; RECORD: class; TENSOR: its type, or empty */
    int64_t i;      /* INT, BOOL: value */
    double f;       /* FLOAT: value */
} ig_node;

typedef struct ig_node_list {
    ig_node *items;
    size_t count, capacity;
} ig_node_list;

/* The nodes of all arguments, depth first, then those of the one result, then a TENSOR
 * for each that the call changes, with the path of its leaf as its name. */
typedef struct ig_signature {
    const char *entry;    /* the method: "forward" */
    uint32_t arg_count;   /* trees before the result */
    uint32_t after_count; /* and after it */
    ig_node_list nodes;
} ig_signature;

const char *ig_node_word(ig_node_kind kind);
/* "keys values lengths weights", or NULL. */
const char *ig_node_fields(ig_node_kind kind);
/* Nodes of the tree at `nodes[0]`, itself among them. */
uint32_t ig_node_size(const ig_node *nodes);
uint32_t ig_node_leaves(const ig_node *nodes, size_t count);
/* Where the result begins, a number of nodes. */
uint32_t ig_signature_result(const ig_signature *signature);
/* The path of leaf number `leaf` among `nodes`: "x", "features.values", "xs.0". */
const char *ig_node_path(const ig_node *nodes, size_t count, uint32_t leaf,
                         ig_arena *arena);
const ig_signature *ig_signature_copy(const ig_signature *from, ig_arena *arena);

/* `type_of`, or NULL, writes the type of a leaf in place of the word `tensor`. */
typedef struct ig_signature_style {
    void (*type_of)(void *user, uint32_t leaf, ig_writer *out);
    void *user;
} ig_signature_style;

/* One tree; leaves count from *leaf on. */
void ig_node_print(const ig_node *nodes, const ig_signature_style *style,
                   uint32_t *leaf, ig_writer *out);
/* The whole, on one line; leaves of the result count on after the arguments'. */
void ig_signature_print(const ig_signature *signature, const ig_signature_style *style,
                        ig_writer *out);

/* ---- making nodes ---- */

/* Each appends and gives the number of the node; containers: children are appended
 * next, and `count` may be set afterwards. */
uint32_t ig_node_add(ig_arena *arena, ig_node_list *nodes, ig_node node);

#endif
