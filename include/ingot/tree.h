/* Signature trees, and calls with nested arguments.  Compiler and runtime.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A call of a model from Python takes and gives trees of tensors, numbers, strings and
 * containers; a program takes and gives flat lists of tensors.  The tree of a program
 * maps one to the other.  An ig_call puts nested arguments into flat inputs and reads
 * nested results from flat outputs; model(x, {"ids": ids}, scale=2.0) is
 *
 *     ig_call *call;                            // once
 *     if (ig_call_create(program, NULL, &call) != IG_OK) return;
 *     ig_call_begin(call);                      // per call
 *     ig_call_put_tensor(call, &x);
 *     ig_call_open(call, IG_TREE_DICT);
 *     ig_call_put_str(call, "ids"), ig_call_put_tensor(call, &ids);
 *     ig_call_close(call);
 *     ig_call_name(call, "scale"), ig_call_put_float(call, 2.0);
 *     if (ig_call_finish(call, &inputs, &count) != IG_OK) puts(ig_call_error(call));
 *     else if (ig_session_run(session, inputs, count, outputs, outs) == IG_OK &&
 *              ig_call_read(call, outputs, outs) == IG_OK)
 *         while (ig_call_next(call, &value)) use(&value);
 *
 * Ownership: a call borrows the texts of its program and keeps the addresses of tensors
 * that are put, of texts that are put as tensors, and of outputs that are read; none of
 * it is copied.  Numbers are copied.
 * Errors: the first error of a call stays until ig_call_begin; functions in between do
 * nothing and return it again, so that one check, of ig_call_finish, is enough.
 * ig_call_error names the place: "args[1]['ids']: expected i64[N], got f32[3]".
 * Threads: a call is used by one thread at a time, a program by any number.
 * Only ig_call_create allocates.  Nothing recurses.
 */
#ifndef INGOT_TREE_H
#define INGOT_TREE_H

#include <stddef.h>
#include <stdint.h>

#include <ingot/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- trees ----
 *
 * The leaves of a tree, depth first, are the inputs, then the outputs.  All else in it
 * (keys, numbers, strings, None) was known when the model was imported.
 *
 * Nodes are numbered depth first.  Node 0 is the call: its children are the arguments,
 * with their names, the result, and a tensor for each argument's tensor that the call
 * changes, with the path of its leaf as its name ("x", "states.0").  Those are further
 * outputs, after the result's: a program never writes to its inputs, but an output may
 * be bound to an input's memory.  The children of node i begin at i + 1; the next
 * sibling of a child c is c + (size of c).
 */
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
    IG_TREE_CALL /* node 0: `name` is the method, `integer` the argument count; the
                        * name is "" where a model has no call (ONNX): its result is a
                        * tuple of the outputs */
} ig_tree_kind;

/* The class of the record that a list of dicts is, one for each row (ONNX's ZipMap):
 * its fields are `keys`, a LIST of INTs or STRs, and `values`, f32[rows, keys].  Rank 1
 * is one row. */
#define IG_TREE_ZIP_MAP "ai.onnx.ml.ZipMap"

typedef struct ig_tree_node {
    ig_tree_kind kind;
    uint32_t child_count;
    uint32_t size;    /* nodes of the subtree, itself among them */
    int32_t leaf;     /* index of the input (after the arguments: output); -1 */
    const char *name; /* of an argument or field, else "" */
    const char *text; /* STR, RECORD, else "" */
    int64_t integer;  /* INT, BOOL */
    double real;      /* FLOAT */
} ig_tree_node;

/* ---- calls ---- */

typedef struct ig_call ig_call;

/* Of ingot/runtime.h. */
struct ig_program;
struct ig_port;
struct ig_view;

/* Extensible: set size to sizeof(the struct), without which it is refused; other zero
 * fields mean the default. */
typedef struct ig_call_options {
    size_t size;
    char *message; /* receives one line when creating fails, or NULL */
    size_t message_size;
} ig_call_options;

/* `program` must outlive the call. */
IG_API IG_MUST_USE ig_status ig_call_create(const struct ig_program *program,
                                            const ig_call_options *options,
                                            ig_call **out_call);
/* The same from nodes, whose texts must outlive the call, and the ports of all inputs
 * (NULL: types are not checked).  IG_INVALID: no such tree; IG_LIMIT: deeper than
 * 64. */
IG_API IG_MUST_USE ig_status ig_call_create_from_nodes(const ig_tree_node *nodes,
                                                       size_t count,
                                                       const struct ig_port *inputs,
                                                       const ig_call_options *options,
                                                       ig_call **out_call);
IG_API void ig_call_destroy(ig_call *call); /* NULL is allowed */
/* Words of the error; "" when there is none. */
IG_API const char *ig_call_error(const ig_call *call);

/* ---- arguments ---- */

/* Starts a call; forgets all values put, and any error. */
IG_API void ig_call_begin(ig_call *call);
/* The next value is the argument, or in a container the field, of that name.  Without a
 * name, values fill arguments, items and fields in order. */
IG_API ig_status ig_call_name(ig_call *call, const char *name);
/* A value.  Where the tree has a leaf it becomes an input: a number or text one of rank
 * 0 (i64, f64, bool, str); an int is accepted for a float.  Elsewhere it must equal the
 * known value. */
IG_API ig_status ig_call_put_tensor(ig_call *call, const struct ig_view *tensor);
IG_API ig_status ig_call_put_int(ig_call *call, int64_t value);
IG_API ig_status ig_call_put_float(ig_call *call, double value);
IG_API ig_status ig_call_put_bool(ig_call *call, int value);
IG_API ig_status ig_call_put_str(ig_call *call, const char *text);
IG_API ig_status ig_call_put_none(ig_call *call);
/* A container: values until the matching close are its items.  In a dict they are key,
 * value, key, value …, in any order of keys.  Fields that are None may be left out. */
IG_API ig_status ig_call_open(ig_call *call, ig_tree_kind kind);
IG_API ig_status ig_call_close(ig_call *call);
/* The index of the input that the last value became, or -1. */
IG_API int ig_call_last_input(const ig_call *call);
/* The flat inputs, valid until ig_call_begin.  Arguments without leaves may be left
 * out.  A caller whose arguments differ in data only may change the views and run
 * again. */
IG_API IG_MUST_USE ig_status ig_call_finish(ig_call *call, struct ig_view **out_inputs,
                                            size_t *out_count);

/* ---- results ---- */

typedef struct ig_call_value {
    ig_tree_kind kind;    /* not OPTIONAL: the value itself, or NONE */
    uint32_t child_count; /* values inside, which follow: of a dict keys and values */
    const char *name;     /* of a field, else "" */
    const char *text;     /* STR: content; RECORD: class; else "" */
    int64_t integer;      /* INT, BOOL */
    double real;          /* FLOAT */
    int output;           /* index of the output that holds it, or -1 */
    struct ig_view *view; /* that output, or NULL */
} ig_call_value;

/* Starts reading the result from the flat outputs of a run, in host memory. */
IG_API IG_MUST_USE ig_status ig_call_read(ig_call *call, struct ig_view *outputs,
                                          size_t count);
/* The next value of the result, depth first; 0 at its end. */
IG_API int ig_call_next(ig_call *call, ig_call_value *out_value);
/* Passes over the values inside of the last one. */
IG_API void ig_call_skip(ig_call *call);
/* Where the last value is: "result[2].y", cut to fit. */
IG_API void ig_call_path(const ig_call *call, char *out_text, size_t size);
/* The index of the output that holds input `input` after the call; -1: unchanged. */
IG_API int ig_call_changed(const ig_call *call, size_t input);

#ifdef __cplusplus
}
#endif
#endif
