/* Writing calls down, for replays: the interface of a session to libingot-capture.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The library is opened when a session begins and INGOT_CAPTURE names a folder, so that
 * the runtime knows nothing of files and formats.  It reads the session's struct, and
 * refuses one of another size or version. */
#ifndef IG_RUNTIME_CAPTURE_H
#define IG_RUNTIME_CAPTURE_H

#include "base/status.h"

#include <stddef.h>

typedef struct ig_session ig_session;
typedef struct ig_capture ig_capture;

struct ig_capture {
    void (*before)(ig_capture *capture, const ig_session *session);
    void (*after)(ig_capture *capture, const ig_session *session, ig_status status);
    void (*close)(ig_capture *capture);
};

typedef struct ig_capture_request {
    const ig_session *session;
    size_t session_size;
    const char *version, *folder;
    char why[256]; /* out, on an error */
} ig_capture_request;

/* Of ig_capture_start, the one symbol of the library. */
typedef ig_status ig_capture_start_fn(ig_capture_request *request,
                                      ig_capture **out_capture);

#endif
