/* The machine that reads a pickle.  Private to the pickle's files.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_FRONTEND_TORCH_PICKLE_VM_H
#define IG_FRONTEND_TORCH_PICKLE_VM_H

#include "frontend/torch/pickle/pickle.h"

#include "base/vec.h"

typedef struct ig_pickle_vm {
    ig_pickle_set *set;
    const ig_pickle_options *options;
    ig_arena *arena;
    ig_str bytes;
    size_t at;          /* of the next byte */
    size_t begin;       /* of the opcode that runs */
    const char *opcode; /* its name */
    IG_VEC(ig_py *) stack;
    IG_VEC(size_t) marks; /* heights of the stack */
    ig_map memo;          /* number + 1 -> ig_py */
    bool is_done;
    /* The opcode that runs: its argument and its row's value. */
    int64_t number;
    double real;
    ig_str text; /* borrowed: a line without its end, or counted bytes */
    int value;
} ig_pickle_vm;

typedef struct ig_pickle_opcode {
    const char *name; /* NULL: there is no such opcode */
    ig_status (*read)(ig_pickle_vm *vm, unsigned size);
    unsigned size;
    ig_status (*run)(ig_pickle_vm *vm);
    int value;
} ig_pickle_opcode;

/* The functions of the rows (ops.c). */
#define OPCODE(byte, name, argument, size, run, value) \
    ig_status ig_pickle_run_##run(ig_pickle_vm *vm);
#include "frontend/torch/pickle/opcodes.def"

#include <assert.h>
#undef OPCODE

/* Reports "file: in 'data.pkl': byte 12 (REDUCE): …"; INVALID has a hint. */
ig_status ig_pickle_fail(const ig_pickle_vm *vm, ig_status status, const char *format,
                         ...) IG_PRINTF(3, 4);
/* "byte 12 (BINGET): SUBJECT exceeds limit pickle_values (4194304)". */
ig_status ig_pickle_error_limit(const ig_pickle_vm *vm, ig_limit_id id,
                                const char *subject);
/* The rest of the current line; `at` moves past it. */
ig_status ig_pickle_line(ig_pickle_vm *vm, ig_str *out_line);

/* A new value; fails past limits.pickle_values. */
ig_status ig_pickle_new(ig_pickle_vm *vm, ig_py_kind kind, ig_py **out_value);
/* Room for one more item of a list under construction (its capacity is the next power
 * of two); the same for both halves of a dict. */
void ig_pickle_append(ig_pickle_vm *vm, ig_py *list, ig_py *item);
void ig_pickle_insert(ig_pickle_vm *vm, ig_py *dict, ig_py *key, ig_py *value);

/* ---- names (calls.c) ---- */

/* The value of a name: a DTYPE or a GLOBAL that is known or allowed. */
ig_status ig_pickle_name(ig_pickle_vm *vm, ig_str module, ig_str name,
                         ig_py **out_value);
/* The value of function(*args). */
ig_status ig_pickle_call(ig_pickle_vm *vm, ig_py *function, ig_py *args,
                         ig_py **out_value);

/* Argument `index`, or NULL. */
static inline ig_py *ig_pickle_arg(const ig_py *args, size_t index) {
    assert(args->kind == IG_PY_TUPLE && "arguments of calls are tuples");
    return index < args->as.list.count ? args->as.list.items[index] : NULL;
}

/* ---- tensors (storage.c, tensor.c) ---- */

typedef ig_status ig_pickle_maker(ig_pickle_vm *vm, ig_py *function, ig_py *args,
                                  ig_py **out_value);

ig_status ig_pickle_persistent(ig_pickle_vm *vm, ig_py *id, ig_py **out_value);
ig_pickle_maker ig_pickle_make_tensor, ig_pickle_make_tensor_v3,
    ig_pickle_make_parameter, ig_pickle_make_quantised, ig_pickle_make_sparse,
    ig_pickle_make_typed;

/* ---- the finished graph (check.c) ---- */

/* Refuses values that hold themselves and nesting past limits.pickle_depth. */
ig_status ig_pickle_check(ig_pickle_vm *vm, ig_py *root);

#endif
