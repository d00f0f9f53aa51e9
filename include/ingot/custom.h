/* Operators of your own, as functions of C in a shared library.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     #include <ingot/custom.h>
 *     static ig_status hash(const ig_custom_call *call) {
 *         const int64_t *id = call->inputs[0].data, *buckets = call->inputs[1].data;
 *         int64_t *out = call->outputs[0].data;
 *         for (int64_t i = 0; i < call->outputs[0].count; i++) {
 *             out[i] = id[i] % *buckets;
 *         }
 *         return IG_OK;
 *     }
 *     static const ig_custom_op ops[] = {
 *         { .name = "acme::Hash", .version = 1, .run = hash,
 *           .signature = "(%id: i64[N], %buckets: i64[]) -> (i64[N])" } };
 *     IG_CUSTOM_LIBRARY(ops, 1)
 *
 *     cc -shared -fPIC -o libhash.so hash.c
 *     ingot run model.onnx --ops ./libhash.so …
 *
 * Ownership: the library stays open until the process ends; memory of a call is the
 * caller's and is gone after it.  Errors: a function that returns something else than
 * IG_OK ends the run with that status and its words.  Threads: sessions call a function
 * at once, each from its own thread; it guards its own data between calls.
 *
 * Trust: the code runs with all rights of the process.  Who runs a model names the
 * library; neither a model nor an artifact ever does (SECURITY.md).
 */
#ifndef INGOT_CUSTOM_H
#define INGOT_CUSTOM_H

#include <ingot/view.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { IG_CUSTOM_ABI = 1, IG_CUSTOM_MAX_TENSORS = 32 };

/* An argument or a result of a call: row-major elements, aligned to their size. */
typedef struct ig_custom_tensor {
    void *data; /* of an argument: not to be written */
    int64_t count;
    const int64_t *dims; /* `rank` of them */
    uint32_t rank;
    int32_t dtype; /* ig_dtype_code */
} ig_custom_tensor;

typedef struct ig_custom_call {
    size_t size; /* of this struct, which later versions make longer */
    void *user;  /* of the operator */
    const ig_custom_tensor *inputs, *outputs;
    uint32_t input_count, output_count;
    char *reason; /* room for a phrase that says why the call fails */
    size_t reason_size;
} ig_custom_call;

typedef ig_status ig_custom_fn(const ig_custom_call *call);

typedef struct ig_custom_op {
    const char *name;  /* "acme::Hash" (domain::Op, ns::op); "acme::Hash.rows": one more
                        * form of it (docs/custom-operators.md) */
    uint32_t version;  /* of its meaning: an artifact runs with no other */
    uint32_t reserved; /* 0 */
    /* The rule of its shapes, in types as IR text has them.  Extents that arguments
     * have are bound by the call; a result's extent may be any expression of them. */
    const char *signature;
    /* Writes all results, of the same values whenever the arguments are the same. */
    ig_custom_fn *run;
    /* Extents that only results have ("(%x: f32[N]) -> (f32[K])"), called before `run`
     * with the same arguments: output 0 is i64[number of them], in the order in which
     * the signature has them.  NULL: there are none. */
    ig_custom_fn *extents;
    void *user;
} ig_custom_op;

typedef struct ig_custom_library {
    uint32_t abi;      /* IG_CUSTOM_ABI */
    uint32_t op_bytes; /* sizeof(ig_custom_op) */
    const ig_custom_op *ops;
    size_t op_count;
} ig_custom_library;

/* The symbol that a library exports. */
typedef const ig_custom_library *ig_custom_entry(void);

#ifdef __cplusplus
#define IG_CUSTOM_C extern "C"
#else
#define IG_CUSTOM_C
#endif

/* Exports `ops`, a constant array of `count`. */
#define IG_CUSTOM_LIBRARY(ops, count)                                              \
    IG_CUSTOM_C IG_API const ig_custom_library *ig_custom_v1(void);                \
    IG_CUSTOM_C const ig_custom_library *ig_custom_v1(void) {                      \
        static const ig_custom_library library = { IG_CUSTOM_ABI,                  \
                                                   (uint32_t)sizeof(ig_custom_op), \
                                                   ops, count };                   \
        return &library;                                                           \
    }

#ifdef __cplusplus
}
#endif
#endif
