/* ONNX Runtime by its C interface.  SPDX-License-Identifier: Apache-2.0
 *
 * OrtGetApiBase hands out a table of functions whose order never changes; new ones are
 * put at its end (onnxruntime_c_api.h).  The used part of it is here with its offsets,
 * so that neither the library nor its headers are needed to build Ingot. */
#include "tools/ingot/compare/onnxruntime.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    TABLE_VERSION = 4, /* ONNX Runtime 1.4 and later */
    LOG_ERRORS = 3,
    NO_OPTIMISATION = 0,
    ARENA_ALLOCATOR = 1,
    DEFAULT_MEMORY = 0,
};

typedef struct ort_status ort_status;
typedef struct ort_env ort_env;
typedef struct ort_options ort_options;
typedef struct ort_session ort_session;
typedef struct ort_value ort_value;
typedef struct ort_memory ort_memory;
typedef struct ort_shape ort_shape;
typedef void unused_fn(void);

typedef struct ort_api {
    unused_fn *unused_0[2];
    const char *(*error_message)(const ort_status *);
    ort_status *(*create_env)(int log_level, const char *name, ort_env **out);
    unused_fn *unused_4[4];
    ort_status *(*create_session)(const ort_env *, const void *model, size_t size,
                                  const ort_options *, ort_session **out);
    ort_status *(*run)(ort_session *, const void *run_options,
                       const char *const *input_names, const ort_value *const *inputs,
                       size_t input_count, const char *const *output_names,
                       size_t output_count, ort_value **outputs);
    ort_status *(*create_options)(ort_options **out);
    unused_fn *unused_11[12];
    ort_status *(*set_optimisation)(ort_options *, int level);
    ort_status *(*set_threads)(ort_options *, int count);
    unused_fn *unused_25[24];
    ort_status *(*create_tensor)(const ort_memory *, void *data, size_t size,
                                 const int64_t *dims, size_t rank, int dtype,
                                 ort_value **out);
    ort_status *(*is_tensor)(const ort_value *, int *out);
    ort_status *(*tensor_data)(ort_value *, void **out);
    unused_fn *unused_52[8];
    ort_status *(*shape_dtype)(const ort_shape *, int *out);
    ort_status *(*shape_rank)(const ort_shape *, size_t *out);
    ort_status *(*shape_dims)(const ort_shape *, int64_t *out, size_t rank);
    unused_fn *unused_63[2];
    ort_status *(*tensor_shape)(const ort_value *, ort_shape **out);
    unused_fn *unused_66[3];
    ort_status *(*create_memory)(int allocator, int kind, ort_memory **out);
    unused_fn *unused_70[22];
    void (*release_env)(ort_env *);
    void (*release_status)(ort_status *);
    void (*release_memory)(ort_memory *);
    void (*release_session)(ort_session *);
    void (*release_value)(ort_value *);
    unused_fn *unused_97[2];
    void (*release_shape)(ort_shape *);
    void (*release_options)(ort_options *);
    unused_fn *unused_101[29];
    ort_status *(*set_entry)(ort_options *, const char *key, const char *value);
} ort_api;

_Static_assert(offsetof(ort_api, release_options) == 100 * sizeof(void *), "the table");
_Static_assert(offsetof(ort_api, set_entry) == 130 * sizeof(void *), "the table");

typedef struct ort_base {
    const ort_api *(*table)(uint32_t version);
    const char *(*version)(void);
} ort_base;

/* A result as it is compared. */
typedef struct kept_value {
    ort_value *value;
    ig_view view;
    ig_argument argument;
} kept_value;

struct onnxruntime {
    const ort_api *api;
    ort_env *env;
    ort_memory *memory;
    kept_value *kept; /* of the last run */
    size_t kept_count;
};

/* ---- life ---- */

static bool is_good(const onnxruntime *o, const char *what, ort_status *status) {
    if (status) {
        complain(0, "ONNX Runtime: %s: %s", what, o->api->error_message(status));
        o->api->release_status(status);
    }
    return !status;
}

/* The library stays open: its threads and tables outlive every session. */
static const ort_api *find_api(const char *library) {
    const char *name = library ? library : "libonnxruntime.so.1";
    void *opened = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    void *symbol = opened ? dlsym(opened, "OrtGetApiBase") : NULL;
    if (!symbol) {
        complain(0,
                 "ONNX Runtime cannot be opened: %s; name its library: "
                 "--against onnxruntime:/…/onnxruntime/capi/libonnxruntime.so.1.x",
                 dlerror());
        return NULL;
    }
    const ort_base *(*base)(void);
    memcpy(&base, &symbol, sizeof base);
    const ort_api *api = base()->table(TABLE_VERSION);
    if (!api) {
        complain(0, "%s is ONNX Runtime %s; 1.4 or later is needed", name,
                 base()->version());
    }
    return api;
}

onnxruntime *onnxruntime_open(const char *library) {
    const ort_api *api = find_api(library);
    if (!api) {
        return NULL;
    }
    onnxruntime *o = need(calloc(1, sizeof *o));
    o->api = api;
    if (!is_good(o, "start", api->create_env(LOG_ERRORS, "ingot", &o->env)) ||
        !is_good(o, "memory",
                 api->create_memory(ARENA_ALLOCATOR, DEFAULT_MEMORY, &o->memory))) {
        onnxruntime_close(o);
        return NULL;
    }
    return o;
}

static void drop_kept(onnxruntime *o) {
    for (size_t i = 0; i < o->kept_count; i++) {
        if (o->kept[i].value) {
            o->api->release_value(o->kept[i].value);
        }
    }
    free(o->kept);
    o->kept = NULL;
    o->kept_count = 0;
}

void onnxruntime_close(onnxruntime *which) {
    if (!which) {
        return;
    }
    drop_kept(which);
    if (which->memory) {
        which->api->release_memory(which->memory);
    }
    if (which->env) {
        which->api->release_env(which->env);
    }
    free(which);
}

/* ---- a session ---- */

static bool set_options(const onnxruntime *o, const onnxruntime_call *what,
                        ort_options *options) {
    const char *slash = strrchr(what->path, '/');
    char *folder = text_of("%.*s", slash ? (int)(slash - what->path) : 1,
                           slash ? what->path : ".");
    bool is_set =
        is_good(o, "options", o->api->set_optimisation(options, NO_OPTIMISATION)) &&
        is_good(o, "options", o->api->set_threads(options, what->threads)) &&
        is_good(o, "options",
                o->api->set_entry(
                    options, "session.model_external_initializers_file_folder_path",
                    slash == what->path ? "/" : folder));
    free(folder);
    return is_set;
}

static ort_session *create_session(const onnxruntime *o, const onnxruntime_call *what) {
    ort_options *options = NULL;
    ort_session *session = NULL;
    if (is_good(o, "options", o->api->create_options(&options)) &&
        set_options(o, what, options)) {
        ort_status *status = o->api->create_session(
            o->env, what->model, what->model_size, options, &session);
        session = is_good(o, "the model", status) ? session : NULL;
    }
    if (options) {
        o->api->release_options(options);
    }
    return session;
}

/* ---- values ---- */

static ort_value *make_input(const onnxruntime *o, const char *name,
                             const ig_argument *from) {
    static char nothing;
    ig_view view;
    ort_value *value = NULL;
    if (from->kind != IG_ARGUMENT_TENSOR || !view_of(from, &view)) {
        complain(0, "input '%s' is not a tensor that ONNX Runtime could be given",
                 name);
        return NULL;
    }
    void *data = view.data ? view.data : &nothing;
    ort_status *status = o->api->create_tensor(o->memory, data, from->size, from->dims,
                                               from->rank, view.dtype, &value);
    return is_good(o, name, status) ? value : NULL;
}

static bool read_shape(const onnxruntime *o, const ort_shape *shape, ig_view *out) {
    size_t rank = 0;
    int dtype = 0;
    if (!is_good(o, "a shape", o->api->shape_dtype(shape, &dtype)) ||
        !is_good(o, "a shape", o->api->shape_rank(shape, &rank)) ||
        rank > IG_MAX_RANK) {
        return false;
    }
    out->dtype = dtype; /* both number dtypes as ONNX does */
    out->rank = (uint32_t)rank;
    return is_good(o, "a shape", o->api->shape_dims(shape, out->dims, rank)) &&
           dtype != IG_STR8 && ig_dtype_text(dtype) && ig_view_bytes(out) >= 0;
}

static bool read_value(const onnxruntime *o, kept_value *kept) {
    ort_shape *shape = NULL;
    int is_tensor = 0;
    if (!is_good(o, "a result", o->api->is_tensor(kept->value, &is_tensor)) ||
        !is_tensor ||
        !is_good(o, "a shape", o->api->tensor_shape(kept->value, &shape))) {
        return false;
    }
    bool is_read = read_shape(o, shape, &kept->view) &&
                   is_good(o, "a result",
                           o->api->tensor_data(kept->value, &kept->view.data));
    o->api->release_shape(shape);
    if (is_read) {
        kept->view.capacity = (size_t)ig_view_bytes(&kept->view);
        argument_of(&kept->view, &kept->argument);
    }
    return is_read;
}

/* ---- a run ---- */

static ig_status run_session(onnxruntime *o, ort_session *session,
                             const onnxruntime_call *what) {
    size_t count = what->with->count;
    ort_value **inputs = need(calloc(count + 1, sizeof(ort_value *)));
    ort_value **outputs = need(calloc(what->output_count + 1, sizeof(ort_value *)));
    bool is_run = true;
    for (size_t i = 0; i < count && is_run; i++) {
        inputs[i] = make_input(o, what->input_names[i], &what->with->inputs[i]);
        is_run = inputs[i] != NULL;
    }
    if (is_run) {
        ort_status *status = o->api->run(
            session, NULL, what->input_names, (const ort_value *const *)inputs, count,
            what->output_names, what->output_count, outputs);
        is_run = is_good(o, "the run", status);
    }
    for (size_t i = 0; i < count; i++) {
        if (inputs[i]) {
            o->api->release_value(inputs[i]);
        }
    }
    for (size_t i = 0; i < what->output_count; i++) {
        o->kept[i].value = outputs[i];
    }
    free(inputs);
    free(outputs);
    return is_run ? IG_OK : IG_UNSUPPORTED;
}

ig_status onnxruntime_run(onnxruntime *which, const onnxruntime_call *what,
                          const ig_argument **out_values) {
    drop_kept(which);
    which->kept = need(calloc(what->output_count + 1, sizeof *which->kept));
    which->kept_count = what->output_count;
    ort_session *session = create_session(which, what);
    if (!session) {
        return IG_UNSUPPORTED;
    }
    ig_status status = run_session(which, session, what);
    which->api->release_session(session);
    for (size_t i = 0; i < what->output_count && status == IG_OK; i++) {
        kept_value *kept = &which->kept[i];
        out_values[i] = kept->value && read_value(which, kept) ? &kept->argument : NULL;
    }
    return status;
}
