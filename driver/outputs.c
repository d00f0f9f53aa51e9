/* Further outputs of a graph.  SPDX-License-Identifier: Apache-2.0 */
#include "driver/outputs.h"

#include "driver/host.h"
#include "ir/build/build.h"

ig_status ig_graph_return_more(ig_graph *graph, ig_value *const *values,
                               const char *const *names, size_t more) {
    ig_module *module = graph->module;
    ig_op *ret = graph->body.last;
    size_t own = ret->operand_count - graph->state_count, at = own;
    size_t count = ret->operand_count + more;
    if (count > UINT16_MAX) {
        return ig_error(&module->context->diag, IG_LIMIT, NULL,
                        "%zu values as outputs are more than a graph can have", count);
    }
    ig_value **results = IG_NEW_ARRAY(&module->arena, ig_value *, count);
    const char **result_names = IG_NEW_ARRAY(&module->arena, const char *, count);
    for (size_t i = 0; i < own; i++) {
        results[i] = ret->operands[i].value;
        result_names[i] = ig_module_output_name(module, i);
    }
    for (size_t i = 0; i < more; i++, at++) {
        results[at] = values[i];
        result_names[at] = names[i];
    }
    for (size_t i = own; i < ret->operand_count; i++, at++) {
        results[at] = ret->operands[i].value;
    }
    const ig_attr in_place = ret->attrs[IG_ret_in_place];
    ig_op_erase(ret);
    ig_builder b = ig_builder_at_end(&graph->body);
    ig_make_ret(&b, results, (uint32_t)count);
    if (in_place.kind == IG_ATTR_INTS) { /* no state stands in place */
        int64_t *all = IG_NEW_ARRAY(&module->arena, int64_t, count);
        for (size_t i = 0; i < count; i++) {
            all[i] = i < own ? in_place.as.ints[i] : -1;
        }
        ig_attr_set(graph->body.last, IG_ret_in_place,
                    ig_attr_of_ints(module, all, (uint32_t)count));
    }
    graph->result_names = result_names;
    graph->signature = NULL;
    return IG_OK;
}
