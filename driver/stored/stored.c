/* A model becomes two: ids of look-ups, and values computed from fetched rows.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ingot/stored.h"

#include "driver/compile/compile.h"
#include "driver/outputs.h"
#include "driver/stored/weights.h"
#include "driver/values/weight.h"
#include "ir/bag.h"
#include "ir/build/build.h"
#include "ir/dim/dim.h"

#include <assert.h>
#include <fnmatch.h>
#include <string.h>

_Static_assert((int)IG_STORED_WRAP == (int)IG_NEGATIVE_wrap &&
                   (int)IG_STORED_WRONG == (int)IG_NEGATIVE_error &&
                   (int)IG_STORED_SKIP == (int)IG_NEGATIVE_skip,
               "the same rules");
_Static_assert((int)IG_STORED_ERROR == (int)IG_RANGE_error &&
                   (int)IG_STORED_CLAMP == (int)IG_RANGE_clamp &&
                   (int)IG_STORED_FIRST == (int)IG_RANGE_first,
               "the same rules");

/* A use of ids by a bag, and which look-up it is. */
typedef struct stored_use {
    ig_op *bag;
    uint32_t table, ids; /* operands */
    uint32_t feature;
    size_t lookup;
} stored_use;

typedef struct store_call {
    ig_module *module, *ids;
    const char *const *names;
    size_t name_count, input_count;
    size_t table_count;
    size_t table_room; /* of the two arrays by table */
    ig_compile_options options;
    ig_graph *graph;
    bool is_open;                  /* weights are inputs while passes run */
    IG_VEC(ig_value *) candidates; /* weights of the graph */
    ig_value **weights;            /* by table */
    ig_stored_table *tables;
    IG_VEC(ig_stored_lookup) lookups;
    IG_VEC(ig_value *) values; /* ids, by look-up */
    IG_VEC(stored_use) uses;
    ig_stored *stored;
} store_call;

static ig_status refuse_table(const store_call *call, ig_status status,
                              const char *table, const char *why) {
    ig_location where = { .file = call->module->path };
    return ig_error(&call->module->context->diag, status, &where,
                    "table '%s' cannot be in a store: %s", table, why);
}

static ig_status run_passes(const store_call *call, ig_module *module,
                            const char *pipeline) {
    ig_pass_options options = { .torch_empty = call->options.torch_empty,
                                .clamp_ids = call->options.clamp_ids };
    return ig_passes_run(module, &options, pipeline);
}

/* ---- tables ---- */

static bool is_pattern(const char *name) {
    return strpbrk(name, "*?[") != NULL;
}

static const char *name_of(const store_call *call, const ig_value *weight) {
    return weight->def ? ig_attr_str(weight->def, IG_weight_name)
                       : ig_module_input_name(call->module, weight->index);
}

static bool is_taken(const store_call *call, const ig_value *weight) {
    for (size_t i = 0; i < call->table_count; i++) {
        if (call->weights[i] == weight) {
            return true;
        }
    }
    return false;
}

static ig_status take_table(store_call *call, ig_value *weight, size_t name) {
    const ig_type *type = weight->type;
    ig_stored_table table = { .name = name_of(call, weight),
                              .dtype = ig_dtypes[type->dtype].name,
                              .named_by = name };
    bool is_plain = type->kind == IG_TENSOR && type->rank == 2 &&
                    ig_dim_constant(call->module, type->dims[0], &table.rows) &&
                    ig_dim_constant(call->module, type->dims[1], &table.dim) &&
                    table.rows > 0 && table.dim > 0 &&
                    ig_dtypes[type->dtype].bits % 8 == 0;
    if (!is_plain) {
        return refuse_table(call, IG_UNSUPPORTED, call->names[name],
                            "it has no rows of whole bytes");
    }
    assert(call->table_count < call->table_room && "there is room for each weight");
    call->weights[call->table_count] = weight;
    call->tables[call->table_count++] = table;
    return IG_OK;
}

static ig_status take_named(store_call *call, size_t index) {
    const char *name = call->names[index];
    size_t found = 0;
    bool is_exact = false;
    ig_value *weight = NULL;
    for (size_t i = 0; i < call->candidates.count && !is_exact; i++) {
        const char *whole = name_of(call, call->candidates.items[i]);
        is_exact = strcmp(whole, name) == 0;
        if (is_exact || (*name && ig_name_has_part(whole, name))) {
            weight = call->candidates.items[i];
            found++;
        }
    }
    if (found != 1 && !is_exact) {
        return refuse_table(call, IG_INVALID, name,
                            found ? "more than one weight is named so"
                                  : "the model looks up no weight of that name");
    }
    return is_taken(call, weight)
               ? refuse_table(call, IG_INVALID, name, "it is named twice")
               : take_table(call, weight, index);
}

static bool is_looked_up(const ig_value *weight) {
    for (const ig_use *use = weight->uses; use; use = use->next) {
        if (use->user->code == IG_OP_bag && use->value->type->rank == 2) {
            return true;
        }
    }
    return false;
}

/* Tables that have no name of their own among the names. */
static ig_status take_matching(store_call *call, size_t index) {
    const char *pattern = call->names[index];
    bool is_met = false;
    for (size_t i = 0; i < call->candidates.count; i++) {
        ig_value *weight = call->candidates.items[i];
        if (!is_looked_up(weight) || fnmatch(pattern, name_of(call, weight), 0) != 0) {
            continue;
        }
        is_met = true;
        if (!is_taken(call, weight)) {
            IG_TRY(take_table(call, weight, index));
        }
    }
    return is_met ? IG_OK
                  : refuse_table(call, IG_INVALID, pattern,
                                 "the model looks up no weight that fits the pattern");
}

static void find_candidates(store_call *call) {
    ig_arena *arena = &call->module->arena;
    const ig_block *body = &call->graph->body;
    for (ig_op *op = body->first; op; op = op->next) {
        if (op->code == IG_OP_weight) {
            IG_PUSH(arena, &call->candidates, op->results);
        }
    }
    uint32_t opened = call->is_open ? call->graph->opened_count : 0;
    for (uint32_t i = body->arg_count - opened; i < body->arg_count; i++) {
        IG_PUSH(arena, &call->candidates, body->args[i]);
    }
    call->table_room = call->candidates.count;
}

static ig_status find_tables(store_call *call) {
    ig_arena *arena = &call->module->arena;
    find_candidates(call);
    call->weights = IG_NEW_ARRAY(arena, ig_value *, call->table_room);
    call->tables = IG_NEW_ARRAY(arena, ig_stored_table, call->table_room);
    for (size_t i = 0; i < call->name_count; i++) {
        IG_TRY(is_pattern(call->names[i]) ? IG_OK : take_named(call, i));
    }
    for (size_t i = 0; i < call->name_count; i++) {
        IG_TRY(is_pattern(call->names[i]) ? take_matching(call, i) : IG_OK);
    }
    return IG_OK;
}

/* ---- look-ups ---- */

typedef struct known_walk {
    const store_call *call;
    bool is_known;
} known_walk;

static void note_symbol(void *user, uint32_t symbol) {
    known_walk *walk = user;
    const ig_block *body = &walk->call->graph->body;
    for (uint32_t i = 0; i < body->arg_count; i++) {
        const ig_type *type = body->args[i]->type;
        for (uint32_t d = 0; d < type->rank; d++) {
            if (ig_dim_mentions(walk->call->module, type->dims[d], symbol)) {
                return;
            }
        }
    }
    walk->is_known = false;
}

/* Are the extents of ids made of those of the inputs? */
static bool has_known_extents(const store_call *call, const ig_type *type) {
    known_walk walk = { .call = call, .is_known = true };
    for (uint32_t d = 0; d < type->rank; d++) {
        ig_dim_visit_symbols(call->module, type->dims[d], note_symbol, &walk);
    }
    return walk.is_known;
}

static size_t index_of_lookup(store_call *call, const ig_stored_lookup *lookup,
                              ig_value *ids) {
    ig_arena *arena = &call->module->arena;
    for (size_t i = 0; i < call->lookups.count; i++) {
        const ig_stored_lookup *other = &call->lookups.items[i];
        if (call->values.items[i] == ids && other->table == lookup->table &&
            other->negative == lookup->negative && other->range == lookup->range &&
            other->padding == lookup->padding) {
            return i;
        }
    }
    IG_PUSH(arena, &call->lookups, *lookup);
    IG_PUSH(arena, &call->values, ids);
    return call->lookups.count - 1;
}

static ig_status note_feature(store_call *call, size_t table, ig_op *bag,
                              uint32_t operand) {
    const char *name = call->tables[table].name;
    for (uint32_t i = 0; i < bag->result_count; i++) {
        ig_bag_feature f = ig_bag_feature_at(bag, i);
        if (f.table > operand || f.table + f.tables <= operand) {
            continue;
        }
        if (f.tables != 1) {
            return refuse_table(call, IG_UNSUPPORTED, name,
                                "it is one of a table's shards");
        }
        ig_value *ids = bag->operands[f.ids].value;
        if (!has_known_extents(call, ids->type)) {
            return refuse_table(
                call, IG_UNSUPPORTED, name,
                "how many ids there are is known only when the model runs");
        }
        ig_stored_lookup lookup = {
            .table = table,
            .negative = (ig_stored_negative)ig_attr_int(bag, IG_bag_negative, 0),
            .range = (ig_stored_range)ig_attr_int(bag, IG_bag_range, 0),
            .padding = f.padding
        };
        stored_use use = { .bag = bag,
                           .table = operand,
                           .ids = f.ids,
                           .feature = i,
                           .lookup = index_of_lookup(call, &lookup, ids) };
        IG_PUSH(&call->module->arena, &call->uses, use);
        return IG_OK;
    }
    return refuse_table(call, IG_UNSUPPORTED, name,
                        "it is used as ids or weights of a bag");
}

/* In the order of the graph, which is the same in each copy of it. */
static ig_status find_lookups(store_call *call) {
    for (size_t t = 0; t < call->table_count; t++) {
        const ig_value *weight = call->weights[t];
        for (const ig_use *use = weight->uses; use; use = use->next) {
            if (use->user->code != IG_OP_bag ||
                use->user->block != &call->graph->body) {
                return refuse_table(
                    call, IG_UNSUPPORTED, call->tables[t].name,
                    "other ops than look-ups at the top of the graph use it");
            }
        }
    }
    for (ig_op *op = call->graph->body.first; op; op = op->next) {
        for (uint32_t i = 0; op->code == IG_OP_bag && i < op->operand_count; i++) {
            for (size_t t = 0; t < call->table_count; t++) {
                if (op->operands[i].value == call->weights[t]) {
                    IG_TRY(note_feature(call, t, op, i));
                }
            }
        }
    }
    return IG_OK;
}

static ig_status find_all(store_call *call) {
    call->graph = (ig_graph *)(uintptr_t)ig_entry_of(call->module);
    if (!call->graph || call->graph->state_count > 0) {
        return refuse_table(call, IG_UNSUPPORTED, call->names[0],
                            "models without a graph, or with state, keep their tables");
    }
    IG_TRY(find_tables(call));
    return find_lookups(call);
}

/* ---- the two modules ---- */

/* The graph returns the ids, and nothing else. */
static ig_status keep_ids(store_call *call) {
    store_call copy = { .module = call->ids,
                        .names = call->names,
                        .name_count = call->name_count,
                        .is_open = call->is_open,
                        .options = call->options };
    IG_TRY(find_all(&copy));
    ig_graph *graph = copy.graph;
    ig_op_erase(graph->body.last);
    ig_builder b = ig_builder_at_end(&graph->body);
    ig_make_ret(&b, copy.values.items, (uint32_t)copy.values.count);
    graph->result_names = NULL;
    graph->signature = NULL;
    if (call->is_open) {
        ig_stored_close_weights(call->ids);
    }
    return run_passes(call, call->ids, ig_pipeline_clean);
}

/* The row that a look-up leaves out has position 0. */
static void leave_out_first(store_call *call, const stored_use *use) {
    if (call->lookups.items[use->lookup].padding == INT64_MIN) {
        return;
    }
    ig_attr attr = use->bag->attrs[IG_bag_padding];
    int64_t *padding = IG_NEW_ARRAY(&call->module->arena, int64_t, attr.count);
    memcpy(padding, attr.as.ints, attr.count * sizeof *padding);
    padding[use->feature] = 0;
    ig_attr_set(use->bag, IG_bag_padding,
                ig_attr_of_ints(call->module, padding, attr.count));
}

/* Rows of each table, then positions of each look-up, in front of opened weights. */
static void list_inputs(const store_call *call, ig_input_list *out) {
    ig_module *module = call->module;
    ig_arena *arena = &module->arena;
    for (size_t t = 0; t < call->table_count; t++) {
        const ig_type *type = call->weights[t]->type;
        ig_dim dims[2] = { ig_dim_symbol(module, "rows"), type->dims[1] };
        ig_input rows = { ig_arena_printf(arena, "%s.rows", call->tables[t].name),
                          ig_type_with_dims(module, type, 2, dims) };
        IG_PUSH(arena, out, rows);
    }
    for (size_t i = 0; i < call->lookups.count; i++) {
        const char *table = call->tables[call->lookups.items[i].table].name;
        ig_input positions = { ig_arena_printf(arena, "%s.at_%zu", table, i),
                               call->values.items[i]->type };
        IG_PUSH(arena, out, positions);
    }
}

static void take_rows(store_call *call) {
    ig_graph *graph = call->graph;
    ig_input_list inputs = { 0 };
    uint32_t first = graph->body.arg_count - (call->is_open ? graph->opened_count : 0);
    list_inputs(call, &inputs);
    ig_graph_insert_inputs(graph, first, &inputs);
    for (size_t i = 0; i < call->uses.count; i++) {
        const stored_use *use = &call->uses.items[i];
        size_t table = call->lookups.items[use->lookup].table;
        ig_use_set(&use->bag->operands[use->table], graph->body.args[first + table]);
        ig_use_set(&use->bag->operands[use->ids],
                   graph->body.args[first + call->table_count + use->lookup]);
        leave_out_first(call, use);
    }
}

static ig_status split_module(void *arguments) {
    store_call *call = arguments;
    if (call->name_count == 0) {
        return ig_error(&call->module->context->diag, IG_INVALID, NULL,
                        "no table for a store is named");
    }
    IG_TRY(ig_stored_open_weights(call->module, &call->is_open));
    IG_TRY(run_passes(call, call->module, ig_pipeline_clean));
    IG_TRY(run_passes(call, call->module, ig_pipeline_understand));
    IG_TRY(find_all(call));
    call->ids = ig_module_clone(call->module);
    IG_TRY(keep_ids(call));
    take_rows(call);
    call->stored = IG_NEW(&call->module->arena, ig_stored);
    *call->stored = (ig_stored){ .input_count = call->input_count,
                                 .table_count = call->table_count,
                                 .lookup_count = call->lookups.count,
                                 .tables = call->tables,
                                 .lookups = call->lookups.items };
    IG_TRY(run_passes(call, call->module, ig_pipeline_clean));
    if (call->is_open) {
        ig_stored_close_weights(call->module);
    }
    return IG_OK;
}

ig_status ig_module_store(ig_module *module, const char *const *names, size_t count,
                          const ig_compile_options *options, ig_module **out_ids,
                          const ig_stored **out_stored) {
    store_call call = { .module = module,
                        .names = names,
                        .name_count = count,
                        .input_count = ig_module_input_count(module) };
    ig_options_take(module->context, &call.options, sizeof call.options, options);
    ig_status status = ig_driver_guard(module->context, split_module, &call);
    if (status != IG_OK) {
        ig_module_close(call.ids);
    }
    *out_ids = status == IG_OK ? call.ids : NULL;
    *out_stored = status == IG_OK ? call.stored : NULL;
    return ig_driver_settle(module->context, status);
}
