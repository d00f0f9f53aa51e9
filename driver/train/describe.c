/* The description of a training: a text for tools that keep weights and states of it.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     {"version": 1, "world_size": 2, "rank": 0,
 *      "optimizers": ["t*=sgd(lr=0.5)", "*=adam"],
 *      "trained": [{"name": "w", "optimizer": 1}],
 *      "tables": [{"name": "t0", "optimizer": 0, "rows": 11, "dim": 4, "parts": [
 *        {"column": 0, "columns": 4, "shards": [[rank, first row, rows, base], …]}]}]}
 *
 * "tables" are those that ranks have parts of, "trained" all else; "base" is the index
 * of the shard's first row in its rank's part.
 */
#include "base/platform/platform.h"
#include "driver/host.h"
#include "driver/train/training.h"
#include "ir/text/text.h"
#include "runtime/container.h"
#include "runtime/train_format.h"

#include <string.h>

enum { DESCRIPTION_VERSION = 1 };

static void put_parts(const ig_divided *divided, ig_writer *out) {
    for (uint32_t k = 0; k < divided->count; k++) {
        const ig_shard_part *part = &divided->parts[k];
        ig_put(out, "%s{\"column\": %lld, \"columns\": %lld, \"shards\": [",
               k ? ", " : "", (long long)part->column, (long long)part->columns);
        for (uint32_t i = 0; i < part->count; i++) {
            ig_put(out, "%s[%lld, %lld, %lld, %lld]", i ? ", " : "",
                   (long long)part->ranks[i], (long long)part->starts[i],
                   (long long)part->rows[i], (long long)part->bases[i]);
        }
        ig_put(out, "]}");
    }
}

static int64_t width_of(const ig_divided *divided) {
    int64_t width = 0;
    for (uint32_t k = 0; k < divided->count; k++) {
        width += divided->parts[k].columns;
    }
    return width;
}

static void put_tables(const ig_training *t, ig_writer *out) {
    size_t count = 0;
    for (size_t i = 0; i < t->held.count; i++) {
        const ig_held_table *table = &t->held.tables[i];
        if (!table->is_trained) {
            continue;
        }
        ig_put(out, count++ ? ",\n  {\"name\": " : "\n  {\"name\": ");
        ig_put_json_string(out, ig_str_of(table->name));
        ig_put(out, ", \"optimizer\": %u, \"rows\": %lld, \"dim\": %lld, \"parts\": [",
               table->group, (long long)table->divided.rows,
               (long long)width_of(&table->divided));
        put_parts(&table->divided, out);
        ig_put(out, "]}");
    }
}

static void put_trained(const ig_training *t, ig_writer *out) {
    size_t count = 0;
    for (size_t i = 0; i < t->trained.count; i++) {
        const ig_train_weight *w = &t->trained.items[i];
        if (!w->whole) {
            ig_put(out, count++ ? ",\n  {\"name\": " : "\n  {\"name\": ");
            ig_put_json_string(out, ig_str_of(w->name));
            ig_put(out, ", \"optimizer\": %u}", w->group);
        }
    }
}

void ig_train_put(const ig_training *t, ig_writer *out) {
    ig_put(out,
           "{\"version\": %d, \"world_size\": %lld, \"rank\": %zu,\n \"optimizers\": [",
           DESCRIPTION_VERSION, (long long)ig_train_world(t), t->options.rank);
    for (size_t i = 0; i < t->options.optimizer_count; i++) {
        ig_put(out, i ? ", " : "");
        ig_put_json_string(out, ig_str_of(t->options.optimizers[i]));
    }
    ig_put(out, "],\n \"trained\": [");
    put_trained(t, out);
    ig_put(out, "],\n \"tables\": [");
    put_tables(t, out);
    ig_put(out, "]}\n");
}

/* ---- of an artifact ---- */

typedef struct about_call {
    ig_context *context;
    const char *path, *text;
    ig_file_map map;
} about_call;

static ig_status read_about(void *arguments) {
    about_call *call = arguments;
    char why[256];
    ig_message message = { why, sizeof why, NULL };
    ig_location where = { .file = call->path };
    ig_container container;
    ig_str text;
    ig_status status = ig_file_map_open(call->path, &call->map, why);
    if (status == IG_OK) {
        status = ig_container_open((ig_str){ call->map.data, call->map.size },
                                   &container, &message);
    }
    if (status != IG_OK) {
        return ig_error(&call->context->diag, status, &where, "%s", why);
    }
    if (!ig_container_find(&container, IG_ENTRY_ABOUT, &text)) {
        return ig_error(
            &call->context->diag, IG_INVALID, &where,
            "its description of training is missing; write it again with 'ingot "
            "train -o'");
    }
    call->text = ig_arena_copy(&ig_driver_of(call->context)->arena, text.data,
                               text.size);
    return IG_OK;
}

ig_status ig_artifact_train(ig_context *context, const char *path,
                            const char **out_json) {
    about_call call = { .context = context, .path = path };
    ig_status status = ig_driver_guard(context, read_about, &call);
    ig_file_map_close(&call.map);
    *out_json = call.text;
    return ig_driver_settle(context, status);
}
