/* The outcome of a call; the numbers are gRPC's.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_SERVE_CALL_STATUS_H
#define IG_TOOLS_SERVE_CALL_STATUS_H

#include <ingot/status.h>

typedef enum call_status {
    CALL_OK = 0,
    CALL_CANCELLED = 1,    /* the client left */
    CALL_INVALID = 3,      /* the request, or its data for the model, is broken */
    CALL_LATE = 4,         /* its deadline passed before it began, or while it ran */
    CALL_NOT_FOUND = 5,    /* no such model, version or region */
    CALL_EXISTS = 6,       /* a region of that name is registered already */
    CALL_FULL = 8,         /* a limit of the server: try again later, or send less */
    CALL_PRECONDITION = 9, /* a thing that it needs is gone */
    CALL_UNSUPPORTED = 12, /* valid, but this server does not do it */
    CALL_INTERNAL = 13,    /* a defect */
    CALL_UNAVAILABLE = 14, /* the server ends, or the model is not ready */
    CALL_STRANGER = 16,    /* it came without a token that the server knows */
} call_status;

/* The status of HTTP that says the same. */
int call_status_http(call_status status);
/* The meaning of a run's status to the caller whose inputs it had. */
call_status call_status_of_run(ig_status status);

#endif
