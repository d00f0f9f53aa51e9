/* torch.vmap in programs that are not decomposed.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     _vmap_increment_nesting(size, randomness)
 *     a = _add_batch_dim(x, dim, level)         item `trip` of x along dim
 *     …                                         nodes on items
 *     y = _remove_batch_dim(b, level, size, dim)    b of all trips, stacked along dim
 *     _vmap_decrement_nesting()
 *
 * The nodes between are run once per item, as those of torch.map are.
 */
#include "frontend/pt2/graph.h"

#include <assert.h>
#include <string.h>

static const char functorch[] = "torch._functorch.predispatch.";

/* A result, and what the trips give of it. */
typedef struct stacked {
    const char *name;
    const ig_json *dim; /* an Argument */
    ig_ts_list *items;
} stacked;

typedef struct ig_pt2_vmap {
    ig_pt2_scope *scope;
    size_t first, end; /* of its nodes */
    const char *trip;  /* a name of the frame */
    stacked *results;
    size_t result_count;
} ig_pt2_vmap;

static const char *word_of(const char *target) {
    size_t size = strlen(functorch);
    return strncmp(target, functorch, size) == 0 ? target + size : "";
}

int ig_pt2_vmap_nesting(const char *target) {
    const char *word = word_of(target);
    return strcmp(word, "_vmap_increment_nesting") == 0   ? 1
           : strcmp(word, "_vmap_decrement_nesting") == 0 ? -1
                                                          : 0;
}

static ig_status argument_of(const ig_pt2_scope *scope, const ig_json *node,
                             size_t index, ig_ts_value *out) {
    const ig_json *inputs = ig_json_get(node, "inputs");
    return index < ig_json_count(inputs)
               ? ig_pt2_argument(scope, ig_json_get(ig_json_at(inputs, index), "arg"),
                                 out)
               : ig_pt2_error(scope, IG_INVALID, "it lacks argument %zu", index);
}

static const char *result_of(const ig_pt2_scope *scope, const ig_json *node) {
    size_t count;
    const char **names = ig_pt2_result_names(scope->eval->arena, node, &count);
    return count > 0 ? names[0] : NULL;
}

/* ---- nodes ---- */

static ig_status take_item(const ig_pt2_scope *scope, const ig_json *node) {
    const ig_pt2_vmap *v = scope->vmap;
    const ig_ts_value *trip = ig_ts_name_get(scope->eval->frame, v->trip);
    assert(trip && "the loop sets it");
    ig_ts_value args[3] = { { 0 }, { 0 }, *trip }, item;
    IG_TRY(argument_of(scope, node, 0, &args[0]));
    IG_TRY(argument_of(scope, node, 1, &args[1]));
    IG_TRY(ig_pt2_call(scope, "aten::select", args, IG_COUNT_OF(args), &item));
    ig_pt2_set(scope, result_of(scope, node), item);
    return IG_OK;
}

static ig_status give_item(const ig_pt2_scope *scope, const ig_json *node) {
    const ig_pt2_vmap *v = scope->vmap;
    const char *name = result_of(scope, node);
    ig_ts_value args[2], list;
    IG_TRY(argument_of(scope, node, 0, &args[1]));
    for (size_t i = 0; name && i < v->result_count; i++) {
        if (strcmp(v->results[i].name, name) == 0) {
            args[0] = ig_ts_of_list(v->results[i].items);
            return ig_pt2_call(scope, "aten::append", args, 2, &list);
        }
    }
    return IG_OK; /* nothing reads it */
}

bool ig_pt2_vmap_node(const ig_pt2_scope *scope, const ig_json *node,
                      ig_status *out_status) {
    const char *word = word_of(scope->target);
    bool takes = strcmp(word, "_add_batch_dim") == 0;
    if (!scope->vmap || (!takes && strcmp(word, "_remove_batch_dim") != 0)) {
        return false;
    }
    *out_status = takes ? take_item(scope, node) : give_item(scope, node);
    return true;
}

/* ---- regions ---- */

/* The results that its own nodes give, not those of a vmap in it. */
static void find_results(ig_pt2_vmap *v) {
    const ig_json *nodes = ig_json_get(v->scope->graph, "nodes");
    ig_ts_eval *eval = v->scope->eval;
    int depth = 0;
    v->results = IG_NEW_ARRAY(eval->arena, stacked, v->end - v->first + 1);
    for (size_t i = v->first; i < v->end; i++) {
        const ig_json *node = ig_json_at(nodes, i);
        const char *target = ig_json_text(ig_json_get(node, "target"));
        depth += ig_pt2_vmap_nesting(target);
        bool is_own = depth == 0 && strcmp(word_of(target), "_remove_batch_dim") == 0;
        const char *name = is_own ? result_of(v->scope, node) : NULL;
        if (name) {
            const ig_json *input = ig_json_at(ig_json_get(node, "inputs"), 3);
            v->results[v->result_count++] = (stacked){ name, ig_json_get(input, "arg"),
                                                       ig_pt2_tensor_list(eval, 0) };
        }
    }
}

static ig_status run_trip(ig_ts_eval *eval, void *user, ig_ts_value *out_test) {
    const ig_pt2_vmap *v = user;
    const ig_pt2_vmap *around = v->scope->vmap;
    *out_test = ig_ts_of_bool(true);
    (void)eval;
    v->scope->vmap = v;
    ig_status status = ig_pt2_nodes_between(v->scope, v->first, v->end);
    v->scope->vmap = around;
    return status;
}

static ig_status set_results(const ig_pt2_vmap *v) {
    for (size_t i = 0; i < v->result_count; i++) {
        ig_ts_value args[2] = { ig_ts_of_list(v->results[i].items) }, all;
        if (!v->results[i].dim) {
            return ig_pt2_error(v->scope, IG_INVALID, "torch.vmap gives no axis");
        }
        IG_TRY(ig_pt2_argument(v->scope, v->results[i].dim, &args[1]));
        IG_TRY(ig_pt2_call(v->scope, "aten::stack", args, 2, &all));
        ig_pt2_set(v->scope, v->results[i].name, all);
    }
    return IG_OK;
}

ig_status ig_pt2_vmap_region(ig_pt2_scope *scope, size_t first, size_t end) {
    assert(first > 0 && "a node begins it");
    ig_pt2_vmap v = { .scope = scope, .first = first, .end = end };
    ig_ts_value trips;
    const ig_json *begin = ig_json_at(ig_json_get(scope->graph, "nodes"), first - 1);
    IG_TRY(argument_of(scope, begin, 0, &trips));
    if (trips.kind != IG_TS_INT) {
        return ig_pt2_error(scope, IG_INVALID, "the size is %s, expected an integer",
                            ig_ts_kind_name(&trips));
    }
    bool is_never = trips.form == IG_TS_KNOWN && trips.as.i == 0;
    find_results(&v);
    v.trip = ig_pt2_slot(scope, ig_arena_printf(scope->eval->arena, "vmap.%zu", first));
    ig_ast target = { .kind = IG_AST_NAME, .as.name = v.trip };
    ig_ts_loop loop = { .target = &target, .run = run_trip, .user = &v };
    IG_TRY(ig_ts_run_trips(scope->eval, trips, &loop));
    return is_never ? IG_OK : set_results(&v); /* no item tells a result's shape */
}
