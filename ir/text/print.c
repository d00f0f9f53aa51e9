/* The printer: modules, graphs, blocks and ops, by counts and slots.
 * SPDX-License-Identifier: Apache-2.0
 *
 * One routine prints every op of the table.  The parser (parse.c and its kin) is its
 * mirror; docs/ir-text.md is the reference for both.  The only op with a form of its
 * own is `guard`, because `guard eq(B, C) "why"` is what people read most of all.
 */
#include "ir/text/print.h"

#include <string.h>

enum { BRIEF_BYTES = 64 }; /* of a constant, where it is not to be read back */

static void put_indent(ig_printer *p) {
    ig_put_spaces(p->out, 2 * p->depth);
}

static void put_note(ig_printer *p, const ig_op *op) {
    if (p->options->note) {
        p->options->note(p->options->user, op, p->out);
    }
}

/* ---- ops ---- */

static void put_results(ig_printer *p, const ig_op *op) {
    for (uint32_t i = 0; i < op->result_count; i++) {
        ig_put(p->out, "%s", i ? ", " : "");
        ig_print_value(p, &op->results[i]);
    }
    ig_put(p->out, "%s", op->result_count ? " = " : "");
}

static void put_operands(ig_printer *p, const ig_op *op) {
    for (uint32_t i = 0; i < op->operand_count; i++) {
        ig_put(p->out, "%s", i ? ", " : " ");
        ig_print_value(p, op->operands[i].value);
    }
}

/* The user's name of a value, where there is one. */
static void put_user_name(ig_printer *p, const char *name) {
    if (name && *name) {
        ig_put_char(p->out, ' ');
        ig_put_quoted(p->out, ig_str_of(name));
    }
}

static void put_types(ig_printer *p, const ig_op *op) {
    for (uint32_t i = 0; i < op->result_count; i++) {
        ig_put(p->out, "%s", i ? ", " : " : ");
        ig_print_type(p->module, op->results[i].type, p->out);
        put_user_name(p, op->results[i].name);
    }
}

static bool put_guard(ig_printer *p, const ig_op *op) {
    const ig_attr *attrs = op->attrs;
    int64_t test = ig_attr_int(op, IG_guard_test, 0);
    if (attrs[IG_guard_left].kind != IG_ATTR_DIM ||
        attrs[IG_guard_right].kind != IG_ATTR_DIM || (test != 0 && test != 1)) {
        return false;
    }
    ig_put(p->out, "guard %s(", ig_ops[IG_OP_guard].attrs[IG_guard_test].names[test]);
    ig_dim_print(p->module, attrs[IG_guard_left].as.dim, p->out);
    ig_put(p->out, ", ");
    ig_dim_print(p->module, attrs[IG_guard_right].as.dim, p->out);
    ig_put_char(p->out, ')');
    if (attrs[IG_guard_message].kind == IG_ATTR_STR) {
        ig_put_char(p->out, ' ');
        ig_put_quoted(p->out, ig_str_of(attrs[IG_guard_message].as.str));
    }
    return true;
}

/* All of an op but its bodies. */
static void put_head(ig_printer *p, const ig_op *op) {
    if (op->code >= IG_OP_COUNT) {
        ig_put(p->out, "?erased");
        return;
    }
    put_results(p, op);
    if (op->code != IG_OP_guard || !put_guard(p, op)) {
        ig_put(p->out, "%s", ig_ops[op->code].name);
        put_operands(p, op);
        ig_print_attrs(p, op);
        put_types(p, op);
    }
    if (p->options->locations && op->loc) {
        ig_print_location(p, ig_op_location(op));
    }
}

static void put_block(ig_printer *p, const ig_block *block);

/* %name "user's name": type; the name in quotes only where %name does not say it. */
static void put_arg(ig_printer *p, const ig_value *arg, const char *user) {
    const char *own = arg->id < p->name_count ? p->names[arg->id] : NULL;
    ig_print_value(p, arg);
    if (user && (!own || strcmp(user, own) != 0)) {
        put_user_name(p, user);
    }
    ig_put(p->out, ": ");
    ig_print_type(p->module, arg->type, p->out);
}

static void put_args(ig_printer *p, const ig_block *block) {
    ig_put_char(p->out, '(');
    for (uint32_t i = 0; i < block->arg_count; i++) {
        ig_put(p->out, "%s", i ? ", " : "");
        put_arg(p, block->args[i], NULL);
    }
    ig_put_char(p->out, ')');
}

static void put_body(ig_printer *p, const ig_op *op, uint32_t index) {
    const ig_block *body = op->bodies[index];
    ig_put(p->out, "%s", index ? " else" : "");
    if (body->arg_count) {
        ig_put_char(p->out, ' ');
        put_args(p, body);
    }
    ig_put(p->out, " {\n");
    if (index == 0) {
        put_note(p, op);
    }
    p->depth++;
    put_block(p, body);
    p->depth--;
    put_indent(p);
    ig_put_char(p->out, '}');
}

static void put_op(ig_printer *p, const ig_op *op) {
    put_indent(p);
    put_head(p, op);
    uint32_t body_count = op->code < IG_OP_COUNT ? op->body_count : 0;
    for (uint32_t i = 0; i < body_count; i++) {
        put_body(p, op, i);
    }
    ig_put_char(p->out, '\n');
    if (body_count == 0) {
        put_note(p, op);
    }
}

/* Recursion goes as deep as the graph nests, which every reader bounds. */
static void put_block(ig_printer *p, const ig_block *block) {
    for (const ig_op *op = block->first; op; op = op->next) {
        if (ig_print_is_named(op)) {
            if (p->options->note) {
                put_note(p, op);
            }
            continue;
        }
        put_op(p, op);
    }
}

/* ---- graphs ---- */

enum { ARGS_A_LINE = 4 }; /* more, and each argument has a line of its own */

static void put_graph_args(ig_printer *p, const ig_graph *graph) {
    uint32_t count = graph->body.arg_count;
    bool is_long = count > ARGS_A_LINE;
    ig_put_char(p->out, '(');
    p->depth += 2;
    for (uint32_t i = 0; i < count; i++) {
        if (is_long) {
            ig_put(p->out, "%s\n", i ? "," : "");
            put_indent(p);
        } else {
            ig_put(p->out, "%s", i ? ", " : "");
        }
        const ig_value *arg = graph->body.args[i];
        put_arg(p, arg, graph->arg_names ? graph->arg_names[i] : NULL);
        uint32_t after = count - graph->state_count - i; /* wraps at states */
        if (after - 1 < graph->opened_count) {
            ig_put(p->out, " {opened}");
        }
        if (i + graph->state_count >= count) {
            ig_put(p->out, " = ");
            ig_print_item(p->out, graph->states[i + graph->state_count - count]);
        }
    }
    p->depth -= 2;
    ig_put_char(p->out, ')');
}

/* The graph's results: the operands of its `ret`. */
static void put_graph_results(ig_printer *p, const ig_graph *graph) {
    const ig_op *ret = graph->body.last;
    if (!ret || ret->code != IG_OP_ret || ret->operand_count == 0) {
        return;
    }
    for (uint32_t i = 0; i < ret->operand_count; i++) {
        const ig_value *value = ret->operands[i].value;
        const char *name = graph->result_names ? graph->result_names[i] : NULL;
        ig_put(p->out, "%s", i ? ", " : " -> (");
        ig_print_type(p->module, value ? value->type : NULL, p->out);
        put_user_name(p, name);
    }
    ig_put_char(p->out, ')');
}

static const char *stage_word(ig_stage stage) {
    return stage == IG_STAGE_TENSOR ? "graph"
           : stage == IG_STAGE_PLAN ? "plan"
                                    : "kernel";
}

static void put_graph(ig_printer *p, const ig_graph *graph) {
    bool entry_is_default = graph->stage != IG_STAGE_KERNEL;
    ig_print_name_values(p, graph);
    put_indent(p);
    if (graph->is_entry != entry_is_default) {
        ig_put(p->out, "%s ", graph->is_entry ? "entry" : "private");
    }
    ig_put(p->out, "%s ", stage_word(graph->stage));
    ig_print_item(p->out, graph->name);
    put_graph_args(p, graph);
    put_graph_results(p, graph);
    if (graph->signature) {
        ig_put_char(p->out, '\n');
        ig_put_spaces(p->out, 2 * p->depth + 4);
        ig_put(p->out, "as ");
        ig_signature_print(graph->signature, NULL, p->out);
    }
    ig_put(p->out, " {\n");
    put_note(p, NULL);
    p->depth++;
    put_block(p, &graph->body);
    p->depth--;
    put_indent(p);
    ig_put(p->out, "}\n");
}

/* ---- modules ---- */

static void put_weight(ig_printer *p, const ig_weight *weight) {
    ig_put(p->out, "  %s ", weight->type->kind == IG_TABLE ? "table" : "weight");
    ig_print_item(p->out, weight->name);
    ig_put(p->out, " : ");
    ig_print_type(p->module, weight->type, p->out);
    ig_put(p->out, " = ");
    if (weight->is_recipe) {
        ig_put(p->out, "recipe(%u)", weight->index);
    } else {
        ig_print_data(p, &weight->data, weight->type);
    }
    ig_put(p->out, weight->is_parameter ? " {parameter}\n" : "\n");
}

/* Both up to the last `/` that they have in common. */
static ig_str common_folder(ig_str a, ig_str b) {
    size_t size = 0;
    for (size_t i = 0; i < a.size && i < b.size && a.data[i] == b.data[i]; i++) {
        size = a.data[i] == '/' ? i + 1 : size;
    }
    return (ig_str){ a.data, size };
}

ig_str ig_print_folder(const ig_module *module) {
    if (module->folder) {
        return ig_str_of(module->folder);
    }
    ig_str folder = { NULL, 0 };
    for (size_t i = 0; i < module->weights.count; i++) {
        ig_str file = ig_str_of(module->weights.items[i]->data.file);
        if (file.size) {
            folder = common_folder(folder.data ? folder : file, file);
        }
    }
    return folder.data ? folder : ig_str_of("");
}

static const ig_print_options plain = { 0 };

void ig_print_module_with(const ig_module *module, const ig_print_options *options,
                          ig_writer *writer) {
    ig_printer p = { .out = writer, .module = module, .options = options, .depth = 1 };
    p.folder = ig_print_folder(module);
    ig_put(writer, "module ");
    ig_print_item(writer, module->name ? module->name : "");
    ig_put(writer, " {\n");
    ig_print_symbols(&p);
    for (size_t i = 0; i < module->weights.count; i++) {
        put_weight(&p, module->weights.items[i]);
    }
    for (size_t i = 0; i < module->graphs.count; i++) {
        put_graph(&p, module->graphs.items[i]);
    }
    ig_put(writer, "}\n");
}

void ig_print_graph_with(const ig_graph *graph, const ig_print_options *options,
                         ig_writer *writer) {
    ig_printer p = { .out = writer, .module = graph->module, .options = options };
    p.folder = ig_print_folder(graph->module);
    put_graph(&p, graph);
}

void ig_print_module(const ig_module *module, ig_writer *writer) {
    ig_print_module_with(module, &plain, writer);
}

void ig_print_graph(const ig_graph *graph, ig_writer *writer) {
    ig_print_graph_with(graph, &plain, writer);
}

/* The graph an op belongs to, also while the op is not inserted yet. */
static const ig_graph *graph_of(const ig_op *op) {
    if (op->block) {
        return op->block->graph;
    }
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const ig_value *value = op->operands[i].value;
        const ig_block *block = value && value->def ? value->def->block
                                : value             ? value->block
                                                    : NULL;
        if (block) {
            return block->graph;
        }
    }
    return NULL;
}

ig_printer *ig_line_printer(const ig_graph *graph, ig_arena *arena) {
    ig_printer *p = IG_NEW(arena, ig_printer);
    ig_writer *names = IG_NEW(arena, ig_writer);
    ig_writer_init(names, arena);
    *p = (ig_printer){ .out = names,
                       .options = &plain,
                       .module = graph->module,
                       .folder = ig_print_folder(graph->module) };
    ig_print_name_values(p, graph);
    return p;
}

void ig_print_line(ig_printer *printer, const ig_op *op, ig_writer *writer) {
    printer->out = writer;
    put_head(printer, op);
    ig_put(writer, "%s", op->body_count ? " {…}" : "");
}

static const ig_print_options brief = { .data_bytes = BRIEF_BYTES };

void ig_print_line_attrs(ig_printer *printer, const ig_op *op, ig_writer *writer) {
    const ig_print_options *before = printer->options;
    printer->out = writer;
    printer->options = &brief;
    ig_print_attrs(printer, op);
    printer->options = before;
}

void ig_print_line_attr(ig_printer *printer, const ig_op *op, uint32_t slot,
                        ig_writer *writer) {
    const ig_print_options *before = printer->options;
    printer->out = writer;
    printer->options = &brief;
    ig_print_attr(printer, op, slot);
    printer->options = before;
}

void ig_print_op(const ig_op *op, ig_writer *writer) {
    const ig_graph *graph = graph_of(op);
    ig_printer p = { .out = writer, .options = &plain };
    if (!graph) { /* detached and without operands: nothing names its module */
        ig_put(writer, "%s",
               op->code < IG_OP_COUNT ? ig_ops[op->code].name : "?erased");
        return;
    }
    p.module = graph->module;
    p.folder = ig_print_folder(graph->module);
    ig_print_name_values(&p, graph);
    put_head(&p, op);
    ig_put(writer, "%s", op->code < IG_OP_COUNT && op->body_count ? " {…}" : "");
}
