/* Plans and models: the tables of a model, and its program for one rank.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/checked.h"
#include "driver/artifact/record.h"
#include "driver/compile/compile.h"
#include "driver/shard/shard.h"
#include "driver/values/weight.h"
#include "ingot/shard.h"
#include "ir/bag.h"
#include "driver/shard/opened.h"
#include "passes/shard/mark.h"

#include <string.h>

enum { WORLD_MAX = IG_SHARD_WORLD_MAX };

/* A table that bags look up, and how often. */
typedef struct model_table {
    ig_value *table;                      /* a weight, opened or not */
    uint32_t pooled, sequences, weighted; /* features */
} model_table;

typedef struct model_call {
    ig_module *module;
    const char *name, *text, *out;
    ig_compile_options options;
    int64_t rank, world;
    int64_t of; /* what programs of one model and plan have in common */
    const char *made_of;
    ig_dtype wire;
    bool is_distinct; /* tables whose entries do not say */
    int64_t chunks;   /* of the batch */
    ig_arena *arena;
    IG_VEC(model_table) tables;
} model_call;

#define MODEL_ERROR(call, status, ...) \
    ig_error(&(call)->module->context->diag, status, where_of(call), __VA_ARGS__)

static const ig_location *where_of(const model_call *call) {
    ig_location *where = IG_NEW(call->arena, ig_location);
    where->file = call->name;
    return where;
}

/* ---- the tables of a model ---- */

static void note_feature(model_call *call, const ig_op *bag, uint32_t index) {
    ig_bag_feature f = ig_bag_feature_at(bag, index);
    for (uint32_t i = 0; i < f.tables; i++) {
        ig_value *value = bag->operands[f.table + i].value;
        if (!ig_table_name(value)) {
            continue;
        }
        size_t k = 0;
        while (k < call->tables.count && call->tables.items[k].table != value) {
            k++;
        }
        if (k == call->tables.count) {
            IG_PUSH(call->arena, &call->tables, ((model_table){ .table = value }));
        }
        model_table *table = &call->tables.items[k];
        table->pooled += f.pool != IG_POOL_none;
        table->sequences += f.pool == IG_POOL_none;
        table->weighted += f.weights > 0;
    }
}

/* Bodies nest at most limits.graph_depth deep. */
static void list_tables(model_call *call, const ig_block *block) {
    for (const ig_op *op = block->first; op; op = op->next) {
        for (uint32_t i = 0; i < op->body_count; i++) {
            list_tables(call, op->bodies[i]);
        }
        for (uint32_t i = 0; op->code == IG_OP_bag && i < op->result_count; i++) {
            note_feature(call, op, i);
        }
    }
}

static ig_status run_passes(const model_call *call, const char *pipeline) {
    ig_pass_options options = { .torch_empty = call->options.torch_empty,
                                .clamp_ids = call->options.clamp_ids };
    return ig_passes_run(call->module, &options, pipeline);
}

/* Look-ups become bags, and their tables are listed. */
static ig_status find_tables(model_call *call) {
    IG_TRY(run_passes(call, ig_pipeline_clean));
    IG_TRY(run_passes(call, ig_pipeline_understand));
    const ig_graph *graph = ig_entry_of(call->module);
    if (graph) {
        list_tables(call, &graph->body);
    }
    return call->tables.count
               ? IG_OK
               : MODEL_ERROR(call, IG_INVALID, "the model looks up no embedding table");
}

static const char *name_of(const model_table *table) {
    return ig_table_name(table->table);
}

/* ---- as the planner's input ---- */

/* The size of its row; `out_factors`: of that its scale and bias. */
static int64_t row_bytes(const ig_type *type, int64_t dim, int64_t *out_factors) {
    unsigned bits = ig_dtypes[type->dtype].bits;
    ig_row_layout layout;
    *out_factors = 0;
    if (type->kind != IG_TABLE || !ig_row_layout_of(type->rows, bits, dim, &layout)) {
        return (dim * bits + 7) / 8;
    }
    const ig_row_info *info = &ig_rows_formats[type->rows.format];
    *out_factors = info->side ? 2 * (ig_dtypes[info->dtype].bits / 8) : 0;
    return layout.stride;
}

static void put_table(ig_writer *out, const model_table *table) {
    const ig_type *type = table->table->type;
    int64_t rows = 0, dim = 0, factors;
    (void)ig_dim_known(type->dims[0], &rows); /* of constants they are */
    (void)ig_dim_known(type->dims[1], &dim);
    ig_put(out, "{\"name\": ");
    ig_put_json_string(out, ig_str_of(name_of(table)));
    ig_put(out, ", \"rows\": %lld, \"dim\": %lld", (long long)rows, (long long)dim);
    if (type->kind != IG_TENSOR || type->dtype != IG_DT_f32) {
        int64_t bytes = row_bytes(type, dim, &factors);
        ig_put(out, ", \"row_bytes\": %lld, \"row_factors\": %lld", (long long)bytes,
               (long long)factors);
    }
    ig_put(out, "%s}", table->sequences ? ", \"is_sequence\": true" : "");
}

static void put_factors(ig_writer *out, const model_table *table) {
    ig_put_json_string(out, ig_str_of(name_of(table)));
    ig_put(out, ": {\"pooling_factors\": [1");
    for (uint32_t i = 1; i < table->pooled + table->sequences; i++) {
        ig_put(out, ", 1");
    }
    ig_put(out, "]}");
}

static ig_status print_tables(void *arguments) {
    model_call *call = arguments;
    ig_writer out;
    uint32_t weighted = 0;
    IG_TRY(find_tables(call));
    ig_writer_init(&out, call->arena);
    ig_put(&out, "{\"tables\": [");
    for (size_t i = 0; i < call->tables.count; i++) {
        weighted += call->tables.items[i].weighted;
        ig_put(&out, i ? ",\n  " : "\n  ");
        put_table(&out, &call->tables.items[i]);
    }
    ig_put(&out, "],\n\"constraints\": {");
    for (size_t i = 0; i < call->tables.count; i++) {
        ig_put(&out, i ? ",\n  " : "\n  ");
        put_factors(&out, &call->tables.items[i]);
    }
    ig_put(&out, "},\n\"is_weighted\": %s}\n", weighted ? "true" : "false");
    call->out = out.data;
    return IG_OK;
}

ig_status ig_module_tables(ig_module *module, const ig_compile_options *options,
                           const char **out_json) {
    model_call call = { .module = module,
                        .name = module->path,
                        .arena = ig_driver_results(module) };
    ig_options_take(module->context, &call.options, sizeof call.options, options);
    ig_status status = ig_driver_guard(module->context, print_tables, &call);
    *out_json = status == IG_OK ? call.out : NULL;
    return ig_driver_settle(module->context, status);
}

/* ---- a plan onto a model ---- */

static const char *list_names(const model_call *call) {
    ig_writer out;
    ig_writer_init(&out, call->arena);
    for (size_t i = 0; i < call->tables.count; i++) {
        ig_put(&out, "%s'%s'", i ? ", " : "", name_of(&call->tables.items[i]));
    }
    return out.data;
}

static ig_status find_table(const model_call *call, const char *name, ig_value **out) {
    size_t found = 0;
    for (size_t i = 0; i < call->tables.count; i++) {
        const model_table *table = &call->tables.items[i];
        if (strcmp(name_of(table), name) == 0) {
            *out = table->table;
            return IG_OK;
        }
        if (*name && ig_name_has_part(name_of(table), name)) {
            *out = table->table;
            found++;
        }
    }
    return found == 1
               ? IG_OK
               : MODEL_ERROR(call, IG_INVALID,
                             "plan: %s table of the model is '%s'; it has %s",
                             found ? "more than one" : "no", name, list_names(call));
}

static bool read_pair(const ig_json *shard, const char *key, int64_t *first,
                      int64_t *second) {
    const ig_json *pair = ig_json_get(shard, key);
    return pair && pair->kind == IG_JSON_ARRAY && ig_json_count(pair) == 2 &&
           ig_json_int(&pair->as.list.items[0], first) &&
           ig_json_int(&pair->as.list.items[1], second);
}

static ig_status read_shards(const model_call *call, const ig_json *entry,
                             ig_shard_mark *mark) {
    const ig_json *shards = ig_json_get(entry, "shards");
    const char *name = ig_json_text(ig_json_get(entry, "name"));
    size_t count = ig_json_count(shards);
    if (!shards || shards->kind != IG_JSON_ARRAY || count == 0 ||
        count > IG_SHARD_PARTS_MAX) {
        return MODEL_ERROR(call, IG_INVALID,
                           "plan: table '%s': \"shards\" must be a list of 1 to %d, as "
                           "[{\"rank\": 0, \"size\": [8, 4], \"offset\": [0, 0]}]",
                           name, IG_SHARD_PARTS_MAX);
    }
    ig_shard *out = IG_NEW_ARRAY(call->arena, ig_shard, count);
    for (size_t i = 0; i < count; i++) {
        const ig_json *shard = &shards->as.list.items[i];
        if (!ig_json_int(ig_json_get(shard, "rank"), &out[i].rank) ||
            !read_pair(shard, "size", &out[i].rows, &out[i].columns) ||
            !read_pair(shard, "offset", &out[i].row, &out[i].column)) {
            return MODEL_ERROR(call, IG_INVALID,
                               "plan: table '%s': shard %zu needs \"rank\", and "
                               "\"size\" and \"offset\" in rows and columns",
                               name, i);
        }
    }
    mark->shards = out;
    mark->count = (uint32_t)count;
    return IG_OK;
}

static bool is_inside(int64_t first, int64_t count, int64_t max) {
    return first >= 0 && count >= 0 && first <= max && count <= max - first;
}

static bool do_overlap(const ig_shard *a, const ig_shard *b) {
    return a->row < b->row + b->rows && b->row < a->row + a->rows &&
           a->column < b->column + b->columns && b->column < a->column + a->columns;
}

/* One shard against the table, the ranks and the shards before it. */
static ig_status check_shard(const model_call *call, const char *name,
                             const ig_shard_mark *mark, uint32_t index,
                             const int64_t extents[2]) {
    const ig_shard *shard = &mark->shards[index];
    if (shard->rank < 0 || shard->rank >= call->world) {
        return MODEL_ERROR(call, IG_INVALID,
                           "plan: table '%s': shard %u is for rank %lld; ranks are 0 "
                           "to %lld",
                           name, index, (long long)shard->rank,
                           (long long)call->world - 1);
    }
    if (!is_inside(shard->row, shard->rows, extents[0]) ||
        !is_inside(shard->column, shard->columns, extents[1])) {
        return MODEL_ERROR(call, IG_INVALID,
                           "plan: table '%s': shard %u has %lld rows from %lld on and "
                           "%lld columns from %lld on, and the table %lld rows of %lld",
                           name, index, (long long)shard->rows, (long long)shard->row,
                           (long long)shard->columns, (long long)shard->column,
                           (long long)extents[0], (long long)extents[1]);
    }
    for (uint32_t i = 0; i < index; i++) {
        if (do_overlap(&mark->shards[i], shard)) {
            return MODEL_ERROR(call, IG_INVALID,
                               "plan: table '%s': shards %u and %u have elements in "
                               "common; each must be in one shard",
                               name, i, index);
        }
    }
    return IG_OK;
}

/* Shards cover the table once. */
static ig_status check_cover(const model_call *call, const ig_value *table,
                             const ig_shard_mark *mark) {
    const ig_type *type = table->type;
    const char *name = ig_table_name(table);
    int64_t extents[2] = { 0, 0 }, left;
    (void)ig_dim_known(type->dims[0], &extents[0]); /* of constants they are */
    (void)ig_dim_known(type->dims[1], &extents[1]);
    if (!ig_mul_i64(extents[0], extents[1], &left)) {
        return MODEL_ERROR(call, IG_LIMIT, "plan: table '%s' is too large", name);
    }
    for (uint32_t i = 0; i < mark->count; i++) {
        IG_TRY(check_shard(call, name, mark, i, extents));
        left -= mark->shards[i].rows * mark->shards[i].columns;
    }
    return left == 0 ? IG_OK
                     : MODEL_ERROR(
                           call, IG_INVALID,
                           "plan: table '%s': %lld of its %lld x %lld elements are in "
                           "no shard; shards must cover the table",
                           name, (long long)left, (long long)extents[0],
                           (long long)extents[1]);
}

/* "deduplicate": an id travels once.  Left as it is where nothing is said. */
static ig_status read_distinct(const model_call *call, const ig_json *from,
                               bool *out_distinct) {
    const ig_json *given = ig_json_get(from, "deduplicate");
    if (given && given->kind != IG_JSON_BOOL) {
        return MODEL_ERROR(call, IG_INVALID,
                           "plan: \"deduplicate\" must be true or false");
    }
    *out_distinct = given ? given->as.b : *out_distinct;
    return IG_OK;
}

static ig_status mark_entry(const model_call *call, const ig_json *entry) {
    ig_value *table = NULL;
    ig_shard_mark mark = { .world = call->world,
                           .rank = call->rank,
                           .of = call->of,
                           .wire = call->wire,
                           .has_wire = call->wire != IG_DT_f32,
                           .is_distinct = call->is_distinct,
                           .chunks = call->chunks };
    const char *name = ig_json_text(ig_json_get(entry, "name"));
    const char *type = ig_json_text(ig_json_get(entry, "sharding_type"));
    IG_TRY(find_table(call, name, &table));
    for (const ig_use *use = table->uses; use; use = use->next) {
        if (use->user->code == IG_OP_shard) {
            return MODEL_ERROR(call, IG_INVALID, "plan: table '%s' has two entries",
                               name);
        }
    }
    IG_TRY(read_distinct(call, entry, &mark.is_distinct));
    if (strcmp(type, "data_parallel") != 0) {
        IG_TRY(read_shards(call, entry, &mark));
        IG_TRY(check_cover(call, table, &mark));
    }
    return ig_mark_table(table, &mark);
}

/* "world_size", or as many ranks as the plan lists. */
static ig_status read_world(model_call *call, const ig_json *plan) {
    call->world = (int64_t)ig_json_count(ig_json_get(plan, "ranks"));
    if (!call->world) {
        (void)ig_json_int(ig_json_get(plan, "world_size"), &call->world);
    }
    if (call->world < 1 || call->world > WORLD_MAX) {
        return MODEL_ERROR(call, IG_INVALID,
                           "plan: \"ranks\" must list the ranks, or \"world_size\" say "
                           "how many there are (1 to %d)",
                           WORLD_MAX);
    }
    return call->rank < call->world
               ? IG_OK
               : MODEL_ERROR(call, IG_INVALID, "plan: there is no rank %lld of %lld",
                             (long long)call->rank, (long long)call->world);
}

/* "communication": what rows travel as. */
static ig_status read_wire(model_call *call, const ig_json *plan) {
    static const struct {
        const char *name;
        ig_dtype dtype;
    } wires[] = { { "fp32", IG_DT_f32 },
                  { "fp16", IG_DT_f16 },
                  { "bf16", IG_DT_bf16 },
                  { "int8", IG_DT_i8 } };
    const ig_json *given = ig_json_get(plan, "communication");
    call->wire = IG_DT_f32;
    for (size_t i = 0; given && i < IG_COUNT_OF(wires); i++) {
        if (strcmp(ig_json_text(given), wires[i].name) == 0) {
            call->wire = wires[i].dtype;
            return IG_OK;
        }
    }
    return !given ? IG_OK
                  : MODEL_ERROR(
                        call, IG_INVALID,
                        "plan: \"communication\" must be fp32, fp16, bf16 or int8");
}

/* "chunks": of the batch, whose rows travel while others are computed with. */
static ig_status read_chunks(model_call *call, const ig_json *plan) {
    const ig_json *given = ig_json_get(plan, "chunks");
    call->chunks = 1;
    bool is_good = !given || (ig_json_int(given, &call->chunks) && call->chunks >= 1 &&
                              call->chunks <= IG_SHARD_CHUNKS_MAX);
    return is_good ? IG_OK
                   : MODEL_ERROR(call, IG_INVALID,
                                 "plan: \"chunks\" must be a number from 1 to %d",
                                 IG_SHARD_CHUNKS_MAX);
}

/* Numbers of a weight: all of a small one, of another samples spread evenly. */
static uint64_t hash_weight(const ig_weight *weight, uint64_t seed) {
    enum { BLOCK = 4096, BLOCKS = 16 };
    const ig_data *data = &weight->data;
    seed = ig_hash_bytes(weight->name, strlen(weight->name), seed);
    seed = ig_hash_bytes(&data->size, sizeof data->size, seed);
    if (!data->bytes || weight->is_recipe) {
        return seed;
    }
    int64_t element = (ig_dtypes[data->type->dtype].bits + 7) / 8;
    int64_t held = data->is_splat && data->size > element ? element : data->size;
    if (held <= BLOCK * BLOCKS) {
        return ig_hash_bytes(data->bytes, (size_t)held, seed);
    }
    for (int64_t i = 0; i < BLOCKS; i++) {
        int64_t at = (data->size - BLOCK) / (BLOCKS - 1) * i;
        seed = ig_hash_bytes((const char *)data->bytes + at, BLOCK, seed);
    }
    return seed;
}

/* Of the graph, its weights and the plan: above 0, and the same on every rank. */
static int64_t hash_model(const model_call *call) {
    uint64_t hash = ig_hash_bytes(call->text, strlen(call->text), 0);
    const ig_graph *graph = ig_entry_of(call->module);
    hash ^= graph ? ig_graph_hash(graph) : 0;
    for (size_t i = 0; i < call->module->weights.count; i++) {
        hash = hash_weight(call->module->weights.items[i], hash);
    }
    return (int64_t)(hash >> 2) | 1;
}

static shard_record *begin_record(const model_call *call) {
    ig_value **tables = IG_NEW_ARRAY(call->arena, ig_value *, call->tables.count);
    for (size_t i = 0; i < call->tables.count; i++) {
        tables[i] = call->tables.items[i].table;
    }
    shard_record *record = shard_record_begin(call->module, tables, call->tables.count,
                                              call->world, call->rank);
    record->made_of = call->made_of;
    return record;
}

/* Settings of the plan for all tables, and then its entries. */
static ig_status read_plan(model_call *call, const ig_json **out_tables) {
    const ig_json *plan;
    IG_TRY(ig_json_read(call->module->context, call->arena, where_of(call),
                        ig_str_of(call->text), &plan));
    const char *made_of = ig_json_text(ig_json_get(plan, "made_of"));
    call->made_of = made_of ? ig_arena_strdup(&call->module->arena, made_of) : NULL;
    IG_TRY(read_world(call, plan));
    IG_TRY(read_wire(call, plan));
    IG_TRY(read_distinct(call, plan, &call->is_distinct));
    IG_TRY(read_chunks(call, plan));
    *out_tables = ig_json_get(plan, "tables");
    bool is_list = *out_tables && (*out_tables)->kind == IG_JSON_ARRAY;
    return is_list ? IG_OK
                   : MODEL_ERROR(call, IG_INVALID,
                                 "plan: \"tables\" must be a list, as ingot shard "
                                 "writes it");
}

static ig_status mark_entries(model_call *call, const ig_json *tables) {
    call->of = hash_model(call);
    for (size_t i = 0; i < ig_json_count(tables); i++) {
        IG_TRY(mark_entry(call, &tables->as.list.items[i]));
    }
    return IG_OK;
}

static ig_status shard_module(void *arguments) {
    model_call *call = arguments;
    const ig_json *tables;
    IG_TRY(read_plan(call, &tables));
    IG_TRY(find_tables(call));
    shard_record *record = begin_record(call);
    IG_TRY(mark_entries(call, tables));
    record->of = call->of;
    IG_TRY(shard_record_pieces(record, call->module));
    shard_record_keep(call->module, record);
    IG_TRY(run_passes(call, "shard"));
    return run_passes(call, ig_pipeline_clean);
}

ig_status ig_module_shard(ig_module *module, const char *name, const char *plan,
                          size_t rank, const ig_compile_options *options) {
    model_call call = { .module = module,
                        .name = name,
                        .text = plan,
                        .rank = rank < WORLD_MAX ? (int64_t)rank : WORLD_MAX,
                        .arena = ig_driver_results(module) };
    ig_options_take(module->context, &call.options, sizeof call.options, options);
    ig_status status = ig_driver_guard(module->context, shard_module, &call);
    return ig_driver_settle(module->context, status);
}

/* ---- tables in training ---- */

static const ig_op *mark_of(const ig_value *table) {
    const ig_use *use = table->uses;
    while (use && use->user->code != IG_OP_shard) {
        use = use->next;
    }
    return use ? use->user : NULL;
}

static ig_status hold_table(const model_call *call, const ig_value *value,
                            ig_held_table *out) {
    ig_op *mark = (ig_op *)(uintptr_t)mark_of(value);
    *out = (ig_held_table){ .name = ig_table_name(value), .rank = call->rank };
    return mark ? ig_divide_parts(mark, call->arena, &out->divided) : IG_OK;
}

ig_status ig_opened_divide(ig_module *module, const ig_opened_plan *plan,
                           ig_arena *arena, ig_held *out) {
    model_call call = { .module = module,
                        .name = plan->name ? plan->name : "plan",
                        .text = plan->text,
                        .rank = (int64_t)plan->rank,
                        .arena = arena };
    const ig_json *tables;
    const ig_graph *graph = ig_entry_of(module);
    IG_TRY(read_plan(&call, &tables));
    if (call.wire == IG_DT_i8) {
        return MODEL_ERROR(&call, IG_UNSUPPORTED,
                           "plan: rows of tables that are trained cannot travel as "
                           "int8: codes have no gradient");
    }
    list_tables(&call, &graph->body);
    IG_TRY(mark_entries(&call, tables));
    *out = (ig_held){ .world = call.world, .count = call.tables.count };
    out->tables = IG_NEW_ARRAY(arena, ig_held_table, out->count);
    for (size_t i = 0; i < out->count; i++) {
        IG_TRY(hold_table(&call, call.tables.items[i].table, &out->tables[i]));
    }
    return run_passes(&call, "shard");
}

const char *ig_held_name(const ig_held_table *table, ig_arena *arena, uint32_t part) {
    const ig_shard_part *p = &table->divided.parts[part];
    int64_t dim = 0;
    for (uint32_t i = 0; i < table->divided.count; i++) {
        dim += table->divided.parts[i].columns;
    }
    bool is_all = p->own == table->divided.rows && p->columns == dim;
    return p->own == 0 ? NULL
           : is_all    ? table->name
                       : ig_arena_printf(arena, "%s.%u", table->name, part);
}
