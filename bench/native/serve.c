/* Calls of servers, for the load generator of tools/ingot/measure, which is linked
 * to them; each rotates over sets of inputs.  SPDX-License-Identifier: Apache-2.0 */
#include <ingot/runtime.h>

enum { LOAD_GOOD = 0, LOAD_FAILED = 2 }; /* as load_generator.h has them */

typedef ig_status (*session_run)(ig_session *session, const ig_view *inputs, size_t in,
                                 ig_view *outputs, size_t out);

/* A session that keeps its views and fills in a set's addresses. */
typedef struct ingot_server {
    session_run run;
    ig_session *session;
    ig_view *views; /* of inputs, then of outputs */
    size_t in, out;
    void *const *const *addresses;
    size_t sets;
} ingot_server;

int serve_ingot(void *user, size_t index) {
    const ingot_server *server = user;
    void *const *set = server->addresses[index % server->sets];
    size_t in = server->in, out = server->out;
    for (size_t i = 0; i < in + out; i++)
        server->views[i].data = set[i];
    return server->run(server->session, server->views, in, server->views + in, out) ==
                   IG_OK
               ? LOAD_GOOD
               : LOAD_FAILED;
}

/* ONNX Runtime's function RunWithBinding and a binding for each set. */
typedef struct onnxruntime_server {
    void *(*run)(void *session, const void *options, const void *binding);
    void *session;
    void *const *bindings;
    size_t sets;
} onnxruntime_server;

int serve_onnxruntime(void *user, size_t index) {
    const onnxruntime_server *server = user;
    const void *binding = server->bindings[index % server->sets];
    return server->run(server->session, NULL, binding) ? LOAD_FAILED : LOAD_GOOD;
}
