/* CPython as an engine: one interpreter, and the thread that all of its code runs in.
 * SPDX-License-Identifier: Apache-2.0
 *
 * This library is loaded once an interpreter into a link namespace of its own.  Two
 * facts of namespaces shape it: a thread that another namespace's libc made has not set
 * up this one's (ctype tables), and keys of pthread_key_create are counted by each libc
 * but share one array of the thread.  So Python is only ever entered by threads that
 * were made here: the owner, which runs jobs, and the watchman, which interrupts it.
 * The engine is built against the full API of one CPython, since its start needs
 * PyConfig.
 */
#include "runtime/interp/cpython/convert.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

enum { STACK_BYTES = 16 << 20 };

/* This interpreter; the namespace makes it one of many. */
static struct {
    PyObject *main_names, *as_array, *sources;
    PyThreadState *thread;
    unsigned long owner; /* as Python counts threads */
    ig_mailbox *box;
} self;

/* ---- errors ---- */

static void put_message(ig_engine_job *job, const char *text) {
    if (job->message && job->message_size > 0) {
        (void)snprintf(job->message, job->message_size, "%s", text);
    }
}

/* The lines of traceback.format_exception as one text; NULL: not even that. */
static PyObject *format_exception(PyObject *kind, PyObject *value, PyObject *trace) {
    PyObject *module = PyImport_ImportModule("traceback");
    PyObject *lines = module ? PyObject_CallMethod(module, "format_exception", "OOO",
                                                   kind, value ? value : Py_None,
                                                   trace ? trace : Py_None)
                             : NULL;
    PyObject *empty = PyUnicode_FromString("");
    PyObject *text = lines && empty ? PyUnicode_Join(empty, lines) : NULL;
    Py_XDECREF(module);
    Py_XDECREF(lines);
    Py_XDECREF(empty);
    return text;
}

/* The exception, with its traceback, becomes the job's failure. */
static void take_exception(ig_engine_job *job) {
    PyObject *kind, *value, *trace;
    PyErr_Fetch(&kind, &value, &trace);
    PyErr_NormalizeException(&kind, &value, &trace);
    job->status = kind && PyErr_GivenExceptionMatches(kind, PyExc_MemoryError)
                      ? IG_LIMIT
                      : IG_INVALID;
    PyObject *text = kind ? format_exception(kind, value, trace) : NULL;
    const char *words = text ? PyUnicode_AsUTF8(text) : NULL;
    put_message(job, words ? words : "an exception that cannot be shown");
    Py_XDECREF(text);
    Py_XDECREF(kind);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    PyErr_Clear();
}

static void take_outcome(ig_engine_job *job, PyObject *outcome) {
    if (!outcome) {
        take_exception(job);
    }
    Py_XDECREF(outcome);
}

/* ---- jobs ---- */

/* Makes modules of registered sources: a finder on sys.meta_path.  It refuses what ends
 * the process when it is loaded into a namespace. */
static const char finder_source[] =
    "import importlib.abc, importlib.machinery, sys\n"
    "class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):\n"
    "    def __init__(self):\n"
    "        self.sources = {}\n"
    "    def find_spec(self, name, path=None, target=None):\n"
    "        if is_apart and name == 'torch._C':\n"
    "            raise ImportError('torch._C cannot live in a link namespace: let the '\n"
    "                              'manager have the engine \"process\"')\n"
    "        if name in self.sources:\n"
    "            package = any(n.startswith(name + '.') for n in self.sources)\n"
    "            return importlib.machinery.ModuleSpec(name, self, is_package=package)\n"
    "    def exec_module(self, module):\n"
    "        name = module.__spec__.name\n"
    "        file = '<ingot ' + name + '>'\n"
    "        exec(compile(self.sources[name], file, 'exec'), module.__dict__)\n"
    "finder = Finder()\n"
    "sys.meta_path.insert(0, finder)\n"
    "if hasattr(sys.stdout, 'reconfigure'):\n"
    "    sys.stdout.reconfigure(line_buffering=True)\n";

static int set_up_names(void) {
    PyObject *main_module = PyImport_AddModule("__main__");
    PyObject *names = PyDict_New(), *finder = NULL;
    self.main_names = main_module ? PyModule_GetDict(main_module) : NULL;
    int failed = !names || !self.main_names ||
                 PyDict_SetItemString(names, "__builtins__", PyEval_GetBuiltins()) !=
                     0 ||
                 PyDict_SetItemString(names, "is_apart",
                                      self.box->is_apart ? Py_True : Py_False) != 0;
    PyObject *outcome = failed
                            ? NULL
                            : PyRun_String(finder_source, Py_file_input, names, names);
    if (outcome) {
        finder = PyDict_GetItemString(names, "finder");
        self.sources = finder ? PyObject_GetAttrString(finder, "sources") : NULL;
    }
    Py_XDECREF(outcome);
    Py_XDECREF(names);
    return self.sources ? 0 : -1;
}

static void add_path(ig_engine_job *job) {
    PyObject *paths = PySys_GetObject("path");
    PyObject *path = PyUnicode_DecodeFSDefault(job->source);
    int is_there = paths && path ? PySequence_Contains(paths, path) : -1;
    if (is_there < 0 || (is_there == 0 && PyList_Append(paths, path) != 0)) {
        take_exception(job);
    }
    Py_XDECREF(path);
}

static void wrap_tensors(ig_engine_job *job) {
    Py_CLEAR(self.as_array);
    PyObject *module = job->module ? PyImport_ImportModule(job->module) : NULL;
    self.as_array = module ? PyObject_GetAttrString(module, job->name) : NULL;
    if (job->module && !self.as_array) {
        take_exception(job);
    }
    Py_XDECREF(module);
}

/* A module of the same name that was imported before is imported anew. */
static void add_source(ig_engine_job *job) {
    PyObject *modules = PyImport_GetModuleDict();
    PyObject *source = PyUnicode_FromString(job->source);
    if (!source || PyDict_SetItemString(self.sources, job->name, source) != 0) {
        take_exception(job);
    } else if (PyDict_DelItemString(modules, job->name) != 0) {
        PyErr_Clear();
    }
    Py_XDECREF(source);
}

static void run_source(ig_engine_job *job) {
    PyObject *code = Py_CompileString(job->source, job->name, Py_file_input);
    PyObject *outcome = code ? PyEval_EvalCode(code, self.main_names, self.main_names)
                             : NULL;
    take_outcome(job, outcome);
    Py_XDECREF(code);
}

static void make_object(ig_engine_job *job, PyObject *reference) {
    ig_interp_object *made = reference ? calloc(1, sizeof *made) : NULL;
    if (!made) {
        if (reference) {
            PyErr_NoMemory();
        }
        take_exception(job);
        Py_XDECREF(reference);
        return;
    }
    *made = (ig_interp_object){ job->interp, reference };
    job->made_object = made;
}

static void find_global(ig_engine_job *job) {
    PyObject *module = PyImport_ImportModule(job->module);
    make_object(job, module ? PyObject_GetAttrString(module, job->name) : NULL);
    Py_XDECREF(module);
}

static void find_attribute(ig_engine_job *job) {
    PyObject *object = job->object->reference;
    if (!PyObject_HasAttrString(object, job->name)) {
        job->status = IG_UNSUPPORTED;
        put_message(job, "the object has no such attribute");
        return;
    }
    make_object(job, PyObject_GetAttrString(object, job->name));
}

static void keep_object(ig_engine_job *job) {
    make_object(job, Py_NewRef((PyObject *)job->object->reference));
}

static void free_object(ig_engine_job *job) {
    Py_DECREF((PyObject *)job->object->reference);
    free((void *)(uintptr_t)job->object);
}

static void free_result(ig_engine_job *job) {
    python_result *result = (python_result *)job->result;
    free_parts(result);
    free(result);
}

/* ---- calls ---- */

static PyObject *make_positional(const ig_interp_arguments *arguments,
                                 lent_views *lent) {
    ig_interp_value tuple = { .kind = IG_INTERP_TUPLE };
    tuple.as.list.items = (ig_interp_value *)(uintptr_t)arguments->values;
    tuple.as.list.count = arguments->count;
    return value_to_python(&tuple, lent);
}

static PyObject *make_named(const ig_interp_arguments *arguments, lent_views *lent) {
    PyObject *names = PyDict_New();
    for (size_t i = 0; names && i < arguments->named_count; i++) {
        PyObject *value = value_to_python(&arguments->named[i], lent);
        if (!value || PyDict_SetItemString(names, arguments->names[i], value) != 0) {
            Py_CLEAR(names);
        }
        Py_XDECREF(value);
    }
    return names;
}

static bool are_paid_back(const lent_views *lent) {
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(lent->list); i++) {
        if (!is_paid_back(PyList_GET_ITEM(lent->list, i))) {
            return false;
        }
    }
    return true;
}

static PyObject *call_object(const ig_engine_job *job, lent_views *lent) {
    PyObject *positional = make_positional(job->arguments, lent);
    PyObject *named = positional ? make_named(job->arguments, lent) : NULL;
    PyObject *outcome = named ? PyObject_Call(job->object->reference, positional, named)
                              : NULL;
    Py_XDECREF(positional);
    Py_XDECREF(named);
    return outcome;
}

static void drop_views(python_result *result) {
    for (kept_part *part = result->parts; part; part = part->next) {
        drop_view(part);
    }
}

/* An argument that is in use after the call was kept by the code that was called. */
static int end_loans(const lent_views *lent) {
    if (are_paid_back(lent)) {
        return 0;
    }
    (void)PyGC_Collect();
    if (are_paid_back(lent)) {
        return 0;
    }
    PyErr_SetString(
        PyExc_BufferError,
        "the code that was called keeps a tensor of its arguments, whose memory is the caller's: let it keep a copy");
    return -1;
}

/* A result that shares memory with an argument is copied. */
static int settle_loans(python_result *result, const lent_views *lent) {
    if (are_paid_back(lent)) {
        return 0;
    }
    if (own_tensors(result, &result->head.value) != 0) {
        return -1;
    }
    drop_views(result);
    return end_loans(lent);
}

/* The result of a call; NULL with an exception. */
static ig_interp_result *make_result(const ig_engine_job *job, PyObject *outcome,
                                     const lent_views *lent) {
    python_result *result = calloc(1, sizeof *result);
    if (!result) {
        Py_DECREF(outcome);
        PyErr_NoMemory();
        return NULL;
    }
    result->head.interp = job->interp;
    int failed = value_from_python(outcome, result, &result->head.value);
    Py_DECREF(outcome);
    if (failed || settle_loans(result, lent) != 0) {
        free_parts(result);
        free(result);
        return NULL;
    }
    return &result->head;
}

static void invoke_object(ig_engine_job *job) {
    lent_views lent = { PyList_New(0), self.as_array };
    PyObject *outcome = lent.list ? call_object(job, &lent) : NULL;
    if (!outcome) {
        take_exception(job);
    } else if (job->wants_object && end_loans(&lent) != 0) {
        Py_DECREF(outcome);
        take_exception(job);
    } else if (job->wants_object) {
        make_object(job, outcome);
    } else {
        job->result = make_result(job, outcome, &lent);
        if (!job->result) {
            take_exception(job);
        }
    }
    Py_XDECREF(lent.list);
}

static void read_object(ig_engine_job *job) {
    lent_views lent = { PyList_New(0), NULL };
    PyObject *object = job->object->reference;
    job->result = lent.list ? make_result(job, Py_NewRef(object), &lent) : NULL;
    if (!job->result) {
        take_exception(job);
    }
    Py_XDECREF(lent.list);
}

/* ---- threads ---- */

/* An exception in the owner's code, between two of its bytecodes.  It takes the lock
 * to do so, which makes the code look up from a loop. */
static void interrupt_owner(void) {
    PyGILState_STATE state = PyGILState_Ensure();
    int wish = 1;
    if (atomic_compare_exchange_strong(&self.box->interrupt, &wish, 0)) {
        (void)PyThreadState_SetAsyncExc(self.owner, PyExc_TimeoutError);
    }
    PyGILState_Release(state);
}

static void *keep_watch(void *unused) {
    (void)unused;
    for (;;) {
        if (atomic_load(&self.box->interrupt) == 0) {
            ig_futex_wait(&self.box->interrupt, 0, 0);
        } else {
            interrupt_owner();
        }
    }
    return NULL;
}

static PyStatus start_python(void) {
    PyConfig config;
    PyConfig_InitIsolatedConfig(&config);
    config.site_import = 1;
    config.install_signal_handlers = 0;
    PyStatus status = PyConfig_SetBytesString(&config, &config.program_name,
                                              INGOT_PYTHON_EXECUTABLE);
    if (!PyStatus_Exception(status)) {
        status = Py_InitializeFromConfig(&config);
    }
    PyConfig_Clear(&config);
    return status;
}

static int make_thread(void *(*work)(void *)) {
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t all, before; /* signals are the host's */
    (void)sigfillset(&all);
    (void)pthread_attr_init(&attributes);
    (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
    (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&thread, &attributes, work, NULL);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attributes);
    return failed;
}

static void finish_start(ig_engine_job *first) {
    PyStatus status = start_python();
    if (PyStatus_Exception(status)) {
        first->status = IG_UNSUPPORTED;
        put_message(first, status.err_msg ? status.err_msg : "Python does not start");
    } else if (prepare_loans() != 0 || set_up_names() != 0) {
        take_exception(first);
    } else if (make_thread(keep_watch) != 0) {
        first->status = IG_LIMIT;
        put_message(first, "no thread for an interpreter");
    }
}

/* Interpreters never end, so nothing else would write text printed without a line
 * end. */
static void flush_output(void) {
    PyObject *out = PySys_GetObject("stdout");
    PyObject *done = out && out != Py_None ? PyObject_CallMethod(out, "flush", NULL)
                                           : NULL;
    Py_XDECREF(done);
    PyErr_Clear(); /* a closed pipe is its reader's affair */
}

static void *own_interpreter(void *unused) {
    ig_mailbox *box = self.box;
    (void)unused;
    finish_start(box->job);
    bool is_up = box->job->status == IG_OK;
    self.owner = PyThread_get_thread_ident();
    self.thread = is_up ? PyEval_SaveThread() : NULL;
    atomic_store(&box->state, IG_MAIL_DONE);
    ig_futex_wake(&box->state);
    while (is_up) {
        int state = atomic_load(&box->state);
        if (state != IG_MAIL_POSTED) {
            ig_futex_wait(&box->state, state, 0);
            continue;
        }
        PyEval_RestoreThread(self.thread);
        (void)PyThreadState_SetAsyncExc(self.owner, NULL); /* of the last job */
        box->job->work(box->job);
        flush_output();
        self.thread = PyEval_SaveThread();
        atomic_store(&box->state, IG_MAIL_DONE);
        ig_futex_wake(&box->state);
    }
    return NULL;
}

static int start_engine(ig_mailbox *box) {
    self.box = box;
    return make_thread(own_interpreter);
}

static const ig_engine engine = {
    .abi = IG_ENGINE_ABI,
    .name = "cpython",
    .has_packages = true,
    .has_owner = true,
    .start = start_engine,
    .configure = add_path,
    .wrap_tensors = wrap_tensors,
    .add_source = add_source,
    .run = run_source,
    .find_global = find_global,
    .find_attribute = find_attribute,
    .invoke = invoke_object,
    .read = read_object,
    .keep = keep_object,
    .free_object = free_object,
    .free_result = free_result,
};

IG_API ig_engine_entry ig_interp_engine;

const ig_engine *ig_interp_engine(void) {
    return &engine;
}
