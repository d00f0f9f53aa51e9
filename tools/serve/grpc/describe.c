/* Messages about the server.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/grpc/describe.h"

#include "tools/serve/call/datatype.h"
#include "tools/serve/grpc/message.h"

#include <stdio.h>

bool tell_server(bytes *to) {
    static char *extensions[] = { "model_repository", "model_configuration",
                                  "statistics", "binary_tensor_data" };
    Oip__ServerMetadata message = OIP__SERVER_METADATA__INIT;
    message.name = "ingot";
    message.version = INGOT_VERSION;
    message.extensions = extensions;
    message.n_extensions = sizeof extensions / sizeof *extensions;
    return message_write(to, &message.base);
}

bool tell_flag(bytes *to, bool is_so) {
    Oip__Flag message = OIP__FLAG__INIT;
    message.is_so = is_so;
    return message_write(to, &message.base);
}

bool tell_nothing(bytes *to) {
    Oip__Nothing message = OIP__NOTHING__INIT;
    return message_write(to, &message.base);
}

static char *write_number(pool *memory, int64_t number) {
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)number);
    return pool_copy_text(memory, text);
}

/* A list of `count` messages of `size` bytes each, and of pointers to them. */
static void *take_messages(pool *memory, size_t count, size_t size,
                           void *out_pointers) {
    char *messages = pool_take_array(memory, count, size);
    void **pointers = pool_take_array(memory, count, sizeof *pointers);
    for (size_t i = 0; messages && pointers && i < count; i++) {
        pointers[i] = messages + i * size;
    }
    *(void ***)out_pointers = pointers;
    return pointers ? messages : NULL;
}

/* ---- metadata and config ---- */

static bool list_ports(pool *memory, const ig_port *ports, size_t count,
                       Oip__TensorMetadata ***out) {
    Oip__TensorMetadata *rows = take_messages(memory, count, sizeof *rows, out);
    for (size_t i = 0; rows && i < count; i++) {
        oip__tensor_metadata__init(&rows[i]);
        rows[i].name = (char *)ports[i].name;
        rows[i].datatype = (char *)datatype_name(ports[i].dtype);
        rows[i].n_shape = ports[i].rank;
        rows[i].shape = (int64_t *)ports[i].dims;
    }
    return rows != NULL;
}

bool tell_model(bytes *to, pool *memory, const catalog *list, const served *of) {
    Oip__ModelMetadata message = OIP__MODEL_METADATA__INIT;
    size_t count, first = catalog_rows_of(list, of->name, &count);
    message.name = of->name;
    message.platform = (char *)of->platform;
    message.versions = pool_take_array(memory, count, sizeof *message.versions);
    if (!message.versions) {
        return false;
    }
    for (size_t i = first + count; i-- > first;) { /* oldest first */
        if (list->rows[i].is_ready &&
            !(message.versions[message.n_versions++] =
                  write_number(memory, list->rows[i].version))) {
            return false;
        }
    }
    message.n_inputs = of->shown_input_count;
    message.n_outputs = of->shown_output_count;
    return list_ports(memory, of->shown_inputs, of->shown_input_count,
                      &message.inputs) &&
           list_ports(memory, of->shown_outputs, of->shown_output_count,
                      &message.outputs) &&
           message_write(to, &message.base);
}

bool tell_config(bytes *to, pool *memory, const served *of) {
    Oip__ModelConfigAnswer answer = OIP__MODEL_CONFIG_ANSWER__INIT;
    Oip__ModelConfig config = OIP__MODEL_CONFIG__INIT;
    Oip__DynamicBatching batching = OIP__DYNAMIC_BATCHING__INIT;
    uint32_t batch = of->config.max_batch_size > 0;
    answer.config = &config;
    config.name = of->name;
    config.platform = (char *)of->platform;
    config.backend = "ingot";
    config.max_batch_size = (int32_t)of->config.max_batch_size;
    config.n_input = of->shown_input_count;
    config.n_output = of->shown_output_count;
    Oip__ConfigInput *inputs = take_messages(memory, of->shown_input_count,
                                             sizeof *inputs, &config.input);
    Oip__ConfigOutput *outputs = take_messages(memory, of->shown_output_count,
                                               sizeof *outputs, &config.output);
    for (size_t i = 0; inputs && i < of->shown_input_count; i++) {
        const ig_port *port = &of->shown_inputs[i];
        oip__config_input__init(&inputs[i]);
        inputs[i].name = (char *)port->name;
        inputs[i].data_type = datatype_config_id(port->dtype);
        inputs[i].n_dims = port->rank > batch ? port->rank - batch : 0;
        inputs[i].dims = (int64_t *)port->dims + batch;
    }
    for (size_t i = 0; outputs && i < of->shown_output_count; i++) {
        const ig_port *port = &of->shown_outputs[i];
        oip__config_output__init(&outputs[i]);
        outputs[i].name = (char *)port->name;
        outputs[i].data_type = datatype_config_id(port->dtype);
        outputs[i].n_dims = port->rank > batch ? port->rank - batch : 0;
        outputs[i].dims = (int64_t *)port->dims + batch;
    }
    batching.max_queue_delay_microseconds = (uint64_t)of->config.queue_delay / 1000;
    config.dynamic_batching = of->max_batch_size ? &batching : NULL;
    return inputs && outputs && message_write(to, &answer.base);
}

/* ---- statistics ---- */

typedef struct statistics_row {
    Oip__ModelStatistics message;
    Oip__InferStatistics infer;
    Oip__Duration success, fail, queue, compute, other;
} statistics_row;

static void fill_duration(Oip__Duration *to, uint64_t count, uint64_t ns) {
    oip__duration__init(to);
    to->count = count;
    to->ns = ns;
}

static bool fill_row(statistics_row *to, pool *memory, const served *of) {
    statistics all = { 0 };
    for (size_t i = 0; i < of->loop_count; i++) {
        statistics_sum(&all, &of->counts[i]);
    }
    const histogram *total = &all.of[MEASURE_TOTAL], *queue = &all.of[MEASURE_QUEUE],
                    *compute = &all.of[MEASURE_COMPUTE];
    oip__model_statistics__init(&to->message);
    oip__infer_statistics__init(&to->infer);
    fill_duration(&to->success, count_now(&total->count), count_now(&total->sum));
    fill_duration(&to->fail, count_now(&all.failed), count_now(&all.failed_ns));
    fill_duration(&to->queue, count_now(&queue->count), count_now(&queue->sum));
    fill_duration(&to->compute, count_now(&compute->count), count_now(&compute->sum));
    fill_duration(&to->other, count_now(&queue->count), 0);
    to->infer.success = &to->success;
    to->infer.fail = &to->fail;
    to->infer.queue = &to->queue;
    to->infer.compute_infer = &to->compute;
    to->infer.compute_input = to->infer.compute_output = &to->other;
    to->message.inference_stats = &to->infer;
    to->message.name = of->name;
    to->message.version = write_number(memory, of->version);
    to->message.last_inference = count_now(&all.last_ms);
    to->message.inference_count = count_now(&all.rows);
    to->message.execution_count = count_now(&all.runs);
    return to->message.version != NULL;
}

bool tell_statistics(bytes *to, pool *memory, const catalog *list, const served *of) {
    Oip__ModelStatisticsAnswer answer = OIP__MODEL_STATISTICS_ANSWER__INIT;
    statistics_row *rows = pool_take_array(memory, list->count, sizeof *rows);
    answer.model_stats = pool_take_array(memory, list->count,
                                         sizeof *answer.model_stats);
    bool is_good = rows && answer.model_stats;
    for (size_t i = 0; is_good && i < list->count; i++) {
        const catalog_row *row = &list->rows[i];
        if (row->is_ready && (!of || row->served == of)) {
            statistics_row *next = &rows[answer.n_model_stats];
            is_good = fill_row(next, memory, row->served);
            answer.model_stats[answer.n_model_stats++] = &next->message;
        }
    }
    return is_good && message_write(to, &answer.base);
}

bool tell_index(bytes *to, pool *memory, const catalog *list, bool only_ready) {
    Oip__IndexAnswer answer = OIP__INDEX_ANSWER__INIT;
    Oip__ModelIndex *rows = take_messages(memory, list->count, sizeof *rows,
                                          &answer.models);
    for (size_t i = 0; rows && i < list->count; i++) {
        const catalog_row *from = &list->rows[i];
        if (only_ready && !from->is_ready) {
            continue;
        }
        Oip__ModelIndex *row = answer.models[answer.n_models++];
        oip__model_index__init(row);
        row->name = from->name;
        row->version = write_number(memory, from->version);
        row->state = from->is_ready ? "READY" : "UNAVAILABLE";
        row->reason = from->reason;
        if (!row->version) {
            return false;
        }
    }
    return rows && message_write(to, &answer.base);
}

/* ---- shared memory ---- */

typedef struct region_list {
    pool *memory;
    Oip__SharedRegionEntry **rows;
    size_t count, room;
    bool has_failed;
} region_list;

/* A row of a list that doubles; NULL: memory ran out. */
static Oip__SharedRegionEntry **next_row(region_list *of) {
    if (of->count == of->room) {
        size_t room = of->room ? 2 * of->room : 16;
        Oip__SharedRegionEntry **grown = pool_take_array(of->memory, room,
                                                         sizeof *grown);
        for (size_t i = 0; grown && i < of->count; i++) {
            grown[i] = of->rows[i];
        }
        of->rows = grown ? grown : of->rows;
        of->room = grown ? room : of->room;
    }
    return of->count < of->room ? &of->rows[of->count++] : NULL;
}

static void add_region(void *user, const region *each) {
    region_list *to = user;
    Oip__SharedRegionEntry **row = next_row(to);
    Oip__SharedRegionEntry *entry = row ? pool_take(to->memory, sizeof *entry) : NULL;
    Oip__SharedRegion *value = entry ? pool_take(to->memory, sizeof *value) : NULL;
    if (!value) {
        to->has_failed = true;
        return;
    }
    oip__shared_region_entry__init(entry);
    oip__shared_region__init(value);
    value->name = entry->key = pool_copy_text(to->memory, each->name);
    value->key = pool_copy_text(to->memory, each->key);
    value->offset = each->offset;
    value->byte_size = each->size;
    entry->value = value;
    *row = entry;
    to->has_failed = to->has_failed || !value->name || !value->key;
}

call_status tell_regions(bytes *to, pool *memory, regions *of, const char *name) {
    Oip__SharedStatus answer = OIP__SHARED_STATUS__INIT;
    region_list rows = { .memory = memory };
    call_status status = regions_visit(of, name, add_region, &rows);
    answer.regions = rows.rows;
    answer.n_regions = rows.count;
    bool is_good = !rows.has_failed &&
                   (status != CALL_OK || message_write(to, &answer.base));
    return is_good ? status : CALL_FULL;
}
