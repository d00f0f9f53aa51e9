/* The verifier: the walk, and the display of its findings.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Whoever changes a graph may have changed it badly, so the walk trusts nothing: links,
 * ids and use chains are compared with the walk's own records.  All defects of a
 * graph are collected and then shown in its text, each under its line:
 *
 *     %3 = relu %9 : f32[B, 512]
 *     # error: operand 0 is not defined before here
 */
#include "ir/verify/verifier.h"

#include "ir/text/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MAX_DEFECTS = 100, SHOWN_BYTES = 16 << 10, LINES_AROUND = 2 };

void ig_verify_defect(ig_verifier *verifier, const ig_op *op, const char *format, ...) {
    if (verifier->defects.count >= MAX_DEFECTS) {
        return;
    }
    char message[256];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    ig_defect defect = { op, ig_arena_strdup(verifier->arena, message) };
    IG_PUSH(verifier->arena, &verifier->defects, defect);
}

const char *ig_verify_type(ig_verifier *verifier, const ig_type *type) {
    ig_writer writer;
    ig_writer_init(&writer, verifier->arena);
    ig_print_type(verifier->module, type, &writer);
    return writer.data;
}

/* ---- types that agree ---- */

static bool is_scalar(const ig_type *type) {
    return (type->kind == IG_TENSOR && type->rank == 0) ||
           (type->kind == IG_VECTOR && type->lanes == 1);
}

bool ig_types_agree(const ig_module *module, const ig_type *a, const ig_type *b) {
    while (a && b && a != b && a->element && b->element && a->kind == b->kind) {
        a = a->element;
        b = b->element;
    }
    if (a == b || !a || !b) {
        return a == b;
    }
    if (a->dtype != b->dtype || a->element != b->element) {
        return false;
    }
    if (is_scalar(a) && is_scalar(b)) {
        return true;
    }
    if (a->kind != b->kind || !ig_rows_equal(a->rows, b->rows) ||
        a->lanes != b->lanes || a->rank != b->rank) {
        return false;
    }
    for (uint32_t i = 0; i < a->rank; i++) {
        if (ig_dim_equal(module, a->dims[i], b->dims[i]) == IG_NO) {
            return false;
        }
    }
    return true;
}

/* ---- the walk ---- */

static void define_value(ig_verifier *v, const ig_op *op, const ig_value *value) {
    if (value->id >= v->graph->value_count) {
        ig_verify_defect(v, op, "value id %u is beyond the graph's %u", value->id,
                         v->graph->value_count);
        return;
    }
    ig_value_facts *facts = &v->facts[value->id];
    if (facts->value) {
        ig_verify_defect(v, op, "value id %u is taken twice", value->id);
        return;
    }
    facts->value = value;
    facts->is_visible = true;
}

static void hide_value(ig_verifier *v, const ig_value *value) {
    if (value->id < v->graph->value_count) {
        v->facts[value->id].is_visible = false;
    }
}

static void define_args(ig_verifier *v, const ig_block *block) {
    for (uint32_t i = 0; i < block->arg_count; i++) {
        const ig_value *arg = block->args[i];
        if (arg->block != block || arg->def || arg->index != i) {
            ig_verify_defect(v, block->parent, "argument %u is linked wrongly", i);
        }
        if (!arg->type || !ig_verify_fits_stage(v, arg->type)) {
            ig_verify_defect(v, block->parent, "argument %u has no type of this stage",
                             i);
        }
        define_value(v, block->parent, arg);
    }
}

static void close_block(ig_verifier *v, const ig_block *block) {
    for (uint32_t i = 0; i < block->arg_count; i++) {
        hide_value(v, block->args[i]);
    }
    for (const ig_op *op = block->first; op; op = op->next) {
        for (uint32_t i = 0; i < op->result_count; i++) {
            hide_value(v, &op->results[i]);
        }
    }
}

static void walk_block(ig_verifier *v, const ig_block *block);

static void walk_bodies(ig_verifier *v, const ig_op *op) {
    ig_stage outer = v->stage;
    /* The body of a kernel to be is still in tensors. */
    v->stage = op->code == IG_OP_compute ? IG_STAGE_TENSOR : outer;
    for (uint32_t i = 0; i < op->body_count; i++) {
        if (op->bodies[i]->parent != op || op->bodies[i]->graph != v->graph) {
            ig_verify_defect(v, op, "body %u is linked wrongly", i);
        }
        walk_block(v, op->bodies[i]);
    }
    v->stage = outer;
}

static void check_op(ig_verifier *v, const ig_op *op) {
    size_t before = v->defects.count;
    ig_verify_row(v, op);
    if (v->defects.count == before && v->stage == IG_STAGE_PLAN) {
        ig_verify_symbols(v, op);
    }
    walk_bodies(v, op);
    if (v->defects.count == before) {
        ig_verify_bodies(v, op);
    }
    if (v->defects.count == before && v->stage == IG_STAGE_PLAN) {
        ig_verify_plan_op(v, op);
    }
    if (v->defects.count == before && v->stage == IG_STAGE_KERNEL) {
        ig_verify_kernel_op(v, op);
    }
}

static void check_end(ig_verifier *v, const ig_block *block) {
    const ig_op *last = block->last;
    ig_opcode wanted = block->parent ? IG_OP_yield : IG_OP_ret;
    if (!last || last->code != wanted) {
        ig_verify_defect(v, last ? last : block->parent, "a block must end in %s",
                         ig_ops[wanted].name);
    }
}

/* Recursion goes as deep as the graph nests, which every reader bounds. */
static void walk_block(ig_verifier *v, const ig_block *block) {
    const ig_op *prev = NULL;
    define_args(v, block);
    for (const ig_op *op = block->first; op; prev = op, op = op->next) {
        if (op->block != block || op->prev != prev) {
            ig_verify_defect(v, op, "the op is linked wrongly into its block");
        }
        if (op->code >= IG_OP_COUNT) {
            ig_verify_defect(v, op, "an erased op is here");
            continue;
        }
        check_op(v, op);
        if (op->next && (ig_ops[op->code].traits & IG_TERMINATOR)) {
            ig_verify_defect(v, op, "ops follow the block's end");
        }
        for (uint32_t i = 0; i < op->result_count; i++) {
            define_value(v, op, &op->results[i]);
        }
    }
    if (block->last != prev) {
        ig_verify_defect(v, prev, "the block's last op is another");
    }
    check_end(v, block);
    close_block(v, block);
}

/* Each chain must hold as many uses as operands named the value. */
static void check_chains(ig_verifier *v) {
    for (uint32_t id = 0; id < v->graph->value_count; id++) {
        const ig_value *value = v->facts[id].value;
        uint32_t count = 0;
        for (const ig_use *use = value ? value->uses : NULL; use; use = use->next) {
            if (use->value != value || count > v->facts[id].references) {
                break;
            }
            count++;
        }
        if (value && count != v->facts[id].references) {
            ig_verify_defect(v, value->def,
                             "%u operands use value id %u, its chain has %s",
                             v->facts[id].references, id,
                             count < v->facts[id].references ? "fewer" : "more");
        }
    }
}

static void start_verifier(ig_verifier *v, const ig_graph *graph, ig_stage stage) {
    ig_module *module = graph->module;
    size_t bytes = (graph->value_count + 1u) * sizeof(ig_value_facts);
    *v = (ig_verifier){
        .module = module, .graph = graph, .stage = stage, .arena = &module->arena
    };
    v->facts = ig_module_scratch(module, bytes);
}

static void walk_graph(ig_verifier *v) {
    if (v->graph->stage != v->stage) {
        ig_verify_defect(v, NULL, "the graph is of another stage");
    }
    if (v->stage == IG_STAGE_KERNEL) {
        ig_verify_kernel_args(v);
    }
    if (v->stage == IG_STAGE_PLAN) {
        ig_verify_bind_inputs(v);
    }
    walk_block(v, &v->graph->body);
    check_chains(v);
    if (v->defects.count == 0) {
        ig_verify_entry(v);
    }
}

/* ---- showing ---- */

typedef struct display {
    const ig_verifier *verifier;
    IG_VEC(size_t) marks; /* offsets of the error lines in the text */
} display;

static void add_notes(void *user, const ig_op *op, ig_writer *writer) {
    display *d = user;
    const ig_verifier *v = d->verifier;
    for (size_t i = 0; i < v->defects.count; i++) {
        if (v->defects.items[i].op == op) {
            IG_PUSH(v->arena, &d->marks, writer->size);
            ig_put(writer, "    # error: %s\n", v->defects.items[i].message);
        }
    }
}

/* Start of the line `lines` before `at`, not before `from`. */
static size_t lines_back(ig_str text, size_t at, size_t from, int lines) {
    while (at > from && (lines > 0 || text.data[at - 1] != '\n')) {
        lines -= text.data[at - 1] == '\n';
        at--;
        if (lines < 0) {
            return at + 1;
        }
    }
    return at;
}

static size_t lines_on(ig_str text, size_t at, int lines) {
    while (at < text.size && lines > 0) {
        lines -= text.data[at++] == '\n';
    }
    return at;
}

/* Of a long text only the surroundings of the errors, and no more than a screenful or
 * ten. */
static ig_str cut_text(const display *d, ig_str text) {
    if (text.size <= SHOWN_BYTES) {
        return text;
    }
    ig_writer out;
    ig_writer_init(&out, d->verifier->arena);
    size_t done = 0;
    for (size_t i = 0; i < d->marks.count && out.size < SHOWN_BYTES; i++) {
        size_t from = lines_back(text, d->marks.items[i], done, LINES_AROUND);
        size_t to = lines_on(text, d->marks.items[i], LINES_AROUND);
        if (to <= done) {
            continue;
        }
        ig_put(&out, "%s", from > done ? "…\n" : "");
        from = from > done ? from : done;
        ig_put_bytes(&out, text.data + from, to - from < 2048 ? to - from : 2048);
        done = to;
    }
    ig_put(&out, "…");
    return ig_writer_str(&out);
}

static const char *stage_name(ig_stage stage) {
    return stage == IG_STAGE_TENSOR ? "tensor"
           : stage == IG_STAGE_PLAN ? "plan"
                                    : "kernel";
}

/* Longer than ig_error words anything, so it goes to the sink directly. */
static ig_status show_errors(const ig_verifier *v, ig_stage stage) {
    display d = { .verifier = v };
    ig_print_options options = { .data_bytes = 256, .note = add_notes, .user = &d };
    ig_writer text, message;
    ig_writer_init(&text, v->arena);
    ig_writer_init(&message, v->arena);
    ig_print_graph_with(v->graph, &options, &text);
    ig_put(&message, "@%s is not a legal %s graph (%zu errors):\n", v->graph->name,
           stage_name(stage), v->defects.count);
    ig_put_str(&message, cut_text(&d, ig_writer_str(&text)));
    ig_diag *diag = &v->module->context->diag;
    ig_diagnostic diagnostic = { .severity = IG_ERROR,
                                 .status = IG_INTERNAL,
                                 .message = message.data };
    diag->error_count++;
    if (diag->sink &&
        diag->error_count <= (diag->error_limit ? diag->error_limit : 20)) {
        diag->sink(diag->user, &diagnostic);
    }
    return IG_INTERNAL;
}

/* ---- entries ---- */

ig_status ig_verify(const ig_graph *graph, ig_stage stage) {
    ig_verifier v;
    start_verifier(&v, graph, stage);
    walk_graph(&v);
    return v.defects.count ? show_errors(&v, stage) : IG_OK;
}

/* A phrase when the weight cannot be, else NULL. */
static const char *weight_problem(const ig_module *module, const ig_weight *weight) {
    if (!weight->type || !ig_type_is_static(weight->type)) {
        return "has no type with known extents";
    }
    if (!weight->is_recipe) {
        return weight->data.type == weight->type ? NULL : "has content of another type";
    }
    const ig_graph *recipes = ig_module_graph(module, "weights");
    const ig_op *ret = recipes ? recipes->body.last : NULL;
    if (!ret || ret->code != IG_OP_ret || weight->index >= ret->operand_count) {
        return "is a result that graph @weights does not have";
    }
    const ig_value *result = ret->operands[weight->index].value;
    return result && ig_types_agree(module, weight->type, result->type)
               ? NULL
               : "is of another type than its result of graph @weights";
}

static ig_status verify_weights(const ig_module *module, ig_status failure,
                                const char *file) {
    ig_status status = IG_OK;
    ig_location where = { .file = file };
    for (size_t i = 0; i < module->weights.count; i++) {
        const ig_weight *weight = module->weights.items[i];
        const char *problem = weight_problem(module, weight);
        if (problem) {
            status = ig_error(&module->context->diag, failure, &where, "weight @%s %s",
                              weight->name, problem);
        }
    }
    return status;
}

ig_status ig_verify_module(const ig_module *module) {
    ig_status status = verify_weights(module, IG_INTERNAL, NULL);
    for (size_t i = 0; i < module->graphs.count; i++) {
        const ig_graph *graph = module->graphs.items[i];
        ig_status found = ig_verify(graph, graph->stage);
        status = status == IG_OK ? found : status;
    }
    return status;
}

static ig_status report_each(const ig_verifier *v, const char *file) {
    ig_status status = IG_OK;
    for (size_t i = 0; i < v->defects.count; i++) {
        const ig_defect *defect = &v->defects.items[i];
        ig_location where = { .file = file, .graph = v->graph->name };
        if (defect->op && defect->op->block) {
            where = *ig_op_location(defect->op);
        }
        status = ig_error(&v->module->context->diag, IG_INVALID, &where, "%s",
                          defect->message);
    }
    return status;
}

ig_status ig_verify_input(const ig_module *module, const char *file) {
    ig_status status = verify_weights(module, IG_INVALID, file);
    for (size_t i = 0; i < module->graphs.count; i++) {
        ig_verifier v;
        start_verifier(&v, module->graphs.items[i], module->graphs.items[i]->stage);
        v.has_types = true;
        walk_graph(&v);
        ig_status found = report_each(&v, file);
        status = status == IG_OK ? found : status;
    }
    return status;
}
