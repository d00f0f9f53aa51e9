/* A module's contents, and the parts that would not compile, as JSON.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/compile/compile.h"
#include "ir/text/text.h"

#include <stdlib.h>

enum { BIGGEST = 10 };

typedef struct facts_call {
    ig_module *module;
    ig_compile_options options;
    ig_arena *arena;
    ig_writer out;
    ig_lowered lowered;
    const char *comma; /* before the next item of the list at hand */
    size_t refused, op_counts[IG_OP_COUNT];
    const char *text;
} facts_call;

static void open_list(facts_call *call, const char *name) {
    ig_put(&call->out, ",\n \"%s\": [", name);
    call->comma = "";
}

static ig_writer *next_item(facts_call *call) {
    ig_put(&call->out, "%s\n  ", call->comma);
    call->comma = ",";
    return &call->out;
}

static void put_text(ig_writer *out, const char *key, const char *text) {
    ig_put(out, "\"%s\": ", key);
    ig_put_json_string(out, ig_str_of(text ? text : ""));
}

/* ---- ops ---- */

typedef void op_fn(facts_call *call, const ig_op *op);

static void visit_ops(facts_call *call, op_fn *visit) {
    IG_VEC(const ig_block *) todo = { 0 };
    for (size_t i = 0; i < call->module->graphs.count; i++) {
        IG_PUSH(call->arena, &todo, &call->module->graphs.items[i]->body);
    }
    while (todo.count) {
        for (const ig_op *op = IG_POP(&todo)->first; op; op = op->next) {
            visit(call, op);
            for (uint32_t b = 0; b < op->body_count; b++) {
                IG_PUSH(call->arena, &todo, op->bodies[b]);
            }
        }
    }
}

/* Of an importer that knows its nodes: how often each operator occurs in the model. */
static void put_operators(facts_call *call) {
    ig_map counts;
    ig_map_init(&counts, call->arena);
    for (size_t i = 1; i < call->module->locations.count; i++) {
        const char *op = call->module->locations.items[i].op;
        if (op) {
            uintptr_t count = (uintptr_t)ig_map_get(&counts, ig_str_of(op));
            ig_map_set(&counts, ig_str_of(op), (void *)(count + 1));
        }
    }
    open_list(call, "operators");
    for (size_t i = 0; i < counts.count; i++) {
        ig_writer *out = next_item(call);
        ig_put(out, "{\"name\": ");
        ig_put_json_string(out, counts.entries[i].key);
        ig_put(out, ", \"count\": %zu}", (size_t)(uintptr_t)counts.entries[i].value);
    }
    ig_put(&call->out, "]");
}

static void count_op(facts_call *call, const ig_op *op) {
    call->op_counts[op->code]++;
}

static void put_ops(facts_call *call) {
    visit_ops(call, count_op);
    open_list(call, "ops");
    for (int code = 0; code < IG_OP_COUNT; code++) {
        if (call->op_counts[code]) {
            ig_put(next_item(call), "{\"name\": \"%s\", \"count\": %zu}",
                   ig_ops[code].name, call->op_counts[code]);
        }
    }
    ig_put(&call->out, "]");
}

/* ---- parameters ---- */

static int64_t count_elements(ig_module *module, const ig_type *type) {
    int64_t count = 0;
    (void)ig_dim_constant(module, ig_type_count(module, type), &count);
    return count;
}

static void put_dtypes(facts_call *call) {
    int64_t counts[IG_DT_COUNT] = { 0 }, bytes[IG_DT_COUNT] = { 0 };
    for (size_t i = 0; i < call->module->weights.count; i++) {
        const ig_weight *weight = call->module->weights.items[i];
        if (!weight->is_recipe) {
            counts[weight->type->dtype] += count_elements(call->module, weight->type);
            bytes[weight->type->dtype] += weight->data.size;
        }
    }
    open_list(call, "parameters");
    for (int i = 0; i < IG_DT_COUNT; i++) {
        if (counts[i]) {
            ig_put(next_item(call),
                   "{\"dtype\": \"%s\", \"count\": %lld, \"bytes\": %lld}",
                   ig_dtypes[i].name, (long long)counts[i], (long long)bytes[i]);
        }
    }
    ig_put(&call->out, "]");
}

static int compare_sizes(const void *a, const void *b) {
    const ig_weight *x = *(ig_weight *const *)a, *y = *(ig_weight *const *)b;
    return (x->data.size < y->data.size) - (x->data.size > y->data.size);
}

static void put_biggest(facts_call *call) {
    size_t count = call->module->weights.count;
    ig_weight **sorted = IG_NEW_ARRAY(call->arena, ig_weight *, count);
    for (size_t i = 0; i < count; i++) {
        sorted[i] = call->module->weights.items[i];
    }
    if (count) {
        qsort(sorted, count, sizeof(ig_weight *), compare_sizes);
    }
    open_list(call, "biggest");
    for (size_t i = 0; i < count && i < BIGGEST; i++) {
        ig_writer type, *out = next_item(call);
        ig_writer_init(&type, call->arena);
        ig_print_type(call->module, sorted[i]->type, &type);
        ig_put(out, "{");
        put_text(out, "name", sorted[i]->name);
        ig_put(out, ", \"type\": ");
        ig_put_json_string(out, ig_writer_str(&type));
        ig_put(out, ", \"bytes\": %lld}", (long long)sorted[i]->data.size);
    }
    ig_put(&call->out, "]");
}

/* ---- symbols and guards ---- */

static void put_symbols(facts_call *call) {
    open_list(call, "symbols");
    for (uint32_t i = 0; i < ig_symbol_count(call->module); i++) {
        const ig_symbol *symbol = ig_symbol_at(call->module, i);
        if (ig_symbol_is_defined(symbol)) {
            continue;
        }
        ig_writer *out = next_item(call);
        ig_put(out, "{");
        put_text(out, "name", symbol->name);
        ig_put(out, ", ");
        put_text(out, "origin", symbol->origin);
        ig_put(out, ", \"min\": %lld, \"max\": %lld, \"multiple\": %lld}",
               (long long)symbol->min, (long long)symbol->max,
               (long long)symbol->multiple);
    }
    ig_put(&call->out, "]");
}

static void put_guard(facts_call *call, const ig_op *op) {
    if (op->code != IG_OP_guard) {
        return;
    }
    ig_writer text;
    ig_writer_init(&text, call->arena);
    ig_dim_print(call->module, op->attrs[IG_guard_left].as.dim, &text);
    ig_put(&text, "%s", ig_attr_int(op, IG_guard_test, 0) ? " <= " : " = ");
    ig_dim_print(call->module, op->attrs[IG_guard_right].as.dim, &text);
    ig_writer *out = next_item(call);
    ig_put(out, "{\"claim\": ");
    ig_put_json_string(out, ig_writer_str(&text));
    ig_put(out, ", ");
    put_text(out, "message", ig_attr_str(op, IG_guard_message));
    ig_put(out, "}");
}

/* ---- a compiled call ---- */

static void put_port(facts_call *call, ig_module *module, const ig_value *value) {
    const ig_type *type = value->type;
    ig_writer text;
    ig_writer_init(&text, call->arena);
    ig_print_type(
        module,
        type->kind != IG_BUFFER
            ? type
            : ig_type_tensor(module, (ig_dtype)type->dtype, type->rank, type->dims),
        &text);
    ig_put_json_string(next_item(call), ig_writer_str(&text));
}

/* The types of inputs and outputs as the lowered graph has them: extents that the model
 * needs to be equal have one name there, the first that the file gives them. */
static void put_call(facts_call *call) {
    ig_module *module = call->lowered.modules[0];
    const ig_graph *own = ig_entry_of(call->module), *graph = ig_entry_of(module);
    if (graph->body.arg_count != own->body.arg_count ||
        graph->body.last->operand_count != own->body.last->operand_count) {
        return; /* lists are several tensors each there */
    }
    open_list(call, "takes");
    for (uint32_t i = 0; i < graph->body.arg_count; i++) {
        put_port(call, module, graph->body.args[i]);
    }
    ig_put(&call->out, "]");
    open_list(call, "gives");
    for (uint32_t i = 0; i < graph->body.last->operand_count; i++) {
        put_port(call, module, graph->body.last->operands[i].value);
    }
    ig_put(&call->out, "]");
}

/* ---- what would not compile ---- */

static void take_refusal(void *user, const ig_diagnostic *diagnostic) {
    facts_call *call = user;
    char text[4096];
    if (diagnostic->severity == IG_ERROR) {
        size_t size = ig_diagnostic_format(diagnostic, text, sizeof text);
        ig_put_json_string(next_item(call), (ig_str){ text, size });
        call->refused++;
    }
}

/* Lowers a copy and keeps the messages about it.  Cancelling and limits are the
 * caller's to know. */
static ig_status put_refusals(facts_call *call) {
    ig_context *context = call->module->context;
    ig_diag said = context->diag;
    open_list(call, "refused");
    context->diag.sink = take_refusal;
    context->diag.user = call;
    context->diag.error_limit = SIZE_MAX;
    ig_status status = ig_module_lower(call->module, &call->options, "kernel",
                                       &call->lowered);
    context->diag = said;
    ig_put(&call->out, "]");
    ig_put(&call->out, ",\n \"compiles\": %s", status == IG_OK ? "true" : "false");
    if (status == IG_OK) {
        put_call(call);
    }
    bool is_answer = status == IG_UNSUPPORTED || status == IG_INVALID;
    return is_answer && call->refused ? IG_OK : status;
}

/* ---- all of it ---- */

static ig_status write_facts(void *arguments) {
    facts_call *call = arguments;
    ig_writer_init(&call->out, call->arena);
    ig_put(&call->out, "{");
    put_text(&call->out, "model", call->module->name);
    ig_put(&call->out, ",\n ");
    put_text(&call->out, "producer", call->module->producer);
    ig_put(&call->out, ",\n ");
    put_text(&call->out, "opsets", call->module->opsets);
    put_operators(call);
    put_ops(call);
    put_dtypes(call);
    put_biggest(call);
    put_symbols(call);
    open_list(call, "guards");
    visit_ops(call, put_guard);
    ig_put(&call->out, "]");
    IG_TRY(put_refusals(call));
    ig_put(&call->out, "}\n");
    call->text = ig_writer_str(&call->out).data;
    return IG_OK;
}

ig_status ig_module_inspect(ig_module *module, const ig_compile_options *options,
                            const char **out_json) {
    facts_call call = { .module = module, .arena = ig_driver_results(module) };
    ig_diag diag = module->context->diag;
    ig_options_take(module->context, &call.options, sizeof call.options, options);
    ig_status status = ig_driver_guard(module->context, write_facts, &call);
    module->context->diag.sink = diag.sink; /* memory may have ended in between */
    module->context->diag.user = diag.user;
    module->context->diag.error_limit = diag.error_limit;
    ig_lowered_fini(&call.lowered);
    *out_json = status == IG_OK ? call.text : "";
    return ig_driver_settle(module->context, status);
}
