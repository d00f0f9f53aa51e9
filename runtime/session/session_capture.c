/* Sessions whose calls are written down.  SPDX-License-Identifier: Apache-2.0 */
#include "runtime/session/session.h"

#include "ingot/runtime.h"
#include "runtime/plugin/plugin.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

ig_status ig_session_begin_capture(ig_session *session, const ig_message *message) {
    assert(!session->capture && "a session is captured once");
    const char *folder = secure_getenv("INGOT_CAPTURE");
    if (!folder || !folder[0]) {
        return IG_OK;
    }
    ig_capture_request request = { session, sizeof *session, ig_runtime_version(),
                                   folder, "" };
    void *symbol;
    IG_TRY(ig_plugin_find("INGOT_CAPTURE", "libingot-capture.so", "ig_capture_start",
                          &symbol, message));
    ig_capture_start_fn *start;
    memcpy(&start, &symbol, sizeof start);
    ig_status status = start(&request, &session->capture);
    return status == IG_OK
               ? IG_OK
               : ig_message_set(message, status, "INGOT_CAPTURE: %s", request.why);
}
