/* Numbers of few bits that share bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_FRONTEND_ONNX_OPS_MICROSOFT_BITS_H
#define IG_FRONTEND_ONNX_OPS_MICROSOFT_BITS_H

#include "ir/build/expr.h"

/* Bytes of which each holds 8 / bits numbers (bits 2, 4 or 8), the lowest bits first,
 * along the last axis, which becomes as often as long; i32. */
ig_value *ig_onnx_unpack_bits(ig_expr *e, ig_value *x, int64_t bits);

#endif
