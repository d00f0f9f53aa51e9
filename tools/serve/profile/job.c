/* Jobs: a backend after the other.  SPDX-License-Identifier: Apache-2.0
 *
 * A child that has ended is started again for the next job that needs it, and told to
 * load again what that job runs.
 */
#include "tools/serve/grpc/message.h"
#include "tools/serve/profile/dtype.h"
#include "tools/serve/profile/session.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

/* ---- life ---- */

job *job_create(stream *of, job_kind kind, size_t size) {
    job *made = calloc(1, sizeof *made);
    if (!made || !(made->of = stream_ask(of))) {
        free(made);
        return NULL;
    }
    made->of->job = made;
    made->kind = kind;
    made->begun = of->peer->lane->now;
    made->memory = (pool){ .limit = 8 * size + (1 << 20),
                           .from = &of->peer->lane->memory };
    return made;
}

static void free_job(job *what) {
    for (size_t i = 0; i < MAX_BACKENDS; i++) {
        bytes_free(&what->results[i].reply);
    }
    ask *of = what->of;
    pool_free(&what->memory);
    free(what);
    stream_leave(of);
}

void job_fail(job *what, call_status status, const char *words) {
    stream *to = what->of->of;
    if (!to->is_closed) {
        stream_end(to, status, words);
        stream_push(to);
    }
    free_job(what);
}

void job_answer(job *what, const ProtobufCMessage *reply) {
    stream *to = what->of->of;
    bool is_written = to->is_closed || message_write(&to->out, reply);
    job_fail(what, is_written ? CALL_OK : CALL_FULL,
             is_written ? "" : "memory for the answer ran out");
}

bool job_skips(const job *what, size_t backend) {
    return backend / 8 < what->skipped.len &&
           (what->skipped.data[backend / 8] >> backend % 8 & 1);
}

/* ---- messages to a child ---- */

static bool send_load(session *in, job *what, worker *to) {
    const placed *on = &what->model->on[what->at];
    char folder[PATH_BYTES];
    bytes text = { 0 };
    session_path(in, what->model->id, "x", folder);
    put_format(&text,
               "{\"do\": \"load\", \"model\": \"%llu\", \"format\": %d, "
               "\"threads\": %d, \"folder\": ",
               (unsigned long long)what->model->id, on->format, to->threads);
    put_string(&text, folder, strlen(folder) - 2);
    bytes_put(&text, on->names.data, on->names.size);
    put_text(&text, "}");
    bool is_good = child_begin(&to->child, &text, 0);
    bytes_free(&text);
    return is_good;
}

/* Whether it has as many bytes as its shape says. */
static bool is_whole(const Profile__Tensor *of) {
    ig_view view = { .dtype = (int32_t)dtype_of_number(of->dtype) };
    if (of->n_shape > IG_MAX_RANK || !view.dtype) {
        return false;
    }
    view.rank = (uint32_t)of->n_shape;
    for (size_t i = 0; i < of->n_shape; i++) {
        view.dims[i] = of->shape[i];
    }
    return ig_view_bytes(&view) == (int64_t)of->data.len;
}

/* Input `index` of a backend, or NULL. */
static const Profile__Tensor *find_input(const job *what, size_t index) {
    const Profile__RunRequest *run = what->run;
    if (what->at < run->n_input_map_per_backend) {
        const Profile__InputMap *map = run->input_map_per_backend[what->at];
        int32_t position = map->input_value_indices[index];
        index = position < 0 ? SIZE_MAX : (size_t)position;
    }
    return index < run->n_inputs &&
                   run->inputs[index]->value_case == PROFILE__VALUE__VALUE_TENSOR
               ? run->inputs[index]->tensor
               : NULL;
}

static size_t count_inputs(const job *what) {
    const Profile__RunRequest *run = what->run;
    return what->at < run->n_input_map_per_backend
               ? run->input_map_per_backend[what->at]->n_input_value_indices
               : run->n_inputs;
}

static void put_input(bytes *text, const Profile__Tensor *from) {
    put_format(text, "{\"dtype\": %d, \"size\": %zu, \"shape\": [", (int)from->dtype,
               from->data.len);
    for (size_t i = 0; i < from->n_shape; i++) {
        put_format(text, "%s%lld", i ? ", " : "", (long long)from->shape[i]);
    }
    put_text(text, "]}");
}

/* False: an input that the map names is not there, or memory ran out. */
static bool send_run(const job *what, worker *to) {
    const Profile__RunRequest *run = what->run;
    size_t count = count_inputs(what);
    size_t size = 0;
    bytes text = { 0 };
    put_format(&text,
               "{\"do\": \"run\", \"model\": \"%llu\", \"warmups\": %llu, "
               "\"repeats\": %llu, \"milliseconds\": %llu, \"inputs\": [",
               (unsigned long long)what->model->id,
               (unsigned long long)(run->has_num_warmups ? run->num_warmups : 1),
               (unsigned long long)run->num_repeats,
               (unsigned long long)run->repeat_for_milliseconds);
    bool is_good = true;
    for (size_t i = 0; is_good && i < count; i++) {
        const Profile__Tensor *input = find_input(what, i);
        is_good = input && is_whole(input);
        put_text(&text, i ? ", " : "");
        if (is_good) {
            put_input(&text, input);
            size += frame_size(input->data.len);
        }
    }
    put_text(&text, "]}");
    is_good = is_good && child_begin(&to->child, &text, size);
    for (size_t i = 0; is_good && i < count; i++) {
        const Profile__Tensor *input = find_input(what, i);
        is_good = child_put(&to->child, input->data.data, input->data.len);
    }
    bytes_free(&text);
    return is_good;
}

/* ---- steps ---- */

static void fail_backend(job *what, const char *words) {
    outcome *of = &what->results[what->at];
    of->code = what->kind == JOB_LOAD || what->is_loading ? ERROR_MODEL_LOAD
                                                          : ERROR_MODEL_INFERENCE;
    of->words = pool_copy_text(&what->memory, words);
    of->words = of->words ? of->words : "memory ran out";
    what->is_loading = what->is_sent = false;
    what->at++;
}

static bool watch_child(worker *of, bool is_new) {
    bool wants_out = child_wants_out(&of->child);
    if (!is_new && wants_out == of->watches_out) {
        return true;
    }
    struct epoll_event event = { EPOLLIN | (wants_out ? (uint32_t)EPOLLOUT : 0),
                                 { .ptr = of } };
    of->watches_out = wants_out;
    return epoll_ctl(of->of->of->poll, is_new ? EPOLL_CTL_ADD : EPOLL_CTL_MOD,
                     of->child.socket, &event) == 0;
}

static bool need_child(session *in, worker *of, char *words) {
    if (of->child.socket >= 0) {
        return true;
    }
    const profiler *at = in->of;
    const child_options options = { .python = at->backends.python,
                                    .folder = in->folder,
                                    .memory_bytes = at->options->child_bytes,
                                    .max_bytes = at->lane->limits->body_bytes,
                                    .poll = at->poll };
    return child_start(&of->child, of->software, &options, words) &&
           watch_child(of, true);
}

/* Asks the child for the next step.  False: nothing is left to ask of this one, or it
 * failed; the job goes on with the next. */
static bool ask_child(session *in, job *what) {
    worker *to = &in->workers[what->at];
    placed *on = &what->model->on[what->at];
    char words[WORDS];
    if (what->kind == JOB_LOAD && job_skips(what, what->at)) {
        what->results[what->at++].is_skipped = true;
        return false;
    }
    if (on->format == 0) {
        fail_backend(what, "the model was not loaded on this backend");
        return false;
    }
    if (!need_child(in, to, words)) {
        fail_backend(what, words);
        return false;
    }
    what->is_loading = what->kind == JOB_LOAD || on->generation != to->child.generation;
    if (what->is_loading ? !send_load(in, what, to) : !send_run(what, to)) {
        child_end(&to->child); /* it may have half a message */
        fail_backend(what,
                     "an input is missing, of an unknown type or not as large as its "
                     "shape says, or memory ran out");
        return false;
    }
    what->begun = in->of->lane->now;
    return what->is_sent = true;
}

void job_step(session *in) {
    while (in->jobs) {
        job *what = in->jobs;
        while (!what->is_sent && what->at < in->worker_count) {
            ask_child(in, what);
        }
        if (what->is_sent) {
            job_take_event(&in->workers[what->at]);
            return;
        }
        in->jobs = what->next;
        job_reply(in, what);
    }
}

void job_queue(session *in, job *what) {
    job **last = what->kind == JOB_WAIT ? &in->waits : &in->jobs;
    bool is_first = !*last;
    while (*last) {
        last = &(*last)->next;
    }
    *last = what;
    if (what->kind != JOB_WAIT && is_first) {
        job_step(in);
    }
}

/* ---- answers of children ---- */

static void take_answer(session *in, job *what, worker *from) {
    frame_head head;
    bytes *reply = &from->child.in;
    memcpy(&head, reply->data, sizeof head);
    json_t *said = json_loadb((const char *)reply->data + sizeof head,
                              (size_t)head.text_bytes, 0, NULL);
    const char *error = json_string_value(json_object_get(said, "error"));
    placed *on = &what->model->on[what->at];
    if (!json_is_object(said) || error) {
        fail_backend(what, error ? error : "the backend's answer is broken");
    } else if (what->is_loading) {
        on->generation = from->child.generation;
        what->is_loading = what->is_sent = false;
        what->at += what->kind == JOB_LOAD;
    } else {
        what->results[what->at++].reply = *reply;
        *reply = (bytes){ 0 };
        what->is_sent = false;
    }
    json_decref(said);
    (void)in;
}

void job_take_event(worker *from) {
    session *in = from->of;
    job *what = in->jobs;
    char words[WORDS];
    child_state state = child_turn(&from->child, words);
    bool is_asked = what && what->is_sent && &in->workers[what->at] == from;
    if (state == CHILD_WAITS) {
        watch_child(from, false);
        return;
    }
    if (!is_asked) { /* it speaks, or ends, without being asked */
        child_end(&from->child);
        return;
    }
    if (state == CHILD_ENDED) {
        fail_backend(what, words);
    } else {
        take_answer(in, what, from);
    }
    job_step(in);
}

void job_check_time(session *in, int64_t now) {
    job *what = in->jobs;
    int seconds = in->of->options->job_seconds;
    char words[WORDS];
    if (what && what->is_sent && now - what->begun > seconds * 1000000000LL) {
        child_end(&in->workers[what->at].child);
        snprintf(words, WORDS, "it took longer than %d s (--job-seconds) and was ended",
                 seconds);
        fail_backend(what, words);
        job_step(in);
    }
}
