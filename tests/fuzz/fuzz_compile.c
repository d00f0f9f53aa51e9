/* An ONNX model on its whole way under libFuzzer (compile_case.h).
 * SPDX-License-Identifier: Apache-2.0
 *
 *     scripts/fuzz --seconds 60 fuzz_compile
 */
#include "tests/fuzz/case/compile_case.h"
#include "tests/fuzz/case/onnx_case.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc;
    (void)argv;
    ig_fuzz_onnx_begin();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    ig_str bytes = { (const char *)data, size };
    ig_fuzz_onnx_reach(bytes, ig_fuzz_compile(bytes, ig_fuzz_onnx_import));
    return 0;
}
