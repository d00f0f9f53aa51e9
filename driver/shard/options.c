/* The public function: every option of every table, as JSON.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/host.h"
#include "driver/shard/shard.h"
#include "ingot/shard.h"

typedef struct options_call {
    ig_context *context;
    const char *name, *text, *out;
} options_call;

static void put_part(ig_writer *out, const shard_part *part) {
    const struct {
        const char *name;
        double value;
    } times[] = {
        { "fwd_compute", part->fwd_compute },
        { "fwd_comms", part->fwd_comms },
        { "bwd_compute", part->bwd_compute },
        { "bwd_comms", part->bwd_comms },
        { "total",
          part->fwd_compute + part->bwd_compute + part->fwd_comms + part->bwd_comms },
    };
    ig_put(out, "{\"size\": [%lld, %lld], \"offset\": [%lld, %lld], ",
           (long long)part->size[0], (long long)part->size[1],
           (long long)part->offset[0], (long long)part->offset[1]);
    ig_put(out, "\"storage\": {\"hbm\": %.0f, \"ddr\": %.0f}, \"perf\": {", part->hbm,
           part->ddr);
    for (size_t i = 0; i < IG_COUNT_OF(times); i++) {
        ig_put(out, "%s\"%s\": %.17g", i ? ", " : "", times[i].name, times[i].value);
    }
    ig_put(out, "}}");
}

static void put_option(ig_writer *out, const shard_option *option) {
    ig_put(out, "{\"name\": ");
    ig_put_json_string(out, ig_str_of(option->table->name));
    ig_put(out,
           ", \"sharding_type\": \"%s\", \"compute_kernel\": \"%s\", \"shards\": [",
           shard_type_names[option->type], shard_kernel_names[option->kernel]);
    for (int64_t i = 0; i < option->part_count; i++) {
        ig_put(out, i ? ",\n  " : "\n  ");
        put_part(out, &option->parts[i]);
    }
    ig_put(out, "]}");
}

static ig_status list_options(void *arguments) {
    options_call *call = arguments;
    ig_arena *arena = &ig_driver_of(call->context)->arena;
    ig_location where = { .file = call->name };
    shard_problem problem = { 0 };
    IG_TRY(shard_problem_read(call->context, arena, &where, ig_str_of(call->text),
                              &problem));
    shard_choice *choices;
    IG_TRY(shard_list_choices(call->context, arena, &where, &problem, &choices));
    ig_writer out;
    ig_writer_init(&out, arena);
    ig_put(&out, "[");
    for (size_t i = 0; i < problem.table_count; i++) {
        for (size_t k = 0; k < choices[i].count; k++) {
            ig_put(&out, i + k > 0 ? ",\n " : "");
            put_option(&out, &choices[i].options[k]);
        }
    }
    ig_put(&out, "]\n");
    call->out = ig_writer_str(&out).data;
    return IG_OK;
}

ig_status ig_shard_options(ig_context *context, const char *name, const char *text,
                           const char **out_json) {
    options_call call = { .context = context, .name = name, .text = text, .out = "" };
    ig_status status = ig_driver_guard(context, list_options, &call);
    *out_json = call.out;
    return ig_driver_settle(context, status);
}
