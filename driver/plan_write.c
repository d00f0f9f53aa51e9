/* A lowered plan graph as the records of an artifact.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Values become buffers in order of appearance; views dissolve into the byte offsets of
 * operands.  Levels differ only in their launches: the plan graphs are walked in step,
 * and a launch gets one variant a level.
 */
#include "driver/plan_write.h"

#include "driver/reference.h"
#include "ir/build.h"
#include "ir/text.h"

#include <assert.h>
#include <string.h>

typedef struct plan {
    ig_artifact_writer  *w;
    const ig_plan_input *input;
    const ig_graph      *graph; /* of the first level */
    ig_module           *module;
    ig_arena            *arena;
    ig_map               symbol_of;   /* the module's index -> number + 1 */
    ig_map               buffer_of;   /* root value -> buffer number + 1 */
    ig_map               constant_of; /* weight -> constant number + 1 */
    ig_map               file_of;     /* path -> file number + 1 */
    ig_map phase_reads, phase_writes; /* buffers, since the last barrier */
    bool   phase_open;
} plan;

/* ---- symbols and expressions ---- */

static ig_plan_text text_of(plan *p, const char *text) {
    return ig_artifact_text(p->w, ig_str_of(text));
}

static uint32_t expr_of(plan *p, ig_dim dim);

static uint32_t add_symbol(plan *p, uint32_t index, ig_plan_symbol record) {
    const ig_symbol *symbol = ig_symbol_at(p->module, index);
    record.name = text_of(p, symbol->name);
    record.origin = text_of(p, symbol->origin ? symbol->origin : "");
    record.min = symbol->min;
    record.max = symbol->max;
    record.multiple = symbol->multiple;
    uint32_t number = (uint32_t)p->w->symbols.count;
    ig_map_set_id(&p->symbol_of, index, (void *)(uintptr_t)(number + 1));
    IG_PUSH(p->w->arena, &p->w->symbols, record);
    return number;
}

static void add_input_symbols(plan *p) {
    for (uint32_t i = 0; i < p->graph->body.arg_count; i++) {
        const ig_type *type = p->graph->body.args[i]->type;
        for (uint32_t d = 0; d < type->rank; d++) {
            if (!ig_dim_as_symbol(p->module, type->dims[d])) {
                continue;
            }
            uint32_t index = ig_symbol_index(p->module, type->dims[d]);
            bool     is_defined = ig_symbol_at(p->module, index)->defined != 0;
            if (!ig_map_get_id(&p->symbol_of, index) && !is_defined) {
                add_symbol(p, index,
                           (ig_plan_symbol){ .kind = IG_SYMBOL_INPUT,
                                             .expr = IG_NONE,
                                             .input = i,
                                             .axis = d });
            }
        }
    }
}

/* A symbol that is no input's is one that stands for an expression. */
static uint32_t symbol_of(plan *p, uint32_t index) {
    uintptr_t known = (uintptr_t)ig_map_get_id(&p->symbol_of, index);
    if (known) {
        return (uint32_t)known - 1;
    }
    const ig_symbol *symbol = ig_symbol_at(p->module, index);
    bool             is_defined = symbol->defined != 0;
    uint32_t         expr = is_defined ? expr_of(p, symbol->defined) : IG_NONE;
    uint32_t         kind = is_defined ? IG_SYMBOL_DEFINED : IG_SYMBOL_LATE;
    return add_symbol(
        p, index,
        (ig_plan_symbol){
            .kind = kind, .expr = expr, .input = IG_NONE, .axis = IG_NONE });
}

static uint32_t expr_of(plan *p, ig_dim dim) {
    ig_dim_code  *code = NULL;
    uint32_t      count = ig_dim_encode(p->module, dim, p->arena, &code);
    ig_plan_code *out = IG_NEW_ARRAY(p->arena, ig_plan_code, count);
    for (uint32_t i = 0; i < count; i++) {
        out[i] = (ig_plan_code){ code[i].opcode, code[i].value };
        if (code[i].opcode == IG_DIM_SYMBOL) {
            out[i].value = symbol_of(p, (uint32_t)code[i].value);
        }
    }
    return ig_artifact_expr(p->w, out, count);
}

static uint32_t bytes_of(plan *p, ig_dim elements, ig_dtype dtype) {
    return expr_of(p, ig_dim_mul(p->module, elements, ig_dtypes[dtype].bits / 8));
}

/* Level graphs have modules of their own: their dims are taken over by name. */
static ig_dim taken_over(plan *p, const ig_graph *from, ig_dim dim) {
    return from == p->graph ? dim : ig_dim_translate(from->module, dim, p->module);
}

/* ---- buffers ---- */

static uint32_t add_buffer(plan *p, const ig_value *root, ig_plan_buffer record) {
    ig_dtype dtype = (ig_dtype)root->type->dtype;
    record.name = text_of(p, root->name ? root->name : "");
    record.bytes = bytes_of(p, ig_type_count(p->module, root->type), dtype);
    record.dtype = ig_dtypes[dtype].onnx;
    record.first = UINT32_MAX;
    record.offset = -1;
    uint32_t number = (uint32_t)p->w->buffers.count;
    IG_PUSH(p->w->arena, &p->w->buffers, record);
    ig_map_set_id(&p->buffer_of, IG_MAP_PTR(root), (void *)(uintptr_t)(number + 1));
    return number;
}

static uint32_t buffer_of(plan *p, const ig_value *root) {
    uintptr_t number = (uintptr_t)ig_map_get_id(&p->buffer_of, IG_MAP_PTR(root));
    assert(number && "every root has a buffer");
    return (uint32_t)number - 1;
}

static const ig_value *root_of(const ig_value *value, ig_dim *out_offset) {
    *out_offset = 0;
    const ig_op *view = ig_def(value, IG_OP_view);
    if (!view) {
        return value;
    }
    *out_offset = view->attrs[IG_view_offset].as.i;
    return view->operands[0].value;
}

static void add_inputs(plan *p) {
    for (uint32_t i = 0; i < p->graph->body.arg_count; i++) {
        add_buffer(p, p->graph->body.args[i],
                   (ig_plan_buffer){ .space = IG_SPACE_INPUT, .index = i });
    }
}

static void add_outputs(plan *p) {
    const ig_op *ret = p->graph->body.last;
    for (uint32_t i = 0; i < ret->operand_count; i++) {
        add_buffer(p, ret->operands[i].value,
                   (ig_plan_buffer){ .space = IG_SPACE_OUTPUT, .index = i });
    }
}

/* ---- constants ---- */

static uint32_t file_of(plan *p, const char *path, ig_status *status) {
    uintptr_t known = (uintptr_t)ig_map_get(&p->file_of, ig_str_of(path));
    if (known) {
        return (uint32_t)known - 1;
    }
    char        why[128];
    ig_file_map map;
    *status = ig_file_map_open(path, &map, why);
    if (*status != IG_OK) {
        ig_location where = { .file = path };
        ig_error(&p->module->context->diag, *status, &where, "cannot read: %s", why);
        return 0;
    }
    const char  *named = ig_reference_path(p->arena, p->input->artifact_path, path);
    ig_plan_file record = { .path = text_of(p, named),
                            .bytes = map.size,
                            .mtime_ns = map.mtime_ns };
    ig_file_map_close(&map);
    uint32_t number = (uint32_t)p->w->files.count;
    IG_PUSH(p->w->arena, &p->w->files, record);
    ig_map_set(&p->file_of, ig_str_of(path), (void *)(uintptr_t)(number + 1));
    return number;
}

static ig_status add_constant(plan *p, const ig_weight *weight, uint32_t *out_number) {
    ig_str name = ig_str_of(weight->name);
    if (weight->is_recipe) {
        const ig_tensor *value = &p->input->recipes[weight->index];
        *out_number = ig_artifact_constant(p->w, name, value->data,
                                           (uint64_t)ig_tensor_bytes(value));
        return IG_OK;
    }
    const ig_data *data = &weight->data;
    if (p->input->refers && data->file && !data->is_splat) {
        ig_status status = IG_OK;
        uint32_t  file = file_of(p, data->file, &status);
        *out_number = ig_artifact_reference(p->w, name, file, (uint64_t)data->offset,
                                            (uint64_t)data->size, data->bytes);
        return status;
    }
    ig_tensor value;
    IG_TRY(ig_tensor_of_data(data, p->arena, p->module->context, &value));
    uint64_t size = data->type->kind == IG_TABLE ? (uint64_t)data->size
                                                 : (uint64_t)ig_tensor_bytes(&value);
    *out_number = ig_artifact_constant(p->w, name, value.data, size);
    return IG_OK;
}

static ig_status add_weight(plan *p, const ig_op *op) {
    const ig_weight *weight = ig_module_weight(p->module,
                                               ig_attr_str(op, IG_weight_name));
    assert(weight && "verified");
    uint32_t number = 0;
    IG_TRY(add_constant(p, weight, &number));
    add_buffer(p, op->results,
               (ig_plan_buffer){ .space = IG_SPACE_CONSTANT, .index = number });
    return IG_OK;
}

/* ---- ports and guards ---- */

static ig_plan_port port_of(plan *p, const ig_value *value, const char *name) {
    ig_writer type;
    ig_writer_init(&type, p->arena);
    const ig_type *tensor = ig_type_tensor(p->module, (ig_dtype)value->type->dtype,
                                           value->type->rank, value->type->dims);
    ig_print_type(p->module, tensor, &type);
    uint32_t *dims = IG_NEW_ARRAY(p->arena, uint32_t, value->type->rank);
    for (uint32_t d = 0; d < value->type->rank; d++) {
        dims[d] = expr_of(p, value->type->dims[d]);
    }
    ig_plan_port port = {
        .name = text_of(p, name),
        .type = ig_artifact_text(p->w, ig_writer_str(&type)),
        .dtype = ig_dtypes[value->type->dtype].onnx,
        .rank = value->type->rank,
        .dims = ig_artifact_list(p->w, dims, value->type->rank).first,
        .buffer = buffer_of(p, value),
    };
    return port;
}

static const char *port_name(const char *const *names, const char *kind, uint32_t index,
                             ig_arena *arena) {
    return names && names[index] ? names[index]
                                 : ig_arena_printf(arena, "%s%u", kind, index);
}

static ig_status add_ports(plan *p) {
    ig_context  *context = p->module->context;
    const ig_op *ret = p->graph->body.last;
    for (uint32_t i = 0; i < p->graph->body.arg_count + ret->operand_count; i++) {
        bool            is_input = i < p->graph->body.arg_count;
        uint32_t        index = is_input ? i : i - p->graph->body.arg_count;
        const ig_value *value = is_input ? p->graph->body.args[index]
                                         : ret->operands[index].value;
        const char     *name =
            is_input ? port_name(p->graph->arg_names, "input", index, p->arena)
                         : port_name(p->graph->result_names, "output", index, p->arena);
        if (value->type->rank > IG_PLAN_RANK) {
            return ig_error(&context->diag, IG_LIMIT, NULL,
                            "'%s' has rank %u; programs take at most %d", name,
                            value->type->rank, IG_PLAN_RANK);
        }
        ig_plan_port port = port_of(p, value, name);
        if (is_input) {
            IG_PUSH(p->w->arena, &p->w->inputs, port);
        } else {
            IG_PUSH(p->w->arena, &p->w->outputs, port);
        }
    }
    return IG_OK;
}

static void add_guard(plan *p, const ig_op *op) {
    const char   *message = ig_attr_str(op, IG_guard_message);
    ig_plan_guard guard = {
        .left = expr_of(p, op->attrs[IG_guard_left].as.i),
        .right = expr_of(p, op->attrs[IG_guard_right].as.i),
        .test = (uint32_t)ig_attr_int(op, IG_guard_test, 0),
        .at_bind = 1,
        .message = text_of(p, message ? message : "shapes disagree"),
    };
    IG_PUSH(p->w->arena, &p->w->guards, guard);
}

/* ---- launches ---- */

static uint32_t kernel_number(plan *p, const ig_plan_level *level, const char *kernel) {
    const char  *name = ig_arena_printf(p->arena, "%s/%s", level->name, kernel);
    ig_plan_text text = text_of(p, name);
    for (uint32_t i = 0; i < p->w->kernels.count; i++) {
        if (p->w->kernels.items[i].offset == text.offset) {
            return i;
        }
    }
    IG_PUSH(p->w->arena, &p->w->kernels, text);
    return (uint32_t)p->w->kernels.count - 1;
}

const char *ig_plan_kernel_name(const ig_artifact_writer *w, const ig_plan_level *level,
                                uint32_t number) {
    const char *text = w->strings.data + w->kernels.items[number].offset;
    size_t      length = strlen(level->name);
    bool        is_own = strncmp(text, level->name, length) == 0 && text[length] == '/';
    return is_own ? text + length + 1 : NULL;
}

static void add_variant(plan *p, const ig_plan_level *level, const ig_op *launch) {
    const ig_attr *params = &launch->attrs[IG_launch_params];
    const ig_attr *cost = &launch->attrs[IG_launch_cost];
    uint32_t       count = params->kind == IG_ATTR_DIMS ? params->count : 0;
    uint32_t      *exprs = IG_NEW_ARRAY(p->arena, uint32_t, count);
    for (uint32_t i = 0; i < count; i++) {
        exprs[i] = expr_of(p, taken_over(p, level->graph, params->as.dims[i]));
    }
    ig_dim          grid = launch->attrs[IG_launch_grid].as.i;
    ig_plan_variant variant = {
        .kernel = kernel_number(p, level, ig_attr_str(launch, IG_launch_kernel)),
        .grid = expr_of(p, taken_over(p, level->graph, grid)),
        .params = ig_artifact_list(p->w, exprs, count),
        .cost = cost->kind == IG_ATTR_NONE
                    ? IG_NONE
                    : expr_of(p, taken_over(p, level->graph, cost->as.i)),
        .scratch = (uint32_t)ig_attr_int(launch, IG_launch_scratch, 0),
    };
    IG_PUSH(p->w->arena, &p->w->variants, variant);
}

static void set_range(plan *p, const ig_op *launch, uint32_t operand,
                      ig_plan_operand *record) {
    const ig_attr *ranges = &launch->attrs[IG_launch_ranges];
    uint32_t       count = ranges->kind == IG_ATTR_DIMS ? ranges->count : 0;
    for (uint32_t i = 0; i + 2 < count; i += 3) {
        if (ranges->as.dims[i] == operand) {
            record->low = expr_of(p, ranges->as.dims[i + 1]);
            record->high = expr_of(p, ranges->as.dims[i + 2]);
        }
    }
}

static void add_operands(plan *p, const ig_op *launch, ig_plan_step *step,
                         uint32_t number) {
    step->operands.first = (uint32_t)p->w->operands.count;
    step->operands.count = launch->operand_count;
    for (uint32_t i = 0; i < launch->operand_count; i++) {
        ig_dim          offset = 0;
        const ig_value *root = root_of(launch->operands[i].value, &offset);
        ig_plan_operand operand = {
            .buffer = buffer_of(p, root),
            .row_stride = IG_NONE,
            .low = IG_NONE,
            .high = IG_NONE,
            .offset = offset ? bytes_of(p, offset, (ig_dtype)root->type->dtype)
                             : IG_NONE,
        };
        set_range(p, launch, i, &operand);
        ig_plan_buffer *buffer = &p->w->buffers.items[operand.buffer];
        buffer->first = buffer->first == UINT32_MAX ? number : buffer->first;
        buffer->last = number;
        IG_PUSH(p->w->arena, &p->w->operands, operand);
    }
}

/* ---- phases ---- */

/* May this launch run at the same time as those since the last barrier?  Not when it
 * reads what one of them writes, or the reverse; writers of one buffer have places of
 * their own (passes/order.c). */
static bool joins(plan *p, const ig_op *launch) {
    uint32_t outs = (uint32_t)ig_attr_int(launch, IG_launch_outs, 0);
    bool     is_free = p->phase_open;
    for (uint32_t i = 0; i < launch->operand_count; i++) {
        ig_dim   offset = 0;
        uint32_t buffer = buffer_of(p, root_of(launch->operands[i].value, &offset));
        bool     is_out = i >= launch->operand_count - outs;
        const ig_map *others = is_out ? &p->phase_reads : &p->phase_writes;
        is_free = is_free && !ig_map_get_id(others, buffer);
    }
    return is_free;
}

static void enter_phase(plan *p, const ig_op *launch, bool is_joining) {
    uint32_t outs = (uint32_t)ig_attr_int(launch, IG_launch_outs, 0);
    if (!is_joining) {
        ig_map_init(&p->phase_reads, p->arena);
        ig_map_init(&p->phase_writes, p->arena);
        p->phase_open = true;
    }
    for (uint32_t i = 0; i < launch->operand_count; i++) {
        ig_dim   offset = 0;
        uint32_t buffer = buffer_of(p, root_of(launch->operands[i].value, &offset));
        bool     is_out = i >= launch->operand_count - outs;
        ig_map_set_id(is_out ? &p->phase_writes : &p->phase_reads, buffer, p);
    }
}

/* The same launch of every level; `at` holds one op a level. */
static void add_launch(plan *p, const ig_op *const *at) {
    uint32_t     number = (uint32_t)p->w->steps.count;
    ig_plan_step step = { .name = text_of(p, ig_attr_str(at[0], IG_launch_kernel)),
                          .kind = IG_STEP_launch,
                          .symbol = IG_NONE,
                          .index = IG_NONE,
                          .value = IG_NONE,
                          .block = IG_NONE };
    bool         is_joining = joins(p, at[0]);
    enter_phase(p, at[0], is_joining);
    step.flags = is_joining ? IG_STEP_JOINS : 0;
    add_operands(p, at[0], &step, number);
    step.variants.first = (uint32_t)p->w->variants.count;
    step.variants.count = p->input->level_count;
    for (uint32_t l = 0; l < p->input->level_count; l++) {
        add_variant(p, &p->input->levels[l], at[l]);
    }
    IG_PUSH(p->w->arena, &p->w->steps, step);
}

/* ---- the walk ---- */

static const ig_op *next_launch(const ig_op *op) {
    while (op && op->code != IG_OP_launch) {
        op = op->next;
    }
    return op;
}

static void add_launches(plan *p) {
    uint32_t      levels = p->input->level_count;
    const ig_op **at = IG_NEW_ARRAY(p->arena, const ig_op *, levels);
    for (uint32_t l = 0; l < levels; l++) {
        at[l] = next_launch(p->input->levels[l].graph->body.first);
    }
    while (at[0]) {
        add_launch(p, at);
        for (uint32_t l = 0; l < levels; l++) {
            at[l] = next_launch(at[l]->next);
        }
    }
}

static ig_status add_declarations(plan *p) {
    for (const ig_op *op = p->graph->body.first; op; op = op->next) {
        if (op->code == IG_OP_guard) {
            add_guard(p, op);
        }
        if (op->code == IG_OP_weight || op->code == IG_OP_table) {
            IG_TRY(add_weight(p, op));
        }
        bool is_output = op->result_count &&
                         ig_map_get_id(&p->buffer_of, IG_MAP_PTR(op->results));
        if (op->code == IG_OP_alloc && !is_output) {
            add_buffer(p, op->results,
                       (ig_plan_buffer){ .space = IG_SPACE_ARENA, .index = IG_NONE });
        }
    }
    return IG_OK;
}

/* Buffers that no step touches live nowhere. */
static void close_lives(plan *p) {
    for (size_t i = 0; i < p->w->buffers.count; i++) {
        ig_plan_buffer *buffer = &p->w->buffers.items[i];
        if (buffer->first == UINT32_MAX) {
            buffer->first = buffer->last = 0;
        }
    }
}

ig_status ig_plan_write(ig_artifact_writer *w, const ig_plan_input *input) {
    plan p = { .w = w,
               .input = input,
               .graph = input->levels[0].graph,
               .module = input->levels[0].graph->module,
               .arena = w->arena };
    ig_map_init(&p.symbol_of, p.arena);
    ig_map_init(&p.buffer_of, p.arena);
    ig_map_init(&p.constant_of, p.arena);
    ig_map_init(&p.file_of, p.arena);
    for (uint32_t l = 0; l < input->level_count; l++) {
        IG_PUSH(w->arena, &w->levels, text_of(&p, input->levels[l].name));
    }
    add_input_symbols(&p);
    add_inputs(&p);
    add_outputs(&p);
    IG_TRY(add_declarations(&p));
    IG_TRY(add_ports(&p));
    add_launches(&p);
    close_lives(&p);
    return IG_OK;
}
