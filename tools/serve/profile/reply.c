/* Answers to jobs: results of backends beside each other.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/profile/dtype.h"
#include "tools/serve/profile/session.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers ---- */

static int compare_times(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The p-th hundredth of times in order: the least that so many are not above. */
static uint64_t percentile(const uint64_t *sorted, size_t count, size_t p) {
    return sorted[(count - 1) * p / 100];
}

static bool fill_times(pool *memory, const json_t *times, Profile__ResultValue *to) {
    size_t count = json_array_size(times);
    to->run_times_nanos = pool_take_array(memory, count, sizeof(uint64_t));
    uint64_t *sorted = pool_take_array(memory, count, sizeof *sorted);
    if (!to->run_times_nanos || !sorted) {
        return false;
    }
    to->n_run_times_nanos = count;
    for (size_t i = 0; i < count; i++) {
        sorted[i] = to->run_times_nanos[i] =
            (uint64_t)json_integer_value(json_array_get(times, i));
    }
    qsort(sorted, count, sizeof *sorted, compare_times);
    to->has_p50_nanos = to->has_p95_nanos = count > 0;
    if (count) {
        to->p50_nanos = percentile(sorted, count, 50);
        to->p95_nanos = percentile(sorted, count, 95);
    }
    return true;
}

/* |a - b| / max(1, |b|); infinite where NaN or infinities differ. */
static double element_difference(double a, double b) {
    if (a == b || (isnan(a) && isnan(b))) {
        return 0;
    }
    double off = fabs(a - b) / fmax(1, fabs(b));
    return isnan(off) ? INFINITY : off;
}

static double tensor_difference(const Profile__Tensor *a, const Profile__Tensor *b) {
    double largest = 0;
    bool is_same = a->dtype == b->dtype && a->n_shape == b->n_shape &&
                   a->data.len == b->data.len;
    size_t count = 1;
    for (size_t i = 0; is_same && i < a->n_shape; i++) {
        is_same = a->shape[i] == b->shape[i];
        count *= (size_t)a->shape[i];
    }
    for (size_t i = 0; is_same && i < count; i++) {
        double x = dtype_element(a->dtype, a->data.data, i);
        double y = dtype_element(b->dtype, b->data.data, i);
        largest = fmax(largest, element_difference(x, y));
    }
    return is_same ? largest : INFINITY;
}

static double result_difference(const Profile__ResultValue *a,
                                const Profile__ResultValue *b) {
    double largest = a->n_outputs == b->n_outputs ? 0 : INFINITY;
    for (size_t i = 0; i < a->n_outputs && largest < INFINITY; i++) {
        largest = fmax(largest,
                       tensor_difference(a->outputs[i]->tensor, b->outputs[i]->tensor));
    }
    return largest;
}

/* ---- messages of a child ---- */

static bool fill_tensor(pool *memory, const json_t *from, uint8_t **at, size_t *left,
                        Profile__Tensor *to) {
    const json_t *shape = json_object_get(from, "shape");
    size_t size = (size_t)json_integer_value(json_object_get(from, "size"));
    profile__tensor__init(to);
    to->dtype = (int32_t)json_integer_value(json_object_get(from, "dtype"));
    to->n_shape = json_array_size(shape);
    to->shape = pool_take_array(memory, to->n_shape, sizeof *to->shape);
    ig_view check = { .dtype = (int32_t)dtype_of_number(to->dtype) };
    if (!to->shape || to->n_shape > IG_MAX_RANK || !check.dtype || size > *left) {
        return false;
    }
    check.rank = (uint32_t)to->n_shape;
    for (size_t i = 0; i < to->n_shape; i++) {
        check.dims[i] = to->shape[i] = json_integer_value(json_array_get(shape, i));
    }
    to->data = (ProtobufCBinaryData){ size, *at };
    *at += size;
    *left -= size;
    return ig_view_bytes(&check) == (int64_t)size;
}

static bool fill_outputs(pool *memory, const json_t *from, uint8_t *at, size_t left,
                         Profile__ResultValue *to) {
    size_t count = json_array_size(from);
    Profile__Tensor *tensors = pool_take_array(memory, count, sizeof *tensors);
    Profile__Value *values = pool_take_array(memory, count, sizeof *values);
    to->outputs = pool_take_array(memory, count, sizeof *to->outputs);
    if (!tensors || !values || !to->outputs) {
        return false;
    }
    to->n_outputs = count;
    for (size_t i = 0; i < count; i++) {
        if (!fill_tensor(memory, json_array_get(from, i), &at, &left, &tensors[i])) {
            return false;
        }
        profile__value__init(&values[i]);
        values[i].value_case = PROFILE__VALUE__VALUE_TENSOR;
        values[i].tensor = &tensors[i];
        to->outputs[i] = &values[i];
    }
    return true;
}

/* NULL: the answer is broken, or memory ran out. */
static Profile__ResultValue *read_result(job *what, const bytes *reply) {
    what->memory.limit += 8 * reply->size; /* a time takes 3 bytes of text or more */
    Profile__ResultValue *made = pool_take(&what->memory, sizeof *made);
    frame_head head;
    memcpy(&head, reply->data, sizeof head);
    const char *text = (const char *)reply->data + sizeof head;
    json_t *said = json_loadb(text, (size_t)head.text_bytes, 0, NULL);
    bool is_good = made != NULL;
    if (made) {
        profile__result_value__init(made);
        is_good = fill_times(&what->memory, json_object_get(said, "times"), made) &&
                  fill_outputs(&what->memory, json_object_get(said, "outputs"),
                               (uint8_t *)text + head.text_bytes,
                               (size_t)head.data_bytes, made);
        made->has_memory_bytes = true;
        made->memory_bytes =
            (uint64_t)json_integer_value(json_object_get(said, "memory"));
    }
    json_decref(said);
    return is_good ? made : NULL;
}

/* ---- replies ---- */

static Profile__ErrorValue *make_error(pool *memory, const outcome *from) {
    Profile__ErrorValue *made = pool_take(memory, sizeof *made);
    if (made) {
        profile__error_value__init(made);
        made->message = from->words;
        made->code = from->code;
    }
    return made;
}

static bool fill_run(job *what, outcome *from, Profile__RunResult *to,
                     const Profile__ResultValue **first) {
    profile__run_result__init(to);
    Profile__ResultValue *result = from->words ? NULL : read_result(what, &from->reply);
    if (!result) {
        from->words = from->words ? from->words : "the backend's answer is broken";
        to->result_case = PROFILE__RUN_RESULT__RESULT_ERROR_VALUE;
        to->error_value = make_error(&what->memory, from);
        return to->error_value != NULL;
    }
    to->result_case = PROFILE__RUN_RESULT__RESULT_RESULT_VALUE;
    to->result_value = result;
    result->has_max_difference = *first != NULL;
    if (*first) {
        result->max_difference = result_difference(result, *first);
    }
    *first = *first ? *first : result;
    return true;
}

static void reply_to_run(const session *in, job *what) {
    Profile__RunReply reply = PROFILE__RUN_REPLY__INIT;
    const Profile__ResultValue *first = NULL;
    Profile__RunResult rows[MAX_BACKENDS], *pointers[MAX_BACKENDS];
    for (size_t i = 0; i < in->worker_count; i++) {
        pointers[i] = &rows[i];
        if (!fill_run(what, &what->results[i], &rows[i], &first)) {
            job_fail(what, CALL_FULL, "memory for the answer ran out");
            return;
        }
    }
    reply.n_result_per_backend = in->worker_count;
    reply.result_per_backend = pointers;
    job_answer(what, &reply.base);
}

static void reply_to_load(const session *in, job *what) {
    Profile__LoadReply reply = PROFILE__LOAD_REPLY__INIT;
    Profile__Empty nothing = PROFILE__EMPTY__INIT;
    Profile__LoadResult rows[MAX_BACKENDS], *pointers[MAX_BACKENDS];
    for (size_t i = 0; i < in->worker_count; i++) {
        const outcome *from = &what->results[i];
        profile__load_result__init(pointers[i] = &rows[i]);
        rows[i].result_case = from->is_skipped ? PROFILE__LOAD_RESULT__RESULT_SKIPPED
                              : from->words ? PROFILE__LOAD_RESULT__RESULT_ERROR_VALUE
                                            : PROFILE__LOAD_RESULT__RESULT_RESULT_VALUE;
        rows[i].result_value = &nothing;
        if (from->words && !(rows[i].error_value = make_error(&what->memory, from))) {
            job_fail(what, CALL_FULL, "memory for the answer ran out");
            return;
        }
    }
    reply.n_result_per_backend = in->worker_count;
    reply.result_per_backend = pointers;
    job_answer(what, &reply.base);
}

void job_reply(const session *in, job *what) {
    if (what->kind == JOB_RUN) {
        reply_to_run(in, what);
    } else {
        reply_to_load(in, what);
    }
}
