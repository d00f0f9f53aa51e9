/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/artifact/record.h"

#include "driver/host.h"
#include "ir/semantics/used.h"
#include "ir/text/text.h"
#include "passes/shard/divided.h"

#include <assert.h>
#include <string.h>

/* Of records beside their modules. */
static const char record_key;

void shard_record_keep(ig_module *module, const shard_record *record) {
    ig_module_keep_beside(module, &record_key, record);
}

const shard_record *shard_record_of(const ig_module *module) {
    return ig_module_beside(module, &record_key);
}

/* ---- the model as it was ---- */

static bool is_stored(const ig_weight *weight) {
    return !weight->is_recipe && !weight->data.is_splat && weight->data.bytes;
}

enum { NOT_THERE = -1 };

/* The position of each constant in the file: by its number.  The size of the file. */
static int64_t place_constants(const ig_module *module, const ig_map *used,
                               int64_t *offsets) {
    int64_t at = 0;
    for (size_t i = 0; i < module->weights.count; i++) {
        const ig_weight *weight = module->weights.items[i];
        offsets[i] = NOT_THERE;
        if (is_stored(weight) && ig_map_get_id(used, IG_MAP_PTR(weight))) {
            at += -at & (SHARD_ALIGN - 1);
            offsets[i] = at;
            at += weight->data.size;
        }
    }
    return at;
}

static ig_str print_whole(ig_module *module, const ig_map *used,
                          const int64_t *offsets) {
    ig_module *copy = ig_module_clone(module);
    ig_writer text;
    size_t kept = 0;
    copy->folder = "";
    assert(copy->weights.count == module->weights.count && "a copy has all weights");
    for (size_t i = 0; i < module->weights.count; i++) {
        ig_weight *weight = copy->weights.items[i];
        ig_data *data = &weight->data;
        data->file = offsets[i] != NOT_THERE ? SHARD_FILE : NULL;
        data->offset = offsets[i] != NOT_THERE ? offsets[i] : 0;
        if (ig_map_get_id(used, IG_MAP_PTR(module->weights.items[i]))) {
            copy->weights.items[kept++] = weight;
        }
    }
    copy->weights.count = kept; /* it is only printed */
    ig_writer_init(&text, &module->arena);
    ig_print_module(copy, &text);
    ig_module_destroy(copy);
    return ig_writer_str(&text);
}

static bool is_table(const ig_weight *weight, ig_value *const *tables, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(ig_table_name(tables[i]), weight->name) == 0) {
            return true;
        }
    }
    return false;
}

static void add_table(shard_record *record, ig_module *module, const ig_weight *weight,
                      int64_t offset) {
    shard_held table = { .weight = weight, .offset = offset };
    (void)ig_dim_known(weight->type->dims[0], &table.rows); /* of constants they are */
    (void)ig_dim_known(weight->type->dims[1], &table.dim);
    IG_PUSH(&module->arena, &record->tables, table);
}

shard_record *shard_record_begin(ig_module *module, ig_value *const *tables,
                                 size_t count, int64_t world, int64_t rank) {
    ig_arena *arena = &module->arena;
    shard_record *record = IG_NEW(arena, shard_record);
    int64_t *offsets = IG_NEW_ARRAY(arena, int64_t, module->weights.count);
    record->world = world;
    record->rank = rank;
    ig_map used;
    ig_used_list(module, arena, &used);
    record->bytes = place_constants(module, &used, offsets);
    for (size_t i = 0; i < module->weights.count; i++) {
        const ig_weight *weight = module->weights.items[i];
        if (offsets[i] == NOT_THERE) {
            continue;
        }
        if (is_table(weight, tables, count)) {
            add_table(record, module, weight, offsets[i]);
        } else if (rank == 0) {
            ig_artifact_span span = { weight->data.bytes, (uint64_t)offsets[i],
                                      (uint64_t)weight->data.size };
            IG_PUSH(arena, &record->dense, span);
        }
    }
    if (rank == 0) {
        record->text = print_whole(module, &used, offsets);
    }
    return record;
}

/* ---- the rank's part ---- */

static void add_part(shard_record *record, ig_arena *arena, shard_held *table,
                     const ig_divided *divided, uint32_t index) {
    const ig_shard_part *part = &divided->parts[index];
    bool is_all = part->own == divided->rows && part->columns == table->dim;
    const char *name = is_all ? table->weight->name
                              : ig_arena_printf(arena, "%s.%u", table->weight->name,
                                                index);
    for (uint32_t i = 0; i < part->count; i++) {
        if (part->ranks[i] == record->rank) {
            shard_piece piece = { .constant = name,
                                  .base = part->bases[i],
                                  .row = part->starts[i],
                                  .rows = part->rows[i],
                                  .column = part->column,
                                  .columns = part->columns };
            IG_PUSH(arena, &table->pieces, piece);
        }
    }
}

static ig_op *mark_of(const ig_graph *graph, const char *table) {
    for (ig_op *op = graph->body.first; op; op = op->next) {
        if (op->code == IG_OP_shard &&
            strcmp(ig_table_name(op->operands[0].value), table) == 0) {
            return op;
        }
    }
    return NULL;
}

ig_status shard_record_pieces(shard_record *record, ig_module *module) {
    const ig_graph *graph = ig_entry_of(module);
    ig_arena *arena = &module->arena;
    for (size_t i = 0; i < record->tables.count; i++) {
        shard_held *table = &record->tables.items[i];
        ig_op *mark = graph ? mark_of(graph, table->weight->name) : NULL;
        ig_divided divided = { 0 };
        if (mark) {
            IG_TRY(ig_divide_parts(mark, arena, &divided));
        }
        for (uint32_t k = 0; k < divided.count; k++) {
            add_part(record, arena, table, &divided, k);
        }
        if (!divided.count && record->rank == 0) {
            shard_piece all = { .constant = table->weight->name,
                                .rows = table->rows,
                                .columns = table->dim };
            IG_PUSH(arena, &table->pieces, all);
        }
    }
    return IG_OK;
}

/* ---- entries ---- */

/* Where the artifact has it, in its entry of weights; -1: not there. */
static int64_t find_constant(const ig_artifact_writer *w, const char *name) {
    for (size_t i = 0; i < w->constants.count; i++) {
        const ig_plan_constant *constant = &w->constants.items[i];
        if (constant->source == IG_CONSTANT_WEIGHTS &&
            strcmp(w->strings.data + constant->name.offset, name) == 0) {
            return (int64_t)constant->offset;
        }
    }
    return -1;
}

static void put_table(ig_writer *out, const shard_held *table,
                      const ig_artifact_writer *w) {
    const ig_type *type = table->weight->type;
    ig_rows rows = type->kind == IG_TABLE ? type->rows : (ig_rows){ 0 };
    ig_put(out, "{\"name\": ");
    ig_put_json_string(out, ig_str_of(table->weight->name));
    ig_put(out,
           ", \"offset\": %lld, \"rows\": %lld, \"dim\": %lld, \"bits\": %u, "
           "\"format\": %u, \"exponent_bits\": %u, \"stride\": %u, \"pieces\": [",
           (long long)table->offset, (long long)table->rows, (long long)table->dim,
           ig_dtypes[type->dtype].bits, rows.format, rows.exponent_bits, rows.stride);
    for (size_t i = 0; i < table->pieces.count; i++) {
        const shard_piece *piece = &table->pieces.items[i];
        ig_put(out, "%s[%lld, %lld, %lld, %lld, %lld, %lld]", i ? ", " : "",
               (long long)find_constant(w, piece->constant), (long long)piece->base,
               (long long)piece->row, (long long)piece->rows, (long long)piece->column,
               (long long)piece->columns);
    }
    ig_put(out, "]}");
}

static ig_str put_record(const shard_record *record, const ig_artifact_writer *w) {
    ig_writer out;
    ig_writer_init(&out, w->arena);
    ig_put(&out,
           "{\"version\": %d, \"world_size\": %lld, \"rank\": %lld, \"of\": %lld, "
           "\"bytes\": %lld,\n \"dense\": [",
           SHARD_VERSION, (long long)record->world, (long long)record->rank,
           (long long)record->of, (long long)record->bytes);
    for (size_t i = 0; i < record->dense.count; i++) {
        ig_put(&out, "%s[%llu, %llu]", i ? ", " : "",
               (unsigned long long)record->dense.items[i].offset,
               (unsigned long long)record->dense.items[i].size);
    }
    ig_put(&out, "],\n \"tables\": [");
    for (size_t i = 0; i < record->tables.count; i++) {
        ig_put(&out, i ? ",\n  " : "\n  ");
        put_table(&out, &record->tables.items[i], w);
    }
    ig_put(&out, "]");
    if (record->made_of) {
        ig_put(&out, ",\n \"made_of\": ");
        ig_put_json_string(&out, ig_str_of(record->made_of));
    }
    ig_put(&out, "}\n");
    return ig_writer_str(&out);
}

static ig_str copy_dense(const shard_record *record, ig_arena *arena) {
    ig_writer out;
    ig_writer_init(&out, arena);
    for (size_t i = 0; i < record->dense.count; i++) {
        ig_put_bytes(&out, record->dense.items[i].data, record->dense.items[i].size);
    }
    return ig_writer_str(&out);
}

size_t shard_record_entries(const shard_record *record, const ig_artifact_writer *w,
                            ig_artifact_entry out[SHARD_ENTRIES]) {
    out[0] = (ig_artifact_entry){ .name = ig_str_of(SHARD_ENTRY),
                                  .data = put_record(record, w) };
    if (record->rank != 0) {
        return 1;
    }
    out[1] = (ig_artifact_entry){ .name = ig_str_of(SHARD_ENTRY_TEXT),
                                  .data = record->text };
    out[2] = (ig_artifact_entry){ .name = ig_str_of(SHARD_ENTRY_WEIGHTS),
                                  .data = copy_dense(record, w->arena) };
    return SHARD_ENTRIES;
}

/* `of` is a hash of the model with its weights and of the plan, `made_of` too. */
void shard_record_put_key(const shard_record *record, ig_writer *key) {
    ig_put(key, "\nrank %lld of %lld of %lld", (long long)record->rank,
           (long long)record->world, (long long)record->of);
}
