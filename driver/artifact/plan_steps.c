/* The ops of a lowered plan as steps.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Levels differ only in their launches: the plan graphs are walked in step, and a
 * launch gets one variant per level.  Steps are in depth-first order, so a body follows
 * its step.
 */
#include "driver/artifact/plan_steps.h"

#include "driver/source.h"
#include "ir/build/build.h"

#include <assert.h>
#include <string.h>

typedef ig_plan_build plan;

/* ---- operands ---- */

/* Whoever asks for a step pushes it before it asks for another. */
static ig_plan_step new_step(plan *p, uint32_t kind, const char *name,
                             const ig_op *op) {
    const char *source = ig_source_of(p->arena, p->module, op->loc);
    IG_PUSH(p->w->arena, p->input->step_origins, ig_op_origins(op));
    return (ig_plan_step){ .name = ig_plan_build_text(p, name),
                           .source = ig_plan_build_text(p, source),
                           .kind = kind,
                           .symbol = IG_NONE,
                           .index = IG_NONE,
                           .value = IG_NONE,
                           .block = IG_NONE };
}

/* A kernel has one name on every level, and is another's code on each. */
static uint32_t kernel_index(plan *p, const char *kernel) {
    ig_plan_text text = ig_plan_build_text(p, kernel);
    for (uint32_t i = 0; i < p->w->kernels.count; i++) {
        if (p->w->kernels.items[i].offset == text.offset) {
            return i;
        }
    }
    IG_PUSH(p->w->arena, &p->w->kernels, text);
    return (uint32_t)p->w->kernels.count - 1;
}

const char *ig_plan_kernel_name(const ig_artifact_writer *w, const ig_plan_level *level,
                                uint32_t index) {
    assert(index < w->kernels.count && "the plan has no such kernel");
    const char *name = w->strings.data + w->kernels.items[index].offset;
    return ig_module_graph(level->graph->module, name) ? name : NULL;
}

/* A list of the dims of one level's launch, none where there is no attribute. */
static ig_plan_range level_list(plan *p, const ig_plan_level *level,
                                const ig_attr *dims) {
    uint32_t count = dims->kind == IG_ATTR_DIMS ? dims->count : 0;
    uint32_t *exprs = IG_NEW_ARRAY(p->arena, uint32_t, count);
    for (uint32_t i = 0; i < count; i++) {
        exprs[i] = ig_plan_build_expr(
            p, ig_plan_build_taken_over(p, level->graph, dims->as.dims[i]));
    }
    return ig_artifact_list(p->w, exprs, count);
}

/* Bytes that the threads of a tile share: the arrays are in the kernel's outer
 * block. */
static uint32_t shared_bytes(const ig_plan_level *level, const char *kernel) {
    const ig_graph *graph = ig_module_graph(level->graph->module, kernel);
    int64_t bytes = 0;
    for (const ig_op *op = graph->body.first; op; op = op->next) {
        if (op->code == IG_OP_shared) {
            bytes += ig_attr_int(op, IG_shared_count, 0) *
                     (ig_dtypes[op->results->type->dtype].bits / 8);
        }
    }
    return (uint32_t)bytes;
}

static void add_variant(plan *p, const ig_plan_level *level, const ig_op *launch) {
    const ig_attr *cost = &launch->attrs[IG_launch_cost];
    ig_dim grid = launch->attrs[IG_launch_grid].as.dim;
    ig_plan_range params = level_list(p, level, &launch->attrs[IG_launch_params]);
    ig_plan_range work = level_list(p, level, &launch->attrs[IG_launch_work]);
    const char *kernel = ig_attr_str(launch, IG_launch_kernel);
    ig_plan_variant variant = {
        .kernel = kernel_index(p, kernel),
        .grid = ig_plan_build_expr(p, ig_plan_build_taken_over(p, level->graph, grid)),
        .params = params,
        .cost = cost->kind == IG_ATTR_NONE
                    ? IG_NONE
                    : ig_plan_build_expr(
                          p, ig_plan_build_taken_over(p, level->graph, cost->as.dim)),
        .scratch = (uint32_t)ig_attr_int(launch, IG_launch_scratch, 0),
        .work = work,
        .threads = (uint32_t)ig_attr_int(launch, IG_launch_threads, 1),
        .shared = shared_bytes(level, kernel),
    };
    IG_PUSH(p->w->arena, &p->w->variants, variant);
}

static void set_range(plan *p, const ig_op *launch, uint32_t operand,
                      ig_plan_operand *record) {
    const ig_attr *ranges = &launch->attrs[IG_launch_ranges];
    const ig_attr *offsets = &launch->attrs[IG_launch_offsets];
    bool wraps = ig_attr_int(launch, IG_launch_wraps, 0) != 0;
    uint32_t count = ranges->kind == IG_ATTR_DIMS ? ranges->count : 0;
    assert(count % 3 == 0 && "ranges are triples: operand, low, high");
    for (uint32_t i = 0; i + 2 < count; i += 3) {
        if (ig_dim_is(ranges->as.dims[i], operand)) {
            ig_dim high = ranges->as.dims[i + 2], low = ranges->as.dims[i + 1];
            low = wraps ? ig_dim_sub(ig_op_module(launch), ig_dim_of(0), high) : low;
            record->low = ig_plan_build_expr(p, low);
            record->high = ig_plan_build_expr(p, high);
        }
    }
    count = offsets->kind == IG_ATTR_DIMS ? offsets->count : 0;
    assert(count % 2 == 0 && "offsets are pairs: operand, size");
    for (uint32_t i = 0; i + 1 < count; i += 2) {
        if (ig_dim_is(offsets->as.dims[i], operand)) {
            record->low = ig_plan_build_expr(p, ig_dim_of(0));
            record->high = ig_plan_build_expr(p, offsets->as.dims[i + 1]);
        }
    }
}

/* Bytes from one row to the next, for an operand of which a body of rows gets a block
 * of rows. */
static uint32_t row_stride(plan *p, const ig_part *part) {
    const ig_value *root = part->root;
    bool is_own = root->def && root->def->block->parent &&
                  root->def->block->parent->code == IG_OP_rows;
    bool is_by_rows = !ig_dim_is(p->rows, 0) && !is_own && part->type->rank > 0 &&
                      ig_dim_same(part->type->dims[0], p->rows);
    return is_by_rows
               ? ig_plan_build_bytes(p, part->strides[0], (ig_dtype)root->type->dtype)
               : IG_NONE;
}

/* Operand number `index` of a step, and how long its buffer lives. */
static void add_operand(plan *p, const ig_value *value, ig_dim element, const ig_op *op,
                        uint32_t index) {
    uint32_t step_index = (uint32_t)p->w->steps.count;
    ig_part part = ig_part_of(p->module, value);
    ig_dim offset = ig_dim_add(p->module, part.offset, element);
    ig_dtype dtype = (ig_dtype)part.root->type->dtype;
    ig_plan_operand operand = {
        .buffer = ig_plan_build_buffer(p, part.root),
        .row_stride = row_stride(p, &part),
        .low = IG_NONE,
        .high = IG_NONE,
        .offset = ig_dim_is(offset, 0) ? IG_NONE
                                       : ig_plan_build_bytes(p, offset, dtype),
    };
    if (op && op->code == IG_OP_launch) {
        set_range(p, op, index, &operand);
    }
    assert(operand.buffer < p->w->buffers.count && "numbers of buffers are dense");
    ig_plan_buffer *buffer = &p->w->buffers.items[operand.buffer];
    buffer->first = buffer->first == UINT32_MAX ? step_index : buffer->first;
    buffer->last = step_index;
    IG_PUSH(p->w->arena, &p->w->operands, operand);
}

static void add_operands(plan *p, const ig_op *op, ig_plan_step *step) {
    step->operands.first = (uint32_t)p->w->operands.count;
    step->operands.count = op->operand_count;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        add_operand(p, op->operands[i].value, ig_dim_of(0), op, i);
    }
}

/* ---- phases ---- */

/* May this launch run at the same time as those since the last barrier?  Not when it
 * reads what one of them writes, or the reverse, or writes where one of them does. */
static bool joins_phase(plan *p, const ig_op *launch) {
    uint32_t outs = (uint32_t)ig_attr_int(launch, IG_launch_outs, 0);
    bool is_free = p->phase_open;
    assert(outs <= launch->operand_count &&
           "the written values are among the operands");
    for (uint32_t i = 0; i < launch->operand_count; i++) {
        ig_value *value = launch->operands[i].value;
        bool is_out = i >= launch->operand_count - outs;
        const ig_map *others = is_out ? &p->phase_reads : &p->phase_writes;
        is_free = is_free &&
                  !ig_map_get_id(others,
                                 ig_plan_build_buffer(p, ig_part_root(value))) &&
                  (!is_out || ig_part_lies_apart(p->module, &p->phase_parts, value));
    }
    return is_free;
}

static void enter_phase(plan *p, const ig_op *launch, bool is_joining) {
    uint32_t outs = (uint32_t)ig_attr_int(launch, IG_launch_outs, 0);
    if (!is_joining) {
        ig_map_init(&p->phase_reads, p->arena);
        ig_map_init(&p->phase_writes, p->arena);
        p->phase_parts.count = 0;
        p->phase_open = true;
    }
    for (uint32_t i = 0; i < launch->operand_count; i++) {
        ig_value *value = launch->operands[i].value;
        uint32_t buffer = ig_plan_build_buffer(p, ig_part_root(value));
        bool is_out = i >= launch->operand_count - outs;
        ig_map_set_id(is_out ? &p->phase_writes : &p->phase_reads, buffer, p);
        if (is_out) {
            ig_part part = ig_part_of(p->module, value);
            ig_part_list_add(p->arena, &p->phase_parts, &part);
        }
    }
}

/* The same launch of every level; `at` holds one op per level. */
static void add_launch(plan *p, const ig_op *const *at) {
    bool is_checked = ig_attr_int(at[0], IG_launch_checks, 0) != 0;
    ig_plan_step step = new_step(p, IG_STEP_launch,
                                 ig_attr_str(at[0], IG_launch_kernel), at[0]);
    bool is_joining = joins_phase(p, at[0]);
    enter_phase(p, at[0], is_joining);
    step.flags = (is_joining ? IG_STEP_JOINS : 0u) | (is_checked ? IG_STEP_CHECKS : 0u);
    add_operands(p, at[0], &step);
    step.variants.first = (uint32_t)p->w->variants.count;
    step.variants.count = p->input->level_count;
    step.outs = (uint32_t)ig_attr_int(at[0], IG_launch_outs, 0);
    for (uint32_t l = 0; l < p->input->level_count; l++) {
        add_variant(p, &p->input->levels[l], at[l]);
    }
    IG_PUSH(p->w->arena, &p->w->steps, step);
}

/* ---- steps of the runtime itself ---- */

static void push_step(plan *p, const ig_plan_step *step) {
    IG_PUSH(p->w->arena, &p->w->steps, *step);
}

static ig_plan_range exprs_of(plan *p, const ig_attr *dims) {
    uint32_t count = dims->kind == IG_ATTR_DIMS ? dims->count : 0;
    uint32_t *exprs = IG_NEW_ARRAY(p->arena, uint32_t, count);
    for (uint32_t i = 0; i < count; i++) {
        exprs[i] = ig_plan_build_expr(p, dims->as.dims[i]);
    }
    return ig_artifact_list(p->w, exprs, count);
}

/* Functions take their results first. */
static void add_host(plan *p, const ig_op *const *at) {
    const ig_op *op = at[0];
    const char *function = ig_attr_str(op, IG_host_function);
    ig_plan_step step = new_step(p, IG_STEP_host, function, op);
    uint32_t outs = (uint32_t)ig_attr_int(op, IG_host_outs, 0);
    assert(outs <= op->operand_count && "the written values are among the operands");
    uint32_t ins = op->operand_count - outs;
    step.outs = outs;
    step.index = ig_artifact_host(
        p->w, function, (uint32_t)ig_attr_int(op, IG_host_version, IG_HOST_VERSION));
    step.operands.first = (uint32_t)p->w->operands.count;
    step.operands.count = op->operand_count;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        uint32_t from = i < outs ? ins + i : i - outs;
        add_operand(p, op->operands[from].value, ig_dim_of(0), NULL, 0);
    }
    ig_plan_variant variant = { .kernel = IG_NONE,
                                .grid = IG_NONE,
                                .params = exprs_of(p, &op->attrs[IG_host_params]),
                                .cost = IG_NONE };
    step.variants.first = (uint32_t)p->w->variants.count;
    step.variants.count = 1;
    IG_PUSH(p->w->arena, &p->w->variants, variant);
    push_step(p, &step);
}

static void add_store(plan *p, const ig_op *const *at) {
    ig_plan_step step = new_step(p, IG_STEP_store, "dims", at[0]);
    step.values = exprs_of(p, &at[0]->attrs[IG_store_dims_values]);
    add_operands(p, at[0], &step);
    push_step(p, &step);
}

static ig_dim element_stride(const ig_value *vector) {
    const ig_op *view = ig_def(vector, IG_OP_view);
    bool has_one = view && view->attrs[IG_view_strides].count == 1;
    return has_one ? view->attrs[IG_view_strides].as.dims[0] : ig_dim_of(1);
}

/* A read of each element; none of a symbol that was found to be a number since. */
static void add_bind(plan *p, const ig_op *const *at) {
    const ig_attr *symbols = &at[0]->attrs[IG_bind_symbols];
    const ig_value *vector = at[0]->operands[0].value;
    for (uint32_t i = 0; i < symbols->count; i++) {
        if (!ig_dim_as_symbol(p->module, symbols->as.dims[i])) {
            continue;
        }
        uint32_t index = ig_symbol_index(p->module, symbols->as.dims[i]);
        ig_plan_step step = new_step(p, IG_STEP_read,
                                     ig_symbol_at(p->module, index)->name, at[0]);
        step.symbol = ig_plan_build_symbol(p, index);
        step.operands.first = (uint32_t)p->w->operands.count;
        step.operands.count = 1;
        ig_dim stride = element_stride(vector);
        add_operand(p, vector, ig_dim_mul(p->module, stride, ig_dim_of(i)), NULL, 0);
        push_step(p, &step);
    }
}

static void add_let(plan *p, const ig_op *const *at) {
    uint32_t index = ig_symbol_index(p->module, at[0]->attrs[IG_let_symbol].as.dim);
    ig_plan_step step = new_step(p, IG_STEP_set, ig_symbol_at(p->module, index)->name,
                                 at[0]);
    step.symbol = ig_plan_build_symbol(p, index);
    step.value = ig_plan_build_expr(p, at[0]->attrs[IG_let_value].as.dim);
    push_step(p, &step);
}

/* Those of the entry block that shapes decide are checked when these are bound. */
static void add_guard(plan *p, const ig_op *const *at) {
    const ig_op *op = at[0];
    bool is_late = op->block->parent ||
                   ig_plan_build_is_late(p, op->attrs[IG_guard_left].as.dim) ||
                   ig_plan_build_is_late(p, op->attrs[IG_guard_right].as.dim);
    if (is_late) {
        ig_plan_step step = new_step(p, IG_STEP_guard, "guard", op);
        step.index = ig_plan_build_guard(p, op, false);
        push_step(p, &step);
    }
}

static void add_commit(plan *p, const ig_op *const *at) {
    ig_plan_step step = new_step(p, IG_STEP_commit, "commit", at[0]);
    push_step(p, &step);
}

/* ---- bodies ---- */

static void add_block(plan *p, const ig_block *const *blocks);

/* The same body of every level; returns how many steps it has. */
static uint32_t add_body(plan *p, const ig_op *const *at, uint32_t body) {
    assert(body < at[0]->body_count && "the op has no such body");
    uint32_t levels = p->input->level_count;
    size_t before = p->w->steps.count;
    const ig_block **blocks = IG_NEW_ARRAY(p->arena, const ig_block *, levels);
    for (uint32_t l = 0; l < levels; l++) {
        blocks[l] = at[l]->bodies[body];
    }
    add_block(p, blocks);
    return (uint32_t)(p->w->steps.count - before);
}

static void add_if(plan *p, const ig_op *const *at) {
    size_t index = p->w->steps.count;
    ig_plan_step step = new_step(p, IG_STEP_if, "if", at[0]);
    add_operands(p, at[0], &step);
    push_step(p, &step);
    uint32_t then = add_body(p, at, 0), other = add_body(p, at, 1);
    p->w->steps.items[index].body_count = then;
    p->w->steps.items[index].else_count = other;
}

static void add_loop(plan *p, const ig_op *const *at) {
    uint32_t step_index = (uint32_t)p->w->steps.count;
    uint32_t index = ig_symbol_index(p->module, at[0]->attrs[IG_loop_trip].as.dim);
    ig_plan_step step = new_step(p, IG_STEP_loop, "loop", at[0]);
    step.symbol = ig_plan_build_symbol(p, index);
    add_operands(p, at[0], &step);
    push_step(p, &step);
    uint32_t count = add_body(p, at, 0);
    p->w->steps.items[step_index].body_count = count;
}

/* The opened weights that the body reads. */
static void add_prepared_from(plan *p, const ig_op *prepare, ig_plan_step *step) {
    ig_map known;
    ig_map_init(&known, p->arena);
    step->operands.first = (uint32_t)p->w->operands.count;
    for (const ig_op *op = prepare->bodies[0]->first; op; op = op->next) {
        for (uint32_t i = 0; i < op->operand_count && op->code == IG_OP_launch; i++) {
            ig_value *root = ig_part_root(op->operands[i].value);
            if (!root->def && !ig_map_get_id(&known, IG_MAP_PTR(root))) {
                ig_map_set_id(&known, IG_MAP_PTR(root), root);
                add_operand(p, root, ig_dim_of(0), NULL, 0);
                step->operands.count++;
            }
        }
    }
}

static void add_prepare(plan *p, const ig_op *const *at) {
    size_t index = p->w->steps.count;
    ig_plan_step step = new_step(p, IG_STEP_prepare, "prepare", at[0]);
    add_prepared_from(p, at[0], &step);
    push_step(p, &step);
    uint32_t count = add_body(p, at, 0);
    p->w->steps.items[index].body_count = count;
}

static void add_rows(plan *p, const ig_op *const *at) {
    assert(ig_dim_is(p->rows, 0) && "rows do not nest");
    const ig_op *op = at[0];
    uint32_t step_index = (uint32_t)p->w->steps.count;
    uint32_t index = ig_symbol_index(p->module, op->attrs[IG_rows_symbol].as.dim);
    int64_t block = ig_attr_int(op, IG_rows_block, 1);
    ig_plan_step step = new_step(p, IG_STEP_rows, "rows", op);
    step.symbol = ig_plan_build_symbol(p, index);
    p->w->symbols.items[step.symbol].kind = IG_SYMBOL_ROWS;
    step.value = ig_plan_build_expr(p, op->attrs[IG_rows_count].as.dim);
    step.block = ig_plan_build_expr(p, ig_dim_const(p->module, block));
    push_step(p, &step);
    p->rows = op->attrs[IG_rows_symbol].as.dim;
    uint32_t count = add_body(p, at, 0);
    p->rows = ig_dim_of(0);
    p->w->steps.items[step_index].body_count = count;
}

/* Does the buffer live from the body's first step to its last?
 * A loop's buffer that is used on one side of it and inside: another trip may need it.
 * Every buffer that the blocks of a rows step share: one block may be at its last step
 * while another is at its first.  A worker's own buffers live within one block. */
static bool lives_throughout(const ig_plan_step *step, const ig_plan_buffer *buffer,
                             uint32_t first, uint32_t last) {
    bool is_touched = buffer->first <= last && buffer->last >= first;
    bool is_inside = buffer->first > first && buffer->last <= last;
    bool is_shared = step->kind == IG_STEP_rows && buffer->space != IG_SPACE_WORKER;
    return is_touched && (is_shared || !is_inside);
}

/* Inner bodies come after outer ones, so walking backwards widens lives from the
 * inside out. */
static void widen_lives(plan *p) {
    for (size_t index = p->w->steps.count; index-- > 0;) {
        const ig_plan_step *step = &p->w->steps.items[index];
        bool repeats = step->kind == IG_STEP_loop || step->kind == IG_STEP_rows;
        uint32_t first = (uint32_t)index, last = first + step->body_count;
        assert(last < p->w->steps.count && "a body's steps follow its own");
        for (size_t i = 0; repeats && i < p->w->buffers.count; i++) {
            ig_plan_buffer *buffer = &p->w->buffers.items[i];
            if (lives_throughout(step, buffer, first, last)) {
                buffer->first = buffer->first < first ? buffer->first : first;
                buffer->last = buffer->last > last ? buffer->last : last;
            }
        }
    }
}

/* ---- the walk: one row per op ---- */

typedef void (*add_fn)(plan *p, const ig_op *const *at);

static const add_fn steps[IG_OP_COUNT] = {
    [IG_OP_launch] = add_launch,   [IG_OP_host] = add_host,
    [IG_OP_bind] = add_bind,       [IG_OP_let] = add_let,
    [IG_OP_guard] = add_guard,     [IG_OP_store_dims] = add_store,
    [IG_OP_if] = add_if,           [IG_OP_loop] = add_loop,
    [IG_OP_rows] = add_rows,       [IG_OP_commit] = add_commit,
    [IG_OP_prepare] = add_prepare,
};

static const ig_op *next_step(const ig_op *op) {
    while (op && !steps[op->code]) {
        op = op->next;
    }
    return op;
}

/* Recursion is as deep as bodies nest, which readers bound by limits.graph_depth. */
static void add_block(plan *p, const ig_block *const *blocks) {
    uint32_t levels = p->input->level_count;
    const ig_op **at = IG_NEW_ARRAY(p->arena, const ig_op *, levels);
    for (uint32_t l = 0; l < levels; l++) {
        at[l] = next_step(blocks[l]->first);
    }
    p->phase_open = false;
    while (at[0]) {
        size_t before = p->w->steps.count;
        steps[at[0]->code](p, at);
        bool is_wall = at[0]->code != IG_OP_launch && p->w->steps.count > before;
        p->phase_open = p->phase_open && !is_wall;
        for (uint32_t l = 0; l < levels; l++) {
            at[l] = next_step(at[l]->next);
            assert((!at[l] == !at[0] && (!at[l] || at[l]->code == at[0]->code)) &&
                   "levels differ only in their launches");
        }
    }
    p->phase_open = false;
}

void ig_plan_add_steps(ig_plan_build *p) {
    uint32_t levels = p->input->level_count;
    const ig_block **blocks = IG_NEW_ARRAY(p->arena, const ig_block *, levels);
    for (uint32_t l = 0; l < levels; l++) {
        blocks[l] = &p->input->levels[l].graph->body;
    }
    add_block(p, blocks);
    widen_lives(p);
}
