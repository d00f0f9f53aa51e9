/* A module on its whole way under libFuzzer, up to where LLVM begins: imported,
 * verified, taken through all passes, lowered to kernels, and its plan written.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TESTS_FUZZ_CASE_COMPILE_CASE_H
#define IG_TESTS_FUZZ_CASE_COMPILE_CASE_H

#include "ir/graph.h"

/* Makes a module of the input, or refuses it with words. */
typedef ig_status ig_fuzz_read(ig_context *context, ig_str bytes,
                               ig_module **out_module);

/* Aborts where a defect shows.  Returns whether all of it was compiled.  The input's
 * size chooses level and options; limits are low: what exceeds them is refused, not
 * slow. */
bool ig_fuzz_compile(ig_str bytes, ig_fuzz_read *read);

#endif
