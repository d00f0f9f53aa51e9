/* Compile-time knowledge of a value: constants, and shapes as dim expressions.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_IR_SEMANTICS_CONSTANT_H
#define IG_IR_SEMANTICS_CONSTANT_H

#include "ir/ops.h"

/* The constant that a value is (const or weight op), or NULL.  Not evaluated
 * further. */
const ig_data *ig_constant_of(const ig_value *value);
/* The one element of a constant with one element. */
bool ig_constant_i64(const ig_value *value, int64_t *out_value);
bool ig_constant_f64(const ig_value *value, double *out_value);
/* Element `index` of a constant list of numbers; false when there is none. */
bool ig_constant_entry(const ig_value *value, int64_t index, double *out_entry);
/* A small integer tensor as dim expressions, as far as known, looking through shape
 * arithmetic up to a fixed depth. */
bool ig_value_dims(const ig_value *value, ig_dims_value *out);

#endif
