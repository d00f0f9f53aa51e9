/* A module that computes gradients.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Names are resolved first, on the module as imported; the weights that are wanted are
 * opened, so that no pass sees their numbers.  Inputs and outputs keep their places
 * through the pipelines, after which the gradients are built. */
#include "ingot/grad.h"

#include "driver/host.h"
#include "driver/outputs.h"
#include "ir/build/expr.h"
#include "passes/grad/grad.h"

#include <fnmatch.h>
#include <string.h>

static const char seed_name[] = "grad";

typedef struct grad_call {
    ig_module *module;
    ig_graph *graph; /* the entry */
    ig_grad_options options;
    ig_pass_options passes;
    ig_arena *arena;
    IG_VEC(const char *) patterns; /* empty: none was named */
    bool *is_met;                  /* by pattern */
    uint32_t output, seed;         /* which result and argument */
    ig_dim *seed_dims;
    IG_VEC(const char *) names; /* of the wanted values */
    IG_VEC(ig_value *) wanted;
} grad_call;

static ig_status refuse_name(const grad_call *c, const char *hint, const char *format,
                             const char *name) {
    return ig_error_hint(&c->module->context->diag, IG_INVALID, NULL, hint, format,
                         name);
}

/* ---- by what ---- */

static void split_patterns(grad_call *c) {
    for (const char *at = c->options.wanted; at && *at;) {
        size_t size = strcspn(at, ",");
        IG_PUSH(c->arena, &c->patterns,
                (const char *)ig_arena_printf(c->arena, "%.*s", (int)size, at));
        at += size + (at[size] == ',');
    }
    c->is_met = IG_NEW_ARRAY(c->arena, bool, c->patterns.count + 1);
}

static bool is_named(grad_call *c, const char *name) {
    bool is = false;
    for (size_t i = 0; i < c->patterns.count; i++) {
        if (fnmatch(c->patterns.items[i], name, 0) == 0) {
            is = c->is_met[i] = true;
        }
    }
    return is;
}

/* The weights that are wanted, as open_weights takes them. */
static const char *find_weights(grad_call *c) {
    ig_writer list;
    bool knows = ig_module_knows_parameters(c->module);
    ig_writer_init(&list, c->arena);
    for (size_t i = 0; i < c->module->weights.count; i++) {
        const ig_weight *weight = c->module->weights.items[i];
        bool is_wanted = c->patterns.count ? is_named(c, weight->name)
                                           : weight->is_parameter || !knows;
        if (is_wanted && ig_type_has_floats(weight->type) && !weight->is_recipe) {
            ig_put(&list, "%s%s", list.size ? "," : "", weight->name);
        }
    }
    return list.size ? ig_writer_str(&list).data : NULL;
}

/* Inputs by their names; all opened weights where none is named. */
static void find_inputs(grad_call *c) {
    const ig_graph *graph = c->graph;
    uint32_t count = graph->body.arg_count - graph->state_count;
    for (uint32_t i = 0; i < count; i++) {
        ig_value *arg = graph->body.args[i];
        const char *name = ig_module_input_name(c->module, i);
        bool is_wanted = c->patterns.count ? is_named(c, name)
                                           : ig_graph_is_opened(graph, arg);
        if (is_wanted && ig_type_has_floats(arg->type) &&
            !(c->options.has_seed && i == c->seed)) {
            IG_PUSH(c->arena, &c->wanted, arg);
            IG_PUSH(c->arena, &c->names,
                    (const char *)ig_arena_printf(&c->module->arena, "grad_%s", name));
        }
    }
}

static ig_status check_wanted(const grad_call *c) {
    for (size_t i = 0; i < c->patterns.count; i++) {
        if (!c->is_met[i]) {
            return refuse_name(c, "`ingot inspect` lists weights and inputs",
                               "no weight or input is called '%s'",
                               c->patterns.items[i]);
        }
    }
    return c->wanted.count > 0
               ? IG_OK
               : refuse_name(
                     c, "name inputs: --grad OUTPUT:NAME,NAME",
                     "there is no weight of floats to take gradients with respect to%s",
                     "");
}

/* ---- the seed ---- */

/* An input like the output, whose extents are its own until they are known. */
static void add_seed(grad_call *c) {
    const ig_type *type = c->graph->body.last->operands[c->output].value->type;
    ig_dim dims[IG_TENSOR_RANK];
    int64_t number;
    for (uint32_t i = 0; i < type->rank; i++) {
        bool is_known = ig_dim_constant(c->module, type->dims[i], &number);
        dims[i] = is_known ? type->dims[i] : ig_dim_symbol(c->module, seed_name);
    }
    c->seed = ig_graph_add_input(
        c->graph, seed_name,
        ig_type_tensor(c->module, (ig_dtype)type->dtype, type->rank, dims));
}

/* The seed with the extents of y. */
static ig_value *seed_for(const grad_call *c, ig_expr *e, const ig_value *y) {
    ig_value *seed = c->graph->body.args[c->seed];
    for (uint32_t i = 0; i < y->type->rank; i++) {
        ig_make_guard_equal(e->builder, seed->type->dims[i], y->type->dims[i],
                            "the gradient given must have the extents of the output");
    }
    return ig_expr_reshape(e, seed, y->type->rank, y->type->dims);
}

/* ---- the whole ---- */

static ig_status build_gradients(grad_call *c) {
    ig_op *ret = c->graph->body.last;
    ig_builder builder = ig_builder_before(ret);
    ig_expr e = ig_expr_of(&builder);
    ig_value *y = ret->operands[c->output].value;
    ig_gradient_of what = { .y = y,
                            .seed = c->options.has_seed ? seed_for(c, &e, y) : NULL,
                            .wanted = c->wanted.items,
                            .wanted_count = (uint32_t)c->wanted.count };
    ig_value **results = IG_NEW_ARRAY(c->arena, ig_value *, c->wanted.count);
    IG_TRY(ig_gradients(&builder, &what, results));
    if (c->options.keeps_outputs) {
        return ig_graph_return_more(c->graph, results, c->names.items, c->names.count);
    }
    ig_graph_return(c->graph, results, c->names.items, c->names.count);
    return IG_OK;
}

static ig_status run_passes(const grad_call *c, const char *pipeline) {
    return ig_passes_run(c->module, &c->passes, pipeline);
}

static ig_status make_gradients(void *arguments) {
    grad_call *c = arguments;
    c->graph = (ig_graph *)ig_entry_of(c->module);
    if (!c->graph) {
        return refuse_name(c, NULL, "the module has no entry graph%s", "");
    }
    if (c->options.has_seed && c->graph->state_count + c->graph->opened_count > 0) {
        return refuse_name(c, NULL,
                           "the gradient of the output cannot be given to a model "
                           "with %s",
                           c->graph->state_count ? "states" : "opened weights");
    }
    IG_TRY(ig_graph_find_output(c->graph, c->options.output, &c->output));
    split_patterns(c);
    if (c->options.has_seed) {
        add_seed(c);
    }
    c->passes.open_weights = find_weights(c);
    if (c->passes.open_weights) {
        IG_TRY(run_passes(c, "open_weights"));
    }
    find_inputs(c);
    IG_TRY(check_wanted(c));
    IG_TRY(run_passes(c, ig_pipeline_clean));
    IG_TRY(run_passes(c, ig_pipeline_understand));
    IG_TRY(build_gradients(c));
    return run_passes(c, ig_pipeline_grad);
}

ig_status ig_module_grad(ig_module *module, const ig_grad_options *options,
                         const ig_compile_options *compile) {
    ig_compile_options how;
    grad_call call = { .module = module, .arena = ig_driver_results(module) };
    ig_options_take(module->context, &call.options, sizeof call.options, options);
    ig_options_take(module->context, &how, sizeof how, compile);
    call.passes = (ig_pass_options){ .torch_empty = how.torch_empty,
                                     .clamp_ids = how.clamp_ids };
    return ig_driver_settle(module->context,
                            ig_driver_guard(module->context, make_gradients, &call));
}
