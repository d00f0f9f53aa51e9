/* Host steps: functions of the runtime itself, called by name from a plan.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A row of host.def is a function with the interface of a kernel: buffers and i64
 * params in the order that its comment tells.  It runs on the caller's thread and is
 * written apart from the interpreter's folds, which judge it.
 */
#ifndef IG_RUNTIME_HOST_HOST_H
#define IG_RUNTIME_HOST_HOST_H

#include "base/status.h"
#include "base/str.h"
#include "ingot/kernel.h"

typedef struct ig_host_call {
    void *const *buffers;
    const int64_t *bytes; /* from each buffer's operand offset to its end */
    const int64_t *params;
    uint32_t buffer_count, param_count, output_count;
    const void *closure;         /* of functions that a library gives with one */
    struct ig_texts *texts;      /* where functions on texts put theirs */
    int64_t run;                 /* runs of the session before this one */
    ig_kernel_report_v0 *report; /* an index out of range, as a kernel reports it */
    char *reason;                /* of IG_HOST_REASON_BYTES: the error of the values */
    ig_status *status;           /* of a call that fails; IG_INVALID before */
} ig_host_call;

enum { IG_HOST_REASON_BYTES = 192 };

/* False, with a phrase about values that the model computes: "the step is 0". */
bool ig_host_refuse(const ig_host_call *call, const char *format, ...) IG_PRINTF(2, 3);

/* False: the function refuses the values, and the reason is set; or buffers or params
 * do not fit it. */
typedef bool ig_host_fn(const ig_host_call *call);

/* NULL when there is no such row. */
ig_host_fn *ig_host_find(const char *name);

#endif
