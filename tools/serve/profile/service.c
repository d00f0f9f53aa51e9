/* The methods of octoml_profile.RemoteInference.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/grpc/message.h"
#include "tools/serve/profile/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char no_session[] =
    "no such session: it was closed, or lost its heartbeat";
static const char broken[] = "the message is broken, or memory ran out";

static void answer_at_once(stream *of, const ProtobufCMessage *reply) {
    bool is_written = message_write(&of->out, reply);
    stream_end(of, is_written ? CALL_OK : CALL_FULL,
               is_written ? "" : "memory for the answer ran out");
    stream_push(of);
}

static void refuse_call(stream *of, call_status status, const char *words) {
    stream_end(of, status, words);
    stream_push(of);
}

static profiler *profiler_of(const stream *of) {
    return of->peer->lane->profiler;
}

static pool memory_for(const stream *of, size_t size) {
    return (pool){ .limit = 8 * size + (1 << 20), .from = &of->peer->lane->memory };
}

/* ---- what there is ---- */

static void take_ping(stream *of, const method *which, const uint8_t *data,
                      size_t size) {
    Profile__Empty reply = PROFILE__EMPTY__INIT;
    (void)which;
    (void)data;
    (void)size;
    answer_at_once(of, &reply.base);
}

/* Backends as messages: pointers into the rows. */
static bool fill_specs(pool *memory, const backend_list *in,
                       const char *const *software, size_t count,
                       Profile__BackendSpec ***out) {
    Profile__BackendSpec *rows = pool_take_array(memory, count, sizeof *rows);
    *out = pool_take_array(memory, count, sizeof **out);
    for (size_t i = 0; rows && *out && i < count; i++) {
        profile__backend_spec__init(&rows[i]);
        rows[i].hardware_platform = (char *)in->host;
        rows[i].software_backend = (char *)software[i];
        (*out)[i] = &rows[i];
    }
    return rows && *out;
}

static bool fill_presets(pool *memory, const backend_list *in,
                         Profile__BackendList *to) {
    size_t count = in->preset_count;
    Profile__BackendPreset *rows = pool_take_array(memory, count, sizeof *rows);
    to->presets = pool_take_array(memory, count, sizeof *to->presets);
    if (!rows || !to->presets) {
        return false;
    }
    to->n_presets = count;
    for (size_t i = 0; i < count; i++) {
        const preset *from = &in->presets[i];
        profile__backend_preset__init(&rows[i]);
        rows[i].preset_name = from->name;
        rows[i].n_backends = from->count;
        to->presets[i] = &rows[i];
        if (!fill_specs(memory, in, from->software, from->count, &rows[i].backends)) {
            return false;
        }
    }
    return true;
}

static void take_list(stream *of, const method *which, const uint8_t *data,
                      size_t size) {
    Profile__BackendList reply = PROFILE__BACKEND_LIST__INIT;
    const backend_list *in = &profiler_of(of)->backends;
    pool memory = memory_for(of, 0);
    (void)which;
    (void)data;
    (void)size;
    reply.n_backends = in->count;
    if (fill_specs(&memory, in, in->software, in->count, &reply.backends) &&
        fill_presets(&memory, in, &reply)) {
        answer_at_once(of, &reply.base);
    } else {
        refuse_call(of, CALL_FULL, broken);
    }
    pool_free(&memory);
}

/* ---- sessions ---- */

static void answer_created(stream *of, session *made, int code, char *words) {
    Profile__CreateSessionReply reply = PROFILE__CREATE_SESSION_REPLY__INIT;
    Profile__CreateSessionResult result = PROFILE__CREATE_SESSION_RESULT__INIT;
    Profile__ErrorValue error = PROFILE__ERROR_VALUE__INIT;
    if (made) {
        result.session_uuid = (ProtobufCBinaryData){ UUID_BYTES, made->uuid };
        result.ready = made->is_ready;
        reply.result_case = PROFILE__CREATE_SESSION_REPLY__RESULT_RESULT_VALUE;
        reply.result_value = &result;
    } else {
        error.message = words;
        error.code = code;
        reply.result_case = PROFILE__CREATE_SESSION_REPLY__RESULT_ERROR_VALUE;
        reply.error_value = &error;
    }
    answer_at_once(of, &reply.base);
}

static void take_create(stream *of, const method *which, const uint8_t *data,
                        size_t size) {
    pool memory = memory_for(of, size);
    char words[WORDS];
    int code = 0;
    const Profile__CreateSessionRequest *asked =
        message_read(&memory, &profile__create_session_request__descriptor, data, size);
    (void)which;
    if (!asked || asked->n_backends == 0) {
        refuse_call(of, CALL_INVALID,
                    asked ? "a session has a backend or more" : broken);
    } else {
        session *made = session_open(profiler_of(of), of->bearer, asked->backends,
                                     asked->n_backends, &code, words);
        answer_created(of, made, code, words);
    }
    pool_free(&memory);
}

static session *find_session(stream *of, const ProtobufCBinaryData *uuid) {
    session *found = session_find(profiler_of(of), of->bearer, uuid);
    if (!found) {
        refuse_call(of, CALL_PRECONDITION, no_session);
    }
    return found;
}

/* The session that a message names, or NULL after the answer. */
static session *read_session(stream *of, const uint8_t *data, size_t size) {
    pool memory = memory_for(of, size);
    const Profile__SessionName *asked =
        message_read(&memory, &profile__session_name__descriptor, data, size);
    session *found = asked ? find_session(of, &asked->session_uuid) : NULL;
    if (!asked) {
        refuse_call(of, CALL_INVALID, broken);
    }
    pool_free(&memory);
    return found;
}

static void take_wait(stream *of, const method *which, const uint8_t *data,
                      size_t size) {
    session *in = read_session(of, data, size);
    (void)which;
    if (!in) {
        return;
    }
    if (in->is_ready) {
        Profile__SessionState state = PROFILE__SESSION_STATE__INIT;
        state.ready = true;
        answer_at_once(of, &state.base);
        return;
    }
    job *wait = job_create(of, JOB_WAIT, 0);
    if (!wait) {
        refuse_call(of, CALL_FULL, "memory ran out");
        return;
    }
    job_queue(in, wait);
}

static void take_heartbeat(stream *of, const method *which, const uint8_t *data,
                           size_t size) {
    if (read_session(of, data, size)) {
        take_ping(of, which, data, size);
    }
}

static void take_close(stream *of, const method *which, const uint8_t *data,
                       size_t size) {
    session *in = read_session(of, data, size);
    if (in) {
        session_close(in, "the session was closed");
        take_ping(of, which, data, size);
    }
}

/* ---- components ---- */

/* The same for each backend that is not skipped; words NULL: it went well. */
static void answer_component(stream *of, const session *in,
                             const ProtobufCBinaryData *skipped, char *words) {
    Profile__LoadReply reply = PROFILE__LOAD_REPLY__INIT;
    Profile__Empty nothing = PROFILE__EMPTY__INIT;
    Profile__ErrorValue error = PROFILE__ERROR_VALUE__INIT;
    Profile__LoadResult rows[MAX_BACKENDS], *pointers[MAX_BACKENDS];
    job mask = { .skipped = *skipped };
    error.message = words;
    error.code = ERROR_INTERNAL;
    for (size_t i = 0; i < in->worker_count; i++) {
        profile__load_result__init(pointers[i] = &rows[i]);
        rows[i].result_case = job_skips(&mask, i) ? PROFILE__LOAD_RESULT__RESULT_SKIPPED
                              : words ? PROFILE__LOAD_RESULT__RESULT_ERROR_VALUE
                                      : PROFILE__LOAD_RESULT__RESULT_RESULT_VALUE;
        rows[i].result_value = &nothing;
        if (words && !job_skips(&mask, i)) {
            rows[i].error_value = &error;
        }
    }
    reply.n_result_per_backend = in->worker_count;
    reply.result_per_backend = pointers;
    answer_at_once(of, &reply.base);
}

static void find_component(stream *of, const Profile__Component *asked) {
    session *in = find_session(of, &asked->session_uuid);
    char path[PATH_BYTES];
    if (!in) {
        return;
    }
    if (asked->sha256_hash.len != HASH_BYTES ||
        !session_path(in, asked->model_id, asked->filename, path)) {
        refuse_call(of, CALL_INVALID,
                    "no SHA-256, or the file's name leads out of its folder");
    } else if (component_link(&profiler_of(of)->components, asked->sha256_hash.data,
                              path)) {
        answer_component(of, in, &asked->backends_to_skip_bitmask, NULL);
    } else {
        refuse_call(of, CALL_NOT_FOUND, "no such component: upload it");
    }
}

static void take_cached(stream *of, const method *which, const uint8_t *data,
                        size_t size) {
    pool memory = memory_for(of, size);
    const Profile__Component *asked =
        message_read(&memory, &profile__component__descriptor, data, size);
    (void)which;
    if (asked) {
        find_component(of, asked);
    } else {
        refuse_call(of, CALL_INVALID, broken);
    }
    pool_free(&memory);
}

/* ---- uploads ---- */

/* A component that a stream brings in parts. */
typedef struct incoming {
    upload *file;
    uint8_t uuid[UUID_BYTES];
    ProtobufCBinaryData skipped;
    uint8_t mask[MAX_BACKENDS / 8];
    char path[PATH_BYTES];
} incoming;

static void drop_upload(stream *of) {
    incoming *all = of->own;
    if (all && all->file) {
        upload_end(all->file, NULL);
    }
    free(all);
    of->own = NULL;
}

static bool begin_upload(stream *of, const Profile__ComponentPart *first) {
    session *in = find_session(of, &first->session_uuid);
    incoming *all = in ? calloc(1, sizeof *all) : NULL;
    if (!all) {
        refuse_call(of, CALL_FULL, "memory ran out");
        return false;
    }
    of->own = all;
    of->drop = drop_upload;
    memcpy(all->uuid, in->uuid, UUID_BYTES);
    size_t size = first->backends_to_skip_bitmask.len;
    all->skipped = (ProtobufCBinaryData){ size < sizeof all->mask ? size
                                                                  : sizeof all->mask,
                                          all->mask };
    if (size) {
        memcpy(all->mask, first->backends_to_skip_bitmask.data, all->skipped.len);
    }
    bool is_named = first->filename &&
                    session_path(in, first->model_id, first->filename, all->path);
    all->file = is_named ? upload_begin(&profiler_of(of)->components) : NULL;
    if (!all->file) {
        refuse_call(of, CALL_INVALID,
                    "the file's name leads out of its folder, or disk ran out");
    }
    return all->file;
}

static void take_part(stream *of, const method *which, const uint8_t *data,
                      size_t size) {
    pool memory = memory_for(of, size);
    const Profile__ComponentPart *part =
        message_read(&memory, &profile__component_part__descriptor, data, size);
    (void)which;
    if (!part) {
        refuse_call(of, CALL_INVALID, broken);
    } else if (of->own || begin_upload(of, part)) {
        incoming *all = of->own;
        if (!upload_put(all->file, part->chunk.data, part->chunk.len)) {
            refuse_call(of, CALL_FULL,
                        errno == EFBIG ? "the component is larger than --components"
                                       : strerror(errno));
        }
    }
    pool_free(&memory);
}

static void end_upload(stream *of) {
    incoming *all = of->own;
    ProtobufCBinaryData uuid = { UUID_BYTES, all ? all->uuid : NULL };
    if (!all || !all->file) {
        refuse_call(of, CALL_INVALID, "an upload has a message or more");
        return;
    }
    session *in = find_session(of, &uuid);
    bool is_kept = upload_end(all->file, in ? all->path : NULL);
    all->file = NULL;
    if (in) {
        answer_component(of, in, &all->skipped,
                         is_kept ? NULL : "the file could not be kept");
    }
}

/* ---- models ---- */

static bool note_names(bytes *to, const char *what, char *const *names, size_t count) {
    put_format(to, ", \"%s\": [", what);
    for (size_t i = 0; i < count; i++) {
        put_text(to, i ? ", " : "");
        put_string(to, names[i], strlen(names[i]));
    }
    put_text(to, "]");
    return !to->has_failed;
}

/* Notes the model that the backends of the job load, again whenever their process is
 * new. */
static bool note_model(const session *in, const job *what,
                       const Profile__LoadModelRequest *asked) {
    for (size_t i = 0; i < in->worker_count; i++) {
        placed *on = &what->model->on[i];
        if (job_skips(what, i)) {
            continue;
        }
        bytes_free(&on->names);
        *on = (placed){ .format = asked->model_format };
        if (!note_names(&on->names, "inputs", asked->input_names,
                        asked->n_input_names) ||
            !note_names(&on->names, "outputs", asked->output_names,
                        asked->n_output_names)) {
            return false;
        }
    }
    return true;
}

static void take_load(stream *of, const method *which, const uint8_t *data,
                      size_t size) {
    job *made = job_create(of, JOB_LOAD, size);
    (void)which;
    if (!made) {
        refuse_call(of, CALL_FULL, "memory ran out");
        return;
    }
    const Profile__LoadModelRequest *asked = message_read(
        &made->memory, &profile__load_model_request__descriptor, data, size);
    session *in = asked
                      ? session_find(profiler_of(of), of->bearer, &asked->session_uuid)
                      : NULL;
    if (!in || !in->is_ready) {
        job_fail(made, asked ? CALL_PRECONDITION : CALL_INVALID,
                 !asked ? broken
                 : in   ? "the session is not ready"
                        : no_session);
        return;
    }
    made->skipped = asked->backends_to_skip_bitmask;
    made->model = session_model(in, asked->model_id);
    if (!made->model || !note_model(in, made, asked)) {
        job_fail(made, CALL_FULL, "memory ran out");
        return;
    }
    job_queue(in, made);
}

static void take_run(stream *of, const method *which, const uint8_t *data,
                     size_t size) {
    enum { MAX_REPEATS = 1000000 };
    job *made = job_create(of, JOB_RUN, size);
    (void)which;
    if (!made) {
        refuse_call(of, CALL_FULL, "memory ran out");
        return;
    }
    made->run = message_read(&made->memory, &profile__run_request__descriptor, data,
                             size);
    session *in = made->run ? session_find(profiler_of(of), of->bearer,
                                           &made->run->session_uuid)
                            : NULL;
    if (!in || !in->is_ready) {
        job_fail(made, made->run ? CALL_PRECONDITION : CALL_INVALID,
                 !made->run ? broken
                 : in       ? "the session is not ready"
                            : no_session);
        return;
    }
    made->model = session_model(in, made->run->model_id);
    if (!made->model || made->run->num_repeats > MAX_REPEATS ||
        made->run->num_warmups > MAX_REPEATS ||
        made->run->repeat_for_milliseconds > MAX_REPEATS) {
        job_fail(made, made->model ? CALL_INVALID : CALL_FULL,
                 made->model ? "more than 1,000,000 repeats, warm-ups or milliseconds"
                             : "memory ran out");
        return;
    }
    job_queue(in, made);
}

/* ---- the table ---- */

static const method methods[] = {
    { .name = "Ping", .take = take_ping },
    { .name = "ListSupportedBackends", .take = take_list },
    { .name = "CreateSession", .take = take_create },
    { .name = "WaitUntilSessionReady", .take = take_wait },
    { .name = "Heartbeat", .take = take_heartbeat },
    { .name = "CloseSession", .take = take_close },
    { .name = "LoadCachedModelComponent", .take = take_cached },
    { .name = "LoadModelComponent",
      .is_stream = true,
      .take = take_part,
      .end = end_upload },
    { .name = "LoadModel", .take = take_load },
    { .name = "Run", .take = take_run },
};

const service *profiler_service(void) {
    static const service all = { "/octoml_profile.RemoteInference/", methods,
                                 sizeof methods / sizeof *methods };
    return &all;
}
