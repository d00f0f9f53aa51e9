/* Further outputs of a graph.  SPDX-License-Identifier: Apache-2.0 */
#include "driver/outputs.h"

#include "driver/host.h"
#include "ir/build/build.h"

#include <string.h>

bool ig_type_has_floats(const ig_type *type) {
    return type->kind == IG_TENSOR && ig_dtype_is_float((ig_dtype)type->dtype);
}

static const ig_type *output_type(const ig_graph *graph, uint32_t index) {
    return graph->body.last->operands[index].value->type;
}

static bool is_output(const ig_graph *graph, uint32_t index, const char *name) {
    return name ? strcmp(ig_module_output_name(graph->module, index), name) == 0
                : ig_type_has_floats(output_type(graph, index));
}

ig_status ig_graph_find_output(const ig_graph *graph, const char *name,
                               uint32_t *out_index) {
    ig_diag *diag = &graph->module->context->diag;
    size_t count = ig_module_output_count(graph->module), found = 0;
    static const char hint[] = "`ingot inspect` lists them";
    for (uint32_t i = 0; i < count; i++) {
        if (is_output(graph, i, name)) {
            *out_index = i;
            found++;
        }
    }
    if (found != 1) {
        return name
                   ? ig_error_hint(diag, IG_INVALID, NULL, hint,
                                   "the model has no output '%s'", name)
                   : ig_error_hint(diag, IG_INVALID, NULL, hint,
                                   "name the output: %zu of them are of floats", found);
    }
    return ig_type_has_floats(output_type(graph, *out_index))
               ? IG_OK
               : ig_error(diag, IG_INVALID, NULL,
                          "output '%s' has no gradient: it is not of floats", name);
}

uint32_t ig_graph_add_input(ig_graph *graph, const char *name, const ig_type *type) {
    ig_module *module = graph->module;
    uint32_t count = graph->body.arg_count;
    const char **names = IG_NEW_ARRAY(&module->arena, const char *, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        names[i] = ig_module_input_name(module, i);
    }
    names[count] = ig_arena_printf(&module->arena, "%s", name);
    ig_block_add_arg(&graph->body, type, names[count]);
    graph->arg_names = names;
    graph->signature = NULL;
    return count;
}

void ig_graph_insert_inputs(ig_graph *graph, uint32_t at, const ig_input_list *inputs) {
    ig_module *module = graph->module;
    uint32_t old = graph->body.arg_count, more = (uint32_t)inputs->count;
    const char **names = IG_NEW_ARRAY(&module->arena, const char *, old + more);
    for (uint32_t i = 0; i < old; i++) {
        names[i < at ? i : i + more] = ig_module_input_name(module, i);
    }
    for (uint32_t i = 0; i < more; i++) {
        names[at + i] = ig_arena_printf(&module->arena, "%s", inputs->items[i].name);
        ig_block_add_arg(&graph->body, inputs->items[i].type, names[at + i]);
    }
    for (uint32_t i = at; i < old && more > 0; i++) {
        ig_value *from = graph->body.args[at];
        ig_value *to = ig_block_add_arg(&graph->body, from->type, from->name);
        ig_value_replace(from, to);
        ig_block_remove_arg(&graph->body, at);
    }
    graph->arg_names = names;
    graph->signature = NULL;
}

void ig_graph_remove_inputs(ig_graph *graph, uint32_t first, uint32_t count) {
    ig_module *module = graph->module;
    uint32_t left = graph->body.arg_count - count;
    const char **names = IG_NEW_ARRAY(&module->arena, const char *, left);
    for (uint32_t i = 0; i < left; i++) {
        names[i] = ig_module_input_name(module, i < first ? i : i + count);
    }
    for (uint32_t i = count; i-- > 0;) {
        ig_block_remove_arg(&graph->body, first + i);
    }
    graph->arg_names = names;
    graph->signature = NULL;
}

/* The graph's results from now on, its states after them. */
void ig_graph_return(ig_graph *graph, ig_value *const *values, const char *const *names,
                     size_t count) {
    ig_op *ret = graph->body.last;
    size_t own = ret->operand_count - graph->state_count;
    size_t all = count + graph->state_count;
    ig_value **results = IG_NEW_ARRAY(&graph->module->arena, ig_value *, all);
    const char **result_names = IG_NEW_ARRAY(&graph->module->arena, const char *, all);
    for (size_t i = 0; i < all; i++) {
        bool is_state = i >= count;
        results[i] = is_state ? ret->operands[own + i - count].value : values[i];
        result_names[i] = is_state ? NULL : names[i];
    }
    ig_op_erase(ret);
    ig_builder b = ig_builder_at_end(&graph->body);
    ig_make_ret(&b, results, (uint32_t)all);
    graph->result_names = result_names;
    graph->signature = NULL;
}

ig_status ig_graph_return_more(ig_graph *graph, ig_value *const *values,
                               const char *const *names, size_t more) {
    ig_module *module = graph->module;
    const ig_op *ret = graph->body.last;
    size_t own = ret->operand_count - graph->state_count, count = own + more;
    if (count + graph->state_count > UINT16_MAX) {
        return ig_error(&module->context->diag, IG_LIMIT, NULL,
                        "%zu values as outputs are more than a graph can have", count);
    }
    ig_value **results = IG_NEW_ARRAY(&module->arena, ig_value *, count);
    const char **result_names = IG_NEW_ARRAY(&module->arena, const char *, count);
    for (size_t i = 0; i < count; i++) {
        results[i] = i < own ? ret->operands[i].value : values[i - own];
        result_names[i] = i < own ? ig_module_output_name(module, i) : names[i - own];
    }
    const ig_attr in_place = ret->attrs[IG_ret_in_place];
    ig_graph_return(graph, results, result_names, count);
    if (in_place.kind == IG_ATTR_INTS) { /* no state is in place */
        size_t all_count = count + graph->state_count;
        int64_t *all = IG_NEW_ARRAY(&module->arena, int64_t, all_count);
        for (size_t i = 0; i < all_count; i++) {
            all[i] = i < own ? in_place.as.ints[i] : -1;
        }
        ig_attr_set(graph->body.last, IG_ret_in_place,
                    ig_attr_of_ints(module, all, (uint32_t)all_count));
    }
    return IG_OK;
}
