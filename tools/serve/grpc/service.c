/* The methods of the protocol.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/batch/runner.h"
#include "tools/serve/grpc/describe.h"
#include "tools/serve/grpc/infer.h"
#include "tools/serve/grpc/message.h"
#include "tools/serve/grpc/stream.h"

#include <stdlib.h>
#include <string.h>

/* The request of a method that describes something. */
enum {
    ASK_LIVE,
    ASK_READY,
    ASK_SERVER,
    ASK_MODEL_READY,
    ASK_MODEL,
    ASK_CONFIG,
    ASK_STATISTICS,
    ASK_INDEX,
    ASK_LOAD,
    ASK_UNLOAD,
    ASK_SHARE,
    ASK_UNSHARE,
    ASK_SHARED,
};

/* ---- inference ---- */

static void finish_infer(request *done) {
    ask *of = done->front;
    stream *to = of->of;
    bool is_stream = to->method->is_stream;
    bool is_written = (done->status == CALL_OK || is_stream) &&
                      infer_write(&to->out, done, is_stream);
    if (is_stream && !is_written) {
        stream_end(to, CALL_FULL, "memory for the answer ran out");
    } else if (!is_stream) {
        stream_end(to, done->status, done->status == CALL_OK ? "" : done->words);
    }
    stream_push(to);
    pool_free(&done->memory);
    stream_leave(of);
}

/* Copies a text of less than 128 bytes, field `id`, that `*at` begins with; "":
 * something else is there. */
static const uint8_t *peek_text(const uint8_t *at, const uint8_t *end, int id,
                                char to[128]) {
    enum { TEXT = 2, HEAD = 2 };
    bool is_there = end - at >= HEAD && at[0] == (id << 3 | TEXT) && at[1] < 128 &&
                    at[1] <= end - at - HEAD;
    size_t size = is_there ? at[1] : 0;
    memcpy(to, at + (is_there ? HEAD : 0), size);
    to[size] = '\0';
    return is_there ? at + HEAD + size : at;
}

/* Whether a message is refused before the work of reading it; the model's name and
 * version come first, as everybody writes them. */
static refusal refuse_early(const stream *of, const uint8_t *data, size_t size) {
    char model[128], version[128];
    const uint8_t *at = peek_text(data, data + size, 1, model);
    peek_text(at, data + size, 2, version);
    return runner_refusal(of->peer->lane->runner, *model ? model : NULL, version,
                          of->deadline);
}

static void take_infer(stream *of, const method *which, const uint8_t *data,
                       size_t size) {
    lane *in = of->peer->lane;
    refusal why = which->is_stream ? REFUSAL_NONE : refuse_early(of, data, size);
    if (why != REFUSAL_NONE) {
        of->is_refused = true;
        stream_end(of, CALL_FULL, refusal_words(why));
        stream_push(of);
        return;
    }
    ask *made = stream_ask(of);
    if (!made) {
        stream_end(of, CALL_FULL, "memory ran out");
        stream_push(of);
        return;
    }
    made->infer =
        (request){ .memory = { .limit = 8 * size + (1 << 20), .from = &in->memory },
                   .begun = clock_now(),
                   .deadline = of->deadline,
                   .trace = of->trace,
                   .finish = finish_infer,
                   .front = made,
                   .order = of };
    if (in->is_draining) {
        request_fail(&made->infer, CALL_UNAVAILABLE, "the server ends");
    }
    infer_read(&made->infer, data, size);
    runner_add(in->runner, &made->infer);
}

/* ---- descriptions ---- */

static bool tell_about_model(stream *of, pool *memory, const served *model, int what) {
    const catalog *list = of->peer->lane->catalog;
    switch (what) {
    case ASK_MODEL:
        return tell_model(&of->out, memory, list, model);
    case ASK_CONFIG:
        return tell_config(&of->out, memory, model);
    case ASK_STATISTICS:
        return tell_statistics(&of->out, memory, list, model);
    default:
        return tell_flag(&of->out, model != NULL);
    }
}

/* The request with the name of a model. */
static bool answer_about_model(stream *of, pool *memory, const Oip__ModelName *asked,
                               int what) {
    char words[WORDS];
    call_status status = CALL_OK;
    const served *model = catalog_find(of->peer->lane->catalog, asked->name,
                                       asked->version, &status, words);
    bool is_all = what == ASK_STATISTICS && !*asked->name;
    if (!model && !is_all && what != ASK_MODEL_READY) {
        /* So Triton's clients know it. */
        stream_end(of, what == ASK_STATISTICS ? CALL_INVALID : status, words);
        return true;
    }
    return tell_about_model(of, memory, model, what);
}

static bool answer_about_server(stream *of, int what) {
    const lane *in = of->peer->lane;
    return what == ASK_SERVER
               ? tell_server(&of->out)
               : tell_flag(&of->out, what == ASK_LIVE || lane_is_ready(in));
}

static bool answer_description(stream *of, pool *memory, int what, const uint8_t *data,
                               size_t size) {
    if (what <= ASK_SERVER) {
        return answer_about_server(of, what);
    }
    if (what == ASK_INDEX) {
        const Oip__IndexRequest *asked =
            message_read(memory, &oip__index_request__descriptor, data, size);
        return asked &&
               tell_index(&of->out, memory, of->peer->lane->catalog, asked->ready);
    }
    const Oip__ModelName *asked = message_read(memory, &oip__model_name__descriptor,
                                               data, size);
    return asked && answer_about_model(of, memory, asked, what);
}

static void take_description(stream *of, const method *which, const uint8_t *data,
                             size_t size) {
    pool memory = { .limit = 8 * size + (1 << 20), .from = &of->peer->lane->memory };
    bool is_good = answer_description(of, &memory, which->detail, data, size);
    pool_free(&memory);
    if (!of->is_finished) {
        stream_end(of, is_good ? CALL_OK : CALL_INVALID,
                   is_good ? "" : "the message is broken, or memory ran out");
    }
    stream_push(of);
}

/* ---- the repository ---- */

static void finish_errand(errand *done) {
    ask *of = done->front;
    stream *to = of->of;
    if (!to->is_closed) {
        if (done->status == CALL_OK) {
            tell_nothing(&to->out);
        }
        stream_end(to, done->status, done->words);
        stream_push(to);
    }
    free(done->name);
    free(done->config);
    free(done);
    stream_leave(of);
}

static const char *find_override(const Oip__ModelControl *in) {
    for (size_t i = 0; i < in->n_parameters; i++) {
        const Oip__RepositoryParameter *value = in->parameters[i]->value;
        if (strcmp(in->parameters[i]->key, "config") == 0 && value &&
            value->choice_case == OIP__REPOSITORY_PARAMETER__CHOICE_STRING_PARAM) {
            return value->string_param;
        }
    }
    return NULL;
}

static errand *make_errand(stream *of, const Oip__ModelControl *asked, bool is_load) {
    errand *what = calloc(1, sizeof *what);
    ask *made = what ? stream_ask(of) : NULL;
    const char *config = made ? find_override(asked) : NULL;
    if (!made || !(what->name = strdup(asked->model_name))) {
        if (made) {
            stream_leave(made);
        }
        free(what);
        return NULL;
    }
    what->is_load = is_load;
    what->config = config ? strdup(config) : NULL;
    what->finish = finish_errand;
    what->front = made;
    what->to = of->peer->lane->box;
    made->errand = what;
    return what;
}

static void take_control(stream *of, const method *which, const uint8_t *data,
                         size_t size) {
    pool memory = { .limit = 8 * size + (1 << 20), .from = &of->peer->lane->memory };
    const Oip__ModelControl *asked =
        message_read(&memory, &oip__model_control__descriptor, data, size);
    errand *what = asked ? make_errand(of, asked, which->detail == ASK_LOAD) : NULL;
    pool_free(&memory);
    if (what) {
        repository_ask(of->peer->lane->repository, what);
        return;
    }
    stream_end(of, CALL_INVALID, "the message is broken, or memory ran out");
    stream_push(of);
}

/* ---- shared memory ---- */

static bool answer_sharing(stream *of, pool *memory, const Oip__SharedRegion *asked,
                           int what) {
    regions *all = of->peer->lane->regions;
    char words[WORDS];
    if (what == ASK_SHARED) {
        call_status given = tell_regions(&of->out, memory, all, asked->name);
        stream_end(of, given,
                   given == CALL_OK          ? ""
                   : given == CALL_NOT_FOUND ? "no such region is registered"
                                             : "memory ran out");
        return true;
    }
    if (what == ASK_UNSHARE) {
        regions_remove(all, asked->name);
        return tell_nothing(&of->out);
    }
    region added = { asked->name, asked->key, asked->offset, asked->byte_size };
    call_status status = regions_add(all, &added, words);
    if (status != CALL_OK) {
        stream_end(of, status, words);
        return true;
    }
    return tell_nothing(&of->out);
}

static void take_sharing(stream *of, const method *which, const uint8_t *data,
                         size_t size) {
    pool memory = { .limit = 8 * size + (1 << 20), .from = &of->peer->lane->memory };
    const Oip__SharedRegion *asked =
        message_read(&memory, &oip__shared_region__descriptor, data, size);
    if (!of->peer->lane->regions) {
        stream_end(of, CALL_UNSUPPORTED,
                   "the server was started without --shared-memory");
    } else if (!asked || !answer_sharing(of, &memory, asked, which->detail)) {
        stream_end(of, CALL_INVALID, "the message is broken, or memory ran out");
    }
    pool_free(&memory);
    stream_end(of, CALL_OK, "");
    stream_push(of);
}

/* ---- the table ---- */

static const method methods[] = {
    { "ModelInfer", false, take_infer, 0, NULL, false },
    { "ModelStreamInfer", true, take_infer, 0, NULL, false },
    { "ServerLive", false, take_description, ASK_LIVE, NULL, true },
    { "ServerReady", false, take_description, ASK_READY, NULL, true },
    { "ServerMetadata", false, take_description, ASK_SERVER, NULL, false },
    { "ModelReady", false, take_description, ASK_MODEL_READY, NULL, false },
    { "ModelMetadata", false, take_description, ASK_MODEL, NULL, false },
    { "ModelConfig", false, take_description, ASK_CONFIG, NULL, false },
    { "ModelStatistics", false, take_description, ASK_STATISTICS, NULL, false },
    { "RepositoryIndex", false, take_description, ASK_INDEX, NULL, false },
    { "RepositoryModelLoad", false, take_control, ASK_LOAD, NULL, false },
    { "RepositoryModelUnload", false, take_control, ASK_UNLOAD, NULL, false },
    { "SystemSharedMemoryRegister", false, take_sharing, ASK_SHARE, NULL, false },
    { "SystemSharedMemoryUnregister", false, take_sharing, ASK_UNSHARE, NULL, false },
    { "SystemSharedMemoryStatus", false, take_sharing, ASK_SHARED, NULL, false },
};

static const method *find_in(const service *of, const char *path) {
    size_t length = strlen(of->prefix);
    if (strncmp(path, of->prefix, length) != 0) {
        return NULL;
    }
    for (size_t i = 0; i < of->count; i++) {
        if (strcmp(path + length, of->methods[i].name) == 0) {
            return &of->methods[i];
        }
    }
    return NULL;
}

const method *method_find(const lane *in, const char *path) {
    static const service own = { "/inference.GRPCInferenceService/", methods,
                                 sizeof methods / sizeof *methods };
    const method *found = find_in(&own, path);
    return found || !in->beside ? found : find_in(in->beside, path);
}
