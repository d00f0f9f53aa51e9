/* Arrays of the caller that outputs are written to.
 * SPDX-License-Identifier: Apache-2.0 */
#include "python/runtime/src/binding.h"

/* The array of the output, borrowed, or NULL. */
static PyObject *array_of(PyObject *out, const char *name) {
    return out ? PyDict_GetItemString(out, name) : NULL;
}

static int refuse(const char *name, const char *words) {
    PyErr_Format(PyExc_ValueError, "out '%s': %s", name, words);
    return -1;
}

static int put_target(session_slot *slot, const char *name, PyObject *array,
                      ig_view *output) {
    make_tensor unused = NULL;
    borrowed *target = slot_add_input(slot);
    if (!target) {
        return -1;
    }
    slot->target_count++;
    if (borrow_array(array, target, &unused, slot->stream) < 0) {
        refuse_array(name, array);
        return -1;
    }
    bool is_near = target->view.memory == IG_MEMORY_HOST; /* DLPack says it of others */
    if (target->copy || target->is_complex || (is_near && target->is_readonly)) {
        return refuse(
            name, "an array that can be written to, row by row, at aligned addresses");
    }
    *output = target->view;
    output->capacity = (size_t)ig_view_bytes(output);
    return output->capacity ? 0 : refuse(name, "an array without elements");
}

int put_targets(session_slot *slot, const ig_program *opened, PyObject *out) {
    Py_ssize_t left = out ? PyDict_Size(out) : 0;
    for (size_t i = 0; i < slot->output_count && left > 0; i++) {
        const char *name = ig_program_output(opened, i).name;
        PyObject *array = array_of(out, name);
        if (array && put_target(slot, name, array, &slot->outputs[i]) < 0) {
            return -1;
        }
        left -= array != NULL;
    }
    if (left > 0) {
        PyErr_SetString(PyExc_ValueError,
                        "out names an output that the program does not have");
        return -1;
    }
    return 0;
}

static bool is_as_given(const ig_view *given, const ig_view *got) {
    bool is_same = given->dtype == got->dtype && given->rank == got->rank;
    for (uint32_t d = 0; is_same && d < got->rank; d++) {
        is_same = given->dims[d] == got->dims[d];
    }
    return is_same;
}

PyObject *read_outputs(session_slot *slot, const ig_program *opened, PyObject *out) {
    PyObject *list = PyList_New((Py_ssize_t)slot->output_count);
    size_t target = slot->input_count - slot->target_count;
    for (size_t i = 0; list && i < slot->output_count; i++) {
        const char *name = ig_program_output(opened, i).name;
        PyObject *value = array_of(out, name);
        if (value && !is_as_given(&slot->inputs[target++].view, &slot->outputs[i])) {
            (void)refuse(name, "an array of another type or of other extents");
            value = NULL;
        } else if (value) {
            Py_INCREF(value);
        } else {
            value = wrap_output(slot, &slot->outputs[i]);
        }
        if (!value || PyList_SetItem(list, (Py_ssize_t)i, value) < 0) {
            Py_CLEAR(list);
        }
    }
    return list;
}
