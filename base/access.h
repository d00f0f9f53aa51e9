/* How a checked kernel reports an access that leaves a buffer (docs/debugging.md).
 * SPDX-License-Identifier: Apache-2.0
 *
 * Such a report goes where reports of ids go.  Its operand is a word of fields, above
 * any number of an operand; its position the first byte of the access, counted from the
 * operand's own first byte; its value the bytes that the operand has from there on.
 *
 *     62      bytes touched      is a store      which memory
 *      1    52 ........... 33        32        31 .......... 0
 */
#ifndef IG_BASE_ACCESS_H
#define IG_BASE_ACCESS_H

#include <stdint.h>

#define IG_ACCESS_OUTSIDE (INT64_C(1) << 62)

enum {
    IG_ACCESS_STORE_BIT = 32,
    IG_ACCESS_BYTES_BIT = 33,
    IG_ACCESS_BYTES_MASK = 0xfffff,
};

/* In place of an operand: an integer was divided by zero. */
#define IG_REPORT_ZERO_DIVISOR (INT64_C(1) << 61)

/* Memory that is not an operand. */
#define IG_ACCESS_SCRATCH UINT32_C(0xfffffffe)
#define IG_ACCESS_LOCAL UINT32_C(0xffffffff)

#endif
