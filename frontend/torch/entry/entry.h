/* The entry graph: how values of the program and leaves of the graph go together.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     traced.c   traced inputs as trees
 *     arguments.c trees -> values of the arguments, one graph argument a leaf
 *     example.c   a possible value of a missing argument, for the message
 *     carried.c   attributes that become something else and outlive the call
 *     declared.c  a file's declarations about its arguments, and the caller's
 *     results.c   the result -> trees and leaves
 *     changes.c   changed inputs; attributes and containers that outlive the call
 */
#ifndef IG_FRONTEND_TORCH_ENTRY_ENTRY_H
#define IG_FRONTEND_TORCH_ENTRY_ENTRY_H

#include "frontend/torch/eval/control.h"
#include "frontend/torch/python/python.h"
#include "frontend/torch/eval/program.h"
#include "frontend/torch/entry/torchscript.h"

typedef struct ig_ts_leaf {
    ig_ts_storage *storage; /* of a tensor, else NULL */
    const char *path;
} ig_ts_leaf;

/* Where a module holds a value: attribute `name` of the object at `path`, or an item of
 * the list or dict that the attribute is. */
typedef struct ig_ts_slot {
    const char *path, *name;
    int64_t item; /* -1: the attribute itself */
} ig_ts_slot;

/* A value that the call replaces (carried.c). */
typedef struct ig_ts_carried {
    char path[192], name[64];
    int64_t item;                     /* as in ig_ts_slot */
    ig_ts_kind kind;                  /* INT, FLOAT, BOOL; TENSOR: None before;
                                       * UNDEFINED: a buffer, `name` its weight, that
                                       * was taken for known */
    const ig_torch_dtype_info *dtype; /* of a tensor */
    uint32_t rank;
    int64_t dims[8]; /* -1: open */
    bool is_there;   /* a tensor that the archive holds, whose extents change */
} ig_ts_carried;

/* A tensor that the call puts where the modules held another. */
typedef struct ig_ts_kept {
    ig_ts_storage *storage; /* of the one that it replaces */
    const ig_ts_storage *from;
    ig_value *value;
    ig_location where;
} ig_ts_kept;

/* Found by one evaluation, arguments of the next. */
typedef struct ig_ts_carried_list {
    ig_ts_carried items[16];
    uint32_t count;
} ig_ts_carried_list;

typedef struct ig_ts_entry {
    ig_ts_eval *eval;
    const ig_ts_program *program;
    const ig_torchscript_options *options;
    const char *name; /* of the method */
    const ig_function *method;
    ig_node_list nodes; /* of the signature */
    uint32_t arg_count;
    IG_VEC(ig_ts_leaf) leaves;
    IG_VEC(const char *) arg_names;
    IG_VEC(const char *) result_names;
    IG_VEC(ig_value *) results;
    uint32_t after_count;
    IG_VEC(ig_ts_kept) kept;
    IG_VEC(ig_ts_storage *) states;
    ig_ts_carried_list *carried;
    uint32_t known;                     /* of them, by earlier evaluations */
    IG_VEC(const char *) carried_names; /* weights, one an argument */
    IG_VEC(ig_value *) carried_values;  /* after the call */
    const ig_ts_carried *optional;      /* None → tensor: at most one */
    ig_ts_object *optional_object;
    ig_ts_tensor *optional_tensor;
    ig_value *present;
} ig_ts_entry;

/* Notes a change for the next evaluation; false: it is of no kind that can be
 * carried. */
bool ig_ts_carried_note(ig_ts_entry *entry, const ig_ts_slot *slot,
                        const ig_ts_value *before, const ig_ts_value *after);
/* The same for a tensor whose extents change. */
bool ig_ts_carried_note_extents(ig_ts_entry *entry, const ig_ts_slot *slot,
                                const ig_type *before, const ig_type *after);
/* The same for a buffer that the call changes, where its value was used at import. */
void ig_ts_carried_note_buffer(ig_ts_entry *entry, const ig_ts_storage *storage);
bool ig_ts_carried_has(const ig_ts_entry *entry, const ig_ts_slot *slot);
/* The value there now; NULL: nothing. */
ig_ts_value *ig_ts_slot_get(const ig_ts_entry *entry, const ig_ts_slot *slot);
/* Arguments for values known to be carried; the call; their values after it. */
ig_status ig_ts_carried_begin(ig_ts_entry *entry);
ig_status ig_ts_carried_call(ig_ts_entry *entry, const ig_ts_arguments *arguments,
                             ig_ts_value *out_result);
ig_status ig_ts_carried_end(ig_ts_entry *entry);

/* Reports at the entry. */
ig_status ig_ts_entry_fail(const ig_ts_entry *entry, ig_status status,
                           const char *format, ...) IG_PRINTF(3, 4);
/* The values of all parameters but self. */
ig_status ig_ts_entry_arguments(ig_ts_entry *entry, ig_ts_arguments *out_arguments);
/* Lays the trees that a file declares over those that the caller gives, by place of the
 * parameter: what either fixes is fixed, and symbols are the caller's.  INVALID where
 * they contradict each other.  An empty list: nothing is given. */
ig_status ig_ts_entry_declared(const ig_ts_entry *entry, ig_node_list *trees);
/* Appends " --input 'x=f32[B, 13]'", by the argument's type. */
void ig_ts_entry_example(const ig_param *param, ig_writer *out);
/* The same without the option: "x=f32[B, 13]". */
void ig_ts_argument_example(const ig_param *param, ig_writer *out);
/* A tree that describes a traced input; false: it does not tell. */
bool ig_ts_traced_tree(ig_ts_eval *eval, const char *name, const ig_py *value,
                       ig_node_list *out_nodes);
/* Adds the tree of the result, and its leaves to entry->results. */
ig_status ig_ts_entry_result(ig_ts_entry *entry, ig_ts_value value);
/* Tensor arguments that the call changed, then attributes of modules and what their
 * containers hold. */
ig_status ig_ts_entry_changes(ig_ts_entry *entry, const ig_ts_level *level);

#endif
