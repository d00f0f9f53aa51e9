/* How harnesses end on what must not be: in words, then by abort.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TESTS_FUZZ_REPORT_H
#define IG_TESTS_FUZZ_REPORT_H

#include "base/diag.h"

#include <stdio.h>
#include <stdlib.h>

/* A sink: whatever the input is, the defect is ours when a message says INTERNAL. */
static inline void ig_fuzz_note_internal(void *user, const ig_diagnostic *diagnostic) {
    (void)user;
    if (diagnostic->status == IG_INTERNAL) {
        fprintf(stderr, "%s\n", diagnostic->message);
        abort();
    }
}

/* `claim` holds, or both texts show why not. */
static inline void ig_fuzz_expect(bool claim, const char *problem, const char *first,
                                  const char *second) {
    if (!claim) {
        fprintf(stderr, "%s\n%s\n----\n%s\n", problem, first, second);
        abort();
    }
}

#endif
