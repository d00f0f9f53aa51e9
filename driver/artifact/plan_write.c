/* A lowered plan graph as the records of an artifact.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Values become buffers in order of appearance; views dissolve into the byte offsets of
 * operands.
 */
#include "driver/artifact/plan_steps.h"

#include "driver/artifact/reference.h"
#include "driver/artifact/signature.h"
#include "ir/build/build.h"
#include "ir/data.h"
#include "ir/text/text.h"

#include <assert.h>
#include <ingot/program.h>
#include <string.h>

typedef ig_plan_build plan;

/* ---- symbols and expressions ---- */

ig_plan_text ig_plan_build_text(plan *p, const char *text) {
    return ig_artifact_text(p->w, ig_str_of(text));
}

static uint32_t add_symbol(plan *p, uint32_t index, ig_plan_symbol record) {
    assert(!ig_map_get_id(&p->symbol_of, index) && "a symbol has one number");
    const ig_symbol *symbol = ig_symbol_at(p->module, index);
    record.name = ig_plan_build_text(p, symbol->name);
    record.origin = ig_plan_build_text(p, symbol->origin ? symbol->origin : "");
    record.min = symbol->min;
    record.max = symbol->max;
    record.multiple = symbol->multiple;
    uint32_t entry = (uint32_t)p->w->symbols.count;
    ig_map_set_id(&p->symbol_of, index, (void *)(uintptr_t)(entry + 1));
    IG_PUSH(p->w->arena, &p->w->symbols, record);
    return entry;
}

static void add_input_symbols(plan *p) {
    for (uint32_t i = 0; i < p->graph->body.arg_count; i++) {
        const ig_type *type = p->graph->body.args[i]->type;
        for (uint32_t d = 0; d < type->rank; d++) {
            if (!ig_dim_as_symbol(p->module, type->dims[d])) {
                continue;
            }
            uint32_t index = ig_symbol_index(p->module, type->dims[d]);
            bool is_defined = ig_symbol_is_defined(ig_symbol_at(p->module, index));
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

/* A symbol that is not an input's has an expression as its value. */
uint32_t ig_plan_build_symbol(plan *p, uint32_t index) {
    uintptr_t known = (uintptr_t)ig_map_get_id(&p->symbol_of, index);
    if (known) {
        return (uint32_t)known - 1;
    }
    const ig_symbol *symbol = ig_symbol_at(p->module, index);
    bool is_defined = ig_symbol_is_defined(symbol);
    uint32_t expr = is_defined ? ig_plan_build_expr(p, symbol->defined) : IG_NONE;
    uint32_t kind = is_defined ? IG_SYMBOL_DEFINED : IG_SYMBOL_LATE;
    return add_symbol(
        p, index,
        (ig_plan_symbol){
            .kind = kind, .expr = expr, .input = IG_NONE, .axis = IG_NONE });
}

/* Most expressions are known already: the trial encoding is not kept. */
uint32_t ig_plan_build_expr(plan *p, ig_dim dim) {
    ig_arena scratch;
    ig_dim_code *code = NULL;
    ig_arena_init(&scratch, p->arena->budget);
    uint32_t count = ig_dim_encode(p->module, dim, &scratch, &code);
    ig_plan_code *out = IG_NEW_ARRAY(&scratch, ig_plan_code, count);
    for (uint32_t i = 0; i < count; i++) {
        out[i] = (ig_plan_code){ code[i].opcode, code[i].value };
        if (code[i].opcode == IG_DIM_SYMBOL) {
            out[i].value = ig_plan_build_symbol(p, (uint32_t)code[i].value);
        }
    }
    uint32_t expr = ig_artifact_expr(p->w, out, count);
    ig_arena_fini(&scratch);
    return expr;
}

uint32_t ig_plan_build_bytes(plan *p, ig_dim elements, ig_dtype dtype) {
    uint8_t bits = ig_dtypes[dtype].bits;
    return ig_plan_build_expr(
        p, bits < 8 ? ig_dim_ceil_div(p->module, elements, ig_dim_of(8 / bits))
                    : ig_dim_mul(p->module, elements, ig_dim_of(bits / 8)));
}

/* Level graphs have modules of their own: their dims are taken over by name. */
ig_dim ig_plan_build_taken_over(plan *p, const ig_graph *from, ig_dim dim) {
    return from == p->graph ? dim : ig_dim_translate(from->module, dim, p->module);
}

/* ---- buffers ---- */

static uint32_t add_buffer(plan *p, const ig_value *root, ig_plan_buffer record) {
    assert(!ig_map_get_id(&p->buffer_of, IG_MAP_PTR(root)) && "a root has one buffer");
    ig_dtype dtype = (ig_dtype)root->type->dtype;
    record.name = ig_plan_build_text(p, root->name ? root->name : "");
    record.bytes = ig_plan_build_bytes(p, ig_type_count(p->module, root->type), dtype);
    record.dtype = ig_dtypes[dtype].onnx;
    record.first = UINT32_MAX;
    record.offset = -1;
    uint32_t index = (uint32_t)p->w->buffers.count;
    IG_PUSH(p->w->arena, &p->w->buffers, record);
    ig_map_set_id(&p->buffer_of, IG_MAP_PTR(root), (void *)(uintptr_t)(index + 1));
    return index;
}

uint32_t ig_plan_build_buffer(plan *p, const ig_value *root) {
    uintptr_t index = (uintptr_t)ig_map_get_id(&p->buffer_of, IG_MAP_PTR(root));
    assert(index && "every root has a buffer");
    return (uint32_t)index - 1;
}

static void add_inputs(plan *p) {
    for (uint32_t i = 0; i < p->graph->body.arg_count; i++) {
        add_buffer(p, p->graph->body.args[i],
                   (ig_plan_buffer){ .space = IG_SPACE_INPUT, .index = i });
    }
}

typedef struct lateness {
    plan *p;
    bool is_late;
} lateness;

/* A symbol that no input binds and that has no expression is set while running. */
static void note_late(void *user, uint32_t symbol) {
    lateness *l = user;
    bool is_defined = ig_symbol_is_defined(ig_symbol_at(l->p->module, symbol));
    uintptr_t index = (uintptr_t)ig_map_get_id(&l->p->symbol_of, symbol);
    bool is_input = index && l->p->w->symbols.items[index - 1].kind == IG_SYMBOL_INPUT;
    l->is_late = l->is_late || (!is_defined && !is_input);
}

bool ig_plan_build_is_late(ig_plan_build *p, ig_dim dim) {
    lateness l = { .p = p };
    ig_dim_visit_symbols(p->module, dim, note_late, &l);
    return l.is_late;
}

/* A call's extents are checked before anything runs. */
static ig_status check_inputs(plan *p) {
    for (uint32_t i = 0; i < p->graph->body.arg_count; i++) {
        const ig_value *input = p->graph->body.args[i];
        for (uint32_t d = 0; d < input->type->rank; d++) {
            if (!ig_plan_build_is_late(p, input->type->dims[d])) {
                continue;
            }
            ig_writer text;
            ig_writer_init(&text, p->arena);
            ig_dim_print(p->module, input->type->dims[d], &text);
            return ig_error(&p->module->context->diag, IG_UNSUPPORTED, NULL,
                            "dim %u of input '%s' is %s, which no extents of inputs "
                            "tell",
                            d, input->name ? input->name : "?", text.data);
        }
    }
    return IG_OK;
}

/* Does an extent wait for the run, also of a value that is empty all the same? */
static bool has_late_extent(plan *p, const ig_type *type) {
    bool is_late = false;
    for (uint32_t i = 0; i < type->rank; i++) {
        is_late = is_late || ig_plan_build_is_late(p, type->dims[i]);
    }
    return is_late;
}

/* Results of sizes that the run finds are in the arena and are copied at the end.  A
 * result in an input's memory is the input's buffer. */
static void add_outputs(plan *p) {
    const ig_op *ret = p->graph->body.last;
    for (uint32_t i = 0; i < ret->operand_count; i++) {
        if (ig_ret_in_place(ret, i) >= 0) {
            assert(!ret->operands[i].value->def && "it is the argument itself");
            continue;
        }
        ig_value *value = ret->operands[i].value;
        ig_plan_buffer record = { .space = IG_SPACE_OUTPUT, .index = i };
        if (has_late_extent(p, value->type)) {
            record = (ig_plan_buffer){ .space = IG_SPACE_ARENA, .index = IG_NONE };
        }
        add_buffer(p, value, record);
    }
}

/* ---- constants ---- */

static uint32_t file_of(plan *p, const char *path, ig_status *status) {
    uintptr_t known = (uintptr_t)ig_map_get(&p->file_of, ig_str_of(path));
    if (known) {
        return (uint32_t)known - 1;
    }
    char why[128];
    ig_file_map map;
    *status = ig_file_map_open(path, &map, why);
    if (*status != IG_OK) {
        ig_location where = { .file = path };
        ig_error(&p->module->context->diag, *status, &where, "cannot read: %s", why);
        return 0;
    }
    const char *named = ig_reference_path(p->arena, p->input->artifact_path, path);
    ig_plan_file record = { .path = ig_plan_build_text(p, named),
                            .bytes = map.size,
                            .mtime_ns = map.mtime_ns };
    ig_file_map_close(&map);
    uint32_t index = (uint32_t)p->w->files.count;
    IG_PUSH(p->w->arena, &p->w->files, record);
    ig_map_set(&p->file_of, ig_str_of(path), (void *)(uintptr_t)(index + 1));
    return index;
}

static ig_status add_constant(plan *p, const ig_weight *weight, uint32_t *out_index) {
    ig_str name = ig_str_of(weight->name);
    if (weight->is_recipe) {
        assert(p->input->recipes && "recipes are computed before the plan is written");
        const ig_tensor *value = &p->input->recipes[weight->index];
        *out_index = ig_artifact_constant(p->w, name, value->data,
                                          (uint64_t)ig_tensor_bytes(value));
        return IG_OK;
    }
    const ig_data *data = &weight->data;
    if (p->input->refers && data->file && !data->is_splat) {
        ig_status status = IG_OK;
        uint32_t file = file_of(p, data->file, &status);
        *out_index = ig_artifact_reference(p->w, name, file, (uint64_t)data->offset,
                                           (uint64_t)data->size, NULL);
        p->w->constants.items[*out_index].hash =
            p->input->hash_of(p->input->hash_user, data->bytes, (size_t)data->size);
        return status;
    }
    ig_tensor value;
    IG_TRY(ig_tensor_of_data(data, p->arena, p->module->context, &value));
    uint64_t size = data->type->kind == IG_TABLE ? (uint64_t)data->size
                                                 : (uint64_t)ig_tensor_bytes(&value);
    *out_index = ig_artifact_constant(p->w, name, value.data, size);
    return IG_OK;
}

static ig_status add_weight(plan *p, const ig_op *op) {
    const ig_weight *weight = ig_module_weight(p->module,
                                               ig_attr_str(op, IG_weight_name));
    assert(weight && "verified");
    uint32_t index = 0;
    IG_TRY(add_constant(p, weight, &index));
    add_buffer(p, op->results,
               (ig_plan_buffer){ .space = IG_SPACE_CONSTANT, .index = index });
    return IG_OK;
}

/* ---- ports and guards ---- */

static ig_plan_port port_of(plan *p, const ig_value *value, const char *name) {
    assert(value->type->rank <= IG_PLAN_RANK && "add_ports checked the rank");
    ig_writer type;
    ig_writer_init(&type, p->arena);
    const ig_type *tensor = ig_type_tensor(p->module, (ig_dtype)value->type->dtype,
                                           value->type->rank, value->type->dims);
    ig_print_type(p->module, tensor, &type);
    uint32_t *dims = IG_NEW_ARRAY(p->arena, uint32_t, value->type->rank);
    for (uint32_t d = 0; d < value->type->rank; d++) {
        dims[d] = ig_plan_build_expr(p, value->type->dims[d]);
    }
    ig_plan_port port = {
        .name = ig_plan_build_text(p, name),
        .type = ig_artifact_text(p->w, ig_writer_str(&type)),
        .dtype = ig_dtypes[value->type->dtype].onnx,
        .rank = value->type->rank,
        .dims = ig_artifact_list(p->w, dims, value->type->rank).first,
        .buffer = ig_plan_build_buffer(p, value),
        .in_place_of = IG_NONE,
        .partner = IG_NONE,
    };
    return port;
}

static const char *port_name(const char *const *names, const char *kind, uint32_t index,
                             ig_arena *arena) {
    return names && names[index] ? names[index]
                                 : ig_arena_printf(arena, "%s_%u", kind, index);
}

static ig_status check_port(const plan *p, const ig_value *value, const char *name) {
    ig_diag *diag = &p->module->context->diag;
    ig_kind kind = value->type->kind;
    if (kind == IG_SEQUENCE || kind == IG_OPTIONAL) {
        return ig_error_hint(diag, IG_UNSUPPORTED, NULL,
                             "run it with --target interpret",
                             "'%s' is a list: programs take and give tensors", name);
    }
    if (value->type->rank > IG_PLAN_RANK) {
        return ig_error(diag, IG_LIMIT, NULL,
                        "'%s' has rank %u; programs take at most %d", name,
                        value->type->rank, IG_PLAN_RANK);
    }
    return IG_OK;
}

_Static_assert((int)IG_ROLE_OF_shared == (int)IG_ROLE_SHARED &&
                   (int)IG_ROLE_OF_none == (int)IG_ROLE_NONE,
               "roles are set by the runtime only");

/* How many entries of lengths or offsets there are a row of the first result, whose
 * first extent is the batch; 0: not known. */
static uint32_t count_keys(const plan *p, const ig_value *value) {
    ig_dim batch = p->graph->body.last->operands[0].value->type->dims[0];
    int64_t keys = 0;
    bool is_known =
        ig_dim_known(ig_dim_exact_div(p->module, value->type->dims[0], batch), &keys);
    return is_known && keys > 0 && keys <= INT32_MAX ? (uint32_t)keys : 0;
}

/* Port number `index` of all; of opened weights and states nothing is said. */
static void set_role(const plan *p, const ig_value *value, uint32_t index,
                     ig_plan_port *port) {
    const ig_op *ret = p->graph->body.last;
    const ig_attr *roles = &ret->attrs[IG_ret_roles],
                  *partners = &ret->attrs[IG_ret_partners];
    if (roles->kind == IG_ATTR_INTS && index < roles->count) {
        port->role = (uint32_t)roles->as.ints[index];
    }
    if (partners->kind == IG_ATTR_INTS && index < partners->count &&
        partners->as.ints[index] >= 0) {
        port->partner = (uint32_t)partners->as.ints[index];
    }
    if (port->role == IG_ROLE_KEY_LENGTHS || port->role == IG_ROLE_OFFSETS) {
        port->keys = count_keys(p, value);
    }
}

static ig_status add_ports(plan *p) {
    const ig_op *ret = p->graph->body.last;
    for (uint32_t i = 0; i < p->graph->body.arg_count + ret->operand_count; i++) {
        bool is_input = i < p->graph->body.arg_count;
        uint32_t index = is_input ? i : i - p->graph->body.arg_count;
        const ig_value *value = is_input ? p->graph->body.args[index]
                                         : ret->operands[index].value;
        const char *name =
            is_input ? port_name(p->graph->arg_names, "input", index, p->arena)
                     : port_name(p->graph->result_names, "output", index, p->arena);
        IG_TRY(check_port(p, value, name));
        ig_plan_port port = port_of(p, value, name);
        set_role(p, value, i, &port);
        if (is_input) {
            port.flags = ig_graph_is_opened(p->graph, value) ? IG_PORT_WEIGHT : 0;
            IG_PUSH(p->w->arena, &p->w->inputs, port);
        } else {
            int64_t arg = ig_ret_in_place(ret, index);
            port.in_place_of = arg < 0 ? IG_NONE : (uint32_t)arg;
            IG_PUSH(p->w->arena, &p->w->outputs, port);
        }
    }
    return IG_OK;
}

/* The guard's own words, and the inputs that decide it: a user of a whole model knows
 * those. */
static const char *guard_words(const plan *p, const ig_op *op) {
    const char *message = ig_attr_str(op, IG_guard_message);
    ig_writer text;
    ig_writer_init(&text, p->arena);
    ig_put(&text, "%s", message && *message ? message : "shapes disagree");
    ig_dim_print_origins(p->module, op->attrs[IG_guard_left].as.dim,
                         op->attrs[IG_guard_right].as.dim, &text);
    return ig_writer_str(&text).data;
}

uint32_t ig_plan_build_guard(ig_plan_build *p, const ig_op *op, bool is_at_bind) {
    assert(op->code == IG_OP_guard && "the attributes are those of a guard");
    ig_plan_guard guard = {
        .left = ig_plan_build_expr(p, op->attrs[IG_guard_left].as.dim),
        .right = ig_plan_build_expr(p, op->attrs[IG_guard_right].as.dim),
        .test = (uint32_t)ig_attr_int(op, IG_guard_test, 0),
        .at_bind = is_at_bind,
        .message = ig_plan_build_text(p, guard_words(p, op)),
    };
    IG_PUSH(p->w->arena, &p->w->guards, guard);
    return (uint32_t)p->w->guards.count - 1;
}

/* ---- the plan ---- */

static bool is_bound_guard(plan *p, const ig_op *op) {
    return op->code == IG_OP_guard &&
           !ig_plan_build_is_late(p, op->attrs[IG_guard_left].as.dim) &&
           !ig_plan_build_is_late(p, op->attrs[IG_guard_right].as.dim);
}

/* Weights that only recipes read are no part of the program: recipes are computed. */
static bool is_needed(const ig_op *op) {
    return (op->code == IG_OP_weight || op->code == IG_OP_table) && op->results[0].uses;
}

/* An `if` keeps two ends open, of the branch and of itself. */
static ig_status check_depth(plan *p, const ig_op *op, uint32_t depth) {
    if (depth <= IG_STEP_DEPTH) {
        return IG_OK;
    }
    return ig_error(
        &p->module->context->diag, IG_LIMIT, &p->module->locations.items[op->loc],
        "branches and loops nest deeper than programs can: %d levels, where a branch counts twice",
        IG_STEP_DEPTH);
}

static bool is_used_in(const ig_value *value, ig_opcode code) {
    for (const ig_use *use = value->uses; use; use = use->next) {
        const ig_op *parent = use->user->block->parent;
        if ((parent && parent->code == code) ||
            (use->user->code == IG_OP_view && is_used_in(use->user->results, code))) {
            return true;
        }
    }
    return false;
}

/* The place of an alloc: prepared values are kept where they are read outside, too. */
static uint32_t space_of(const ig_op *alloc) {
    const ig_op *parent = alloc->block->parent;
    if (!parent && is_used_in(alloc->results, IG_OP_prepare)) {
        return IG_SPACE_KEPT;
    }
    return parent && parent->code == IG_OP_rows ? IG_SPACE_WORKER : IG_SPACE_ARENA;
}

/* Recursion is as deep as bodies nest, which readers bound by limits.graph_depth. */
static ig_status add_declarations(plan *p, const ig_block *block, uint32_t depth) {
    for (const ig_op *op = block->first; op; op = op->next) {
        uint32_t inside = depth + (op->code == IG_OP_if ? 2 : 1);
        if (!block->parent && is_bound_guard(p, op)) {
            ig_plan_build_guard(p, op, true);
        }
        if (is_needed(op)) {
            IG_TRY(add_weight(p, op));
        }
        bool is_output = op->result_count &&
                         ig_map_get_id(&p->buffer_of, IG_MAP_PTR(op->results));
        if (op->code == IG_OP_alloc && !is_output) {
            add_buffer(p, op->results,
                       (ig_plan_buffer){ .space = space_of(op), .index = IG_NONE });
        }
        if (op->body_count > 0) {
            IG_TRY(check_depth(p, op, inside));
        }
        for (uint32_t i = 0; i < op->body_count; i++) {
            IG_TRY(add_declarations(p, op->bodies[i], inside));
        }
    }
    return IG_OK;
}

/* Buffers that no step touches live nowhere, kept ones everywhere. */
static void close_lives(plan *p) {
    for (size_t i = 0; i < p->w->buffers.count; i++) {
        ig_plan_buffer *buffer = &p->w->buffers.items[i];
        if (buffer->first == UINT32_MAX) {
            buffer->first = buffer->last = 0;
        }
        if (buffer->space == IG_SPACE_KEPT) {
            buffer->first = 0;
            buffer->last = (uint32_t)p->w->steps.count - 1;
        }
        assert(buffer->first <= buffer->last && "a life begins before it ends");
    }
}

/* A symbol that no step sets would be 0 in each run: a pass lost what defines it. */
static ig_status check_late_symbols(plan *p) {
    bool *is_set = IG_NEW_ARRAY(p->arena, bool, p->w->symbols.count);
    for (size_t i = 0; i < p->w->steps.count; i++) {
        uint32_t symbol = p->w->steps.items[i].symbol;
        if (symbol != IG_NONE) {
            is_set[symbol] = true;
        }
    }
    for (uint32_t i = 0; i < ig_symbol_count(p->module); i++) {
        uintptr_t index = (uintptr_t)ig_map_get_id(&p->symbol_of, i);
        if (index && p->w->symbols.items[index - 1].kind == IG_SYMBOL_LATE &&
            !is_set[index - 1]) {
            return ig_error(&p->module->context->diag, IG_INTERNAL, NULL,
                            "nothing in the plan sets the extent '%s'",
                            ig_symbol_at(p->module, i)->name);
        }
    }
    return IG_OK;
}

ig_status ig_plan_write(ig_artifact_writer *w, const ig_plan_input *input) {
    assert(input->level_count > 0 && w->steps.count == 0 &&
           "a writer takes one plan, of at least one level");
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
        IG_PUSH(w->arena, &w->levels, ig_plan_build_text(&p, input->levels[l].name));
    }
    add_input_symbols(&p);
    IG_TRY(check_inputs(&p));
    add_inputs(&p);
    add_outputs(&p);
    IG_TRY(add_declarations(&p, &p.graph->body, 2));
    IG_TRY(add_ports(&p));
    IG_TRY(ig_plan_add_states(&p));
    ig_plan_add_tree(&p);
    ig_plan_add_steps(&p);
    assert(input->step_origins->count == w->steps.count && "one each");
    close_lives(&p);
    return check_late_symbols(&p);
}
