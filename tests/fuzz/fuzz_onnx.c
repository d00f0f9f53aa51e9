/* The ONNX reader under libFuzzer: a model from memory must be refused with words or
 * become a module that verifies.  SPDX-License-Identifier: Apache-2.0
 *
 *     scripts/fuzz --seconds 60 fuzz_onnx
 */
#include "frontend/onnx/import/onnx.h"
#include "frontend/onnx/read/onnx_tensor.h"
#include "ir/verify/verify.h"
#include "tests/fuzz/case/onnx_case.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc;
    (void)argv;
    ig_fuzz_onnx_begin();
    return 0;
}

/* An op that has more elements than can be counted leaves through the budget. */
static void read_model(ig_context *context, ig_str bytes, ig_module **out_module) {
    ig_status status = ig_fuzz_onnx_import(context, bytes, out_module);
    ig_module *module = *out_module;
    if (status == IG_INTERNAL || (status == IG_OK) != (module != NULL)) {
        abort();
    }
    if (module && ig_verify_module(module) != IG_OK) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static ig_context context;
    memset(&context, 0, sizeof(context));
    context.limits = ig_limits_default;
    context.limits.node_count = 10000;
    ig_str bytes = { (const char *)data, size };
    static jmp_buf recovery;
    static ig_module *module;
    module = NULL;
    context.budget.recovery = &recovery;
    uint64_t mark = context.budget.arenas;
    if (!setjmp(recovery)) {
        read_model(&context, bytes, &module);
    }
    context.budget.recovery = NULL;
    ig_fuzz_onnx_reach(bytes, module != NULL);
    ig_module_destroy(module);
    ig_budget_sweep(&context.budget, mark);
    ig_arena arena;
    ig_arena_init(&arena, NULL);
    ig_tensor tensor;
    static const ig_kind kinds[] = { IG_TENSOR, IG_SEQUENCE, IG_OPTIONAL };
    for (size_t i = 0; i < IG_COUNT_OF(kinds); i++) {
        (void)ig_onnx_tensor_read(&context, &arena, "t.pb", bytes, kinds[i], &tensor);
    }
    ig_arena_fini(&arena);
    return 0;
}
