/* config.json.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/model/config.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { US = 1000, MAX_PORTS = 4096, MAX_DELAY_US = 60 * 1000 * 1000 };

IG_PRINTF(2, 3)
static bool refuse_config(char *words, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(words, WORDS, format, args);
    va_end(args);
    return false;
}

/* A whole number between 0 and `max`; absent members stay as they were. */
static bool read_number(const json_t *from, const char *name, int64_t max, int64_t *out,
                        char *words) {
    const json_t *value = json_object_get(from, name);
    if (!value) {
        return true;
    }
    if (!json_is_integer(value) || json_integer_value(value) < 0 ||
        json_integer_value(value) > max) {
        return refuse_config(words, "%s is not a whole number from 0 to %lld", name,
                             (long long)max);
    }
    *out = json_integer_value(value);
    return true;
}

static bool read_text(const json_t *from, const char *name, const char **out,
                      char *words) {
    const json_t *value = json_object_get(from, name);
    if (value && !json_is_string(value)) {
        return refuse_config(words, "%s is not a string", name);
    }
    if (value) {
        *out = json_string_value(value);
    }
    return true;
}

static bool read_dims(const json_t *from, config_port *out, char *words) {
    const json_t *dims = json_object_get(from, "dims");
    if (!dims) {
        return true;
    }
    out->rank = (uint32_t)json_array_size(dims);
    out->has_dims = true;
    bool is_good = json_is_array(dims) && json_array_size(dims) <= IG_MAX_RANK;
    for (uint32_t i = 0; is_good && i < out->rank; i++) {
        const json_t *dim = json_array_get(dims, i);
        out->dims[i] = json_integer_value(dim);
        is_good = json_is_integer(dim) && out->dims[i] >= -1;
    }
    return is_good || refuse_config(words,
                                    "dims of '%s' are not at most %d numbers from "
                                    "-1 on",
                                    out->name, IG_MAX_RANK);
}

static bool read_ports(const json_t *root, const char *field, config_port **out,
                       size_t *out_count, char *words) {
    const json_t *list = json_object_get(root, field);
    if (!list) {
        return true;
    }
    size_t count = json_array_size(list);
    if (!json_is_array(list) || count > MAX_PORTS) {
        return refuse_config(words, "%s is not a list of at most %d", field, MAX_PORTS);
    }
    *out = calloc(count + 1, sizeof **out);
    if (!*out) {
        return refuse_config(words, "memory ran out");
    }
    *out_count = count;
    for (size_t i = 0; i < count; i++) {
        const json_t *row = json_array_get(list, i);
        config_port *port = &(*out)[i];
        port->name = port->data_type = "";
        if (!read_text(row, "name", &port->name, words) ||
            !read_text(row, "data_type", &port->data_type, words) ||
            !read_dims(row, port, words)) {
            return false;
        }
        if (!*port->name) {
            return refuse_config(words, "%s %zu has no name", field, i);
        }
    }
    return true;
}

static bool read_policy(const json_t *root, model_config *out, char *words) {
    const json_t *policy = json_object_get(root, "version_policy");
    const json_t *listed = json_object_get(json_object_get(policy, "specific"),
                                           "versions");
    int64_t newest = json_object_get(policy, "all") || listed ? 0 : 1;
    if (!read_number(json_object_get(policy, "latest"), "num_versions", 1 << 20,
                     &newest, words)) {
        return false;
    }
    out->newest = (size_t)newest;
    out->version_count = json_array_size(listed);
    out->versions = calloc(out->version_count + 1, sizeof *out->versions);
    if (!out->versions) {
        return refuse_config(words, "memory ran out");
    }
    for (size_t i = 0; i < out->version_count; i++) {
        const json_t *number = json_array_get(listed, i);
        /* Triton's tools write 64-bit numbers as strings. */
        out->versions[i] = json_is_string(number) ? atoll(json_string_value(number))
                                                  : json_integer_value(number);
    }
    return true;
}

static bool read_batching(const json_t *root, model_config *out, char *words) {
    const json_t *batching = json_object_get(root, "dynamic_batching");
    const json_t *queue = json_object_get(batching, "default_queue_policy");
    int64_t delay = 0, timeout = 0, max = 0;
    out->has_max_batch_size = json_object_get(root, "max_batch_size") != NULL;
    if (!read_number(root, "max_batch_size", 1 << 24, &out->max_batch_size, words) ||
        !read_number(batching, "max_queue_delay_microseconds", MAX_DELAY_US, &delay,
                     words) ||
        !read_number(queue, "max_queue_size", 1 << 24, &max, words) ||
        !read_number(queue, "default_timeout_microseconds", INT64_MAX / US, &timeout,
                     words)) {
        return false;
    }
    out->max_queue = (size_t)max;
    out->queue_delay = delay * US;
    out->queue_timeout = timeout * US;
    return true;
}

static bool read_compiling(const json_t *root, model_config *out, char *words) {
    const json_t *ours = json_object_get(root, "ingot");
    const json_t *list = json_object_get(ours, "inputs");
    out->is_trusted = json_is_true(json_object_get(ours, "trusted"));
    out->statement_count = json_array_size(list);
    out->statements = calloc(out->statement_count + 1, sizeof *out->statements);
    if (!out->statements) {
        return refuse_config(words, "memory ran out");
    }
    for (size_t i = 0; i < out->statement_count; i++) {
        out->statements[i] = json_string_value(json_array_get(list, i));
        if (!out->statements[i]) {
            return refuse_config(words,
                                 "ingot.inputs holds a value that is not a string");
        }
    }
    return read_text(ours, "entry", &out->entry, words);
}

/* "ingot": { "stores": { "TABLE": "URL" }, "refresh": ms, "store_timeout": ms,
 * "row_memory": MB } */
static bool read_stores(const json_t *root, model_config *out, char *words) {
    enum { MS = 1000000, MB = 1 << 20, MAX_MS = 86400 * 1000 };
    json_t *ours = json_object_get(root, "ingot"), *url;
    const char *table;
    int64_t refresh = 0, timeout = 1000, memory = 0;
    if (!read_number(ours, "refresh", MAX_MS, &refresh, words) ||
        !read_number(ours, "store_timeout", MAX_MS, &timeout, words) ||
        !read_number(ours, "row_memory", 1 << 24, &memory, words)) {
        return false;
    }
    json_object_foreach(json_object_get(ours, "stores"), table, url) {
        if (!json_is_string(url) || out->store_count == MAX_STORES) {
            return refuse_config(words, "ingot.stores is not at most %d URLs by table",
                                 MAX_STORES);
        }
        out->stores[out->store_count].table = table;
        out->stores[out->store_count++].url = json_string_value(url);
    }
    out->refresh = refresh * MS;
    out->store_timeout = timeout * MS;
    out->row_memory = (size_t)memory * MB;
    return true;
}

/* "ingot": { "shadow": { "version": 2, "share": 0.1 } } */
static bool read_shadow(const json_t *root, model_config *out, char *words) {
    const json_t *from = json_object_get(json_object_get(root, "ingot"), "shadow");
    const json_t *share = json_object_get(from, "share");
    out->shadow_share = share ? json_number_value(share) : 1;
    bool is_good = !from || (json_is_object(from) && out->shadow_share > 0 &&
                             out->shadow_share <= 1);
    if (!is_good) {
        return refuse_config(words, "ingot.shadow is not a version and a share of the "
                                    "runs, above 0 and at most 1");
    }
    return read_number(from, "version", INT64_MAX, &out->shadow, words);
}

/* "ingot": { "script": "around.lua", "script_instructions": n, "script_memory": MB,
 * "then": "ranker" } */
static bool read_steps(const json_t *root, model_config *out, char *words) {
    enum { MB = 1 << 20, MILLION = 1000000 };
    const json_t *ours = json_object_get(root, "ingot");
    int64_t instructions = 10 * MILLION, memory = 64;
    if (!read_text(ours, "script", &out->script, words) ||
        !read_text(ours, "then", &out->then, words) ||
        !read_number(ours, "script_instructions", INT64_MAX, &instructions, words) ||
        !read_number(ours, "script_memory", 1 << 20, &memory, words)) {
        return false;
    }
    if (out->script && (!*out->script || strchr(out->script, '/'))) {
        return refuse_config(words, "ingot.script is not the name of a file beside "
                                    "config.json");
    }
    if (instructions == 0 || memory == 0) {
        return refuse_config(words, "a script with no instructions or memory");
    }
    out->script_instructions = (uint64_t)instructions;
    out->script_memory = (uint64_t)memory * MB;
    return true;
}

bool config_read(model_config *out, const char *text, size_t size, char words[WORDS]) {
    *out = (model_config){ .newest = 1 };
    json_error_t error;
    out->json = size ? json_loadb(text, size, JSON_REJECT_DUPLICATES, &error)
                     : json_object();
    if (!out->json) {
        return refuse_config(words, "line %d: %s", error.line, error.text);
    }
    if (!json_is_object(out->json)) {
        return refuse_config(words, "no JSON object");
    }
    return read_batching(out->json, out, words) && read_policy(out->json, out, words) &&
           read_ports(out->json, "input", &out->inputs, &out->input_count, words) &&
           read_ports(out->json, "output", &out->outputs, &out->output_count, words) &&
           read_text(out->json, "default_model_filename", &out->file, words) &&
           read_compiling(out->json, out, words) &&
           read_stores(out->json, out, words) && read_shadow(out->json, out, words) &&
           read_steps(out->json, out, words);
}

void config_free(model_config *of) {
    free(of->versions);
    free(of->inputs);
    free(of->outputs);
    free(of->statements);
    free(of->script_path);
    json_decref(of->json);
    *of = (model_config){ 0 };
}

bool config_wants(const model_config *config, int64_t version, size_t newer) {
    for (size_t i = 0; i < config->version_count; i++) {
        if (config->versions[i] == version) {
            return true;
        }
    }
    return config->version_count == 0 &&
           (config->newest == 0 || newer < config->newest);
}
