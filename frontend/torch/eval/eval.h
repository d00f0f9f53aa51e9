/* What programs are evaluated on: state and functions shared by its parts.  The
 * evaluator itself, of both dialects of Python, is frontend/torch/python.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     frame.c       names of functions, errors, steps
 *     call.c        calls of operators: overload, in-place forms, results
 *     control.c     if on unknown conditions
 *     loop.c        loops of unknown trips
 *     raise.c       exceptions that the run decides about
 *     merge.c       two states of the heap made one
 *     poison.c      values on which the two disagree
 *     value.c       names, types and equality of values
 *     heap.c        values with identity, and the journal of their changes
 *     storage.c     tensors: reading views, writing through them
 *     weight.c      tensors of the archive
 *     choice.c      tensors that are one of two, as the run chooses
 *     stride.c      positions of the elements of views
 *     layout.c      positions of the elements of results
 *     share.c       results that ought to be views, or copies
 *     number.c      numbers, known and not
 *     promote.c     result types
 *     argument.c    accessors of op.h
 *     result.c      results of op.h
 *     table.c       the rows, by name
 *     custom.c      operators that the user gives as graphs
 */
#ifndef IG_FRONTEND_TORCH_EVAL_EVAL_H
#define IG_FRONTEND_TORCH_EVAL_EVAL_H

#include "frontend/torch/language/code.h"
#include "frontend/torch/eval/op.h"
#include "frontend/torch/eval/poison.h"
#include "frontend/torch/pickle/pickle.h"
#include "ir/tensor/tensor.h"

typedef struct ig_ts_frame ig_ts_frame;
typedef struct ig_ts_level ig_ts_level;
typedef struct ig_ts_change ig_ts_change;
typedef struct ig_ts_arguments ig_ts_arguments;
typedef struct ig_ts_language ig_ts_language; /* control.h */

/* The names of one call of a function. */
struct ig_ts_frame {
    ig_ts_cell cell;
    ig_ts_frame *caller;
    ig_ts_frame *around; /* of a nested function: whose names it sees; else NULL */
    const char *label;   /* "Net.forward", for messages */
    const char *file;    /* source file */
    ig_map slots;        /* IG_MAP_PTR(name) -> 1 + index into values */
    ig_ts_value *values;
    const char **names;
    size_t count, capacity;
    ig_ts_value result;
    bool has_returned;
    uint32_t line;
    const char *node, *module;     /* at hand, in a function without source; or NULL */
    bool is_dialect;               /* of TorchScript's, not of plain Python */
    struct ig_python_scope *scope; /* for the evaluator of Python */
};

/* ---- the journal (heap.c) ---- */

typedef enum ig_ts_holder {
    IG_TS_HOLD_FRAME,
    IG_TS_HOLD_LIST,
    IG_TS_HOLD_DICT,
    IG_TS_HOLD_OBJECT,
    IG_TS_HOLD_STORAGE
} ig_ts_holder;

/* All that a holder held at one time. */
typedef struct ig_ts_content {
    const ig_ts_value *values, *keys;
    const char *const *names;
    size_t count;
    const ig_ts_poison *poison; /* of a list or dict */
    ig_ts_tensor *stack;        /* of a list */
    ig_value *value;            /* of a storage */
    const char *unknown;        /* of a storage: its poison */
    uint64_t version, seen[2];
    bool is_written;
} ig_ts_content;

struct ig_ts_change {
    ig_ts_holder kind;
    void *holder;
    uint64_t stamp; /* before */
    ig_location where;
    ig_ts_content before, after;
};

/* A stretch of evaluation whose changes can be taken back. */
struct ig_ts_level {
    ig_ts_level *outer;
    uint64_t start;
    IG_VEC(ig_ts_change) changes; /* at most one a holder */
    ig_map index;                 /* holder -> 1 + index of its change */
};

struct ig_ts_eval {
    ig_context *context;
    ig_module *module;
    ig_arena *arena;
    const char *file;
    ig_archive *archive;
    ig_pickle_set *pickles;
    ig_code *code;
    bool fixes_rowwise_mean;        /* the caller's choice */
    ig_gradient_builder *gradients; /* the caller's, or NULL */
    ig_graph *graph;
    ig_builder builder;
    ig_ts_frame *frame;
    ig_ts_level *level; /* NULL: nothing is to be taken back */
    uint64_t clock;     /* counts births, stamps and versions */
    uint32_t depth;     /* of calls and nested statements */
    uint32_t nesting;   /* of expressions, statements and calls */
    uint64_t steps;     /* statements and expressions so far: bounded */
    uint32_t names;     /* that the list of the next call is unpacked into; 0: none */
    int64_t version;
    ig_map loaded;            /* ig_py -> ig_ts_value */
    ig_map storages;          /* ig_py_storage -> views of it (weight.c) */
    ig_map enums;             /* "class.NAME" -> ig_ts_object */
    const ig_ts_table *table; /* of all operators */
    const struct ig_custom_functions *functions; /* those of the user, or NULL */
    ig_map rows;                                 /* "aten::add" -> ig_ts_overloads */
    ig_map folded;         /* names of weights whose values were used at import */
    ig_map nested;         /* values with places of padding -> ig_ts_nested */
    ig_map picks;          /* indices of views' gathers -> their strides (stride.c) */
    ig_map changing;       /* of those that the call changes: never used so */
    ig_ts_list *constants; /* of constants.pkl */
    ig_ts_object *root;
    const ig_function *entry; /* the method of `root` that is called */
    const ig_ts_language *language;
    struct ig_python *python; /* what `language` knows of the program */
    ig_ts_splits *splits;
    const ig_ts_point *point; /* of the branch that is to begin; else NULL */
    /* The program raised an exception on a path that may not be gone: not reported
     * yet. */
    bool has_raised;
    const char *raised;
    ig_location raised_at;
    bool has_failed; /* an error was reported */
};

/* Before a holder changes. */
void ig_ts_touch(ig_ts_eval *eval, ig_ts_holder kind, void *holder);
void ig_ts_level_start(ig_ts_eval *eval, ig_ts_level *level);
/* Stores the present value in each change's `after`, and undoes everything. */
void ig_ts_level_undo(ig_ts_eval *eval, ig_ts_level *level);
/* Puts content into a holder, through the journal. */
void ig_ts_set_content(ig_ts_eval *eval, ig_ts_holder kind, void *holder,
                       const ig_ts_content *content);
ig_ts_content ig_ts_content_of(ig_ts_holder kind, const void *holder);

/* ---- containers, through the journal (heap.c) ---- */

void ig_ts_list_set(ig_ts_eval *eval, ig_ts_list *list, size_t index, ig_ts_value item);
void ig_ts_list_insert(ig_ts_eval *eval, ig_ts_list *list, size_t index,
                       ig_ts_value item);
void ig_ts_list_remove(ig_ts_eval *eval, ig_ts_list *list, size_t index);
/* Index of a key, or dict->count.  Keys are known values. */
size_t ig_ts_dict_find(const ig_ts_dict *dict, const ig_ts_value *key);
void ig_ts_dict_set(ig_ts_eval *eval, ig_ts_dict *dict, ig_ts_value key,
                    ig_ts_value value);
void ig_ts_dict_remove(ig_ts_eval *eval, ig_ts_dict *dict, size_t index);
ig_ts_object *ig_ts_object_create(ig_ts_eval *eval, const char *class_name);
/* NULL when there is none. */
ig_ts_value *ig_ts_object_get(const ig_ts_object *object, const char *name);
void ig_ts_object_set(ig_ts_eval *eval, ig_ts_object *object, const char *name,
                      ig_ts_value value);
/* Python's ==, of known values; false in `out_known` when the run would have to
 * tell. */
bool ig_ts_equal(const ig_ts_value *a, const ig_ts_value *b, bool *out_known);
bool ig_ts_is_same(const ig_ts_value *a, const ig_ts_value *b); /* Python's `is` */
const ig_script_type *ig_ts_type_of(ig_ts_eval *eval, const ig_ts_value *value);

/* ---- frames (frame.c) ---- */

ig_ts_value *ig_ts_name_get(ig_ts_frame *frame, const char *name); /* or NULL */
void ig_ts_name_set(ig_ts_eval *eval, ig_ts_frame *frame, const char *name,
                    ig_ts_value value);

/* ---- tensors (storage.c) ---- */

ig_ts_storage *ig_ts_storage_create(ig_ts_eval *eval, ig_value *value,
                                    const char *name);
/* Present content of a tensor, at the builder. */
ig_status ig_ts_tensor_read(ig_ts_eval *eval, const ig_ts_tensor *tensor,
                            ig_value **out_value);
/* The same from another content of its storage. */
ig_status ig_ts_view_replay(ig_ts_eval *eval, const ig_ts_tensor *tensor,
                            ig_value *content, ig_value **out_value);
/* `value` has the tensor's type but for extents that only the run can compare. */
ig_status ig_ts_tensor_write(ig_ts_eval *eval, const ig_ts_tensor *tensor,
                             ig_value *value);
/* The tensor that `value` is, made by view ops from the result of a read of `base`; a
 * fresh one when it was made by others. */
ig_ts_tensor *ig_ts_view_create(ig_ts_eval *eval, const ig_ts_tensor *base,
                                ig_value *value);

/* For a possible view of `base`: unknown strides decide. */
ig_ts_alias *ig_ts_alias_by_layout(ig_ts_eval *eval, const ig_ts_tensor *base);
/* The positions of the tensor's elements, in elements of its storage.  NO: no strides
 * describe them, a reshape among its steps has to copy; MAYBE: that cannot be told. */
ig_truth ig_ts_tensor_strides(ig_ts_eval *eval, const ig_ts_tensor *tensor,
                              ig_dim *out_strides);
/* Is the tensor dense with its axes in this order (NULL: row-major)?  MAYBE
 * where extents decide; then *out_condition, if asked for, tells at run time, or is
 * NULL where its strides are not known. */
ig_truth ig_ts_lies_in_order(ig_ts_eval *eval, const ig_ts_tensor *tensor,
                             const ig_ts_order *order, ig_expr *e,
                             ig_value **out_condition);
/* The strides of a gather's index, one an axis of it; NULL: they are not known.  An
 * index without axes needs none. */
const ig_dim *ig_ts_pick_strides(const ig_ts_eval *eval, const ig_op *step);
/* `to` has the content of `from`. */
void ig_ts_pick_copy(ig_ts_eval *eval, const ig_value *from, const ig_value *to);
/* Does the gather take no element twice?  Guards say what the run decides. */
bool ig_ts_guard_distinct(ig_ts_eval *eval, ig_expr *e, const ig_op *step);
/* Has the value surely one element everywhere? */
bool ig_ts_is_uniform(const ig_value *value);
/* The memory layout of a call's fresh results; values born since `start` are fresh
 * (layout.c). */
void ig_ts_lay_results(ig_ts_call *call, uint64_t start);
/* Results that share memory in torch and not here, and the other way about
 * (share.c). */
ig_status ig_ts_share_results(ig_ts_call *call, uint64_t start);
/* Of a tensor that is one of two (NULL: none), as the run chooses. */
const ig_ts_order *ig_ts_order_of_either(ig_ts_eval *eval, const ig_ts_tensor *a,
                                         const ig_ts_tensor *b);
/* Of a fresh tensor with these strides: torch keeps the order of dense ones. */
const ig_ts_order *ig_ts_order_of_strides(ig_ts_eval *eval, const ig_type *type,
                                          const ig_dim *strides);
/* The order that a memory format asks for; false: it asks for what `self` has. */
bool ig_ts_order_of_format(ig_ts_eval *eval, int64_t format, uint32_t rank,
                           const ig_ts_order **out_order);

/* ---- numbers (number.c) ---- */

/* As a tensor of rank 0 of the kind's dtype (bool, i64, f64), at the builder. */
ig_status ig_ts_number_read(ig_ts_eval *eval, const ig_ts_value *number,
                            ig_value **out_value);

/* int(), float(), bool(). */
ig_status ig_ts_convert(ig_ts_eval *eval, ig_ts_kind kind, const ig_ts_value *number,
                        ig_ts_value *out_number);
/* The elements of a small expression over constants; false when it is none. */
bool ig_ts_fold(ig_ts_eval *eval, const ig_value *value, ig_tensor *out);

/* ---- control flow (control.c; more in control.h) ---- */

typedef ig_status (*ig_ts_body)(ig_ts_eval *eval, void *user);
/* Runs one of two bodies, or both when the condition is computed at run time. */
ig_status ig_ts_branch(ig_ts_eval *eval, const ig_ts_value *condition, ig_ts_body yes,
                       ig_ts_body no, void *user);

/* ---- errors, steps, operators (frame.c, call.c) ---- */

ig_status ig_ts_error(ig_ts_eval *eval, ig_status status, const char *format, ...)
    IG_PRINTF(3, 4);
/* `what` grew beyond a limit. */
ig_status ig_ts_error_limit(ig_ts_eval *eval, ig_limit_id id, const char *what);
ig_location ig_ts_where(const ig_ts_eval *eval);
/* Is `value` the number of a loop's trip, and are its trips an extent? */
bool ig_ts_is_trip(const ig_value *value, ig_dim *out_trips);
/* Counts a step of the program; IG_LIMIT when there were too many. */
ig_status ig_ts_step(ig_ts_eval *eval);
/* An argument or operand: poison and undefined values are refused. */
ig_status ig_ts_use(ig_ts_eval *eval, const ig_ts_value *value);
/* A known truth, or a run-time one. */
ig_status ig_ts_truth(ig_ts_eval *eval, const ig_ts_value *value,
                      ig_ts_value *out_bool);

struct ig_ts_arguments {
    ig_ts_value *values; /* positional, then keywords */
    const char **names;  /* of the keywords */
    uint32_t positional, keywords;
};
ig_status ig_ts_call_op(ig_ts_eval *eval, const char *name,
                        const ig_ts_arguments *arguments, ig_ts_value *out_results,
                        uint32_t *out_count);
/* The program raises here. */
ig_status ig_ts_raise(ig_ts_eval *eval, const char *message);

/* ---- tensors of the archive (weight.c) ---- */

/* `path` names it: "features.0.weight". */
ig_status ig_ts_tensor_load(ig_ts_eval *eval, const ig_py *value, const char *path,
                            ig_ts_value *out_value);
/* Makes sure that a storage has its content. */
ig_status ig_ts_storage_load(ig_ts_eval *eval, ig_ts_storage *storage);

#endif
