/* One model of one f32 input and what it must give, for tests of operators.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TESTS_ONNX_EXPECT_H
#define IG_TESTS_ONNX_EXPECT_H

#include "tests/unit/onnx/onnx_build.h"
#include "tests/unit/onnx/onnx_case.h"
#include "tests/unit/unit.h"

static onnx_model model;
static onnx_case run;

/* A model with one f32 input x of the shape "2,3", filled with 0, 1, 2 … */
static inline Onnx__NodeProto *begin(int64_t opset, const char *op, const char *ins,
                                     const char *outs) {
    onnx_case_init(&run);
    onnx_model_init(&model, opset);
    onnx_input(&model, "x", ONNX_F32, 2, "A", "B");
    return onnx_node(&model, op, ins, outs);
}

/* Imports the model with these outputs and runs it on x [rows, 3]. */
static inline ig_status run_outputs(const char *outs, int64_t rows, ig_module **module,
                                    ig_tensor *out) {
    size_t count;
    char **names = onnx_names(&model, outs, &count);
    model.graph->n_output = 0;
    for (size_t i = 0; i < count; i++) {
        onnx_output(&model, names[i]);
    }
    ig_status status = ig_import_onnx_memory(&run.context, onnx_pack(&model), NULL,
                                             NULL, module);
    CHECK_MSG(status == IG_OK, "%s", run.why);
    CHECK_OK(ig_verify_module(*module));
    ig_tensor in;
    int64_t shape[2] = { rows, 3 };
    CHECK_OK(ig_tensor_alloc(&run.arena, NULL, IG_DT_f32, 2, shape, &in));
    for (int64_t i = 0; i < in.count; i++) {
        ig_tensor_set_f64(&in, i, (double)i);
    }
    return ig_interpret(ig_module_graph(*module, "main"), &in, &run.arena, out);
}

/* Compares output `index` of `outs`. */
static inline void expect(const char *outs, uint32_t index, int64_t rows, uint32_t rank,
                          const int64_t *dims, const float *values) {
    ig_module *module;
    ig_tensor out[8], want;
    ig_status status = run_outputs(outs, rows, &module, out);
    CHECK_MSG(status == IG_OK, "%s", run.why);
    CHECK_OK(ig_tensor_alloc(&run.arena, NULL, IG_DT_f32, rank, dims, &want));
    if (want.count) {
        memcpy(want.data, values, (size_t)want.count * sizeof(*values));
    }
    CHECK_MSG(onnx_case_equal(&run, &out[index], &want), "%s", run.why);
    ig_module_destroy(module);
}

/* The run of a good model is refused with these words. */
static inline void expect_stop(const char *outs, int64_t rows, const char *words) {
    ig_module *module;
    ig_tensor out[8];
    CHECK_STATUS(run_outputs(outs, rows, &module, out), IG_INVALID);
    CHECK_MSG(strstr(run.why, words) != NULL, "%s", run.why);
    ig_module_destroy(module);
}

static inline void end(void) {
    onnx_model_fini(&model);
    onnx_case_fini(&run);
}

#define INTS(...)       \
    (const int64_t[]) { \
        __VA_ARGS__     \
    }
#define FLOATS(...)   \
    (const float[]) { \
        __VA_ARGS__   \
    }

#endif
