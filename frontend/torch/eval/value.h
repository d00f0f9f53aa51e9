/* Values of a program while it is evaluated at import.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A value is a small struct that is copied.  Numbers are one of three things:
 *
 *     known     a literal                 as.b  as.i  as.f  as.complex
 *     a dim     an expression over the symbols of input extents (integers only) as.dim
 *     run-time  computed from data: a tensor of rank 0 in the IR             as.value
 *
 * Tensors, lists, dicts, objects are references into the heap, with Python's identity:
 * two names of one list see each other's changes.  Tuples and strings never change.
 *
 * A tensor is a view of a storage.  The storage has a present content, one IR value; a
 * view has the chain of IR view ops (reshape, transpose, slice, gather of one index …)
 * that lead from there to it.  Reading replays the chain when the content has changed
 * since; writing runs it backwards and gives the storage new content (storage.c).
 */
#ifndef IG_FRONTEND_TORCH_EVAL_VALUE_H
#define IG_FRONTEND_TORCH_EVAL_VALUE_H

#include "frontend/torch/language/code.h"
#include "frontend/torch/pickle/dtypes.h"
#include "ir/graph.h"

typedef struct ig_ts_eval ig_ts_eval;
typedef struct ig_ts_value ig_ts_value;
typedef struct ig_ts_tensor ig_ts_tensor;
typedef struct ig_ts_storage ig_ts_storage;
typedef struct ig_ts_list ig_ts_list;
typedef struct ig_ts_dict ig_ts_dict;
typedef struct ig_ts_object ig_ts_object;
typedef struct ig_ts_function ig_ts_function;
typedef struct ig_ts_poison ig_ts_poison;
typedef struct ig_ts_choice ig_ts_choice;
typedef struct ig_ts_point ig_ts_point;

typedef enum ig_ts_kind {
    IG_TS_UNSET,     /* a name that has no value yet */
    IG_TS_UNDEFINED, /* uninitialized(T): on paths that are never gone */
    IG_TS_NONE,
    IG_TS_BOOL,
    IG_TS_INT, /* also dtype, layout and memory format codes */
    IG_TS_FLOAT,
    IG_TS_COMPLEX,
    IG_TS_STR,
    IG_TS_DEVICE, /* as.str */
    IG_TS_TENSOR,
    IG_TS_LIST,
    IG_TS_TUPLE, /* as.list, never changed; `list->class` of a NamedTuple */
    IG_TS_DICT,
    IG_TS_OBJECT, /* modules, script classes, custom classes */
    IG_TS_ENUM,   /* as.object: one object a member: attributes `name`, `value` */
    IG_TS_FUNCTION,
    IG_TS_POISON, /* two branches disagree about it: any use is an error */
    IG_TS_KIND_COUNT
} ig_ts_kind;

typedef enum ig_ts_form { IG_TS_KNOWN, IG_TS_DIM, IG_TS_RUN } ig_ts_form;

struct ig_ts_value {
    uint8_t kind;  /* ig_ts_kind */
    uint8_t form;  /* ig_ts_form; numbers and booleans only */
    bool is_dtype; /* an INT that plain Python knows as a torch.dtype */
    union {
        bool b;
        int64_t i;
        double f;
        struct {
            double re, im;
        } complex;
        ig_dim dim;
        ig_value *value; /* RUN: bool[], i64[], f64[] (complex: f64[2]) */
        ig_str str;
        ig_ts_tensor *tensor;
        ig_ts_list *list;
        ig_ts_dict *dict;
        ig_ts_object *object;
        ig_ts_function *function;
        const ig_ts_poison *poison;
    } as;
};

/* Affine quantisation of a tensor's elements: real = (element - zero_point) * scale. */
typedef struct ig_ts_quant {
    ig_value *scale;      /* f64[] or, per channel, f64[N] (f32[N] for float ones) */
    ig_value *zero_point; /* i64[] or i64[N] (f32[N] for float ones) */
    int64_t axis;         /* per channel; else -1 */
    bool is_float;        /* per_channel_affine_float_qparams */
} ig_ts_quant;

/* The journal's stamps (heap.c) of everything that can change. */
typedef struct ig_ts_cell {
    uint64_t born, stamp; /* when it was made, and last written to the journal */
} ig_ts_cell;

struct ig_ts_storage {
    ig_ts_cell cell;
    ig_value *value;             /* present content; NULL: not loaded yet */
    ig_value *initial;           /* of a loaded one: its value before any write */
    uint64_t version;            /* grows with every write */
    const char *name;            /* of the parameter, buffer or input; NULL: a result */
    struct ig_ts_origin *origin; /* the source it is loaded from; NULL: nothing */
    const char *refusal;         /* why it cannot be written to; NULL: it can */
    const struct ig_ts_order *order; /* of its axes in memory; NULL: row-major */
    const char *poison;         /* why its content is not known any more; NULL: it is */
    const ig_ts_choice *choice; /* of the memory of two others (choice.h); or NULL */
    uint64_t seen[2];           /* versions of these that the content knows */
    bool is_input, is_written;
};

/* The order of the axes of a storage's dense content in memory. */
typedef struct ig_ts_order {
    bool is_known;
    uint32_t axes[32]; /* from the widest stride to the narrowest */
} ig_ts_order;

/* A tensor may share memory with others, as a run-time condition chooses: it is right
 * as long as those are not written to, and is not to be written to itself. */
typedef struct ig_ts_alias {
    ig_ts_storage *storages[2];
    uint64_t versions[2];
    uint32_t count;
    struct ig_ts_alias *outer; /* that of its possible base; or NULL */
    bool is_by_layout; /* a view or a copy, by strides: writes make others unknown */
    const char *copied_by; /* an operator that gives a view, which is a copy here */
    bool has_strides;      /* that are its storage's order, whichever it is */
} ig_ts_alias;

struct ig_ts_tensor {
    ig_ts_storage *storage;
    const ig_torch_dtype_info *dtype;
    const ig_type *type;       /* complex: with the trailing 2 */
    const ig_ts_quant *quant;  /* NULL: not quantised */
    const ig_op *const *steps; /* from the storage's content to this */
    uint32_t step_count;
    ig_ts_alias *alias; /* NULL: what shares its memory is known */
    uint64_t born;      /* when it was made; 0: before the call */
    bool is_number;     /* rank 0 and promotes like a Python number (reference 2.7) */
    bool is_constant;   /* a number that a trace stores, unchanged */
};

struct ig_ts_list { /* lists and tuples */
    ig_ts_cell cell;
    ig_ts_value *items;
    size_t count, capacity;
    const ig_class *class;      /* of a NamedTuple, else NULL */
    const ig_script_type *type; /* as annotated; NULL: told by the items */
    const ig_ts_poison *poison; /* why it is unknown, or NULL */
    ig_ts_tensor *stack;        /* of a poisoned one: its items (stacked.h), or NULL */
    const char *path; /* "cache.states" where the archive holds it; else NULL */
    bool is_set; /* of plain Python: no item twice, in an order that tells nothing */
};

struct ig_ts_dict { /* in order of insertion */
    ig_ts_cell cell;
    ig_ts_value *keys, *values;
    size_t count, capacity;
    const ig_script_type *type;
    const ig_ts_poison *poison;
    const char *path;     /* where the archive holds it; else NULL */
    struct ig_map *index; /* of a large one: key -> 1 + its place; else NULL */
};

struct ig_ts_object {
    ig_ts_cell cell;
    const char *class_name; /* "__torch__.a.b.Net" */
    const ig_class *class;  /* NULL: a class without source */
    const char *path;       /* "features.0" where the archive holds it; else NULL */
    const char **names;
    ig_ts_value *values; /* of attributes */
    size_t count, capacity;
};

struct ig_ts_function {
    const ig_function *function; /* NULL: nested */
    const ig_ast *node;          /* of a nested one: its DEF */
    struct ig_ts_frame *around;  /* the names it sees */
    ig_ts_value value;           /* a future: its result */
    bool is_done;
    const ig_class *class;               /* a class as a value */
    const struct ig_python_thing *plain; /* of plain Python ; else NULL */
};

struct ig_ts_poison {
    const char *what; /* "is a tensor in one branch and None in the other" */
    ig_location where;
    const ig_ts_point *point; /* of the branch, where it can go on apart (poison.c) */
};

/* ---- making them ---- */

static inline ig_ts_value ig_ts_none(void) {
    return (ig_ts_value){ .kind = IG_TS_NONE };
}
static inline ig_ts_value ig_ts_of_bool(bool b) {
    return (ig_ts_value){ .kind = IG_TS_BOOL, .as.b = b };
}
static inline ig_ts_value ig_ts_of_int(int64_t i) {
    return (ig_ts_value){ .kind = IG_TS_INT, .as.i = i };
}
static inline ig_ts_value ig_ts_of_float(double f) {
    return (ig_ts_value){ .kind = IG_TS_FLOAT, .as.f = f };
}
static inline ig_ts_value ig_ts_of_complex(double re, double im) {
    return (ig_ts_value){ .kind = IG_TS_COMPLEX, .as.complex = { re, im } };
}
static inline ig_ts_value ig_ts_of_str(ig_str str) {
    return (ig_ts_value){ .kind = IG_TS_STR, .as.str = str };
}
static inline ig_ts_value ig_ts_of_tensor(ig_ts_tensor *tensor) {
    return (ig_ts_value){ .kind = IG_TS_TENSOR, .as.tensor = tensor };
}
static inline ig_ts_value ig_ts_of_list(ig_ts_list *list) {
    return (ig_ts_value){ .kind = IG_TS_LIST, .as.list = list };
}
static inline ig_ts_value ig_ts_of_tuple(ig_ts_list *list) {
    return (ig_ts_value){ .kind = IG_TS_TUPLE, .as.list = list };
}
static inline ig_ts_value ig_ts_of_dict(ig_ts_dict *dict) {
    return (ig_ts_value){ .kind = IG_TS_DICT, .as.dict = dict };
}
static inline ig_ts_value ig_ts_of_object(ig_ts_object *object) {
    return (ig_ts_value){ .kind = IG_TS_OBJECT, .as.object = object };
}
/* An integer: known when the dim is a number. */
ig_ts_value ig_ts_of_dim(const ig_module *module, ig_dim dim);
/* The value of a literal that is not a container; false: `node` is none. */
bool ig_ts_literal(const ig_ast *node, ig_ts_value *out);
/* A number computed at run time; `value` has rank 0. */
ig_ts_value ig_ts_of_run(ig_ts_kind kind, ig_value *value);

ig_ts_list *ig_ts_list_create(ig_ts_eval *eval, size_t capacity);
/* For lists that are being made: others change through the journal (eval.h). */
void ig_ts_list_add(ig_ts_eval *eval, ig_ts_list *list, ig_ts_value item);
ig_ts_dict *ig_ts_dict_create(ig_ts_eval *eval);
/* A fresh tensor whose storage has this content; dtype NULL: the IR's own. */
ig_ts_tensor *ig_ts_tensor_create(ig_ts_eval *eval, ig_value *value,
                                  const ig_torch_dtype_info *dtype);

/* ---- asking ---- */

static inline bool ig_ts_is_number(const ig_ts_value *value) {
    return value->kind >= IG_TS_BOOL && value->kind <= IG_TS_COMPLEX;
}
static inline bool ig_ts_is_known(const ig_ts_value *value) {
    return value->form == IG_TS_KNOWN;
}
/* "int", "Tensor", "list", "None" … */
const char *ig_ts_kind_name(const ig_ts_value *value);
/* An integer (known or a dim) as a dim. */
bool ig_ts_as_dim(ig_module *module, const ig_ts_value *value, ig_dim *out_dim);

#endif
