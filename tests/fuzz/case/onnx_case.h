/* What the targets that read ONNX share: which operators an input holds, and mutations
 * that know the format.  SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TESTS_FUZZ_CASE_ONNX_CASE_H
#define IG_TESTS_FUZZ_CASE_ONNX_CASE_H

#include "frontend/onnx/import/onnx.h"

/* Imports as the driver does, which gives gradients to the operator Gradient. */
ig_status ig_fuzz_onnx_import(ig_context *context, ig_str file, ig_module **out_module);

/* Counts as reached (reach.h) the fields of the messages in `bytes` and, where the
 * model went as far as the target goes, its operators. */
void ig_fuzz_onnx_begin(void);
void ig_fuzz_onnx_reach(ig_str bytes, bool is_whole);

#endif
