/* Model-local functions: found by name, checked for recursion, sized for inlining.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Functions are inlined where they are called.  That must end (no recursion), must not
 * go too deep, and must not explode: f calling g twice, g calling h twice, … doubles at
 * each step, so the size after inlining is computed before anything is inlined.
 */
#include "frontend/onnx/import/import.h"

#include <stdio.h>

/* Nodes after inlining that a file of n nodes may grow to: FREE + GROWTH * n. */
enum { INLINE_FREE = 16384, INLINE_GROWTH = 256 };

static const char *key_of(ig_arena *arena, const char *domain, const char *name,
                          const char *overload) {
    ig_str text = ig_onnx_domain(domain);
    return ig_arena_printf(arena, "%.*s\n%s\n%s", IG_STR_ARG(text), name ? name : "",
                           overload ? overload : "");
}

ig_onnx_function *ig_onnx_function_of(const ig_onnx_import *import,
                                      const Onnx__NodeProto *node) {
    if (import->functions.count == 0) {
        return NULL;
    }
    const char *key = key_of(import->arena, node->domain, node->op_type,
                             node->overload);
    return ig_map_get(&import->functions, ig_str_of(key));
}

ig_status ig_onnx_functions_collect(ig_onnx_import *import) {
    const Onnx__ModelProto *model = import->model->proto;
    for (size_t i = 0; i < model->n_functions; i++) {
        const Onnx__FunctionProto *proto = model->functions[i];
        ig_location where = { .file = import->model->file };
        if (!proto->name || !proto->name[0]) {
            ig_onnx_note(import, ig_error(&import->context->diag, IG_INVALID, &where,
                                          "function %zu has no name", i));
            continue;
        }
        const char *domain = proto->domain && proto->domain[0] ? proto->domain
                                                               : "ai.onnx";
        const char *key = key_of(import->arena, proto->domain, proto->name,
                                 proto->overload);
        if (ig_map_get(&import->functions, ig_str_of(key))) {
            ig_onnx_note(import, ig_error(&import->context->diag, IG_INVALID, &where,
                                          "function %s::%s is defined twice", domain,
                                          proto->name));
            continue;
        }
        ig_onnx_function *function = IG_NEW(import->arena, ig_onnx_function);
        function->proto = proto;
        function->label = ig_arena_printf(import->arena, "%s::%s", domain, proto->name);
        function->opsets = (ig_onnx_opsets){ proto->opset_import,
                                             proto->n_opset_import };
        if (proto->n_opset_import == 0) {
            function->opsets = import->opsets;
        }
        ig_map_set(&import->functions, ig_str_of(key), function);
    }
    return IG_OK;
}

/* ---- depth first over calls, with a stack of our own ---- */

typedef struct visit {
    ig_onnx_function *function;
    size_t next; /* call to visit */
} visit;

static uint64_t add_saturated(uint64_t a, uint64_t b) {
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static ig_status report_recursion(ig_onnx_import *import, const visit *stack,
                                  size_t depth, const ig_onnx_function *again) {
    ig_writer chain;
    ig_writer_init(&chain, import->arena);
    size_t i = depth;
    while (i > 0 && stack[i - 1].function != again) {
        i--;
    }
    for (i = i ? i - 1 : 0; i < depth && chain.size < 400; i++) {
        ig_put(&chain, "%s, which calls ", stack[i].function->label);
    }
    ig_location where = { .file = import->model->file, .graph = again->label };
    return ig_error(&import->context->diag, IG_INVALID, &where,
                    "functions must not call themselves: %s%s", chain.data,
                    again->label);
}

/* All calls of `top` are done: adds up its size and depth. */
static void finish_function(ig_onnx_function *top) {
    for (size_t i = 0; i < top->calls.count; i++) {
        const ig_onnx_function *callee = top->calls.items[i];
        top->size = add_saturated(top->size, callee->size);
        top->depth = callee->depth + 1 > top->depth ? callee->depth + 1 : top->depth;
    }
    top->state = IG_ONNX_DONE;
}

static ig_status visit_calls(ig_onnx_import *import, ig_onnx_function *root) {
    IG_VEC(visit) stack = { 0 };
    IG_PUSH(import->arena, &stack, (visit){ root, 0 });
    root->state = IG_ONNX_OPEN;
    while (stack.count > 0) {
        visit *top = &IG_LAST(&stack);
        if (top->next == top->function->calls.count) {
            finish_function(top->function);
            stack.count--;
            continue;
        }
        ig_onnx_function *callee = top->function->calls.items[top->next++];
        if (callee->state == IG_ONNX_OPEN) {
            return report_recursion(import, stack.items, stack.count, callee);
        }
        if (callee->state == IG_ONNX_NEW) {
            callee->state = IG_ONNX_OPEN;
            IG_PUSH(import->arena, &stack, (visit){ callee, 0 });
        }
    }
    return IG_OK;
}

ig_status ig_onnx_functions_check(ig_onnx_import *import, ig_onnx_function *main) {
    ig_location where = { .file = import->model->file };
    for (size_t i = 0; i < import->functions.count; i++) {
        ig_onnx_function *function = import->functions.entries[i].value;
        if (function->state == IG_ONNX_NEW) {
            IG_TRY(visit_calls(import, function));
        }
    }
    IG_TRY(visit_calls(import, main));
    uint64_t bound = INLINE_FREE +
                     (uint64_t)INLINE_GROWTH * import->model->wire.node_count;
    uint64_t limit = (uint64_t)import->context->limits.node_count;
    import->node_bound = bound < limit ? bound : limit;
    if (main->depth > import->context->limits.graph_depth) {
        return ig_error_limit(&import->context->diag, &where, &import->context->limits,
                              IG_LIMIT_graph_depth,
                              "the depth of calls of functions, %u,", main->depth);
    }
    if (main->size > import->node_bound) {
        return ig_error(
            &import->context->diag, IG_LIMIT, &where,
            "the model has %llu nodes when its functions are inlined, expected at most %llu",
            (unsigned long long)main->size, (unsigned long long)import->node_bound);
    }
    return IG_OK;
}
