/* The IR: modules, graphs, blocks, ops, values - and the six functions that edit them.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   module ── graphs ── block ── ops ── bodies (blocks) ── …
 *                                 │└─ operands (uses) ──▶ values
 *                                 └── results (values) ──▶ uses
 *
 * Structured SSA with block arguments: nesting is by bodies, control flow is an op.
 * One data structure from import to code generation; a row of ops.def gives the stages
 * in which an op is valid.  All memory is from the module's arena and dies with it.
 */
#ifndef IG_IR_GRAPH_H
#define IG_IR_GRAPH_H

#include "ir/dim/dim.h"
#include "ir/module/module.h"
#include "ir/origin.h"
#include "ir/signature.h"
#include "ir/type.h"

typedef struct ig_value ig_value;
typedef struct ig_use ig_use;
typedef struct ig_block ig_block;
typedef struct ig_graph ig_graph;

typedef enum ig_opcode {
#define OP(name, min, max, outs, bodies, stages, traits, infer, fold, dims, expand, \
           grad, lower, attrs)                                                      \
    IG_OP_##name,
#include "ir/ops.def"
#undef OP
    IG_OP_COUNT,
    IG_OP_ERASED = 0xffff
} ig_opcode;

/* ---- attributes ---- */

typedef enum ig_attr_kind {
    IG_ATTR_NONE, /* absent */
    IG_ATTR_INT,
    IG_ATTR_FLOAT,
    IG_ATTR_BOOL,
    IG_ATTR_ENUM, /* INT into the names of the slot */
    IG_ATTR_DTYPE,
    IG_ATTR_STR,  /* zero-terminated, interned */
    IG_ATTR_SYM,  /* @name of a module item, interned */
    IG_ATTR_INTS, /* numbers; enumerators where the slot has names */
    IG_ATTR_DIM,  /* one expression */
    IG_ATTR_DIMS,
    IG_ATTR_DATA, /* a constant: ig_data */
} ig_attr_kind;

/* A constant's content.  Payloads are borrowed (mapped file) or the arena's. */
typedef struct ig_data {
    const ig_type *type; /* tensor or table */
    const void *bytes;   /* NULL for a splat too large to write out */
    int64_t size;        /* bytes */
    bool is_splat;       /* every element equals the one at bytes[0..] */
    const char *file;    /* the file that holds the bytes, or NULL */
    int64_t offset;
} ig_data;

typedef struct ig_attr { /* 16 bytes; payloads are interned, immutable */
    uint32_t kind, count;
    union {
        int64_t i;
        double f;
        const char *str;
        const int64_t *ints;
        ig_dim dim;
        const ig_dim *dims;
        const ig_data *data;
    } as;
} ig_attr;

typedef struct ig_attr_info {
    const char *name;
    ig_attr_kind kind;
    bool is_required;
    const char *const
        *names; /* of ENUM, or INTS that are a list of it; NULL-terminated */
} ig_attr_info;

/* ---- nodes ---- */

struct ig_use { /* one operand slot, inline in its user */
    ig_value *value;
    ig_op *user;
    ig_use *next, **link; /* chain of all uses of `value`, in no order */
};

struct ig_value { /* an op's result or a block's argument */
    const ig_type *type;
    ig_use *uses;
    ig_op *def;       /* NULL for a block argument */
    ig_block *block;  /* owner of a block argument */
    const char *name; /* the user's name, or NULL; in text after the type */
    uint32_t id;      /* dense in the graph; prints as %id */
    uint32_t index;   /* which result or argument */
};

struct ig_op {
    ig_op *prev, *next;
    ig_block *block;
    ig_use *operands;
    ig_value *results;
    ig_attr *attrs; /* one slot per attribute of the op's row */
    ig_block **bodies;
    uint16_t code; /* ig_opcode */
    uint16_t operand_count, result_count, body_count;
    uint32_t id;
    uint32_t loc;       /* index into module->locations; 0 is unknown */
    ig_origins origins; /* of whose work it does; 0: of `loc` alone */
    ig_op *heir;        /* private to ir/origin.c: who has its origins next, or NULL */
};

struct ig_block {
    ig_op *first, *last;
    ig_op *parent; /* NULL for a graph's own block */
    ig_graph *graph;
    ig_value **args;
    uint32_t arg_count;
};

typedef enum ig_stage {
    IG_STAGE_TENSOR = 1,
    IG_STAGE_PLAN = 2,
    IG_STAGE_KERNEL = 4
} ig_stage;

struct ig_graph {
    ig_module *module;
    const char *name;
    ig_stage stage;
    bool is_entry;
    ig_block body;
    const char *const *arg_names; /* entry graphs: the user's names, else NULL */
    const char *const *result_names;
    /* How arguments and results form a call; NULL: each is one, by its name. */
    const ig_signature *signature;
    /* State: buffers that a call changes and that outlive it.  The last `state_count`
     * arguments are their values before the call, the last `state_count` results those
     * after it; states[i] is the weight with the i-th one's initial value. */
    const char *const *states;
    uint32_t state_count;
    /* Weights that the caller gives: the last arguments in front of states. */
    uint32_t opened_count;
    uint32_t value_count, op_count; /* bounds of the dense ids */
    ig_map heads;                   /* private: weight name -> its op at the head */
    ig_op *last_head;               /* private: where the next one goes; may be stale */
};

/* A named constant of the module: `weight @w` or `table @t`. */
typedef struct ig_weight {
    const char *name;
    ig_data data;
    const ig_type *type;
    /* A recipe: result number `index` of graph @weights, computed once when
     * compiling. */
    bool is_recipe;
    uint32_t index;
    bool is_parameter; /* training changes it; from the model file */
} ig_weight;

/* ---- module ---- */

ig_module *ig_module_create(ig_context *context, const char *name);
/* Named after a model's file: "dlrm" of "models/dlrm.onnx"; "model" when NULL. */
ig_module *ig_module_create_for(ig_context *context, const char *path);
void ig_module_destroy(ig_module *module);
/* An empty mapping of the module's, which closes it when it dies; to be opened at once:
 * good until the next one is added. */
ig_file_map *ig_module_add_map(ig_module *module);
/* A copy with dense ids, no erased ops, in a fresh arena. */
ig_module *ig_module_clone(const ig_module *module);
uint32_t ig_module_location(ig_module *module, const ig_location *where);
/* Zeroed memory for one side table, such as an array by value id; good until the next
 * call.  A pass that needs several tables at once has an arena of its own. */
void *ig_module_scratch(ig_module *module, size_t size);
/* Data that a pass or the driver attaches to a module; the key is the address of an
 * object of its own.  NULL: nothing.  A clone has none, except marks, whose value is
 * the key itself. */
void *ig_module_beside(const ig_module *module, const void *key);
void ig_module_keep_beside(ig_module *module, const void *key, const void *value);
ig_graph *ig_module_graph(const ig_module *module, const char *name); /* or NULL */
ig_weight *ig_module_weight(const ig_module *module, const char *name);
/* The one op of the graph that is this weight of its module. */
ig_value *ig_graph_weight(ig_graph *graph, ig_weight *weight);
/* Adds a weight or table; `name` is made unique when taken. */
/* Does the model say which weights training changes? */
bool ig_module_knows_parameters(const ig_module *module);
ig_weight *ig_module_add_weight(ig_module *module, const char *name,
                                const ig_data *data);
ig_graph *ig_graph_create(ig_module *module, const char *name, ig_stage stage);
void ig_graph_destroy(ig_graph *graph); /* takes it out of the module */
void ig_graph_rename(ig_graph *graph, const char *name); /* made unique */

/* ---- the six functions that edit (only they touch use chains) ---- */

/* Puts a detached op before `before`, or at the end of `block` when NULL. */
void ig_op_insert(ig_op *op, ig_block *block, ig_op *before);
/* Unlinks and poisons an op whose results have no uses, its bodies included. */
void ig_op_erase(ig_op *op);
void ig_op_move(ig_op *op, ig_block *block, ig_op *before);
void ig_use_set(ig_use *use, ig_value *value);
/* Makes every use of `old` use `value`; types must be equal. */
void ig_value_replace(ig_value *old, ig_value *value);
void ig_value_retype(ig_value *value, const ig_type *type);

/* ---- making ops: see ir/build/build.h; these are its ground ---- */

typedef struct ig_op_spec {
    ig_value *const *operands;
    const ig_type *const *result_types; /* NULL: the row's infer hook decides */
    const ig_attr *attrs;               /* slots in the row's order; NULL: all absent */
    uint32_t operand_count, result_count, body_count;
    uint32_t loc;
    ig_origins origins; /* 0: of loc alone */
} ig_op_spec;

/* A detached op; results are typed only when result_types is given. */
ig_op *ig_op_create(ig_graph *graph, ig_opcode code, const ig_op_spec *spec);
ig_value *ig_block_add_arg(ig_block *block, const ig_type *type, const char *name);
void ig_block_remove_arg(ig_block *block, uint32_t index); /* must be unused */
/* Deep copy of `op` (bodies too) before `before` in `block`; `map` gives the
 * replacement of an outer value (NULL keeps it) and receives the results. */
ig_op *ig_op_clone(const ig_op *op, ig_block *block, ig_op *before, ig_map *map);
/* Copies all ops of `from` but the terminator into `block` before `before`, with `args`
 * for its arguments; writes the terminator's operands to `out_results`. */
void ig_block_inline(const ig_block *from, ig_block *block, ig_op *before,
                     ig_value *const *args, ig_value **out_results);
/* The same from another module, where `by_symbol` has a dim of this one for each of its
 * symbols; the copies are of the place's location. */
typedef struct ig_block_position {
    ig_block *block;
    ig_op *before; /* NULL: at the end */
    uint32_t loc;
    ig_origins origins;
} ig_block_position;
void ig_block_inline_at(const ig_block *from, const ig_block_position *position,
                        const ig_dim *by_symbol, ig_value *const *args,
                        ig_value **out_results);

/* ---- questions ---- */

ig_value *ig_op_operand(const ig_op *op, uint32_t index); /* NULL beyond the last */
ig_value *ig_op_result(const ig_op *op, uint32_t index);
/* The op that makes `value` when it is a `code`, else NULL. */
ig_op *ig_def(const ig_value *value, ig_opcode code);
bool ig_value_has_one_use(const ig_value *value);
bool ig_op_is_used(const ig_op *op);                  /* some result has a use */
bool ig_op_is_before(const ig_op *a, const ig_op *b); /* same block; linear */
/* True when `value` is visible at the start of `block` without being defined in it. */
bool ig_value_is_outside(const ig_value *value, const ig_block *block);
const ig_location *ig_op_location(const ig_op *op);
ig_module *ig_op_module(const ig_op *op);
/* Is it an opened weight of the graph? */
bool ig_graph_is_opened(const ig_graph *graph, const ig_value *value);
/* The argument in whose memory result `index` of `ret` is written; -1: none. */
int64_t ig_ret_in_place(const ig_op *ret, uint32_t index);
uint64_t ig_graph_hash(const ig_graph *graph); /* structural: ids and names ignored */

/* ---- attributes by slot: IG_<op>_<attr> of ir/ops.h ---- */

int64_t ig_attr_int(const ig_op *op, uint32_t slot, int64_t absent);
double ig_attr_float(const ig_op *op, uint32_t slot, double absent);
const char *ig_attr_str(const ig_op *op, uint32_t slot); /* STR, SYM; or NULL */
bool ig_attr_is_set(const ig_op *op, uint32_t slot);
/* The name of an enumerator of the slot; NULL where there is none. */
const char *ig_attr_word(const ig_attr_info *info, int64_t value);
void ig_attr_set(ig_op *op, uint32_t slot, ig_attr attr);
/* Attribute values; arrays and strings are copied and interned. */
ig_attr ig_attr_of_int(int64_t value);
ig_attr ig_attr_of_enum(int64_t value);
ig_attr ig_attr_of_bool(bool value);
ig_attr ig_attr_of_dtype(ig_dtype value);
ig_attr ig_attr_of_float(double value);
ig_attr ig_attr_of_str(ig_module *module, ig_str text);
ig_attr ig_attr_of_sym(ig_module *module, const char *name);
ig_attr ig_attr_of_ints(ig_module *module, const int64_t *ints, uint32_t count);
ig_attr ig_attr_of_dim(ig_dim dim);
ig_attr ig_attr_of_dims(ig_module *module, const ig_dim *dims, uint32_t count);
ig_attr ig_attr_of_data(ig_module *module,
                        const ig_data *data); /* bytes are borrowed */
/* The number of bytes at data->bytes: one element of a splat, else all. */
size_t ig_data_stored_bytes(const ig_data *data);
bool ig_attr_equal(const ig_attr *a, const ig_attr *b);

#endif
