/* JSON of requests, read or remembered.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/http/layout.h"

#include "tools/serve/call/datatype.h"
#include "tools/serve/http/data.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT = 16, LARGEST_KEPT = 64 << 10, LARGEST_JSON = 8 << 20, MAX_TENSORS = 4096 };

/* The content of a JSON.  Of tensors after it, `data` is NULL and `size` theirs. */
typedef struct layout {
    pool memory;
    const char *id;
    tensor *inputs;
    wanted *outputs;
    size_t input_count, output_count;
    bool is_binary;
    int64_t priority, timeout; /* of its parameters */
    bool has_data;             /* elements in the JSON: of this request alone */
    uint8_t *key;              /* its bytes; NULL: empty */
    size_t key_size;
} layout;

struct layout_cache {
    layout kept[KEPT];
    size_t next; /* to be replaced */
};

layout_cache *layout_cache_create(void) {
    return calloc(1, sizeof(layout_cache));
}

static void free_layout(layout *of) {
    pool_free(&of->memory);
    free(of->key);
    *of = (layout){ 0 };
}

void layout_cache_destroy(layout_cache *of) {
    for (size_t i = 0; of && i < KEPT; i++) {
        free_layout(&of->kept[i]);
    }
    free(of);
}

/* ---- reading ---- */

typedef struct reading {
    request *of;
    layout *to;
} reading;

static bool refuse_json(const reading *now, const char *words, const char *name) {
    return request_fail(now->of, CALL_INVALID, words, name);
}

static const char *copy_name(const reading *now, const json_t *from, const char *what) {
    const char *name = json_string_value(json_object_get(from, "name"));
    if (!name) {
        request_fail(now->of, CALL_INVALID, "%s without a name", what);
        return NULL;
    }
    const char *copy = pool_copy_text(&now->to->memory, name);
    if (!copy) {
        request_fail(now->of, CALL_FULL, "memory for the request ran out");
    }
    return copy;
}

static bool read_shape(const reading *now, const json_t *from, tensor *to) {
    const json_t *shape = json_object_get(from, "shape");
    size_t rank = json_array_size(shape);
    if (!json_is_array(shape) || rank > IG_MAX_RANK) {
        return request_fail(now->of, CALL_INVALID,
                            "input '%.100s': shape is not a list of at most %d numbers",
                            to->name, IG_MAX_RANK);
    }
    to->rank = (uint32_t)rank;
    for (uint32_t i = 0; i < to->rank; i++) {
        const json_t *dim = json_array_get(shape, i);
        to->dims[i] = json_integer_value(dim);
        if (!json_is_integer(dim) || to->dims[i] < 0) {
            return refuse_json(
                now,
                "input '%.100s': an extent of its shape is not a whole number from 0 on",
                to->name);
        }
    }
    return true;
}

/* The place of a tensor in shared memory; *out_region NULL: nowhere. */
static bool read_region(const reading *now, const json_t *parameters,
                        const char **out_region, uint64_t *out_offset,
                        uint64_t *out_size) {
    const json_t *name = json_object_get(parameters, "shared_memory_region");
    const json_t *offset = json_object_get(parameters, "shared_memory_offset");
    const json_t *size = json_object_get(parameters, "shared_memory_byte_size");
    if (!name) {
        return true;
    }
    if (!json_is_string(name) || !json_is_integer(size) ||
        json_integer_value(size) < 0 || json_integer_value(offset) < 0) {
        return refuse_json(now,
                           "shared_memory_region needs a name, and "
                           "shared_memory_byte_size from 0 on%s",
                           "");
    }
    *out_region = pool_copy_text(&now->to->memory, json_string_value(name));
    *out_offset = (uint64_t)json_integer_value(offset);
    *out_size = (uint64_t)json_integer_value(size);
    return *out_region ||
           request_fail(now->of, CALL_FULL, "memory for the request ran out");
}

static bool read_input(const reading *now, const json_t *from, tensor *to) {
    to->name = copy_name(now, from, "an input");
    const char *type = json_string_value(json_object_get(from, "datatype"));
    to->dtype = type ? datatype_find(type) : (ig_dtype_code)0;
    if (!to->name) {
        return false;
    }
    if (!to->dtype) {
        return refuse_json(
            now, "input '%.100s': datatype is missing, or not one of the protocol",
            to->name);
    }
    if (!read_shape(now, from, to)) {
        return false;
    }
    const json_t *parameters = json_object_get(from, "parameters");
    const json_t *size = json_object_get(parameters, "binary_data_size");
    const json_t *data = json_object_get(from, "data");
    uint64_t room = 0;
    if (!read_region(now, parameters, &to->region, &to->offset, &room)) {
        return false;
    }
    if (to->region) {
        to->size = (size_t)room;
        return (!size && !data) ||
               refuse_json(now,
                           "input '%.100s' is given in shared memory and elsewhere",
                           to->name);
    }
    if (size ? !json_is_integer(size) || json_integer_value(size) < 0 || data : !data) {
        return refuse_json(now,
                           "input '%.100s' needs data, or binary_data_size among its "
                           "parameters, and not both",
                           to->name);
    }
    to->size = (size_t)json_integer_value(size);
    now->to->has_data |= data != NULL;
    return !data || data_read(now->of, data, to);
}

static bool read_output(const reading *now, const json_t *from, wanted *to) {
    to->name = copy_name(now, from, "an output");
    const json_t *parameters = json_object_get(from, "parameters");
    const json_t *is_binary = json_object_get(parameters, "binary_data");
    to->is_binary = is_binary ? json_is_true(is_binary) : now->to->is_binary;
    if (!to->name) {
        return false;
    }
    if (json_object_get(parameters, "classification")) {
        return request_fail(now->of, CALL_UNSUPPORTED,
                            "output '%.100s': this server does not classify", to->name);
    }
    return read_region(now, parameters, &to->region, &to->offset, &to->room);
}

static bool read_lists(const reading *now, const json_t *root) {
    const json_t *inputs = json_object_get(root, "inputs");
    const json_t *outputs = json_object_get(root, "outputs");
    layout *to = now->to;
    to->input_count = json_array_size(inputs);
    to->output_count = json_array_size(outputs);
    if ((inputs && !json_is_array(inputs)) || (outputs && !json_is_array(outputs)) ||
        to->input_count > MAX_TENSORS || to->output_count > MAX_TENSORS) {
        return request_fail(now->of, CALL_INVALID,
                            "inputs and outputs are lists of at most "
                            "%d",
                            MAX_TENSORS);
    }
    to->inputs = pool_take_array(&to->memory, to->input_count, sizeof *to->inputs);
    to->outputs = pool_take_array(&to->memory, to->output_count, sizeof *to->outputs);
    if (!to->inputs || !to->outputs) {
        return request_fail(now->of, CALL_FULL, "memory for the request ran out");
    }
    for (size_t i = 0; i < to->input_count; i++) {
        if (!read_input(now, json_array_get(inputs, i), &to->inputs[i])) {
            return false;
        }
    }
    for (size_t i = 0; i < to->output_count; i++) {
        if (!read_output(now, json_array_get(outputs, i), &to->outputs[i])) {
            return false;
        }
    }
    return true;
}

static bool read_root(const reading *now, const json_t *root) {
    if (!json_is_object(root)) {
        return refuse_json(now, "the request is not a JSON object%s", "");
    }
    const json_t *id = json_object_get(root, "id");
    const json_t *parameters = json_object_get(root, "parameters");
    if (id && !json_is_string(id)) {
        return refuse_json(now, "id is not a string%s", "");
    }
    now->to->id = pool_copy_text(&now->to->memory, id ? json_string_value(id) : "");
    now->to->is_binary =
        json_is_true(json_object_get(parameters, "binary_data_output"));
    now->to->priority = json_integer_value(json_object_get(parameters, "priority"));
    now->to->timeout = json_integer_value(json_object_get(parameters, "timeout"));
    return now->to->id
               ? read_lists(now, root)
               : request_fail(now->of, CALL_FULL, "memory for the request ran out");
}

static bool read_layout(request *of, layout *out, const uint8_t *json, size_t size) {
    json_error_t error;
    if (size > LARGEST_JSON) {
        return request_fail(
            of, CALL_FULL,
            "JSON of %zu bytes, more than %d; send tensors after it (binary_data_size)",
            size, LARGEST_JSON);
    }
    if (size == 0) {
        return request_fail(of, CALL_INVALID, "the request has no JSON");
    }
    json_t *root = json_loadb((const char *)json, size, JSON_REJECT_DUPLICATES, &error);
    if (!root) {
        return request_fail(of, CALL_INVALID,
                            "failed to parse the request JSON: line %d, "
                            "column %d: %s",
                            error.line, error.column, error.text);
    }
    out->memory = (pool){ .limit = of->memory.limit, .from = of->memory.from };
    bool is_good = read_root(&(reading){ of, out }, root);
    json_decref(root);
    return is_good;
}

/* ---- remembering ---- */

static const layout *find_layout(const layout_cache *in, const uint8_t *json,
                                 size_t size) {
    for (size_t i = 0; i < KEPT; i++) {
        const layout *kept = &in->kept[i];
        if (kept->key && kept->key_size == size && memcmp(kept->key, json, size) == 0) {
            return kept;
        }
    }
    return NULL;
}

/* Moves `from` into the cache where it may be kept. */
static const layout *keep_layout(layout_cache *in, layout *from, const uint8_t *json,
                                 size_t size) {
    if (from->has_data || size > LARGEST_KEPT || !(from->key = malloc(size + 1))) {
        return from;
    }
    memcpy(from->key, json, size);
    from->key_size = size;
    layout *kept = &in->kept[in->next++ % KEPT];
    free_layout(kept);
    *kept = *from;
    *from = (layout){ 0 };
    return kept;
}

static bool copy_region(pool *to, const char **name) {
    return !*name || (*name = pool_copy_text(to, *name));
}

/* Copies names and texts: the layout may be replaced before the request is finished. */
static bool copy_texts(request *to, tensor *inputs, wanted *outputs) {
    pool *memory = &to->memory;
    bool is_good = (to->id = pool_copy_text(memory, to->id)) != NULL;
    for (size_t i = 0; is_good && i < to->input_count; i++) {
        is_good = (inputs[i].name = pool_copy_text(memory, inputs[i].name)) != NULL &&
                  copy_region(memory, &inputs[i].region);
    }
    for (size_t i = 0; is_good && i < to->output_count; i++) {
        is_good = (outputs[i].name = pool_copy_text(memory, outputs[i].name)) != NULL &&
                  copy_region(memory, &outputs[i].region);
    }
    return is_good;
}

/* Fills the request by its JSON, and its tensors by the bytes after it. */
static bool take_layout(request *out, const layout *from, const uint8_t *rest,
                        size_t size) {
    tensor *inputs = pool_take_array(&out->memory, from->input_count, sizeof *inputs);
    wanted *outputs = pool_take_array(&out->memory, from->output_count,
                                      sizeof *outputs);
    bool has_memory = inputs && outputs;
    if (has_memory) {
        memcpy(inputs, from->inputs, from->input_count * sizeof *inputs);
        memcpy(outputs, from->outputs, from->output_count * sizeof *outputs);
        out->id = from->id;
        out->is_binary = from->is_binary;
        request_set_parameters(out, from->priority, from->timeout);
        out->inputs = inputs;
        out->input_count = from->input_count;
        out->outputs = outputs;
        out->output_count = from->output_count;
        has_memory = copy_texts(out, inputs, outputs);
    }
    if (!has_memory) {
        out->id = "";
        return request_fail(out, CALL_FULL, "memory for the request ran out");
    }
    for (size_t i = 0; i < from->input_count; i++) {
        if (inputs[i].data || inputs[i].region) {
            continue;
        }
        if (inputs[i].size > size) {
            return request_fail(
                out, CALL_INVALID,
                "input '%.100s': binary_data_size is more than the bytes after the JSON",
                inputs[i].name);
        }
        inputs[i].data = rest;
        rest += inputs[i].size;
        size -= inputs[i].size;
    }
    return size == 0 ||
           request_fail(out, CALL_INVALID, "%zu bytes after the last tensor", size);
}

bool layout_read(layout_cache *cache, request *out, const uint8_t *body, size_t size,
                 size_t json_size) {
    const layout *known = find_layout(cache, body, json_size);
    layout fresh = { 0 };
    bool is_good = known || read_layout(out, &fresh, body, json_size);
    if (is_good) {
        known = known ? known : keep_layout(cache, &fresh, body, json_size);
        is_good = take_layout(out, known, body + json_size, size - json_size);
    }
    free_layout(&fresh);
    return is_good;
}
