/* The operands of `suppress`.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_IR_SEMANTICS_SUPPRESS_H
#define IG_IR_SEMANTICS_SUPPRESS_H

typedef enum ig_suppress_operand {
    IG_SUPPRESS_BOXES,
    IG_SUPPRESS_SCORES,
    IG_SUPPRESS_SHARE,
    IG_SUPPRESS_MAX,
    IG_SUPPRESS_MIN, /* may be absent */
    IG_SUPPRESS_OPERANDS,
} ig_suppress_operand;

#endif
