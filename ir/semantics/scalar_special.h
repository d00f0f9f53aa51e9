/* Special functions that libm lacks.  SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_IR_SEMANTICS_SCALAR_SPECIAL_H
#define IG_IR_SEMANTICS_SCALAR_SPECIAL_H

double ig_real_erfinv(double x);
/* sqrt(x * x + y * y), within an ulp and without overflow on the way; an infinity wins
 * over NaN.  (libm's has a version of its own since glibc 2.35, which would keep our
 * libraries from older systems.) */
double ig_real_hypot(double x, double y);
double ig_real_digamma(double x); /* -inf at +0, +inf at -0, NaN at negative integers */

#endif
