/* Sessions whose calls are written down.  SPDX-License-Identifier: Apache-2.0 */
#include "runtime/session.h"

#include "ingot/runtime.h"

#include <assert.h>
#include <dlfcn.h>
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
    void *library = dlopen("libingot-capture.so", RTLD_NOW | RTLD_LOCAL);
    void *symbol = library ? dlsym(library, "ig_capture_start") : NULL;
    if (!symbol) {
        return ig_message_set(message, IG_IO, "INGOT_CAPTURE: %s", dlerror());
    }
    ig_status (*start)(ig_capture_request *, ig_capture **);
    memcpy(&start, &symbol, sizeof start);
    ig_status status = start(&request, &session->capture);
    return status == IG_OK
               ? IG_OK
               : ig_message_set(message, status, "INGOT_CAPTURE: %s", request.why);
}
