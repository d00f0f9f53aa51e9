/* ingot profile --remote.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/profile/remote.h"

#include "tools/serve/client/call.h"
#include "tools/serve/grpc/message.h"
#include "tools/serve/profile/child.h"
#include "tools/serve/profile/component.h"
#include "tools/serve/profile/dtype.h"

#include <errno.h>
#include <fcntl.h>
#include <gnutls/crypto.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tools/serve/profile/profile.pb-c.h>

enum { EXIT_FAILED = 1, EXIT_INVALID = 3, EXIT_UNSUPPORTED = 4, EXIT_IO = 6 };
enum { FORMAT_ONNX = 1, FORMAT_EXPORTED = 101, NOT_FOUND = 5, CHUNK = 1 << 20 };

typedef struct remote {
    client *client;
    const char *address, *model;
    json_t *asked;
    const uint8_t *tensors; /* after it */
    size_t tensor_bytes;
    pool memory; /* of all messages */
    Profile__BackendSpec **backends;
    size_t backend_count;
    ProtobufCBinaryData session; /* empty: none is open */
    bytes reply;
    char words[WORDS];
} remote;

static int complain(const remote *of, int exit_status, const char *words) {
    fprintf(stderr, "error: ingot profile --remote %s: %s\n", of->address, words);
    return exit_status;
}

/* Sends a message, or several that are framed in `all`; 0, or gRPC's status. */
static int call_with(remote *of, const char *name, const bytes *all) {
    char path[128];
    snprintf(path, sizeof path, "/octoml_profile.RemoteInference/%s", name);
    return client_call(of->client, path, all, &of->reply, of->words);
}

static int call(remote *of, const char *name, const ProtobufCMessage *message) {
    bytes all = { 0 };
    int status = message_write(&all, message) ? call_with(of, name, &all) : NOT_FOUND;
    bytes_free(&all);
    return status;
}

static void *read_reply(remote *of, const ProtobufCMessageDescriptor *type) {
    void *message = message_read(&of->memory, type, of->reply.data, of->reply.size);
    if (!message) {
        snprintf(of->words, WORDS, "an answer of the worker is broken");
    }
    return message;
}

/* ---- the session ---- */

/* "host/software[threads=2]" */
static Profile__BackendSpec *read_backend(remote *of, const char *text) {
    Profile__BackendSpec *made = pool_take(&of->memory, sizeof *made);
    Profile__BackendOption *option = pool_take(&of->memory, sizeof *option);
    char *copy = pool_copy_text(&of->memory, text);
    char *slash = copy ? strchr(copy, '/') : NULL;
    if (!made || !option || !slash) {
        snprintf(of->words, WORDS,
                 "'%.200s' names no backend: HOST/SOFTWARE[threads=N]", text);
        return NULL;
    }
    *slash = '\0';
    profile__backend_spec__init(made);
    made->hardware_platform = copy;
    made->software_backend = slash + 1;
    char *bracket = strchr(slash + 1, '['),
         *equals = bracket ? strchr(bracket, '=') : NULL;
    if (equals) {
        *bracket = *equals = '\0';
        equals[1 + strcspn(equals + 1, "]")] = '\0';
        profile__backend_option__init(option);
        option->key = bracket + 1;
        option->value = equals + 1;
        made->n_backend_options = 1;
        made->backend_options = pool_take(&of->memory, sizeof *made->backend_options);
        if (!made->backend_options) {
            return NULL;
        }
        made->backend_options[0] = option;
    }
    return made;
}

/* Torch runs what torch exported, and those of ONNX take ONNX alone. */
static bool takes_format(const char *software, int format) {
    bool is_torch = strncmp(software, "torch-", 6) == 0;
    return strcmp(software, "ingot-cpu") == 0 || is_torch == (format != FORMAT_ONNX);
}

/* Backends of the preset that take the format. */
static void keep_preset(remote *of, Profile__BackendPreset *from, int format) {
    of->backends = from->backends;
    of->backend_count = 0;
    for (size_t i = 0; i < from->n_backends; i++) {
        if (takes_format(from->backends[i]->software_backend, format)) {
            of->backends[of->backend_count++] = from->backends[i];
        }
    }
}

static bool choose_defaults(remote *of, int format) {
    const Profile__Empty nothing = PROFILE__EMPTY__INIT;
    if (call(of, "ListSupportedBackends", &nothing.base) != 0) {
        return false;
    }
    const Profile__BackendList *list = read_reply(of,
                                                  &profile__backend_list__descriptor);
    for (size_t i = 0; list && i < list->n_presets; i++) {
        if (strcmp(list->presets[i]->preset_name, "default") == 0) {
            keep_preset(of, list->presets[i], format);
        }
    }
    return list != NULL;
}

static bool choose_backends(remote *of, int format) {
    const json_t *names = json_object_get(of->asked, "backends");
    size_t count = json_array_size(names);
    if (count == 0) {
        return choose_defaults(of, format);
    }
    of->backends = pool_take_array(&of->memory, count, sizeof *of->backends);
    for (size_t i = 0; of->backends && i < count; i++) {
        of->backends[i] = read_backend(of, json_string_value(json_array_get(names, i)));
        if (!of->backends[i]) {
            return false;
        }
    }
    of->backend_count = count;
    return of->backends != NULL;
}

static bool await_ready(remote *of, bool is_ready) {
    Profile__SessionName name = PROFILE__SESSION_NAME__INIT;
    name.session_uuid = of->session;
    while (!is_ready) {
        fprintf(stderr, "%s: another session has the machine; waiting\n", of->address);
        if (call(of, "WaitUntilSessionReady", &name.base) != 0) {
            return false;
        }
        const Profile__SessionState *state =
            read_reply(of, &profile__session_state__descriptor);
        if (!state) {
            return false;
        }
        is_ready = state->ready;
    }
    return true;
}

static bool open_session(remote *of) {
    Profile__CreateSessionRequest asked = PROFILE__CREATE_SESSION_REQUEST__INIT;
    asked.n_backends = of->backend_count;
    asked.backends = of->backends;
    if (call(of, "CreateSession", &asked.base) != 0) {
        return false;
    }
    const Profile__CreateSessionReply *said =
        read_reply(of, &profile__create_session_reply__descriptor);
    if (!said ||
        said->result_case != PROFILE__CREATE_SESSION_REPLY__RESULT_RESULT_VALUE) {
        if (said && said->error_value) {
            snprintf(of->words, WORDS, "%s", said->error_value->message);
        }
        return false;
    }
    of->session = said->result_value->session_uuid;
    return await_ready(of, said->result_value->ready);
}

static void close_session(remote *of) {
    Profile__SessionName name = PROFILE__SESSION_NAME__INIT;
    char words[WORDS];
    if (of->session.len) {
        name.session_uuid = of->session;
        memcpy(words, of->words, WORDS); /* of what went wrong before */
        call(of, "CloseSession", &name.base);
        memcpy(of->words, words, WORDS);
    }
}

/* ---- the model ---- */

static bool upload_parts(remote *of, const char *filename, const uint8_t *data,
                         size_t size) {
    bytes all = { 0 };
    for (size_t at = 0; at == 0 || at < size; at += CHUNK) {
        Profile__ComponentPart part = PROFILE__COMPONENT_PART__INIT;
        size_t left = size - at;
        part.chunk = (ProtobufCBinaryData){ left < CHUNK ? left : CHUNK,
                                            (uint8_t *)data + at };
        if (at == 0) {
            part.has_session_uuid = part.has_model_id = part.has_model_component_id =
                true;
            part.session_uuid = of->session;
            part.model_id = part.model_component_id = 1;
            part.filename = (char *)filename;
        }
        message_write(&all, &part.base);
    }
    bool is_good = !all.has_failed && call_with(of, "LoadModelComponent", &all) == 0;
    bytes_free(&all);
    return is_good;
}

static bool send_file(remote *of, const char *filename, const uint8_t *data,
                      size_t size) {
    uint8_t hash[HASH_BYTES];
    Profile__Component asked = PROFILE__COMPONENT__INIT;
    gnutls_hash_fast(GNUTLS_DIG_SHA256, data, size, hash);
    asked.session_uuid = of->session;
    asked.model_id = asked.model_component_id = 1;
    asked.sha256_hash = (ProtobufCBinaryData){ HASH_BYTES, hash };
    asked.filename = (char *)filename;
    int status = call(of, "LoadCachedModelComponent", &asked.base);
    return status == 0 ||
           (status == NOT_FOUND && upload_parts(of, filename, data, size));
}

/* Maps the file, sends it, and forgets it. */
static bool send_model(remote *of, const char *filename) {
    struct stat facts;
    int file = open(of->model, O_RDONLY | O_CLOEXEC);
    bool is_good = file >= 0 && fstat(file, &facts) == 0 && facts.st_size > 0;
    size_t size = is_good ? (size_t)facts.st_size : 0;
    void *data = is_good ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0)
                         : MAP_FAILED;
    if (data == MAP_FAILED) {
        snprintf(of->words, WORDS, "%.300s: %s", of->model, strerror(errno));
    } else {
        is_good = send_file(of, filename, data, size);
        munmap(data, size);
    }
    if (file >= 0) {
        close(file);
    }
    return is_good && data != MAP_FAILED;
}

static bool load_model(remote *of, int format) {
    Profile__LoadModelRequest asked = PROFILE__LOAD_MODEL_REQUEST__INIT;
    const json_t *inputs = json_object_get(of->asked, "inputs");
    size_t count = json_array_size(inputs);
    asked.input_names = pool_take_array(&of->memory, count, sizeof *asked.input_names);
    for (size_t i = 0; asked.input_names && i < count; i++) {
        asked.input_names[i] = (char *)json_string_value(
            json_object_get(json_array_get(inputs, i), "name"));
    }
    asked.session_uuid = of->session;
    asked.model_id = 1;
    asked.model_format = format;
    asked.n_input_names = format == FORMAT_ONNX && asked.input_names ? count : 0;
    return send_model(of, format == FORMAT_ONNX ? "model.onnx" : "model.pt2") &&
           call(of, "LoadModel", &asked.base) == 0;
}

/* ---- runs ---- */

static bool fill_input(remote *of, const json_t *from, size_t *at, Profile__Value *to) {
    const json_t *shape = json_object_get(from, "shape");
    size_t size = (size_t)json_integer_value(json_object_get(from, "size"));
    Profile__Tensor *tensor = pool_take(&of->memory, sizeof *tensor);
    if (!tensor || size > of->tensor_bytes - *at) {
        return false;
    }
    profile__tensor__init(tensor);
    tensor->dtype =
        dtype_code((ig_dtype_code)json_integer_value(json_object_get(from, "dtype")));
    tensor->n_shape = json_array_size(shape);
    tensor->shape = pool_take_array(&of->memory, tensor->n_shape, sizeof(int64_t));
    for (size_t i = 0; tensor->shape && i < tensor->n_shape; i++) {
        tensor->shape[i] = json_integer_value(json_array_get(shape, i));
    }
    tensor->data = (ProtobufCBinaryData){ size, (uint8_t *)of->tensors + *at };
    *at += size;
    profile__value__init(to);
    to->value_case = PROFILE__VALUE__VALUE_TENSOR;
    to->tensor = tensor;
    return tensor->shape && tensor->dtype;
}

static const Profile__RunReply *run_model(remote *of) {
    Profile__RunRequest asked = PROFILE__RUN_REQUEST__INIT;
    const json_t *inputs = json_object_get(of->asked, "inputs");
    size_t count = json_array_size(inputs), at = 0;
    Profile__Value *values = pool_take_array(&of->memory, count, sizeof *values);
    asked.inputs = pool_take_array(&of->memory, count, sizeof *asked.inputs);
    for (size_t i = 0; i < count; i++) {
        if (!values || !asked.inputs ||
            !fill_input(of, json_array_get(inputs, i), &at, &values[i])) {
            snprintf(of->words, WORDS,
                     "input %zu is of a type that the protocol has no number for", i);
            return NULL;
        }
        asked.inputs[i] = &values[i];
    }
    asked.session_uuid = of->session;
    asked.model_id = 1;
    asked.n_inputs = count;
    asked.has_num_repeats = asked.has_num_warmups = true;
    asked.num_repeats = 1;
    asked.num_warmups = 3;
    asked.has_repeat_for_milliseconds = true;
    asked.repeat_for_milliseconds =
        (uint64_t)json_integer_value(json_object_get(of->asked, "milliseconds"));
    return call(of, "Run", &asked.base) == 0
               ? read_reply(of, &profile__run_reply__descriptor)
               : NULL;
}

/* ---- the table ---- */

static void name_backend(const Profile__BackendSpec *of, char *to, size_t room) {
    int at = snprintf(to, room, "%.60s/%.60s", of->hardware_platform,
                      of->software_backend);
    if (of->n_backend_options) {
        snprintf(to + at, room - (size_t)at, "[%.20s=%.20s]",
                 of->backend_options[0]->key, of->backend_options[0]->value);
    }
}

static double mean_of(const Profile__ResultValue *of) {
    double sum = 0;
    for (size_t i = 0; i < of->n_run_times_nanos; i++) {
        sum += (double)of->run_times_nanos[i];
    }
    return of->n_run_times_nanos ? sum / (double)of->n_run_times_nanos : 0;
}

static void print_row(const char *name, const Profile__ResultValue *of) {
    char off[32] = "-";
    if (of->has_max_difference) {
        snprintf(off, sizeof off, "%.1e", of->max_difference);
    }
    printf("%-36s %8zu %10.4f %10.4f %10.4f %8.1f %10s\n", name, of->n_run_times_nanos,
           mean_of(of) / 1e6, (double)of->p50_nanos / 1e6, (double)of->p95_nanos / 1e6,
           (double)of->memory_bytes / 1e6, off);
}

static json_t *row_as_json(const char *name, const Profile__ResultValue *of) {
    json_t *row = json_pack("{s:s, s:I, s:f, s:I, s:I, s:I}", "backend", name, "runs",
                            (json_int_t)of->n_run_times_nanos, "mean_ns", mean_of(of),
                            "p50_ns", (json_int_t)of->p50_nanos, "p95_ns",
                            (json_int_t)of->p95_nanos, "memory_bytes",
                            (json_int_t)of->memory_bytes);
    if (of->has_max_difference) { /* jansson has no infinities */
        bool is_finite = of->max_difference <= 1e300;
        json_object_set_new(row, "max_difference",
                            is_finite ? json_real(of->max_difference)
                                      : json_string("inf"));
    }
    return row;
}

/* Backends that failed have their words instead of times: the count of them. */
static size_t print_results(const remote *of, const Profile__RunReply *said) {
    bool is_json = json_is_true(json_object_get(of->asked, "json"));
    json_t *rows = json_array();
    size_t failed = 0;
    if (!is_json) {
        printf("%-36s %8s %10s %10s %10s %8s %10s\n", "Backend", "Runs", "Mean ms",
               "p50 ms", "p95 ms", "MB", "Difference");
    }
    for (size_t i = 0; i < said->n_result_per_backend && i < of->backend_count; i++) {
        const Profile__RunResult *result = said->result_per_backend[i];
        char name[200];
        name_backend(of->backends[i], name, sizeof name);
        bool is_good = result->result_case == PROFILE__RUN_RESULT__RESULT_RESULT_VALUE;
        const char *words = !is_good && result->error_value
                                ? result->error_value->message
                                : "";
        failed += !is_good;
        if (is_json) {
            json_array_append_new(
                rows, is_good
                          ? row_as_json(name, result->result_value)
                          : json_pack("{s:s, s:s}", "backend", name, "error", words));
        } else if (is_good) {
            print_row(name, result->result_value);
        } else {
            printf("%-36s %s\n", name, words);
        }
    }
    if (is_json) {
        json_dumpf(rows, stdout, JSON_INDENT(1));
        putchar('\n');
    }
    json_decref(rows);
    return failed;
}

/* ---- the program ---- */

static bool read_asked(remote *of) {
    struct stat facts;
    frame_head head;
    if (fstat(STDIN_FILENO, &facts) != 0 || (size_t)facts.st_size < sizeof head) {
        return false;
    }
    const uint8_t *data = mmap(NULL, (size_t)facts.st_size, PROT_READ, MAP_PRIVATE,
                               STDIN_FILENO, 0);
    if (data == MAP_FAILED) {
        return false;
    }
    memcpy(&head, data, sizeof head);
    if (head.text_bytes + head.data_bytes != (size_t)facts.st_size - sizeof head) {
        return false;
    }
    of->tensors = data + sizeof head + head.text_bytes;
    of->tensor_bytes = (size_t)head.data_bytes;
    of->asked = json_loadb((const char *)data + sizeof head, (size_t)head.text_bytes, 0,
                           NULL);
    return of->asked;
}

static bool open_client(remote *of) {
    const char *file = json_string_value(json_object_get(of->asked, "token_file"));
    char *token = file ? token_read(file, of->words) : NULL;
    client_target target = { of->address,
                             json_string_value(json_object_get(of->asked, "ca")),
                             file ? token : getenv("INGOT_PROFILE_TOKEN") };
    of->client = file && !token ? NULL : client_open(&target, of->words);
    free(token);
    return of->client != NULL;
}

static int profile_there(remote *of) {
    const char *suffix = strrchr(of->model, '.');
    int format = suffix && strcmp(suffix, ".onnx") == 0  ? FORMAT_ONNX
                 : suffix && strcmp(suffix, ".pt2") == 0 ? FORMAT_EXPORTED
                                                         : 0;
    const Profile__RunReply *said;
    if (!format) {
        return complain(of, EXIT_UNSUPPORTED, "workers take .onnx and .pt2");
    }
    if (!open_client(of)) {
        return complain(of, EXIT_IO, of->words);
    }
    if (!choose_backends(of, format) || !open_session(of) || !load_model(of, format) ||
        !(said = run_model(of))) {
        return complain(of, EXIT_INVALID, of->words);
    }
    return print_results(of, said) ? EXIT_FAILED : 0;
}

int remote_main(int argc, char **argv) {
    remote it = { .memory = { .limit = SIZE_MAX / 4 } };
    it.address = argc > 2 ? argv[2] : "";
    it.model = argc > 3 ? argv[3] : "";
    if (!read_asked(&it)) {
        return complain(&it, EXIT_INVALID, "ingot profile starts this program");
    }
    int status = profile_there(&it);
    if (it.client) {
        close_session(&it);
    }
    client_close(it.client);
    bytes_free(&it.reply);
    pool_free(&it.memory);
    json_decref(it.asked);
    return status;
}
