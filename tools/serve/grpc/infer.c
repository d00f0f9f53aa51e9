/* Messages of inference.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/grpc/infer.h"

#include "tools/serve/call/datatype.h"
#include "tools/serve/grpc/message.h"

#include <stdio.h>
#include <string.h>

static bool refuse_full(request *of) {
    return request_fail(of, CALL_FULL, "memory for the request ran out");
}

/* ---- typed contents ---- */

/* Values of `size` bytes on the wire, each the low bytes of one in the message. */
static bool narrow_values(request *of, tensor *to, const void *values, size_t count,
                          size_t from_size) {
    size_t size = datatype_size(to->dtype);
    uint8_t *out = pool_take(&of->memory, count * size);
    if (!out) {
        return refuse_full(of);
    }
    for (size_t i = 0; i < count; i++) {
        memcpy(out + i * size, (const uint8_t *)values + i * from_size, size);
    }
    to->data = out;
    to->size = count * size;
    return true;
}

static bool join_texts(request *of, tensor *to, const Oip__Contents *from) {
    size_t size = 0;
    for (size_t i = 0; i < from->n_bytes_contents; i++) {
        size += TEXT_HEAD + from->bytes_contents[i].len;
    }
    uint8_t *out = pool_take(&of->memory, size);
    if (!out) {
        return refuse_full(of);
    }
    to->data = out;
    to->size = size;
    for (size_t i = 0; i < from->n_bytes_contents; i++) {
        out = text_put(out, from->bytes_contents[i].data, from->bytes_contents[i].len);
    }
    return true;
}

/* The one list of contents for the type. */
static bool read_contents(request *of, tensor *to, const Oip__Contents *from) {
    switch ((int)to->dtype) {
    case IG_STR8:
        return join_texts(of, to, from);
    case IG_BOOL8:
        return narrow_values(of, to, from->bool_contents, from->n_bool_contents,
                             sizeof *from->bool_contents);
    case IG_I8:
    case IG_I16:
    case IG_I32:
        return narrow_values(of, to, from->int_contents, from->n_int_contents, 4);
    case IG_U8:
    case IG_U16:
    case IG_U32:
        return narrow_values(of, to, from->uint_contents, from->n_uint_contents, 4);
    case IG_I64:
        return narrow_values(of, to, from->int64_contents, from->n_int64_contents, 8);
    case IG_U64:
        return narrow_values(of, to, from->uint64_contents, from->n_uint64_contents, 8);
    case IG_F32:
        return narrow_values(of, to, from->fp32_contents, from->n_fp32_contents, 4);
    case IG_F64:
        return narrow_values(of, to, from->fp64_contents, from->n_fp64_contents, 8);
    default:
        return request_fail(
            of, CALL_INVALID,
            "input '%.100s' is %s, which is allowed in raw_input_contents only",
            to->name, datatype_name(to->dtype));
    }
}

/* ---- requests ---- */

static const Oip__Parameter *find_parameter(Oip__ParameterEntry *const *entries,
                                            size_t count, const char *name) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(entries[i]->key, name) == 0) {
            return entries[i]->value;
        }
    }
    return NULL;
}

static uint64_t read_number(const Oip__Parameter *from) {
    if (from && from->choice_case == OIP__PARAMETER__CHOICE_UINT64_PARAM) {
        return from->uint64_param;
    }
    bool is_number = from && from->choice_case == OIP__PARAMETER__CHOICE_INT64_PARAM &&
                     from->int64_param > 0;
    return is_number ? (uint64_t)from->int64_param : 0;
}

/* The place of a tensor in shared memory; *out_region NULL: nowhere. */
static void read_region(Oip__ParameterEntry *const *entries, size_t count,
                        const char **out_region, uint64_t *out_offset,
                        uint64_t *out_size) {
    const Oip__Parameter *name = find_parameter(entries, count, "shared_memory_region");
    if (name && name->choice_case == OIP__PARAMETER__CHOICE_STRING_PARAM) {
        *out_region = name->string_param;
        *out_offset =
            read_number(find_parameter(entries, count, "shared_memory_offset"));
        *out_size =
            read_number(find_parameter(entries, count, "shared_memory_byte_size"));
    }
}

static bool read_input(request *of, const Oip__InferInput *from, tensor *to) {
    to->name = from->name;
    to->dtype = datatype_find(from->datatype);
    to->rank = (uint32_t)from->n_shape;
    if (!to->dtype) {
        return request_fail(of, CALL_INVALID,
                            "input '%.100s': '%.20s' is not a datatype of the protocol",
                            from->name, from->datatype);
    }
    if (from->n_shape > IG_MAX_RANK) {
        return request_fail(of, CALL_INVALID,
                            "input '%.100s': a shape of more than %d "
                            "extents",
                            from->name, IG_MAX_RANK);
    }
    for (size_t i = 0; i < from->n_shape; i++) {
        to->dims[i] = from->shape[i];
        if (from->shape[i] < 0) {
            return request_fail(of, CALL_INVALID, "input '%.100s': a negative extent",
                                from->name);
        }
    }
    uint64_t size = 0;
    read_region(from->parameters, from->n_parameters, &to->region, &to->offset, &size);
    to->size = (size_t)size;
    return true;
}

/* The part of an input outside shared memory. */
static bool read_elements(request *out, const Oip__InferInput *from,
                          const ProtobufCBinaryData *raw, tensor *to) {
    static const Oip__Contents none = OIP__CONTENTS__INIT;
    static const uint8_t empty[1];
    if (raw && from->contents) {
        return request_fail(out, CALL_INVALID,
                            "input '%.100s' has contents beside "
                            "raw_input_contents",
                            from->name);
    }
    if (!raw) {
        return read_contents(out, to, from->contents ? from->contents : &none);
    }
    to->data = raw->len ? raw->data : empty;
    to->size = raw->len;
    return true;
}

static bool read_inputs(request *out, const Oip__InferRequest *from) {
    tensor *inputs = pool_take_array(&out->memory, from->n_inputs, sizeof *inputs);
    size_t raw = 0, raw_count = from->n_raw_input_contents;
    if (!inputs) {
        return refuse_full(out);
    }
    out->inputs = inputs;
    out->input_count = from->n_inputs;
    for (size_t i = 0; i < from->n_inputs; i++) {
        if (!read_input(out, from->inputs[i], &inputs[i])) {
            return false;
        }
        if (inputs[i].region) {
            continue;
        }
        const ProtobufCBinaryData *next = raw < raw_count
                                              ? &from->raw_input_contents[raw]
                                              : NULL;
        if (raw_count && !next) {
            raw++;
            break;
        }
        raw += raw_count > 0;
        if (!read_elements(out, from->inputs[i], next, &inputs[i])) {
            return false;
        }
    }
    return raw == raw_count ||
           request_fail(out, CALL_INVALID,
                        "%zu raw_input_contents, not as many as inputs "
                        "that are not shared",
                        raw_count);
}

static bool read_outputs(request *out, const Oip__InferRequest *from) {
    wanted *outputs = pool_take_array(&out->memory, from->n_outputs, sizeof *outputs);
    if (!outputs) {
        return refuse_full(out);
    }
    for (size_t i = 0; i < from->n_outputs; i++) {
        const Oip__InferWanted *output = from->outputs[i];
        outputs[i].name = output->name;
        if (find_parameter(output->parameters, output->n_parameters,
                           "classification")) {
            return request_fail(out, CALL_UNSUPPORTED,
                                "output '%.100s': this server does "
                                "not classify",
                                output->name);
        }
        read_region(output->parameters, output->n_parameters, &outputs[i].region,
                    &outputs[i].offset, &outputs[i].room);
    }
    out->outputs = outputs;
    out->output_count = from->n_outputs;
    return true;
}

bool infer_read(request *out, const uint8_t *data, size_t size) {
    out->model = out->version = out->id = "";
    const Oip__InferRequest *from =
        message_read(&out->memory, &oip__infer_request__descriptor, data, size);
    if (!from) {
        return request_fail(out, CALL_INVALID,
                            "the message is broken, or too large to be "
                            "read");
    }
    out->model = from->model_name;
    out->version = from->model_version;
    out->id = from->id;
    request_set_parameters(out,
                           (int64_t)read_number(find_parameter(
                               from->parameters, from->n_parameters, "priority")),
                           (int64_t)read_number(find_parameter(
                               from->parameters, from->n_parameters, "timeout")));
    return read_inputs(out, from) && read_outputs(out, from);
}

/* ---- answers ---- */

/* Makes parameters of these names, whole numbers to begin with; their values, or
 * NULL. */
static Oip__Parameter *name_parameters(request *of, size_t count,
                                       const char *const *keys,
                                       Oip__ParameterEntry ***out, size_t *out_count) {
    Oip__ParameterEntry *entries = pool_take_array(&of->memory, count, sizeof *entries);
    Oip__Parameter *values = pool_take_array(&of->memory, count, sizeof *values);
    *out = pool_take_array(&of->memory, count, sizeof **out);
    if (!entries || !values || !*out) {
        request_fail(of, CALL_FULL, "memory for the answer ran out");
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        oip__parameter_entry__init(&entries[i]);
        oip__parameter__init(&values[i]);
        entries[i].key = (char *)keys[i];
        entries[i].value = &values[i];
        (*out)[i] = &entries[i];
        values[i].choice_case = OIP__PARAMETER__CHOICE_INT64_PARAM;
    }
    *out_count = count;
    return values;
}

/* The parameters of a result in shared memory. */
static bool describe_region(request *of, const tensor *from, Oip__InferOutput *to) {
    static const char *const keys[] = { "shared_memory_region", "shared_memory_offset",
                                        "shared_memory_byte_size" };
    Oip__Parameter *values = name_parameters(of, 3, keys, &to->parameters,
                                             &to->n_parameters);
    if (!values) {
        return false;
    }
    values[0].choice_case = OIP__PARAMETER__CHOICE_STRING_PARAM;
    values[0].string_param = (char *)from->region;
    values[1].int64_param = (int64_t)from->offset;
    values[2].int64_param = (int64_t)from->size;
    return true;
}

/* The counts of the rows that came from stores. */
static bool describe_rows(request *of, Oip__InferAnswer *to) {
    static const char *const keys[] = { "rows_absent", "rows_late", "rows_stale" };
    Oip__Parameter *values = name_parameters(of, 3, keys, &to->parameters,
                                             &to->n_parameters);
    if (!values) {
        return false;
    }
    values[0].int64_param = (int64_t)of->stored.absent;
    values[1].int64_param = (int64_t)of->stored.late;
    values[2].int64_param = (int64_t)of->stored.stale;
    return true;
}

static bool describe_results(request *of, Oip__InferAnswer *out) {
    pool *memory = &of->memory;
    size_t count = of->result_count;
    Oip__InferOutput *outputs = pool_take_array(memory, count, sizeof *outputs);
    out->outputs = pool_take_array(memory, count, sizeof *out->outputs);
    out->raw_output_contents = pool_take_array(memory, count,
                                               sizeof *out->raw_output_contents);
    if (!outputs || !out->outputs || !out->raw_output_contents) {
        return request_fail(of, CALL_FULL, "memory for the answer ran out");
    }
    for (size_t i = 0; i < count; i++) {
        const tensor *from = &of->results[i];
        oip__infer_output__init(&outputs[i]);
        outputs[i].name = (char *)from->name;
        outputs[i].datatype = (char *)datatype_name(from->dtype);
        outputs[i].n_shape = from->rank;
        outputs[i].shape = (int64_t *)from->dims;
        out->outputs[i] = &outputs[i];
        if (from->region && !describe_region(of, from, &outputs[i])) {
            return false;
        }
        if (!from->region) {
            out->raw_output_contents[i] =
                (ProtobufCBinaryData){ from->size, (uint8_t *)from->data };
        }
    }
    out->n_outputs = out->n_raw_output_contents = count;
    return of->stored.ids == 0 || describe_rows(of, out);
}

bool infer_write(bytes *to, request *of, bool is_stream) {
    Oip__InferAnswer answer = OIP__INFER_ANSWER__INIT;
    Oip__StreamAnswer stream = OIP__STREAM_ANSWER__INIT;
    char version[24];
    snprintf(version, sizeof version, "%lld", (long long)of->answered);
    answer.model_name = (char *)of->model;
    answer.model_version = of->status == CALL_OK ? version : (char *)of->version;
    answer.id = (char *)of->id;
    if (of->status == CALL_OK && !describe_results(of, &answer) && !is_stream) {
        return false;
    }
    stream.error_message = of->status == CALL_OK ? "" : (char *)of->words;
    stream.infer_response = &answer;
    return message_write(to, is_stream ? &stream.base : &answer.base) ||
           request_fail(of, CALL_FULL, "memory for the answer ran out");
}
