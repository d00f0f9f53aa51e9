/* Smaller ONNX models out of one: fewer nodes, shorter extents, plainer weights.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Where a node goes, its results that others read become inputs of the graph, or
 * constants, with the type that the caller knows (ig_onnx_edit_know); what nobody reads
 * any more becomes an output.  Nodes in branches, bodies and functions are as they are.
 * The texts that are written are whole models, with external data taken in.
 */
#ifndef IG_FRONTEND_ONNX_EDIT_EDIT_H
#define IG_FRONTEND_ONNX_EDIT_EDIT_H

#include "base/writer.h"
#include "ir/module/module.h"
#include "ir/tensor/tensor.h"

typedef struct ig_onnx_editor ig_onnx_editor;

/* Every extent `from`, of inputs, constants and shapes that are constants, is `to`. */
typedef struct ig_onnx_extent {
    int64_t from, to;
} ig_onnx_extent;

/* The fate of a node.  Passed by: who reads its first result reads in its place the
 * first of its inputs that has the result's type. */
typedef enum ig_onnx_fate { IG_ONNX_GONE, IG_ONNX_KEPT, IG_ONNX_PASSED } ig_onnx_fate;

typedef struct ig_onnx_variant {
    const uint8_t *fates; /* by node: ig_onnx_fate */
    const ig_onnx_extent *extents;
    size_t extent_count;
    bool has_plain_weights; /* real constants are 1 */
} ig_onnx_variant;

/* Reads a model; the module owns all of it, and the editor.  Errors: those of reading,
 * and IG_UNSUPPORTED for constants that hold strings. */
ig_status ig_onnx_edit_open(ig_context *context, const char *path,
                            ig_module **out_module, ig_onnx_editor **out_editor);
size_t ig_onnx_edit_node_count(const ig_onnx_editor *editor);

/* The kind of a value of the model. */
typedef struct ig_onnx_known {
    ig_tensor type;  /* extents below 0 are open; with data it becomes a constant */
    ig_tensor value; /* the value that an input reads; data NULL: not known */
} ig_onnx_known;

/* For inputs and cuts.  Name and tensors are copied, data is borrowed. */
void ig_onnx_edit_know(ig_onnx_editor *editor, const char *name,
                       const ig_onnx_known *what);
/* How many nodes further back than `node` each node is that it needs: 0 for itself,
 * UINT32_MAX for those that it does not need; one for each node.
 * `arena` is for temporary memory. */
void ig_onnx_edit_distances(const ig_onnx_editor *editor, size_t node, ig_arena *arena,
                            uint32_t *out_distances);
/* The extents above 1 of inputs and constants of a variant, each once, falling; the
 * array is `arena`'s. */
size_t ig_onnx_edit_extents(ig_onnx_editor *editor, const ig_onnx_variant *variant,
                            ig_arena *arena, int64_t **out_extents);

/* A variant as a file, and what its inputs read. */
typedef struct ig_onnx_written {
    ig_str text;
    const char *const *names;
    const ig_tensor *values; /* data NULL: not known */
    size_t input_count;
} ig_onnx_written;

/* Writes a variant; all of it is the arena's.  False where a cut value's type is not
 * known, a node that is passed by has no such input, or nothing is left to give. */
bool ig_onnx_edit_write(ig_onnx_editor *editor, const ig_onnx_variant *variant,
                        ig_arena *arena, ig_onnx_written *out);

typedef struct ig_onnx_wanted {
    const char *const *names;
    size_t count;
    bool *has; /* out: whether the main graph gives a value names[i] */
} ig_onnx_wanted;

/* A file as it is but for further outputs: of the wanted values that there are, those
 * that are not outputs yet are outputs after the model's own.  The module owns the
 * text. */
ig_status ig_onnx_expose(ig_context *context, const char *path,
                         const ig_onnx_wanted *wanted, ig_module **out_module,
                         ig_str *out_text);

/* ---- quantised layers ---- */

/* How a value that layers read becomes integers. */
typedef struct ig_onnx_rounding {
    float scale;
    int32_t zero;
    bool is_signed;       /* i8 around 0; else u8 */
    const float *factors; /* that its channels are multiplied with first; or NULL */
    int64_t channels;
    uint32_t axes_after; /* how many come after the channels' axis */
} ig_onnx_rounding;

/* A MatMul, Gemm or Conv of the main graph whose second input is to be integers. */
typedef struct ig_onnx_layer {
    size_t node, rounding; /* by number */
    ig_tensor codes;       /* i8 or u8 */
    bool is_turned;        /* codes of a product are [N, K] */
    const float *scales;   /* `count`: 1, or one for each output channel */
    const uint8_t *zeros;  /* as many; or NULL: 0 */
    uint32_t count;
} ig_onnx_layer;

typedef struct ig_onnx_quantising {
    const ig_onnx_layer *layers; /* by rising node */
    size_t layer_count;
    const ig_onnx_rounding *roundings;
    size_t rounding_count;
    bool is_dynamic; /* scales of values are found by each run */
} ig_onnx_quantising;

/* The model with QuantizeLinear and DequantizeLinear in front of layers; dynamic:
 * DynamicQuantizeLinear and integer operators in their place.  Weights that are not
 * read any more go.  The module owns the text.  Errors: those of ig_onnx_edit_open;
 * IG_UNSUPPORTED below opset 13, IG_LIMIT for more than a file can hold (2 GiB). */
ig_status ig_onnx_quantise(ig_context *context, const char *path,
                           const ig_onnx_quantising *how, ig_module **out_module,
                           ig_str *out_text);

#endif
