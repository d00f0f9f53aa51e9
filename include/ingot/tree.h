/* Signature trees: how flat inputs and outputs form a call.  Compiler and runtime.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A call of a model from Python takes and gives trees of tensors, numbers, strings and
 * containers; a program takes and gives flat lists of tensors.  The tree says which is
 * which: its leaves, depth first, are the inputs, then the outputs.  Everything else in
 * it (keys, numbers, strings, None) was known when the model was imported.
 *
 * Nodes are numbered depth first.  Node 0 is the call: its children are the arguments,
 * with their names, the result, and a tensor for each argument's tensor that the call
 * changes, with the path of its leaf as its name ("x", "states.0").  Those are further
 * outputs, behind the result's: a program never writes to its inputs, but an output may
 * be bound to an input's memory.  The children of node i begin at i + 1; the
 * next sibling of a child c stands at c + (size of c).
 */
#ifndef INGOT_TREE_H
#define INGOT_TREE_H

#include <stddef.h>
#include <stdint.h>

typedef enum ig_tree_kind {
    IG_TREE_TENSOR, /* a leaf */
    IG_TREE_INT,    /* a number: a leaf of rank 0, or known: `integer` */
    IG_TREE_FLOAT,  /* the same: `real` */
    IG_TREE_BOOL,   /* the same: `integer`, 0 or 1 */
    IG_TREE_STR,    /* `text` */
    IG_TREE_NONE,
    IG_TREE_LIST,
    IG_TREE_TUPLE,
    IG_TREE_DICT,      /* children: key, value, key, value …; keys are STR or INT */
    IG_TREE_RECORD,    /* a named tuple; `text` is its class, children have names */
    IG_TREE_OPTIONAL,  /* children: present (a BOOL), value */
    IG_TREE_COMPLEX,   /* two FLOATs; or one tensor whose last extent is 2 */
    IG_TREE_QUANTIZED, /* children: values, scale, zero_point */
    IG_TREE_KJT,       /* KeyedJaggedTensor: keys, values, lengths, weights */
    IG_TREE_KT,        /* KeyedTensor: keys, length_per_key, values */
    IG_TREE_JT,        /* JaggedTensor: values, lengths, weights */
    IG_TREE_CALL       /* node 0: `name` is the method, `integer` how many arguments */
} ig_tree_kind;

typedef struct ig_tree_node {
    ig_tree_kind kind;
    uint32_t child_count;
    uint32_t size;    /* nodes of the subtree, itself among them */
    int32_t leaf;     /* number of the input (behind the arguments: output); -1 */
    const char *name; /* of an argument or field, else "" */
    const char *text; /* STR, RECORD, else "" */
    int64_t integer;  /* INT, BOOL */
    double real;      /* FLOAT */
} ig_tree_node;

#endif
