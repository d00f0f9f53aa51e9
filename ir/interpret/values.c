/* The interpreter's memory: cells, slots, and which value is dead when.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/interpret/run.h"

#include "base/checked.h"

#include <assert.h>
#include <string.h>

ig_status ig_run_alloc(ig_run *run, int64_t count, size_t size, void *out_memory) {
    size_t bytes;
    void *memory = NULL;
    if (ig_mul_size((size_t)count, size, &bytes)) {
        memory = ig_arena_try_alloc(&run->arena, bytes);
    }
    if (!memory) {
        return ig_error(&run->context->diag, IG_LIMIT, NULL,
                        "no memory left to interpret graph '%s'", run->graph->name);
    }
    memset(memory, 0, bytes);
    memcpy(out_memory, &memory, sizeof memory);
    return IG_OK;
}

/* ---- liveness: a value dies with the last op of its own block that uses it ---- */

/* The op after `op` in text order: into bodies, and out of them again. */
static const ig_op *next_op(const ig_op *op) {
    for (uint32_t i = 0; i < op->body_count; i++) {
        if (op->bodies[i]->first) {
            return op->bodies[i]->first;
        }
    }
    while (op && !op->next) {
        const ig_op *parent = op->block->parent;
        uint32_t i = 0;
        while (parent && parent->bodies[i] != op->block) {
            i++;
        }
        while (parent && ++i < parent->body_count) {
            if (parent->bodies[i]->first) {
                return parent->bodies[i]->first;
            }
        }
        op = parent;
    }
    return op ? op->next : NULL;
}

/* The op of the value's own block in which `user` is nested, or `user` itself. */
static const ig_op *user_at_home(const ig_value *value, const ig_op *user) {
    const ig_block *home = value->def ? value->def->block : value->block;
    while (user && user->block != home) {
        user = user->block->parent;
    }
    return user;
}

static ig_status find_deaths(ig_run *run) {
    uint32_t values = run->graph->value_count, ops = run->graph->op_count, *last_use;
    IG_TRY(ig_run_alloc(run, values, sizeof *last_use, &last_use));
    IG_TRY(ig_run_alloc(run, values, sizeof *run->next_dead, &run->next_dead));
    IG_TRY(ig_run_alloc(run, ops, sizeof *run->first_dead, &run->first_dead));
    memset(last_use, 0xff, values * sizeof *last_use);
    memset(run->first_dead, 0xff, ops * sizeof *run->first_dead);
    for (const ig_op *op = run->graph->body.first; op; op = next_op(op)) {
        for (uint32_t i = 0; i < op->result_count; i++) {
            last_use[op->results[i].id] = op->id; /* when nobody uses it */
        }
        for (uint32_t i = 0; i < op->operand_count; i++) {
            const ig_value *value = op->operands[i].value;
            const ig_op *user = user_at_home(value, op);
            if (user) {
                last_use[value->id] = user->id; /* text order: the last one stays */
            }
        }
    }
    for (uint32_t id = 0; id < values; id++) {
        if (last_use[id] != IG_NOTHING) {
            run->next_dead[id] = run->first_dead[last_use[id]];
            run->first_dead[last_use[id]] = id;
        }
    }
    return IG_OK;
}

/* ---- the run ---- */

ig_status ig_run_init(ig_run *run, const ig_graph *graph) {
    memset(run, 0, sizeof *run);
    run->graph = graph;
    run->module = graph->module;
    run->context = graph->module->context;
    ig_arena_init(&run->arena, &run->context->budget);
    ig_arena_init(&run->scratch, &run->context->budget);
    run->symbol_count = ig_symbol_count(run->module);
    IG_TRY(ig_run_alloc(run, graph->value_count, sizeof *run->slots, &run->slots));
    IG_TRY(ig_run_alloc(run, run->symbol_count, sizeof *run->symbols, &run->symbols));
    IG_TRY(ig_run_alloc(run, run->symbol_count, sizeof *run->bound, &run->bound));
    for (uint32_t i = 0; i < run->symbol_count; i++) {
        run->symbols[i] = IG_SYMBOL_UNBOUND;
        run->has_defined |= !ig_dim_is(ig_symbol_at(run->module, i)->defined, 0);
    }
    return find_deaths(run);
}

void ig_run_fini(ig_run *run) {
    for (ig_cell *cell = run->cells; cell; cell = cell->next) {
        ig_arena_fini(&cell->arena);
    }
    ig_arena_fini(&run->scratch);
    ig_arena_fini(&run->arena);
}

/* ---- cells ---- */

ig_status ig_cell_create(ig_run *run, ig_cell **out_cell) {
    ig_cell *cell = run->free_cells;
    if (cell) {
        run->free_cells = cell->next;
        memset(cell, 0, sizeof *cell);
    } else {
        IG_TRY(ig_run_alloc(run, 1, sizeof *cell, &cell));
    }
    ig_arena_init(&cell->arena, &run->context->budget);
    cell->next = run->cells;
    if (cell->next) {
        cell->next->prev = cell;
    }
    run->cells = cell;
    *out_cell = cell;
    return IG_OK;
}

ig_status ig_cell_tensors(ig_run *run, ig_cell *cell, uint32_t count,
                          ig_tensor **out_tensors) {
    size_t bytes = count * sizeof(ig_tensor);
    *out_tensors = ig_arena_try_alloc(&cell->arena, bytes);
    if (!*out_tensors) {
        return ig_error(&run->context->diag, IG_LIMIT, NULL,
                        "no memory left to interpret graph '%s'", run->graph->name);
    }
    memset(*out_tensors, 0, bytes);
    return IG_OK;
}

/* A view of a view is one of what that shows. */
void ig_cell_show(ig_cell *cell, ig_cell *of) {
    assert(!cell->of && of->refs > 0 && "a new view of what is alive");
    cell->of = of->of ? of->of : of;
    cell->of->refs++;
}

static void free_cell(ig_run *run, ig_cell *cell) {
    ig_arena_fini(&cell->arena);
    run->live_bytes -= cell->bytes;
    if (cell->prev) {
        cell->prev->next = cell->next;
    } else {
        run->cells = cell->next;
    }
    if (cell->next) {
        cell->next->prev = cell->prev;
    }
    cell->next = run->free_cells;
    run->free_cells = cell;
}

void ig_cell_drop(ig_run *run, ig_cell *cell) {
    if (cell->refs > 0) {
        return;
    }
    if (cell->of) { /* which shows nothing else itself */
        cell->of->refs--;
        if (cell->of->refs == 0) {
            free_cell(run, cell->of);
        }
    }
    free_cell(run, cell);
}

enum { OP_BYTES = 64 }; /* that an op counts for, however small its results */

ig_status ig_cell_account(ig_run *run, ig_cell *cell, const ig_op *op,
                          const ig_tensor *tensors, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        cell->bytes += ig_tensor_bytes(&tensors[i]);
    }
    run->live_bytes += cell->bytes;
    run->total_bytes += cell->bytes + OP_BYTES;
    if (run->live_bytes > run->context->limits.interpret_bytes) {
        return ig_error_limit(&run->context->diag, ig_op_location(op),
                              &run->context->limits, IG_LIMIT_interpret_bytes,
                              "the memory of the values that are alive here");
    }
    if (run->total_bytes > run->context->limits.interpret_total) {
        return ig_error_limit(&run->context->diag, ig_op_location(op),
                              &run->context->limits, IG_LIMIT_interpret_total,
                              "the work up to here");
    }
    return IG_OK;
}

/* ---- slots ---- */

ig_slot *ig_run_slot(const ig_run *run, const ig_value *value) {
    assert(value->id < run->graph->value_count && "ids are dense in their graph");
    return &run->slots[value->id];
}

void ig_slot_release(ig_run *run, ig_slot *slot) {
    ig_cell *cell = slot->cell;
    *slot = (ig_slot){ 0 };
    if (cell) {
        cell->refs--;
        ig_cell_drop(run, cell);
    }
}

bool ig_slot_owns_tensor(const ig_slot *slot, const ig_arena *arena) {
    assert(slot->tensor && "the value was computed");
    const ig_cell *cell = slot->cell;
    return slot->tensor->kind == IG_TENSOR && cell && cell->refs == 1 &&
           cell->bytes > 0 && cell->arena.budget == arena->budget;
}

void ig_slot_share(ig_run *run, ig_slot *slot, const ig_slot *from) {
    ig_slot copy = *from;
    if (copy.cell) {
        copy.cell->refs++;
    }
    ig_slot_release(run, slot);
    *slot = copy;
}

void ig_run_release_dead(ig_run *run, const ig_op *op) {
    for (uint32_t id = run->first_dead[op->id]; id != IG_NOTHING;) {
        ig_slot_release(run, &run->slots[id]);
        id = run->next_dead[id];
    }
}

void ig_run_release_block(ig_run *run, const ig_block *block) {
    for (uint32_t i = 0; i < block->arg_count; i++) {
        ig_slot_release(run, ig_run_slot(run, block->args[i]));
    }
    for (const ig_op *op = block->first; op; op = op->next) {
        for (uint32_t i = 0; i < op->result_count; i++) {
            ig_slot_release(run, ig_run_slot(run, &op->results[i]));
        }
    }
}
