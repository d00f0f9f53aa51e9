/* TorchScript archives in, modules out.
 * SPDX-License-Identifier: Apache-2.0
 *
 * An archive stores neither ranks nor element types of its inputs, so each argument of
 * the call needs a tree that says them (ir/signature.h): the caller's, else those of
 * the archive's traced inputs.  Where both are silent the error lists the missing facts
 * with an example of the command line.
 *
 *     x     f32[B, 13]                       names of extents are symbols
 *     n     3                                numbers, strings, None are fixed
 *     n     int                              an integer known only at run time
 *     f     kjt(keys=["a", "b"], values=i64[V], lengths=i64[L], weights=none)
 *     p     record(x=f32[3], y=f32[3])       any class name does for a named tuple
 *
 * Facts in the graph of the entry (ir/graph.h):
 *   - an argument for each leaf of the arguments' trees, in order, used or not;
 *   - a result for each leaf of the result's tree; then one for each tensor argument
 *     that the call changes (`after` of the signature: its value after the call);
 *   - state: attributes that the call changes are the last arguments and results
 *     (graph->states names the weights that hold their first values);
 *   - graph->signature is the tree, graph->arg_names are the leaves' paths
 *     (ig_node_path), graph->result_names those of the result where they have any.
 */
#ifndef IG_FRONTEND_TORCH_ENTRY_TORCHSCRIPT_H
#define IG_FRONTEND_TORCH_ENTRY_TORCHSCRIPT_H

#include "base/writer.h"
#include "frontend/torch/eval/program.h"
#include "ir/build/gradient.h"

typedef struct ig_torchscript_argument {
    const char *name; /* of the parameter, or its place: "0" */
    const char *tree; /* text of ig_node_parse */
} ig_torchscript_argument;

typedef struct ig_torchscript_options {
    const char *entry; /* the method; NULL: "forward" */
    const char
        *resource; /* of a torch.package: "model/model.pkl"; NULL: its one model */
    const ig_torchscript_argument *arguments;
    size_t argument_count;
    /* Row-wise shards with mean pooling: divide by the ids of the whole bag, which is
     * right, where the archive adds the shards' means. */
    bool fixes_rowwise_mean;
    /* Operators of the user (compose/custom.h), or NULL. */
    const struct ig_custom_functions *functions;
    /* Of a function without source (.pt2): arguments, weights and the locations of its
     * nodes, and nothing that is computed. */
    bool is_outline;
    /* Builds what operators of autograd ask for; NULL: these are refused. */
    ig_gradient_builder *gradients;
} ig_torchscript_options;

/* Reads an archive.  Weights stay in the file, which the module keeps mapped.
 *
 * `*out_module` is set as soon as a module exists, so that a caller to whom exhausted
 * memory unwinds can destroy it; on an error status it is NULL again.  `options` may be
 * NULL. */
ig_status ig_import_torchscript(ig_context *context, const char *path,
                                const ig_torchscript_options *options,
                                ig_module **out_module);
/* The same in memory, which must outlive the module; `path` (or NULL) is for
 * messages. */
ig_status ig_import_torchscript_memory(ig_context *context, ig_str bytes,
                                       const char *path,
                                       const ig_torchscript_options *options,
                                       ig_module **out_module);

/* Opens TorchScript archives and torch.packages (an ig_ts_program_opener). */
ig_status ig_ts_program_open(ig_context *context, ig_arena *arena, const char *file,
                             ig_str bytes, const char *resource,
                             ig_ts_program *out_program);
/* A model of another format, which `open` makes a program of.  `bytes` NULL: of the
 * file at `path`, which the module keeps mapped. */
ig_status ig_import_program(ig_context *context, ig_ts_program_opener open,
                            const char *path, const ig_str *bytes,
                            const ig_torchscript_options *options,
                            ig_module **out_module);

/* Appends an archive's content, as JSON, without running its program: methods with
 * arguments, modules, tensors, tables.  All its memory is in `arena`. */
ig_status ig_torchscript_describe(ig_context *context, ig_arena *arena,
                                  const char *path, ig_str bytes, ig_writer *out);
/* The same of a torch.package, as text for people. */
ig_status ig_torch_package_describe(ig_context *context, ig_arena *arena,
                                    const char *path, ig_str bytes, ig_writer *out);

#endif
