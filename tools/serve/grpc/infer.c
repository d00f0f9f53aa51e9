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
        size += 4 + from->bytes_contents[i].len;
    }
    uint8_t *out = pool_take(&of->memory, size);
    if (!out) {
        return refuse_full(of);
    }
    to->data = out;
    to->size = size;
    for (size_t i = 0; i < from->n_bytes_contents; i++) {
        size_t length = from->bytes_contents[i].len;
        for (int k = 0; k < 4; k++) {
            *out++ = (uint8_t)(length >> 8 * k);
        }
        if (length) {
            memcpy(out, from->bytes_contents[i].data, length);
        }
        out += length;
    }
    return true;
}

/* The one list of contents that the type stands in. */
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
        return request_fail(of, CALL_INVALID,
                            "input '%.100s' is %s, which stands in "
                            "raw_input_contents alone",
                            to->name, datatype_name(to->dtype));
    }
}

/* ---- requests ---- */

static bool has_parameter(Oip__ParameterEntry *const *entries, size_t count,
                          const char *name) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(entries[i]->key, name) == 0) {
            return true;
        }
    }
    return false;
}

static bool read_input(request *of, const Oip__InferInput *from, tensor *to) {
    to->name = from->name;
    to->dtype = datatype_find(from->datatype);
    to->rank = (uint32_t)from->n_shape;
    if (!to->dtype) {
        return request_fail(of, CALL_INVALID,
                            "input '%.100s': '%.20s' is no datatype of "
                            "the protocol",
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
    if (has_parameter(from->parameters, from->n_parameters, "shared_memory_region")) {
        return request_fail(of, CALL_UNSUPPORTED,
                            "input '%.100s': this server has no "
                            "shared memory",
                            from->name);
    }
    return true;
}

static bool read_inputs(request *out, const Oip__InferRequest *from) {
    tensor *inputs = pool_take_array(&out->memory, from->n_inputs, sizeof *inputs);
    bool is_raw = from->n_raw_input_contents > 0;
    if (!inputs) {
        return refuse_full(out);
    }
    out->inputs = inputs;
    out->input_count = from->n_inputs;
    if (is_raw && from->n_raw_input_contents != from->n_inputs) {
        return request_fail(out, CALL_INVALID, "%zu inputs and %zu raw_input_contents",
                            from->n_inputs, from->n_raw_input_contents);
    }
    static const Oip__Contents none = OIP__CONTENTS__INIT;
    for (size_t i = 0; i < from->n_inputs; i++) {
        const Oip__InferInput *input = from->inputs[i];
        if (!read_input(out, input, &inputs[i])) {
            return false;
        }
        if (is_raw && input->contents) {
            return request_fail(out, CALL_INVALID,
                                "input '%.100s' has contents beside "
                                "raw_input_contents",
                                input->name);
        }
        if (is_raw) {
            static const uint8_t empty[1];
            inputs[i].data = from->raw_input_contents[i].data;
            inputs[i].size = from->raw_input_contents[i].len;
            inputs[i].data = inputs[i].size ? inputs[i].data : empty;
        } else if (!read_contents(out, &inputs[i],
                                  input->contents ? input->contents : &none)) {
            return false;
        }
    }
    return true;
}

static bool read_outputs(request *out, const Oip__InferRequest *from) {
    wanted *outputs = pool_take_array(&out->memory, from->n_outputs, sizeof *outputs);
    if (!outputs) {
        return refuse_full(out);
    }
    for (size_t i = 0; i < from->n_outputs; i++) {
        const Oip__InferWanted *output = from->outputs[i];
        outputs[i].name = output->name;
        if (has_parameter(output->parameters, output->n_parameters, "classification") ||
            has_parameter(output->parameters, output->n_parameters,
                          "shared_memory_region")) {
            return request_fail(out, CALL_UNSUPPORTED,
                                "output '%.100s': this server has "
                                "neither classification nor shared memory",
                                output->name);
        }
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
    return read_inputs(out, from) && read_outputs(out, from);
}

/* ---- answers ---- */

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
    out->n_outputs = out->n_raw_output_contents = count;
    for (size_t i = 0; i < count; i++) {
        const tensor *from = &of->results[i];
        oip__infer_output__init(&outputs[i]);
        outputs[i].name = (char *)from->name;
        outputs[i].datatype = (char *)datatype_name(from->dtype);
        outputs[i].n_shape = from->rank;
        outputs[i].shape = (int64_t *)from->dims;
        out->outputs[i] = &outputs[i];
        out->raw_output_contents[i] = (ProtobufCBinaryData){ from->size,
                                                             (uint8_t *)from->data };
    }
    return true;
}

bool infer_write(bytes *to, request *of, bool is_stream) {
    Oip__InferAnswer answer = OIP__INFER_ANSWER__INIT;
    Oip__StreamAnswer stream = OIP__STREAM_ANSWER__INIT;
    char version[24];
    snprintf(version, sizeof version, "%lld", (long long)of->number);
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
