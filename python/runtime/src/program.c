/* Class Program: opening, calling, describing.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Any number of threads may call a program: each call takes a session of its own, which
 * the next call finds again.  A program with state has one session, and its calls wait
 * for each other.
 */
#include "python/runtime/src/binding.h"
#include "python/lists.h"
#include "python/log.h"

#include <stdlib.h>
#include <string.h>

typedef struct program {
    PyObject_HEAD ig_program *program;
    ig_thread_pool *pool; /* shared by all sessions, or NULL */
    session_slot *idle;
    session_slot *state;     /* the one of a program with state */
    PyThread_type_lock lock; /* of `state` */
    bool has_state;
    PyObject *keeps;  /* what the program lies in: bytes, or NULL */
    make_tensor make; /* of results of calls without any array, or NULL */
} program;

PyObject *program_type;

/* ---- opening ---- */

static int set_threads(program *self, int threads) {
    char message[256] = "";
    ig_thread_pool_options options = { .size = sizeof options,
                                       .threads = threads,
                                       .message = message,
                                       .message_size = sizeof message };
    if (threads == 1) {
        return 0;
    }
    if (threads < 0) {
        PyErr_SetString(PyExc_ValueError,
                        "threads: 0 for as many as there are CPUs, or more");
        return -1;
    }
    ig_status status = ig_thread_pool_create(&options, &self->pool);
    if (status != IG_OK) {
        raise_status(status, message);
    }
    return status == IG_OK ? 0 : -1;
}

/* Arrays may be read-only, or copied because of their strides: no program that writes
 * its inputs gets them. */
static int check_outputs(const ig_program *opened) {
    for (size_t i = 0; i < ig_program_output_count(opened); i++) {
        ig_port port = ig_program_output(opened, i);
        if (port.in_place_of >= 0) {
            char text[256];
            PyOS_snprintf(
                text, sizeof text,
                "output '%.100s' shares the memory of an input, which is for callers from C only",
                port.name);
            raise_status(IG_UNSUPPORTED, text);
            return -1;
        }
    }
    return 0;
}

/* Takes `opened` over, whatever becomes of it. */
static PyObject *make_program(PyTypeObject *type, ig_program *opened, int threads) {
    allocfunc make = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    program *self = check_outputs(opened) == 0 ? (program *)make(type, 0) : NULL;
    if (!self) {
        ig_program_close(opened);
        return NULL;
    }
    self->program = opened;
    self->has_state = ig_program_state_count(opened) > 0;
    self->lock = self->has_state ? PyThread_allocate_lock() : NULL;
    if ((self->has_state && !self->lock) || set_threads(self, threads) < 0) {
        Py_DECREF(self);
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    return (PyObject *)self;
}

/* What `program_new` is given. */
typedef struct opening {
    PyObject *path;
    int threads;
    ig_program_options options;
    char message[512];
    const char **op_files;
    void **libraries;
} opening;

static int read_opening(PyObject *args, PyObject *kwargs, opening *o) {
    static char *names[] = { "path",          "threads",  "hugepages", "level",
                             "check_weights", "op_files", "libraries", NULL };
    PyObject *op_files = NULL, *libraries = NULL;
    int hugepages = 0;
    ig_program_options *options = &o->options;
    options->size = sizeof *options;
    options->message = o->message;
    options->message_size = sizeof o->message;
    options->log = &python_log;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&|$ipzpOO:Program", names,
                                     PyUnicode_FSConverter, &o->path, &o->threads,
                                     &hugepages, &options->level,
                                     &options->check_weights, &op_files, &libraries)) {
        return -1;
    }
    options->load = hugepages ? IG_LOAD_HUGEPAGE : IG_LOAD_MAPPED;
    o->op_files = list_of_texts(op_files, &options->op_file_count);
    o->libraries = o->op_files ? list_of_addresses(libraries, &options->library_count)
                               : NULL;
    options->op_files = o->op_files;
    options->libraries = (const ig_custom_library *const *)o->libraries;
    if (!o->libraries && !PyErr_Occurred()) {
        PyErr_NoMemory();
    }
    return o->libraries ? 0 : -1;
}

static ig_program *open_file(opening *o) {
    const char *text = PyBytes_AsString(o->path);
    ig_program *opened = NULL;
    ig_status status = IG_IO;
    Py_BEGIN_ALLOW_THREADS;
    status = text ? ig_program_open(text, &o->options, &opened) : IG_IO;
    Py_END_ALLOW_THREADS;
    if (status != IG_OK) {
        raise_status(status, o->message);
    }
    return opened;
}

static PyObject *program_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    opening o = { .threads = 1 };
    ig_program *opened = read_opening(args, kwargs, &o) == 0 ? open_file(&o) : NULL;
    free((void *)o.op_files);
    free(o.libraries);
    Py_XDECREF(o.path);
    return opened ? make_program(type, opened, o.threads) : NULL;
}

/* Takes a program that the compiler's half made, a capsule "ig_program". The third
 * argument is the type of results of calls without an array argument. */
static PyObject *program_from_capsule(PyObject *type, PyObject *args) {
    PyObject *capsule, *result_type = NULL;
    int threads = 1;
    if (!PyArg_ParseTuple(args, "O|iO", &capsule, &threads, &result_type)) {
        return NULL;
    }
    ig_program *opened = PyCapsule_GetPointer(capsule, "ig_program");
    if (!opened || PyCapsule_SetName(capsule, "used_ig_program") < 0) {
        return NULL;
    }
    PyObject *made = make_program((PyTypeObject *)type, opened, threads);
    if (made && result_type && result_type != Py_None) {
        ((program *)made)->make = maker_of_type(result_type);
    }
    return made;
}

static void program_dealloc(PyObject *object) {
    program *self = (program *)object;
    PyTypeObject *type = Py_TYPE(object);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    while (self->idle) {
        session_slot *slot = self->idle;
        self->idle = slot->next;
        slot_destroy(slot);
    }
    slot_destroy(self->state);
    if (self->lock) {
        PyThread_free_lock(self->lock);
    }
    ig_thread_pool_destroy(self->pool);
    ig_program_close(self->program);
    Py_XDECREF(self->keeps);
    release(object);
    Py_DECREF(type);
}

/* ---- sessions ---- */

static void wait_for_lock(program *self) {
    if (!PyThread_acquire_lock(self->lock, NOWAIT_LOCK)) {
        Py_BEGIN_ALLOW_THREADS;
        PyThread_acquire_lock(self->lock, WAIT_LOCK);
        Py_END_ALLOW_THREADS;
    }
}

session_slot *program_take_slot(PyObject *object) {
    program *self = (program *)object;
    if (self->has_state) {
        wait_for_lock(self);
        self->state = self->state ? self->state
                                  : slot_create(self->program, self->pool, 1);
        if (!self->state) {
            PyThread_release_lock(self->lock);
        }
        return self->state;
    }
    session_slot *slot = self->idle;
    if (slot) {
        self->idle = slot->next;
        return slot;
    }
    return slot_create(self->program, self->pool, 1);
}

void program_give_slot(PyObject *object, session_slot *slot) {
    program *self = (program *)object;
    slot_release_outputs(slot);
    slot_release_inputs(slot);
    if (self->has_state) {
        PyThread_release_lock(self->lock);
        return;
    }
    slot->next = self->idle;
    self->idle = slot;
}

const ig_program *program_opened(PyObject *object) {
    return ((program *)object)->program;
}

/* ---- calling ---- */

static PyObject *program_call(PyObject *object, PyObject *args, PyObject *kwargs) {
    ig_view *inputs;
    size_t count;
    PyObject *result = NULL;
    session_slot *slot = program_take_slot(object);
    if (!slot) {
        return NULL;
    }
    if (put_arguments(slot, args, kwargs, &inputs, &count) == 0 &&
        slot_run(slot, inputs, count) == 0 && write_changed(slot) == 0) {
        slot->make = slot->input_count ? slot->make : ((program *)object)->make;
        result = read_result(slot);
    }
    program_give_slot(object, slot);
    return result;
}

/* ---- flat calls ---- */

/* Names the first value of a feed that is of no input. */
static int refuse_others(const ig_program *opened, PyObject *feed) {
    PyObject *key, *value;
    Py_ssize_t at = 0;
    while (PyDict_Next(feed, &at, &key, &value)) {
        const char *name = PyUnicode_Check(key) ? PyUnicode_AsUTF8AndSize(key, NULL)
                                                : NULL;
        if (!name || ig_program_find_input(opened, name) < 0) {
            PyErr_Clear();
            PyErr_Format(PyExc_ValueError, "there is no input %R", key);
            return -1;
        }
    }
    return 0;
}

static int read_feed(session_slot *slot, const ig_program *opened, PyObject *feed,
                     ig_view *inputs) {
    size_t count = ig_program_input_count(opened);
    for (size_t i = 0; i < count; i++) {
        const char *name = ig_program_input(opened, i).name;
        PyObject *value = PyDict_GetItemString(feed, name);
        borrowed *input = value ? slot_add_input(slot) : NULL;
        if (!value) {
            PyErr_Format(PyExc_ValueError, "input '%s' is missing", name);
        }
        if (!input) {
            return -1;
        }
        if (borrow_array(value, input, &slot->make, slot->stream) < 0) {
            refuse_array(name, value);
            return -1;
        }
        inputs[i] = input->view;
    }
    if ((size_t)PyDict_Size(feed) > count) {
        return refuse_others(opened, feed);
    }
    return 0;
}

static PyObject *program_run(PyObject *object, PyObject *args, PyObject *kwargs) {
    static char *names[] = { "feed", "out", NULL };
    program *self = (program *)object;
    PyObject *feed, *out = NULL, *result = NULL;
    size_t count = ig_program_input_count(self->program);
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O", names, &feed, &out)) {
        return NULL;
    }
    out = out == Py_None ? NULL : out;
    if (!PyDict_Check(feed) || (out && !PyDict_Check(out))) {
        PyErr_SetString(PyExc_TypeError,
                        "run takes dicts: name of the input (output) -> array");
        return NULL;
    }
    ig_view *inputs = calloc(count + 1, sizeof *inputs);
    session_slot *slot = inputs ? program_take_slot(object) : NULL;
    if (!inputs) {
        return PyErr_NoMemory();
    }
    if (slot) {
        if (read_feed(slot, self->program, feed, inputs) == 0 &&
            put_targets(slot, self->program, out) == 0 &&
            slot_run(slot, inputs, count) == 0) {
            result = read_outputs(slot, self->program, out);
        }
        program_give_slot(object, slot);
    }
    free(inputs);
    return result;
}

static PyObject *program_reset(PyObject *object, PyObject *unused) {
    program *self = (program *)object;
    (void)unused;
    if (self->has_state) {
        wait_for_lock(self);
        if (self->state) {
            ig_session_reset(self->state->session);
        }
        PyThread_release_lock(self->lock);
    }
    Py_INCREF(Py_None);
    return Py_None;
}

/* ---- describing ---- */

static PyObject *describe_port(const ig_port *port) {
    PyObject *shape = PyTuple_New(port->rank);
    for (uint32_t i = 0; shape && i < port->rank; i++) {
        PyObject *extent = port->dims[i] < 0 ? Py_None
                                             : PyLong_FromLongLong(port->dims[i]);
        if (extent == Py_None) {
            Py_INCREF(extent);
        }
        if (!extent || PyTuple_SetItem(shape, i, extent) < 0) {
            Py_CLEAR(shape);
        }
    }
    return shape ? Py_BuildValue("(sssN)", port->name, port->type,
                                 dtype_text((int32_t)port->dtype), shape)
                 : NULL;
}

typedef ig_port (*port_hook)(const ig_program *program, size_t index);

static PyObject *describe_ports(const ig_program *opened, size_t count,
                                port_hook port_at) {
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list && i < count; i++) {
        ig_port port = port_at(opened, i);
        PyObject *one = describe_port(&port);
        if (!one || PyList_SetItem(list, (Py_ssize_t)i, one) < 0) {
            Py_CLEAR(list);
        }
    }
    return list;
}

static PyObject *program_inputs(PyObject *object, void *unused) {
    const ig_program *opened = ((program *)object)->program;
    (void)unused;
    return describe_ports(opened, ig_program_input_count(opened), ig_program_input);
}

static PyObject *program_outputs(PyObject *object, void *unused) {
    const ig_program *opened = ((program *)object)->program;
    (void)unused;
    return describe_ports(opened, ig_program_output_count(opened), ig_program_output);
}

static PyObject *program_states(PyObject *object, void *unused) {
    const ig_program *opened = ((program *)object)->program;
    (void)unused;
    return describe_ports(opened, ig_program_state_count(opened), ig_program_state);
}

static PyObject *program_maps(PyObject *object, void *unused) {
    (void)unused;
    return maps_of_outputs(((program *)object)->program);
}

static PyObject *program_facts(PyObject *object, void *unused) {
    ig_program_facts facts = { .size = sizeof facts };
    (void)unused;
    ig_program_get_facts(((program *)object)->program, &facts);
    return Py_BuildValue("{s:s,s:s,s:s,s:s,s:n,s:n,s:K,s:K}", "model", facts.model,
                         "build", facts.build_id, "level", facts.level, "levels",
                         facts.levels, "kernels", (Py_ssize_t)facts.kernel_count,
                         "launches", (Py_ssize_t)facts.launch_count, "code_bytes",
                         (unsigned long long)facts.code_bytes, "weight_bytes",
                         (unsigned long long)facts.weight_bytes);
}

static PyMethodDef methods[] = {
    { "run", (PyCFunction)(void (*)(void))program_run, METH_VARARGS | METH_KEYWORDS,
      "run(feed: dict, out: dict | None = None) -> list\n\n"
      "Calls with flat inputs by name, arrays of the types and extents that `inputs`\n"
      "lists; gives the outputs in the order of `outputs`, as lists of dicts where `maps`\n"
      "has keys.  Those that `out` names are\n"
      "written to its arrays, on the host or in the memory of the GPU that runs the\n"
      "program, without a copy.  TypeError or ValueError: an array is missing or does\n"
      "not fit." },
    { "reset", program_reset, METH_NOARGS,
      "reset()\n\nGives all state the values that it begins with; nothing without state." },
    { "_record", program_record, METH_VARARGS, NULL },
    { "_profile", program_profile, METH_VARARGS, NULL },
    { "_from_capsule", program_from_capsule, METH_VARARGS | METH_CLASS, NULL },
    { 0 },
};

static PyGetSetDef attributes[] = {
    { "inputs", program_inputs, NULL, "(name, type, dtype, shape) of each; None: open.",
      NULL },
    { "outputs", program_outputs, NULL,
      "(name, type, dtype, shape) of each; None: open.", NULL },
    { "maps", program_maps, NULL,
      "Of each output the keys of the dicts that it is a list of, a row each, or None.",
      NULL },
    { "states", program_states, NULL, "What outlives a call, as inputs are described.",
      NULL },
    { "facts", program_facts, NULL,
      "A dict: \"model\", \"build\", \"level\" (of the CPU, in use), \"levels\" (there),\n"
      "\"kernels\", \"launches\" (counts), \"code_bytes\", \"weight_bytes\".",
      NULL },
    { 0 },
};

static PyType_Slot slots[] = {
    { Py_tp_new, program_new },
    { Py_tp_dealloc, program_dealloc },
    { Py_tp_call, program_call },
    { Py_tp_methods, methods },
    { Py_tp_getset, attributes },
    { Py_tp_doc,
      "Program(path, *, threads=1, hugepages=False, level=None, check_weights=False, "
      "op_files=(), libraries=())\n--\n\n"
      "A compiled model.\n\n"
      "program(*args, **kwargs) takes what the Python module took: arrays (numpy, torch,\n"
      "anything with the buffer protocol or DLPack), numbers, strings, None, lists, tuples,\n"
      "dicts and named tuples of them.  Arrays are read in place; those that do not lie\n"
      "row-major are copied.  It gives the result in the same form: torch's tensors where an\n"
      "argument was one, else numpy's arrays where numpy was imported, else Tensors; the\n"
      "caller owns their memory.\n\n"
      "threads: that share the work of a call; 0: as many as there are CPUs.\n"
      "hugepages: weights are copied into 2 MiB pages.\n"
      "level: \"v3\" and the like: this code and no other.\n"
      "check_weights: the hash of every constant is compared when it is opened.\n"
      "op_files: libraries with operators of your own that the artifact calls.\n"
      "libraries: the same in memory, as addresses of C's ig_custom_library, which outlive\n"
      "the program.\n\n"
      "Raises InvalidError, UnsupportedError, LimitError, FileError; a call raises TypeError\n"
      "or ValueError for arguments that do not fit." },
    { 0 },
};

PyType_Spec program_spec = {
    .name = "ingot_runtime.Program",
    .basicsize = sizeof(program),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};
