/* Ingot, finding defects: where an answer goes wrong, and which pass made it so.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     const ig_inner_value *values;
 *     size_t count, all[] = { 0, 1, 2 };
 *     ig_module *exposed = NULL;
 *     ig_module_values(module, &values, &count);       its values, in order
 *     ig_module_expose(module, all, 3, &exposed);      the first three are outputs too
 *
 * A module whose inner values are outputs is one like any other: the interpreter runs
 * it, and it is compiled, so that two ways to run a model can be held against each
 * other value by value.  More outputs mean less fusion: where the difference goes with
 * them, ig_module_bisect still names the pass.
 */
#ifndef INGOT_DEFECT_H
#define INGOT_DEFECT_H

#include <stdbool.h>

#include <ingot/ingot.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- values between inputs and outputs ---- */

typedef struct ig_inner_value {
    const char *name;   /* the model's, else "%12" as dumps print it; each once */
    const char *type;   /* "f32[B, 13]" */
    const char *op;     /* of the IR: "matmul" */
    const char *source; /* "node 12 'fc' (Gemm)"; "" where the model says nothing */
} ig_inner_value;

/* The values of the module's entry graph, in order: the tensors that its ops give
 * except constants, and except those in branches and bodies.  The list is the module's
 * until its next call that hands something out. */
IG_API IG_MUST_USE ig_status ig_module_values(ig_module *module,
                                              const ig_inner_value **out_values,
                                              size_t *out_count);
/* A copy of the module that gives, after its outputs, these values of that list; its
 * inputs and outputs are flat.  *out_exposed is the caller's to close.  Errors:
 * IG_INVALID for an index beyond the list, IG_LIMIT for more outputs than a graph
 * can have. */
IG_API IG_MUST_USE ig_status ig_module_expose(ig_module *module, const size_t *indices,
                                              size_t count, ig_module **out_exposed);

typedef struct ig_wanted_values {
    size_t size;
    const char *const *names;
    size_t count;
    bool *has; /* out: whether there is a value names[i] */
} ig_wanted_values;

/* For other runtimes: the ONNX file at `path`, with values that nodes of its main graph
 * give as outputs after its own.  Wanted ones that are outputs already stay as they
 * are.  The bytes are the module's, which is not read, until its next call that hands
 * something out.  Errors: IG_UNSUPPORTED for other formats, those of reading. */
IG_API IG_MUST_USE ig_status ig_module_expose_file(ig_module *module, const char *path,
                                                   const ig_wanted_values *wanted,
                                                   const void **out_bytes,
                                                   size_t *out_size);

/* ---- which pass ---- */

/* Who knows the right answer.  Both return 1 for a good answer, 0 for another, and -1
 * where there is none to be had. */
typedef struct ig_answer_judge {
    size_t size;
    int (*outputs)(void *user, const ig_argument *outputs, size_t count);
    /* Runs the program and judges; NULL: only passes before the plan are looked at. */
    int (*program)(void *user, ig_program *program);
    void *user;
} ig_answer_judge;

typedef struct ig_guilty_pass {
    size_t size;
    const char *pass;   /* "import": the model was read wrong; "": none was found */
    unsigned index;     /* as dumps count passes; 0: of import and of the plan */
    const char *others; /* where passes cannot be told apart: "bufferise, code" */
    const char *before, *after; /* the module's text; NULL for passes of the plan */
} ig_guilty_pass;

/* Names the pass that changed the module's results for these inputs.  The module is
 * interpreted after the passes up to the plan, in a binary search; passes after it are
 * left out one at a time.  Texts are the module's until its next call that hands
 * something out.  An error is that of the passes or of the compilation. */
IG_API IG_MUST_USE ig_status ig_module_bisect(
    ig_module *module, const ig_compile_options *options, const ig_argument *inputs,
    size_t input_count, const ig_answer_judge *judge, ig_guilty_pass *out_guilty);

/* ---- a smaller model ---- */

/* A model that may be smaller; all of it is there until the check returns. */
typedef struct ig_trial {
    size_t size;
    const void *bytes; /* of the ONNX file */
    size_t byte_count;
    /* With has_inputs, the value of each of its inputs in the run of the whole
     * model: */
    const char *const *names;
    const ig_argument *inputs;
    size_t input_count;
} ig_trial;

typedef struct ig_reduction {
    size_t size;
    bool has_inputs; /* the check runs trials with the inputs that they name */
    /* Is this still one to look at?  1: yes, and from now on the smallest known; 0: no;
     * -1: stop, the smallest one is small enough.  No model is asked about twice. */
    int (*check)(void *user, const ig_trial *trial);
    /* After each check that said yes; may be NULL. */
    void (*smaller)(void *user, size_t nodes, size_t all_nodes);
    void *user;
} ig_reduction;

/* Makes the ONNX file that `module` was read from smaller while `check` says yes: fewer
 * nodes (halves, windows, delta debugging), then shorter extents, then plain weights.
 * Values that a node needs of one that went become inputs, and constants where shapes
 * and weights alone decide them, as the interpreter computes them from `inputs` (one
 * for each of the module's).  Without has_inputs all whole numbers among them are
 * constants, so that made-up inputs do; with it they keep their values, and a model
 * with an input whose value is not known is none to look at.  Errors: IG_INVALID where
 * the model, written anew, is not one to look at any more; IG_UNSUPPORTED for models of
 * other formats. */
IG_API IG_MUST_USE ig_status ig_module_reduce(ig_module *module, const char *path,
                                              const ig_argument *inputs,
                                              size_t input_count,
                                              const ig_reduction *how);

#ifdef __cplusplus
}
#endif
#endif
