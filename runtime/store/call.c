/* What stores and plug-ins do with the settings of a call.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/store/call.h"

#include "base/platform/clock.h"
#include "base/secret.h"
#include "base/sized.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

ig_status ig_store_call_take(const ig_store_call *given, ig_store_call *out_call) {
    *out_call = (ig_store_call){ .size = sizeof *out_call };
    return ig_sized_take(out_call, sizeof *out_call, given)
               ? IG_OK
               : ig_store_refuse_unsized(given, "ig_store_call");
}

ig_status ig_store_refuse_unsized(const ig_store_call *call, const char *name) {
    return ig_store_fail(call, IG_INVALID, IG_UNSIZED_WORDS, name);
}

ig_status ig_store_fail(const ig_store_call *call, ig_status status, const char *format,
                        ...) {
    if (call->message && call->message_size > 0) {
        va_list args;
        va_start(args, format);
        (void)vsnprintf(call->message, call->message_size, format, args);
        va_end(args);
        ig_hide_secrets(call->message);
    }
    return status;
}

int64_t ig_store_now_ns(void) {
    return ig_clock_ns();
}

ig_status ig_store_check_time(const ig_store_call *call) {
    if (call->cancel && *call->cancel) {
        return ig_store_fail(call, IG_CANCELLED, "the call was cancelled");
    }
    if (call->deadline_ns != 0 && ig_store_now_ns() >= call->deadline_ns) {
        return ig_store_fail(call, IG_LIMIT, "the call's deadline has passed");
    }
    return IG_OK;
}
