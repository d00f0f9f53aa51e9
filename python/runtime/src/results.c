/* Flat outputs -> Python's values.
 * SPDX-License-Identifier: Apache-2.0 */
#include "python/runtime/src/binding.h"

#include <assert.h>
#include <string.h>

/* ---- tensors ---- */

/* numpy.asarray, once numpy was imported by anybody; NULL without an exception: it was
 * not. */
static PyObject *numpy_asarray(void) {
    static PyObject *function;
    if (!function) {
        PyObject *modules = PyImport_GetModuleDict();
        PyObject *numpy = modules ? PyDict_GetItemString(modules, "numpy") : NULL;
        function = numpy ? PyObject_GetAttrString(numpy, "asarray") : NULL;
        PyErr_Clear();
    }
    return function;
}

/* Takes the tensor over. */
static PyObject *as_foreign(PyObject *tensor, make_tensor make) {
    void *out = NULL, *managed = export_dlpack(tensor_view(tensor), tensor, true);
    if (!managed) {
        return tensor; /* of a type that DLPack does not know */
    }
    Py_DECREF(tensor);
    return make(managed, &out) == 0 ? out : NULL;
}

/* The class of ml_dtypes for the name, where that was imported: borrowed, no
 * exception. */
static PyObject *extended_class(const char *name) {
    PyObject *modules = PyImport_GetModuleDict();
    PyObject *package = modules ? PyDict_GetItemString(modules, "ml_dtypes") : NULL;
    PyObject *class = package ? PyObject_GetAttrString(package, name) : NULL;
    PyErr_Clear();
    Py_XDECREF(class); /* the package keeps it */
    return class;
}

/* Of a type that numpy itself does not know: as one of ml_dtypes, or as it is. */
static PyObject *as_extended(PyObject *tensor, PyObject *asarray) {
    const char *name = extended_name(tensor_view(tensor)->dtype);
    PyObject *class = name ? extended_class(name) : NULL;
    if (!class) {
        return tensor;
    }
    tensor = tensor_take_bits(tensor);
    PyObject *bits = tensor ? PyObject_CallFunctionObjArgs(asarray, tensor, NULL)
                            : NULL;
    PyObject *array = bits ? PyObject_CallMethod(bits, "view", "O", class) : NULL;
    Py_XDECREF(bits);
    Py_XDECREF(tensor);
    return array;
}

static PyObject *as_numpy(PyObject *tensor) {
    PyObject *asarray = numpy_asarray();
    if (!asarray) {
        return tensor;
    }
    if (!tensor_has_format(tensor)) {
        return as_extended(tensor, asarray);
    }
    PyObject *array = PyObject_CallFunctionObjArgs(asarray, tensor, NULL);
    Py_DECREF(tensor);
    return array;
}

/* An array of `object`, whose elements are str; DLPack has no strings. */
static PyObject *numpy_of_strings(PyObject *tensor, PyObject *asarray) {
    PyObject *list = list_of_strs(tensor_view(tensor));
    PyObject *shape = PyObject_GetAttrString(tensor, "shape");
    PyObject *flat = list ? PyObject_CallFunction(asarray, "Os", list, "O") : NULL;
    PyObject *array = flat && shape ? PyObject_CallMethod(flat, "reshape", "(O)", shape)
                                    : NULL;
    Py_XDECREF(flat);
    Py_XDECREF(shape);
    Py_XDECREF(list);
    return array;
}

static PyObject *as_strings(PyObject *tensor) {
    PyObject *asarray = numpy_asarray();
    if (!asarray) {
        return tensor;
    }
    PyObject *array = numpy_of_strings(tensor, asarray);
    Py_DECREF(tensor);
    return array;
}

/* In its own memory, for the first who asks; later ones copy. */
static PyObject *take_output(session_slot *slot, size_t index) {
    ig_view *view = &slot->outputs[index];
    if (view->capacity == 0) {
        return tensor_of_view(view);
    }
    PyObject *tensor = tensor_in_block(view, slot->spares, index);
    view->capacity = tensor ? 0 : view->capacity;
    return tensor;
}

PyObject *wrap_output(session_slot *slot, const ig_view *view) {
    assert(view >= slot->outputs && view < slot->outputs + slot->output_count &&
           "a view of another slot");
    size_t index = (size_t)(view - slot->outputs);
    PyObject *keys = PyList_GetItem(slot->maps, (Py_ssize_t)index); /* borrowed */
    if (keys != Py_None) {
        return read_maps(view, keys);
    }
    PyObject *tensor = take_output(slot, index);
    if (!tensor) {
        return NULL;
    }
    if (view->dtype == IG_STR8) {
        return as_strings(tensor);
    }
    return slot->make ? as_foreign(tensor, slot->make) : as_numpy(tensor);
}

/* ---- the tree ---- */

/* The next value; *out_name is that of a field, or "". */
static PyObject *read_value(session_slot *slot, const char **out_name);

static PyObject *read_list(session_slot *slot, uint32_t count) {
    PyObject *list = PyList_New(count);
    const char *name;
    for (uint32_t i = 0; list && i < count; i++) {
        PyObject *item = read_value(slot, &name);
        if (!item || PyList_SetItem(list, i, item) < 0) {
            Py_CLEAR(list);
        }
    }
    return list;
}

static PyObject *read_tuple(session_slot *slot, uint32_t count) {
    PyObject *list = read_list(slot, count);
    PyObject *tuple = list ? PyList_AsTuple(list) : NULL;
    Py_XDECREF(list);
    return tuple;
}

static PyObject *read_dict(session_slot *slot, uint32_t count) {
    PyObject *dict = PyDict_New();
    const char *name;
    for (uint32_t i = 0; dict && i + 1 < count; i += 2) {
        PyObject *key = read_value(slot, &name);
        PyObject *value = key ? read_value(slot, &name) : NULL;
        if (!value || PyDict_SetItem(dict, key, value) < 0) {
            Py_CLEAR(dict);
        }
        Py_XDECREF(key);
        Py_XDECREF(value);
    }
    return dict;
}

/* A class for named tuples of that name and those fields, kept from call to call. */
static PyObject *record_class(const char *name, PyObject *fields) {
    static PyObject *known;
    PyObject *key = Py_BuildValue("(sO)", name, fields), *class = NULL;
    known = known ? known : PyDict_New();
    if (key && known) {
        class = PyDict_GetItemWithError(known, key);
        Py_XINCREF(class);
    }
    if (!class && !PyErr_Occurred()) {
        PyObject *collections = PyImport_ImportModule("collections");
        class = collections
                    ? PyObject_CallMethod(collections, "namedtuple", "sO", name, fields)
                    : NULL;
        Py_XDECREF(collections);
        if (class && PyDict_SetItem(known, key, class) < 0) {
            Py_CLEAR(class);
        }
    }
    Py_XDECREF(key);
    return class;
}

static PyObject *make_record(const char *class_name, PyObject *names,
                             PyObject *values) {
    const char *dot = strrchr(class_name, '.');
    PyObject *fields = PyList_AsTuple(names), *args = PyList_AsTuple(values),
             *out = NULL;
    PyObject *class = fields && args ? record_class(dot ? dot + 1 : class_name, fields)
                                     : NULL;
    if (class) {
        out = PyObject_CallObject(class, args);
    }
    Py_XDECREF(class);
    Py_XDECREF(fields);
    Py_XDECREF(args);
    return out;
}

static PyObject *read_record(session_slot *slot, const char *class_name,
                             uint32_t count) {
    PyObject *names = PyList_New(0), *values = PyList_New(0), *out = NULL;
    bool is_read = names && values;
    for (uint32_t i = 0; is_read && i < count; i++) {
        const char *name;
        PyObject *item = read_value(slot, &name);
        PyObject *text = item ? PyUnicode_FromString(name) : NULL;
        is_read = text && PyList_Append(names, text) == 0 &&
                  PyList_Append(values, item) == 0;
        Py_XDECREF(text);
        Py_XDECREF(item);
    }
    if (is_read) {
        out = make_record(class_name, names, values);
    }
    Py_XDECREF(names);
    Py_XDECREF(values);
    return out;
}

/* numpy's array of pairs as one of complex numbers; there are none of halves. */
static PyObject *numpy_complex(PyObject *pairs) {
    PyObject *size = PyObject_GetAttrString(pairs, "itemsize");
    long bytes = size ? PyLong_AsLong(size) : 0;
    Py_XDECREF(size);
    if (bytes != 4 && bytes != 8) {
        Py_INCREF(pairs);
        return PyErr_Occurred() ? NULL : pairs;
    }
    PyObject *array = PyObject_CallMethod(pairs, "view", "s", bytes == 4 ? "F" : "D");
    PyObject *out = array ? PyObject_CallMethod(array, "squeeze", "i", -1) : NULL;
    Py_XDECREF(array);
    return out;
}

static PyObject *torch_complex(PyObject *pairs) {
    PyObject *torch = PyImport_ImportModule("torch");
    PyObject *out = torch ? PyObject_CallMethod(torch, "view_as_complex", "O", pairs)
                          : NULL;
    Py_XDECREF(torch);
    return out;
}

/* A tensor whose last extent is 2 as one of complex numbers, where its library has
 * such.  Takes it over. */
static PyObject *as_complex(PyObject *pairs) {
    if ((PyObject *)Py_TYPE(pairs) == tensor_type) {
        return pairs;
    }
    PyObject *out = PyObject_HasAttrString(pairs, "is_complex") ? torch_complex(pairs)
                                                                : numpy_complex(pairs);
    Py_DECREF(pairs);
    return out;
}

/* Two numbers, or one tensor of pairs. */
static PyObject *read_complex(session_slot *slot, uint32_t count) {
    const char *name;
    PyObject *re = read_value(slot, &name);
    if (!re || count < 2) {
        return re ? as_complex(re) : NULL;
    }
    PyObject *im = read_value(slot, &name);
    PyObject *out =
        im ? PyComplex_FromDoubles(PyFloat_AsDouble(re), PyFloat_AsDouble(im)) : NULL;
    Py_DECREF(re);
    Py_XDECREF(im);
    return out;
}

/* Quantised tensors, and jagged ones without TorchRec, come as dicts of their parts. */
static PyObject *read_parts(session_slot *slot, uint32_t count) {
    PyObject *dict = PyDict_New();
    for (uint32_t i = 0; dict && i < count; i++) {
        const char *name;
        PyObject *part = read_value(slot, &name);
        if (!part || PyDict_SetItemString(dict, name, part) < 0) {
            Py_CLEAR(dict);
        }
        Py_XDECREF(part);
    }
    return dict;
}

/* ---- TorchRec's objects ---- */

/* The attribute of a module that the program has imported, or NULL. */
static PyObject *imported(const char *module_name, const char *attribute) {
    PyObject *name = PyUnicode_FromString(module_name);
    PyObject *module = name ? PyImport_GetModule(name) : NULL;
    PyObject *found = module ? PyObject_GetAttrString(module, attribute) : NULL;
    Py_XDECREF(module);
    Py_XDECREF(name);
    PyErr_Clear();
    return found;
}

static int holds_torch(PyObject *parts) {
    PyObject *tensor = imported("torch", "Tensor");
    PyObject *values = PyDict_GetItemString(parts, "values"); /* borrowed */
    int is_it = tensor && values && PyObject_IsInstance(values, tensor) == 1;
    Py_XDECREF(tensor);
    return is_it;
}

/* The object of its class where TorchRec is imported: the parts are named as the
 * constructor's arguments. */
static PyObject *read_jagged(session_slot *slot, uint32_t count,
                             const char *class_name) {
    PyObject *parts = read_parts(slot, count);
    PyObject *class = parts && holds_torch(parts)
                          ? imported("torchrec.sparse.jagged_tensor", class_name)
                          : NULL;
    PyObject *none = class ? PyTuple_New(0) : NULL;
    PyObject *object = none ? PyObject_Call(class, none, parts) : NULL;
    Py_XDECREF(none);
    if (!class) {
        return parts;
    }
    Py_DECREF(class);
    Py_DECREF(parts);
    return object;
}

/* ---- by kind ---- */

typedef PyObject *(*read_hook)(session_slot *slot, const ig_call_value *value);

#define READ_ITEMS(function)                                        \
    static PyObject *function##_value(session_slot *slot,           \
                                      const ig_call_value *value) { \
        return function(slot, value->child_count);                  \
    }
READ_ITEMS(read_list)
READ_ITEMS(read_tuple)
READ_ITEMS(read_dict)
READ_ITEMS(read_complex)
READ_ITEMS(read_parts)

/* A record of keys and values that is a list of dicts. */
static PyObject *read_rows(session_slot *slot) {
    ig_call_value keys, values = { 0 };
    (void)ig_call_next(slot->call, &keys);
    ig_call_skip(slot->call);
    (void)ig_call_next(slot->call, &values);
    return wrap_output(slot, values.view);
}

static PyObject *read_record_value(session_slot *slot, const ig_call_value *value) {
    if (strcmp(value->text, IG_TREE_ZIP_MAP) == 0) {
        return read_rows(slot);
    }
    return read_record(slot, value->text, value->child_count);
}

static PyObject *read_kjt_value(session_slot *slot, const ig_call_value *value) {
    return read_jagged(slot, value->child_count, "KeyedJaggedTensor");
}

static PyObject *read_kt_value(session_slot *slot, const ig_call_value *value) {
    return read_jagged(slot, value->child_count, "KeyedTensor");
}

static PyObject *read_jt_value(session_slot *slot, const ig_call_value *value) {
    return read_jagged(slot, value->child_count, "JaggedTensor");
}

static PyObject *read_tensor_value(session_slot *slot, const ig_call_value *value) {
    return wrap_output(slot, value->view);
}

static PyObject *read_int_value(session_slot *slot, const ig_call_value *value) {
    (void)slot;
    return PyLong_FromLongLong(value->integer);
}

static PyObject *read_bool_value(session_slot *slot, const ig_call_value *value) {
    (void)slot;
    return PyBool_FromLong(value->integer != 0);
}

static PyObject *read_float_value(session_slot *slot, const ig_call_value *value) {
    (void)slot;
    return PyFloat_FromDouble(value->real);
}

static PyObject *read_str_value(session_slot *slot, const ig_call_value *value) {
    (void)slot;
    return PyUnicode_FromString(value->text);
}

static PyObject *read_none_value(session_slot *slot, const ig_call_value *value) {
    (void)slot, (void)value;
    Py_INCREF(Py_None);
    return Py_None;
}

static const read_hook readers[IG_TREE_CALL + 1] = {
    [IG_TREE_TENSOR] = read_tensor_value,   [IG_TREE_INT] = read_int_value,
    [IG_TREE_FLOAT] = read_float_value,     [IG_TREE_BOOL] = read_bool_value,
    [IG_TREE_STR] = read_str_value,         [IG_TREE_NONE] = read_none_value,
    [IG_TREE_LIST] = read_list_value,       [IG_TREE_TUPLE] = read_tuple_value,
    [IG_TREE_DICT] = read_dict_value,       [IG_TREE_RECORD] = read_record_value,
    [IG_TREE_COMPLEX] = read_complex_value, [IG_TREE_QUANTIZED] = read_parts_value,
    [IG_TREE_KJT] = read_kjt_value,         [IG_TREE_KT] = read_kt_value,
    [IG_TREE_JT] = read_jt_value,
};

static PyObject *read_value(session_slot *slot, const char **out_name) {
    ig_call_value value;
    if (!ig_call_next(slot->call, &value) || !readers[value.kind]) {
        raise_status(IG_INTERNAL, "the result has fewer values than its tree");
        return NULL;
    }
    *out_name = value.name;
    return readers[value.kind](slot, &value);
}

PyObject *read_result(session_slot *slot) {
    const char *name;
    if (ig_call_read(slot->call, slot->outputs, slot->output_count) != IG_OK) {
        raise_status(IG_INVALID, ig_call_error(slot->call));
        return NULL;
    }
    PyObject *result = read_value(slot, &name);
    if (!result || !slot->is_flat || slot->output_count != 1) {
        return result;
    }
    PyObject *only = PyTuple_GetItem(result, 0);
    Py_XINCREF(only);
    Py_DECREF(result);
    return only;
}

int write_changed(session_slot *slot) {
    for (size_t i = 0; i < slot->input_count; i++) {
        const borrowed *input = &slot->inputs[i];
        int output = input->input < 0
                         ? -1
                         : ig_call_changed(slot->call, (size_t)input->input);
        if (output >= 0 && write_borrowed(input, &slot->outputs[output]) < 0) {
            return -1;
        }
    }
    return 0;
}
