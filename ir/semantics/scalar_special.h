/* Special functions that libm lacks.  SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_IR_SEMANTICS_SCALAR_SPECIAL_H
#define IG_IR_SEMANTICS_SCALAR_SPECIAL_H

double ig_real_erfinv(double x);
double ig_real_digamma(double x); /* -inf at +0, +inf at -0, NaN at negative integers */

#endif
