/* Models read, asked about and written; ingot/ingot.h includes this.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef INGOT_MODULE_H
#define INGOT_MODULE_H

#include <stddef.h>
#include <stdint.h>

#include <ingot/custom.h>
#include <ingot/status.h>
#include <ingot/tree.h>
#include <ingot/values.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ig_context ig_context; /* ingot.h */
typedef struct ig_module ig_module;
typedef struct ig_compile_options ig_compile_options; /* compile.h */

/* A file's content in memory, or a tensor's. */
typedef struct ig_named_bytes {
    const char *name;
    const void *bytes;
    size_t size;
} ig_named_bytes;

/* One statement about an input: "x=f32[8,13]" fixes its type (a name in place of an
 * extent leaves it symbolic).  Models from Python take trees: "xs=[f32[3], none]",
 * "n=3" (or "n=int": known only at run time), "f=kjt(keys=["a"], values=i64[V],
 * lengths=i64[L], weights=none)"; NAME may also be the place of the argument, "0". */
typedef struct ig_import_options {
    size_t size;
    const char *const *inputs; /* `input_count` statements */
    size_t input_count;
    /* Inputs folded into the graph as constants: names (of models from Python also
     * numbers of leaves), and tensors as .pb or .npy files. */
    const char *const *constant_names, *const *constant_files;
    size_t constant_count;
    const char *entry;      /* the method of a model from Python; NULL: "forward" */
    const char *resource;   /* of a torch.package, "m/m.pkl"; NULL: its one model */
    int rowwise_mean;       /* shards by rows with mean pooling: divide by the whole
                                * bag, where the archive adds the shards' means */
    int inputs_only;        /* 1: of ONNX inputs alone (f32[any_rank] where the file has
                                * no rank), not to be compiled; 2: with defaults, too */
    const char *checkpoint; /* a folder of torch.distributed.checkpoint, whose tensors
                             * become the weights of their names; or NULL */
    /* Weights that become inputs, after the others, which the caller gives and may
     * change from run to run (ig_port.is_weight): "NAME,NAME", or "all" that training
     * changes; NULL: none. */
    const char *open_weights;
    int keeps_weights; /* for ig_module_train and ig_module_grad: what training may
                        * change is a weight, however small it is (open_weights asks it
                        * too) */
    int is_outline;  /* for ig_module_inspect, of ONNX and .pt2: what there is to say of
                     * a model that cannot be imported; not to be compiled */
    const char *ops; /* IR text with operators of the user's own, which are inlined, or
                      * a library of them (docs/custom-operators.md); or NULL */
    const char *const *op_files; /* further ones, and texts that are not files */
    size_t op_file_count;
    const char *const *op_texts;
    size_t op_text_count;
    const ig_custom_library *const *libraries; /* tables of C functions (custom.h),
                                                * which outlive the context */
    size_t library_count;
    /* External data of ONNX that is in memory, in place of files: a file by the
     * location that tensors name ("weights.bin"), or one tensor by its own name, its
     * elements row by row.  Bytes outlive the module; names that nothing asks for do no
     * harm. */
    const ig_named_bytes *external_data;
    size_t external_data_count;
} ig_import_options;

/* The kind of a file, from its content: "onnx", "ir", "artifact", "torchscript",
 * "package", or "" for anything else.  Never reports, but errno says why a file cannot
 * be read. */
IG_API const char *ig_model_format(const char *path);
/* The content of a torch.package: resources, sources, values; "" for any other file.
 * The text is the context's. */
IG_API IG_MUST_USE ig_status ig_model_describe(ig_context *context, const char *path,
                                               const char **out_text);
/* The content of a TorchScript archive, as JSON, without running its program: its
 * methods with their arguments (an example of --input for each, "needs_types" where
 * neither a trace nor defaults give their types), modules, tensors, embedding tables;
 * "" for any other file.  The text is the context's. */
IG_API IG_MUST_USE ig_status ig_model_inspect(ig_context *context, const char *path,
                                              const char **out_json);
/* The content of a module, as JSON (docs/inspect.md): producer, operators, parameters,
 * symbols, guards, and "refused": all messages why it would not compile so.  The text
 * is the module's until the next call on it. */
IG_API IG_MUST_USE ig_status ig_module_inspect(ig_module *module,
                                               const ig_compile_options *options,
                                               const char **out_json);
/* Reads a model file; the format (.onnx, .pt, .pt2, .ig) is told from its content. */
IG_API IG_MUST_USE ig_status ig_import(ig_context *context, const char *path,
                                       const ig_import_options *options,
                                       ig_module **out_module);
/* Reads a model in memory.  `bytes` must outlive the module: weights stay in it.
 * External data is looked for beside `path` (NULL: there must be none). */
IG_API IG_MUST_USE ig_status ig_import_memory(ig_context *context, const void *bytes,
                                              size_t size, const char *path,
                                              const ig_import_options *options,
                                              ig_module **out_module);
IG_API void ig_module_close(ig_module *module);
/* Runs a pipeline ("fold,cse,dce").  A module that it fails on is to be closed. */
IG_API IG_MUST_USE ig_status ig_module_run(ig_module *module, const char *pipeline,
                                           const char *target);
typedef enum ig_format {
    IG_FORMAT_TEXT,
    IG_FORMAT_DOT,
    IG_FORMAT_JSON,
    IG_FORMAT_HTML,           /* a page that draws the graph */
    IG_FORMAT_MODEL_EXPLORER, /* JSON for Google's Model Explorer */
    IG_FORMAT_ONNX /* bytes of ONNX, to look at alone: ops in domain "ingot" */
} ig_format;
/* The module's text; the module's until the next call on it. */
IG_API IG_MUST_USE ig_status ig_module_print(ig_module *module, ig_format format,
                                             const char **out_text, size_t *out_size);
/* Writes the module's text to a file, and constants that are longer than a line and are
 * in memory or another folder to PATH.weights beside it; each file appears when it is
 * whole. */
IG_API IG_MUST_USE ig_status ig_module_write(ig_module *module, const char *path);
/* The call, as "forward(x: f32[B, 3]) -> (f32[B],)"; the module owns the text. */
IG_API const char *ig_module_signature(ig_module *module);
/* Its tree (tree.h): node 0 is the call.  Texts are the module's. */
IG_API size_t ig_module_node_count(ig_module *module);
IG_API ig_tree_node ig_module_node(ig_module *module, size_t index);
/* Buffers that a call changes and that outlive it. */
IG_API size_t ig_module_state_count(const ig_module *module);
/* Leaves of the tree: names ("output_0" where the model gives none) and types such as
 * "f32[B, 13]". */
IG_API size_t ig_module_input_count(const ig_module *module);
IG_API size_t ig_module_output_count(const ig_module *module);
IG_API const char *ig_module_input_name(ig_module *module, size_t index);
IG_API const char *ig_module_input_type(ig_module *module, size_t index);
IG_API const char *ig_module_output_name(ig_module *module, size_t index);
IG_API const char *ig_module_output_type(ig_module *module, size_t index);

/* A weight by its name, or by a part between dots that only one name has ("users" of
 * "ebc.users.weight"); data may be in the model's file.  *out_weight is the module's
 * until its next call that hands something out, *out_name (may be NULL) its name.
 * Errors: IG_INVALID where no weight or more than one is named so. */
IG_API IG_MUST_USE ig_status ig_module_weight_value(ig_module *module, const char *name,
                                                    const ig_argument **out_weight,
                                                    const char **out_name);
/* The weight of exactly that name holds from now on a copy of `value`, which has its
 * dtype and extents.  IG_INVALID where it has not, or there is no such weight. */
IG_API IG_MUST_USE ig_status ig_module_set_weight(ig_module *module, const char *name,
                                                  const ig_argument *value);

#ifdef __cplusplus
}
#endif
#endif
