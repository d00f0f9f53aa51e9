/* The compiler as a module of Python.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Thin: a model and its options in, a program of the runtime out (as a capsule, which
 * ingot_runtime.Program takes over), or a file, or text.  The GIL is free while the
 * compiler works; Ctrl-C ends the work.  Limited API of CPython 3.11.
 */
#include "python/compiler/src/values.h"
#include "python/lists.h"
#include "python/log.h"

#include <ingot/runtime.h>
#include <ingot/train.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ---- what a call is asked for ---- */

typedef struct request {
    const char *path;
    const char *bytes; /* of a model in memory; `path` is for messages then, or NULL */
    Py_ssize_t size;
    ig_import_options import;
    ig_compile_options compile;
    const char *cache_folder;
    long long memory_limit;
    const char **inputs;        /* room for the statements */
    PyObject *progress;         /* callable(stage, done, total), or NULL */
    const char *artifact;       /* where a file is to be written */
    PyObject *paths[3];         /* bytes of path, cache_folder, artifact; or NULL */
    const char *stage, *format; /* of a dump */
    PyObject *arguments;        /* of a call: a list of values (values.h), or NULL */
    ig_train_options train;     /* of a training: `loss` is not NULL */
    const char *part;           /* of it: "step" … */
    const char **optimizers;    /* room for their texts */
    const char **op_files;      /* room for their names */
    void **libraries;           /* addresses of ig_custom_library */
    PyObject *weights, *values; /* names, and what they are from now on; or NULL */
    ig_named_bytes *external;   /* room, and the buffers that they lie in */
    Py_buffer *buffers;
    ig_context *context;
    PyThreadState *thread; /* while the GIL is free */
    bool is_interrupted;
} request;

/* "O&" of a path or None: its bytes, which are the file system's; the request keeps
 * them. */
static int take_path(PyObject *value, void *out) {
    return value && value != Py_None ? PyUnicode_FSConverter(value, out) : 1;
}

static const char *path_text(PyObject *bytes) {
    return bytes ? PyBytes_AsString(bytes) : NULL;
}

/* The lists of a call become arrays.  -1 after an exception. */
static int take_lists(request *out, PyObject *inputs, PyObject *optimizers,
                      PyObject *op_files, PyObject *libraries) {
    out->inputs = list_of_texts(inputs, &out->import.input_count);
    out->import.inputs = out->inputs;
    out->optimizers = list_of_texts(optimizers, &out->train.optimizer_count);
    out->train.optimizers = out->optimizers;
    out->op_files = list_of_texts(op_files, &out->import.op_file_count);
    out->import.op_files = out->op_files;
    out->libraries = list_of_addresses(libraries, &out->import.library_count);
    out->import.libraries = (const ig_custom_library *const *)out->libraries;
    bool is_good = out->inputs && out->optimizers && out->op_files && out->libraries;
    if (!is_good && !PyErr_Occurred()) {
        PyErr_NoMemory();
    }
    return is_good ? 0 : -1;
}

/* External data: a dict of names and what has a buffer.  -1 after an exception. */
static int take_external(request *out, PyObject *given) {
    PyObject *name, *value;
    Py_ssize_t at = 0;
    if (!given || given == Py_None) {
        return 0;
    }
    if (!PyDict_Check(given)) {
        PyErr_SetString(PyExc_TypeError, "external_data is a dict of names and bytes");
        return -1;
    }
    size_t room = (size_t)PyDict_Size(given) + 1,
           *count = &out->import.external_data_count;
    out->external = calloc(room, sizeof *out->external);
    out->buffers = calloc(room, sizeof *out->buffers);
    if (!out->external || !out->buffers) {
        PyErr_NoMemory();
        return -1;
    }
    out->import.external_data = out->external;
    while (PyDict_Next(given, &at, &name, &value)) {
        Py_buffer *buffer = &out->buffers[*count];
        const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
        if (!text || PyObject_GetBuffer(value, buffer, PyBUF_SIMPLE) < 0) {
            return -1;
        }
        out->external[(*count)++] = (ig_named_bytes){ text, buffer->buf,
                                                      (size_t)buffer->len };
    }
    return 0;
}

static int read_request(PyObject *args, PyObject *kwargs, request *out) {
    static char *names[] = { "path",          "data",        "inputs",
                             "entry",         "resource",    "target",
                             "isolate",       "torch_empty", "clamp_ids",
                             "no_cache",      "cache",       "memory_limit",
                             "progress",      "artifact",    "reference_weights",
                             "stage",         "format",      "arguments",
                             "loss",          "optimizers",  "part",
                             "clip_norm",     "weights",     "values",
                             "op_files",      "libraries",   "accumulate",
                             "plan",          "rank",        "division",
                             "external_data", "winograd",    NULL };
    PyObject *inputs = NULL, *progress = NULL, *optimizers = NULL;
    PyObject *op_files = NULL, *libraries = NULL, *external = NULL;
    int isolate = 0, torch_empty = 0, clamp = 0, no_cache = 0, reference = 0;
    int winograd = 0;
    int division = IG_DIVIDE_AS_LOSS;
    long long accumulate = 0, rank = 0;
    *out = (request){ .import = { .size = sizeof out->import },
                      .compile = { .size = sizeof out->compile },
                      .train = { .size = sizeof out->train } };
    if (!PyArg_ParseTupleAndKeywords(
            args, kwargs, "|$O&z#OzzzppppO&LOO&pzzOzOzdOOOOLzLiOp", names, take_path,
            &out->paths[0], &out->bytes, &out->size, &inputs, &out->import.entry,
            &out->import.resource, &out->compile.target, &isolate, &torch_empty, &clamp,
            &no_cache, take_path, &out->paths[1], &out->memory_limit, &progress,
            take_path, &out->paths[2], &reference, &out->stage, &out->format,
            &out->arguments, &out->train.loss, &optimizers, &out->part,
            &out->train.clip_norm, &out->weights, &out->values, &op_files, &libraries,
            &accumulate, &out->train.plan, &rank, &division, &external,
            &winograd)) {
        return -1;
    }
    out->train.accumulate = accumulate;
    out->train.rank = (size_t)rank;
    out->train.division = (ig_train_division)division;
    out->path = path_text(out->paths[0]);
    out->cache_folder = path_text(out->paths[1]);
    out->artifact = path_text(out->paths[2]);
    out->progress = progress == Py_None ? NULL : progress;
    out->compile.isolate = isolate;
    out->compile.torch_empty = torch_empty;
    out->compile.clamp_ids = clamp;
    out->compile.winograd = winograd;
    out->compile.no_cache = no_cache;
    out->compile.weights = reference ? IG_WEIGHTS_REFERENCE : IG_WEIGHTS_EMBED;
    out->import.keeps_weights = out->train.loss || out->weights;
    return take_lists(out, inputs, optimizers, op_files, libraries) < 0
               ? -1
               : take_external(out, external);
}

static void free_request(request *r) {
    free((void *)r->inputs);
    free((void *)r->optimizers);
    for (size_t i = 0; i < sizeof r->paths / sizeof *r->paths; i++) {
        Py_CLEAR(r->paths[i]);
    }
    free((void *)r->op_files);
    free((void *)r->libraries);
    for (size_t i = 0; i < r->import.external_data_count; i++) {
        PyBuffer_Release(&r->buffers[i]);
    }
    free(r->buffers);
    free(r->external);
}

/* ---- while it works ---- */

/* On the thread of the call, without the GIL. */
static void tell_progress(void *user, const char *stage, uint64_t done,
                          uint64_t total) {
    request *r = user;
    PyEval_RestoreThread(r->thread);
    if (!r->is_interrupted && r->progress) {
        PyObject *result = PyObject_CallFunction(r->progress, "sKK", stage,
                                                 (unsigned long long)done,
                                                 (unsigned long long)total);
        r->is_interrupted = !result;
        Py_XDECREF(result);
    }
    r->is_interrupted = r->is_interrupted || PyErr_CheckSignals() < 0;
    if (r->is_interrupted) {
        ig_context_cancel(r->context);
    }
    r->thread = PyEval_SaveThread();
}

/* The exception of the runtime's package for a status, with the messages. */
static void raise_status(const request *r, ig_status status) {
    static const char *const names[] = {
        [IG_INVALID] = "InvalidError",     [IG_UNSUPPORTED] = "UnsupportedError",
        [IG_LIMIT] = "LimitError",         [IG_IO] = "FileError",
        [IG_CANCELLED] = "CancelledError", [IG_INTERNAL] = "InternalError"
    };
    const char *messages = r->context ? ig_context_messages(r->context) : "no memory";
    const char *name = status <= IG_INTERNAL && names[status] ? names[status] : "Error";
    PyObject *module = PyImport_ImportModule("ingot_runtime");
    PyObject *class = module ? PyObject_GetAttrString(module, name) : NULL;
    const char *said = *messages ? messages : ig_status_text(status);
    PyObject *text = class ? PyUnicode_DecodeUTF8(said, (Py_ssize_t)strlen(said),
                                                  "surrogateescape")
                           : NULL; /* names of files may be any bytes */
    if (text) {
        PyErr_SetObject(class, text);
    }
    Py_XDECREF(text);
    Py_XDECREF(class);
    Py_XDECREF(module);
}

/* ---- the kinds of work ---- */

/* The module's weights of these names hold other values from now on. */
static ig_status set_weights(request *r, ig_module *module) {
    size_t count = 0, value_count = 0;
    ig_status status = IG_INVALID;
    PyEval_RestoreThread(r->thread);
    const char **names = list_of_texts(r->weights, &count);
    ig_argument *values = names && r->values ? values_read(r->values, &value_count)
                                             : NULL;
    if (values && count == value_count) {
        status = IG_OK;
    } else if (!PyErr_Occurred()) {
        PyErr_SetString(PyExc_TypeError, "values: one for each name of `weights`");
    }
    r->is_interrupted = status != IG_OK;
    r->thread = PyEval_SaveThread();
    for (size_t i = 0; i < count && status == IG_OK; i++) {
        status = ig_module_set_weight(module, names[i], &values[i]);
    }
    values_free(values, value_count);
    free((void *)names);
    return status;
}

static ig_status import_model(request *r, ig_module **out) {
    ig_status status = r->bytes
                           ? ig_import_memory(r->context, r->bytes, (size_t)r->size,
                                              r->path, &r->import, out)
                           : ig_import(r->context, r->path, &r->import, out);
    return status == IG_OK && r->weights ? set_weights(r, *out) : status;
}

static ig_train_part part_of(const char *name) {
    static const char *const names[] = { [IG_TRAIN_EVALUATE] = "evaluate",
                                         [IG_TRAIN_PREDICT] = "predict",
                                         [IG_TRAIN_INITIAL] = "initial" };
    ig_train_part part = IG_TRAIN_INITIAL;
    while (part > IG_TRAIN_STEP && (!name || strcmp(name, names[part]) != 0)) {
        part--;
    }
    return part;
}

static ig_status compile_module(request *r, ig_module *module, ig_program **out) {
    return r->train.loss
               ? ig_compile_train(module, &r->train, &r->compile, part_of(r->part), out)
               : ig_compile(module, &r->compile, out);
}

static ig_status compile_module_file(request *r, ig_module *module) {
    return r->train.loss
               ? ig_compile_train_file(module, &r->train, r->artifact, &r->compile)
               : ig_compile_file(module, r->artifact, &r->compile);
}

/* Only a file is read in another process; its external data in memory is refused
 * there. */
static bool is_isolated(const request *r) {
    return r->compile.isolate && !r->bytes && !r->train.loss;
}

static ig_status make_program(request *r, PyObject **unused, ig_program **out) {
    ig_module *module = NULL;
    (void)unused;
    if (is_isolated(r)) {
        return ig_compile_model(r->context, r->path, &r->import, &r->compile, out);
    }
    ig_status status = import_model(r, &module);
    status = status == IG_OK ? compile_module(r, module, out) : status;
    ig_module_close(module);
    return status;
}

static ig_status make_file(request *r, PyObject **unused, ig_program **unused_program) {
    ig_module *module = NULL;
    (void)unused, (void)unused_program;
    if (is_isolated(r)) {
        return ig_compile_model_file(r->context, r->path, &r->import, r->artifact,
                                     &r->compile);
    }
    ig_status status = import_model(r, &module);
    status = status == IG_OK ? compile_module_file(r, module) : status;
    ig_module_close(module);
    return status;
}

static PyObject *make_unicode(request *r, const char *text, size_t size) {
    PyEval_RestoreThread(r->thread);
    PyObject *out = PyUnicode_FromStringAndSize(text, (Py_ssize_t)size);
    r->thread = PyEval_SaveThread();
    return out;
}

/* What a step trains, and which parts of tables ranks have: of a model with a loss, or
 * of an artifact. */
static ig_status describe(request *r, PyObject **out, ig_program **unused) {
    ig_module *module = NULL;
    const char *text = NULL;
    (void)unused;
    ig_status status = r->train.loss ? import_model(r, &module)
                                     : ig_artifact_train(r->context, r->path, &text);
    if (status == IG_OK && module) {
        status = ig_train_describe(module, &r->train, &r->compile, &text);
    }
    if (status == IG_OK) {
        *out = make_unicode(r, text, strlen(text));
    }
    ig_module_close(module);
    return status;
}

static ig_status make_text(request *r, PyObject **out, ig_program **unused) {
    static const char *const formats[] = { "text", "dot", "json", "html" };
    ig_module *module = NULL;
    const char *text = NULL;
    size_t size = 0;
    ig_format format = IG_FORMAT_TEXT;
    (void)unused;
    for (size_t i = 0; r->format && i < sizeof formats / sizeof *formats; i++) {
        format = strcmp(r->format, formats[i]) == 0 ? (ig_format)i : format;
    }
    bool is_import = !r->stage || strcmp(r->stage, "import") == 0;
    ig_status status = import_model(r, &module);
    if (status == IG_OK) {
        status = is_import
                     ? ig_module_print(module, format, &text, &size)
                     : ig_dump(module, r->stage, &r->compile, format, &text, &size);
    }
    if (status == IG_OK) {
        *out = make_unicode(r, text, size);
    }
    ig_module_close(module);
    return status;
}

/* Optionals are declared as such; Python does not wrap them. */
static ig_status wrap_optionals(ig_module *module, ig_argument *values, size_t count) {
    for (size_t i = 0; i < count && i < ig_module_input_count(module); i++) {
        bool is_optional = strncmp(ig_module_input_type(module, i), "opt", 3) == 0;
        if (is_optional && values[i].kind != IG_ARGUMENT_OPTIONAL &&
            value_wrap(&values[i]) < 0) {
            return IG_LIMIT;
        }
    }
    return IG_OK;
}

static ig_status interpret(request *r, PyObject **out, ig_argument *values,
                           size_t count) {
    ig_module *module = NULL;
    const ig_argument *results = NULL;
    size_t result_count = 0;
    ig_status status = import_model(r, &module);
    status = status == IG_OK ? wrap_optionals(module, values, count) : status;
    if (status == IG_OK) {
        status = ig_interpret_run(module, values, count, &results, &result_count);
    }
    if (status == IG_OK) {
        PyEval_RestoreThread(r->thread);
        *out = values_write(results, result_count);
        r->is_interrupted = !*out; /* its exception is the one to raise */
        r->thread = PyEval_SaveThread();
    }
    ig_module_close(module);
    return status == IG_OK && !*out ? IG_LIMIT : status;
}

static ig_status make_results(request *r, PyObject **out, ig_program **unused) {
    size_t count = 0;
    (void)unused;
    PyEval_RestoreThread(r->thread);
    ig_argument *values = r->arguments ? values_read(r->arguments, &count) : NULL;
    if (!values && !PyErr_Occurred()) {
        PyErr_SetString(PyExc_TypeError, "arguments: a list of values");
    }
    r->is_interrupted = !values;
    r->thread = PyEval_SaveThread();
    ig_status status = values ? interpret(r, out, values, count) : IG_INVALID;
    values_free(values, count);
    return status;
}

static void close_program(PyObject *capsule) {
    if (PyCapsule_IsValid(capsule, "ig_program")) { /* nobody took it over */
        ig_program_close(PyCapsule_GetPointer(capsule, "ig_program"));
    }
}

typedef ig_status (*work_hook)(request *r, PyObject **out, ig_program **out_program);

static PyObject *work_on(PyObject *args, PyObject *kwargs, work_hook work) {
    request r;
    PyObject *out = NULL;
    ig_program *program = NULL;
    if (read_request(args, kwargs, &r) < 0) {
        free_request(&r);
        return NULL;
    }
    ig_context_options options = { .size = sizeof options,
                                   .progress = tell_progress,
                                   .progress_user = &r,
                                   .cache_folder = r.cache_folder,
                                   .log = &python_log,
                                   .memory_limit = (uint64_t)r.memory_limit };
    r.context = ig_context_create(&options);
    ig_status status = IG_LIMIT;
    if (r.context) {
        r.thread = PyEval_SaveThread();
        status = work(&r, &out, &program);
        PyEval_RestoreThread(r.thread);
    }
    if (status != IG_OK && !r.is_interrupted) {
        raise_status(&r, status);
    }
    ig_context_destroy(r.context);
    free_request(&r);
    if (status != IG_OK) {
        return NULL;
    }
    if (program) {
        return PyCapsule_New(program, "ig_program", close_program);
    }
    if (!out) {
        Py_INCREF(Py_None);
        out = Py_None;
    }
    return out;
}

static PyObject *compile_program(PyObject *self, PyObject *args, PyObject *kwargs) {
    (void)self;
    return work_on(args, kwargs, make_program);
}

static PyObject *compile_file(PyObject *self, PyObject *args, PyObject *kwargs) {
    (void)self;
    return work_on(args, kwargs, make_file);
}

static PyObject *dump_text(PyObject *self, PyObject *args, PyObject *kwargs) {
    (void)self;
    return work_on(args, kwargs, make_text);
}

static PyObject *describe_training(PyObject *self, PyObject *args, PyObject *kwargs) {
    (void)self;
    return work_on(args, kwargs, describe);
}

static PyObject *interpret_model(PyObject *self, PyObject *args, PyObject *kwargs) {
    (void)self;
    return work_on(args, kwargs, make_results);
}

static PyObject *model_format(PyObject *self, PyObject *path) {
    PyObject *bytes = NULL;
    (void)self;
    if (!PyUnicode_FSConverter(path, &bytes)) {
        return NULL;
    }
    const char *text = PyBytes_AsString(bytes);
    PyObject *out = text ? PyUnicode_FromString(ig_model_format(text)) : NULL;
    Py_DECREF(bytes);
    return out;
}

static PyObject *build_info(PyObject *self, PyObject *unused) {
    ig_context *context = ig_context_create(NULL);
    (void)self, (void)unused;
    PyObject *out = context ? PyUnicode_FromString(ig_compiler_info(context))
                            : PyErr_NoMemory();
    ig_context_destroy(context);
    return out;
}

#define WITH_KEYWORDS(function) \
    (PyCFunction)(void (*)(void)) function, METH_VARARGS | METH_KEYWORDS

static PyMethodDef methods[] = {
    { "compile", WITH_KEYWORDS(compile_program), "A capsule that Program takes over." },
    { "compile_file", WITH_KEYWORDS(compile_file), "Writes an artifact." },
    { "dump", WITH_KEYWORDS(dump_text), "The text of a stage." },
    { "describe", WITH_KEYWORDS(describe_training),
      "JSON: the values that a step trains (ig_train_describe)." },
    { "interpret", WITH_KEYWORDS(interpret_model),
      "Results of the reference interpreter: a list of values." },
    { "model_format", model_format, METH_O, "The kind of a file, from its content." },
    { "info", build_info, METH_NOARGS, "JSON: levels, targets, passes, limits." },
    { 0 },
};

static PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "_compiler",
    .m_doc = "Ingot's compiler.",
    .m_size = -1,
    .m_methods = methods,
};

PyMODINIT_FUNC PyInit__compiler(void);

PyMODINIT_FUNC PyInit__compiler(void) {
    PyObject *module = PyModule_Create(&definition);
    if (module &&
        PyModule_AddStringConstant(module, "__version__", ig_compiler_version()) < 0) {
        Py_CLEAR(module);
    }
    return module;
}
