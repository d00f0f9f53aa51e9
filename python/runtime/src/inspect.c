/* What a call does: its flat values, and what each step costs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "python/runtime/src/binding.h"

#include <stdlib.h>
#include <string.h>

static int append_taken(PyObject *list, PyObject *item) {
    int status = item ? PyList_Append(list, item) : -1;
    Py_XDECREF(item);
    return status;
}

static PyObject *tensors_of(const ig_view *views, size_t count) {
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < count; i++) {
        if (append_taken(list, tensor_of_view(&views[i])) < 0) {
            Py_CLEAR(list);
        }
    }
    return list;
}

PyObject *program_record(PyObject *program, PyObject *args) {
    PyObject *positional, *named, *given = NULL, *got = NULL;
    ig_view *inputs;
    size_t count;
    if (!PyArg_ParseTuple(args, "O!O!", &PyTuple_Type, &positional, &PyDict_Type,
                          &named)) {
        return NULL;
    }
    session_slot *slot = program_take_slot(program);
    if (!slot) {
        return NULL;
    }
    if (put_arguments(slot, positional, named, &inputs, &count) == 0) {
        given = tensors_of(inputs, count); /* before they may be changed */
        got = given && slot_run(slot, inputs, count) == 0
                  ? tensors_of(slot->outputs, slot->output_count)
                  : NULL;
    }
    program_give_slot(program, slot);
    if (!got) {
        Py_XDECREF(given);
        return NULL;
    }
    return Py_BuildValue("(NN)", given, got);
}

/* ---- profiles ---- */

/* Step i in run k at times[k * count + i]; `whole`: of the runs. */
typedef struct samples {
    ig_step_profile *steps;
    int64_t *times, *whole;
    size_t count;
    int runs;
} samples;

static int make_samples(samples *s, size_t count, int runs) {
    *s = (samples){ .count = count, .runs = runs };
    s->steps = calloc(count + 1, sizeof *s->steps);
    s->times = calloc(count * (size_t)runs + 1, sizeof *s->times);
    s->whole = calloc((size_t)runs + 1, sizeof *s->whole);
    if (!s->steps || !s->times || !s->whole) {
        PyErr_NoMemory();
        return -1;
    }
    return 0;
}

static void free_samples(samples *s) {
    free(s->steps);
    free(s->times);
    free(s->whole);
}

/* Without the GIL. */
static ig_status take_samples(session_slot *slot, samples *s, const ig_view *inputs,
                              size_t input_count) {
    memset(slot->outputs, 0, slot->output_count * sizeof *slot->outputs);
    ig_status status = ig_session_bind(slot->session, inputs, input_count,
                                       slot->outputs, slot->output_count);
    status = status == IG_OK ? ig_session_run_bound(slot->session) : status;
    for (int k = 0; status == IG_OK && k < s->runs; k++) {
        status = ig_session_profile(slot->session, s->steps, s->count, &s->whole[k]);
        for (size_t i = 0; i < s->count; i++) {
            s->times[(size_t)k * s->count + i] = s->steps[i].ns;
        }
    }
    return status;
}

static PyObject *times_of(const samples *s, size_t step) {
    PyObject *list = PyList_New(0);
    for (int k = 0; list && k < s->runs; k++) {
        int64_t ns = s->times[(size_t)k * s->count + step];
        if (append_taken(list, PyLong_FromLongLong(ns)) < 0) {
            Py_CLEAR(list);
        }
    }
    return list;
}

static PyObject *describe_step(const samples *s, size_t step) {
    const ig_step_profile *p = &s->steps[step];
    PyObject *times = times_of(s, step);
    return times ? Py_BuildValue("{s:s,s:s,s:I,s:i,s:L,s:L,s:d,s:d,s:d,s:N}", "name",
                                 p->name, "kind", p->kind, "depth", p->depth, "threads",
                                 p->threads, "calls", (long long)p->calls, "tiles",
                                 (long long)p->tiles, "flops", p->flops, "bytes",
                                 p->bytes, "lines", p->lines, "times_ns", times)
                 : NULL;
}

static PyObject *describe_samples(const samples *s) {
    PyObject *steps = PyList_New(0), *whole = PyList_New(0);
    bool is_good = steps && whole;
    for (size_t i = 0; is_good && i < s->count; i++) {
        is_good = append_taken(steps, describe_step(s, i)) == 0;
    }
    for (int k = 0; is_good && k < s->runs; k++) {
        is_good = append_taken(whole, PyLong_FromLongLong(s->whole[k])) == 0;
    }
    if (!is_good) {
        Py_XDECREF(steps);
        Py_XDECREF(whole);
        return NULL;
    }
    return Py_BuildValue("(NN)", steps, whole);
}

static PyObject *sample_call(session_slot *slot, samples *s, const ig_view *inputs,
                             size_t count) {
    ig_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = take_samples(slot, s, inputs, count);
    Py_END_ALLOW_THREADS;
    if (status != IG_OK) {
        raise_status(status, ig_session_error(slot->session));
        return NULL;
    }
    return describe_samples(s);
}

PyObject *program_profile(PyObject *program, PyObject *args) {
    PyObject *positional, *named, *out = NULL;
    int runs;
    ig_view *inputs;
    size_t count;
    samples s;
    if (!PyArg_ParseTuple(args, "O!O!i", &PyTuple_Type, &positional, &PyDict_Type,
                          &named, &runs)) {
        return NULL;
    }
    if (runs < 1) {
        PyErr_SetString(PyExc_ValueError, "runs is 1 or more");
        return NULL;
    }
    session_slot *slot = program_take_slot(program);
    if (!slot) {
        return NULL;
    }
    ig_program_facts facts = { .size = sizeof facts };
    ig_program_get_facts(program_opened(program), &facts);
    if (make_samples(&s, facts.step_count, runs) == 0 &&
        put_arguments(slot, positional, named, &inputs, &count) == 0) {
        out = sample_call(slot, &s, inputs, count);
    }
    free_samples(&s);
    program_give_slot(program, slot);
    return out;
}
