/* ONNX Runtime, where the user has it: libonnxruntime is opened at run time.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_INGOT_COMPARE_ONNXRUNTIME_H
#define IG_TOOLS_INGOT_COMPARE_ONNXRUNTIME_H

#include "tools/ingot/model/call.h"

typedef struct onnxruntime onnxruntime;

/* One run of a model.  Arrays of names and values are the caller's. */
typedef struct onnxruntime_call {
    const void *model; /* bytes of the file */
    size_t model_size;
    const char *path; /* external data is beside it */
    const char **input_names;
    const call *with;
    const char **output_names;
    size_t output_count;
    int threads;
} onnxruntime_call;

/* Opens `library`, or libonnxruntime.so.1 where the loader finds it.  NULL after a
 * message. */
onnxruntime *onnxruntime_open(const char *library);
void onnxruntime_close(onnxruntime *which);
/* Runs the model without its optimisations.  out_values[i] is NULL where the value is
 * no tensor of numbers; good until the next run.  An error has told what there is. */
ig_status onnxruntime_run(onnxruntime *which, const onnxruntime_call *what,
                          const ig_argument **out_values);

#endif
