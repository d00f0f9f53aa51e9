/* The ways to place each table: what its constraints and the device allow.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/shard/shard.h"

/* What TorchRec's collections have on a kind of device.  Ours pool rows of several
 * ranks on a host too, which is worth its exchange where a table is asked to be cut so.
 */
static bool is_offered(const shard_problem *p, const shard_table *table,
                       shard_type type, shard_kernel kernel) {
    bool is_on_host = kernel == SHARD_FUSED_UVM || kernel == SHARD_FUSED_UVM_CACHING;
    bool is_bag_only = type == SHARD_TABLE_COLUMN_WISE ||
                       type == SHARD_TABLE_ROW_WISE || type == SHARD_GRID;
    bool may_cut = !shard_cuts_rows(type) ||
                   (p->is_ours && (table->is_asked || p->given_plan));
    if ((type == SHARD_DATA_PARALLEL) != (kernel == SHARD_DENSE)) {
        return false;
    }
    return table->is_sequence ? !is_bag_only && (p->is_cuda || !is_on_host)
                              : p->is_cuda || (!is_on_host && may_cut);
}

static bool is_allowed(const shard_problem *p, const shard_table *table,
                       shard_type type, shard_kernel kernel) {
    return (table->types >> type & 1) && (table->kernels >> kernel & 1) &&
           is_offered(p, table, type, kernel);
}

static void list_options_of(ig_arena *arena, const shard_problem *p,
                            const shard_table *table, shard_choice *choice) {
    enum { MAX = SHARD_TYPE_COUNT * SHARD_KERNEL_COUNT };
    choice->options = IG_NEW_ARRAY(arena, shard_option, MAX);
    for (unsigned i = 0; i < MAX; i++) {
        shard_option option = { .table = table,
                                .type = (shard_type)(i / SHARD_KERNEL_COUNT),
                                .kernel = (shard_kernel)(i % SHARD_KERNEL_COUNT) };
        if (!is_allowed(p, table, option.type, option.kernel)) {
            continue;
        }
        shard_cut(arena, p, &option);
        shard_estimate_memory(p, &option);
        shard_estimate_time(p, &option);
        choice->options[choice->count++] = option;
    }
}

ig_status shard_list_choices(ig_context *context, ig_arena *arena,
                             const ig_location *where, const shard_problem *problem,
                             shard_choice **out_choices) {
    *out_choices = IG_NEW_ARRAY(arena, shard_choice, problem->table_count);
    for (size_t i = 0; i < problem->table_count; i++) {
        const shard_table *table = &problem->tables[i];
        list_options_of(arena, problem, table, &(*out_choices)[i]);
        if ((*out_choices)[i].count == 0) {
            return ig_error(&context->diag, IG_INVALID, where,
                            "table '%s': its constraints leave no way to place it on "
                            "this device; allow more sharding types or kernels",
                            table->name);
        }
    }
    return IG_OK;
}
