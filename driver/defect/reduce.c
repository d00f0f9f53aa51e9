/* A smaller ONNX model that still has the defect of the large one.
 * SPDX-License-Identifier: Apache-2.0
 *
 * One run of the interpreter first gives the model's values, so each part of it is a
 * model of its own with known inputs (reduce_known.c).  Then come fewer nodes
 * (reduce_nodes.c), shorter extents and plainer weights (reduce_values.c).  No model is
 * looked at twice.
 */
#include "driver/defect/reduction.h"
#include "driver/values/argument.h"

#include <string.h>

/* ---- one variant ---- */

ig_onnx_variant reduction_variant(const reduction *r) {
    return (ig_onnx_variant){ .fates = r->fates,
                              .extents = r->extents.items,
                              .extent_count = r->extents.count,
                              .has_plain_weights = r->has_plain_weights };
}

static bool are_inputs_known(const reduction *r) {
    for (size_t i = 0; i < r->written.input_count; i++) {
        if (!r->written.values[i].data) {
            return false;
        }
    }
    return true;
}

static ig_status write_variant(void *arguments) {
    reduction *r = arguments;
    ig_onnx_variant variant = reduction_variant(r);
    IG_TRY(ig_context_poll(r->module->context));
    r->is_written = ig_onnx_edit_write(r->editor, &variant, &r->scratch, &r->written);
    r->arguments = NULL;
    if (r->is_written && r->how.has_inputs) {
        r->is_written = are_inputs_known(r);
        r->arguments = IG_NEW_ARRAY(&r->scratch, ig_argument, r->written.input_count);
    }
    for (size_t i = 0; r->arguments && i < r->written.input_count; i++) {
        ig_argument_of_tensor(&r->scratch, &r->written.values[i], &r->arguments[i]);
    }
    return IG_OK;
}

static size_t count_kept(const reduction *r) {
    size_t count = 0;
    for (size_t i = 0; i < r->node_count; i++) {
        count += r->fates[i] == IG_ONNX_KEPT;
    }
    return count;
}

static int ask_check(reduction *r) {
    ig_trial trial = { .size = sizeof trial,
                       .bytes = r->written.text.data,
                       .byte_count = r->written.text.size };
    if (r->how.has_inputs) {
        trial.names = r->written.names;
        trial.inputs = r->arguments;
        trial.input_count = r->written.input_count;
    }
    int answer = r->how.check(r->how.user, &trial);
    if (answer == YES && r->how.smaller) {
        r->how.smaller(r->how.user, count_kept(r), r->node_count);
    }
    return answer;
}

/* ---- no model twice ---- */

/* 128 bits of the file and of what its inputs read. */
static void find_key(reduction *r) {
    for (size_t i = 0; i < IG_COUNT_OF(r->key); i++) {
        ig_str text = r->written.text;
        uint64_t hash = ig_hash_bytes(text.data, text.size, i);
        for (size_t k = 0; r->arguments && k < r->written.input_count; k++) {
            hash = ig_hash_bytes(r->arguments[k].data, r->arguments[k].size, hash);
        }
        r->key[i] = hash;
    }
}

static ig_str key_of(const reduction *r) {
    return (ig_str){ (const char *)r->key, sizeof r->key };
}

static ig_status remember_verdict(void *arguments) {
    reduction *r = arguments;
    ig_map_set(&r->verdicts, key_of(r), (void *)(uintptr_t)(1 + r->verdict));
    return IG_OK;
}

/* One that failed before is no smaller than the smallest, so nobody need be told. */
static int try_written(reduction *r) {
    find_key(r);
    uintptr_t found = (uintptr_t)ig_map_get(&r->verdicts, key_of(r));
    if (found) {
        return (int)found - 1;
    }
    r->verdict = ask_check(r);
    bool is_known = r->verdict != STOP &&
                    ig_driver_guard(r->module->context, remember_verdict, r) == IG_OK;
    return is_known ? r->verdict : STOP;
}

int reduction_try(reduction *r) {
    if (r->verdict == STOP) {
        return STOP;
    }
    ig_status status = ig_driver_guard(r->module->context, write_variant, r);
    r->verdict = status != IG_OK ? STOP : r->is_written ? try_written(r) : NO;
    ig_arena_fini(&r->scratch);
    ig_arena_init(&r->scratch, &r->module->context->budget);
    return r->verdict;
}

/* ---- all of it ---- */

static ig_status open_file(void *arguments) {
    reduction *r = arguments;
    const ig_graph *graph = ig_entry_of(r->module);
    ig_location where = { .file = r->path };
    if (!graph || strcmp(ig_model_format(r->path), "onnx") != 0) {
        return ig_error(&r->module->context->diag, IG_UNSUPPORTED, &where,
                        "only ONNX models can be reduced");
    }
    IG_TRY(ig_onnx_edit_open(r->module->context, r->path, &r->file, &r->editor));
    r->node_count = ig_onnx_edit_node_count(r->editor);
    r->fates = IG_NEW_ARRAY(&r->arena, uint8_t, r->node_count);
    ig_map_init(&r->verdicts, &r->arena);
    return IG_OK;
}

ig_status ids_all(void *arguments) {
    id_list *list = arguments;
    list->items = IG_NEW_ARRAY(list->arena, size_t, list->count);
    for (size_t i = 0; i < list->count; i++) {
        list->items[i] = i;
    }
    return IG_OK;
}

/* The whole model with extents as they are in this run, or else open. */
static ig_status try_whole(reduction *r) {
    memset(r->fates, IG_ONNX_KEPT, r->node_count);
    for (int round = 0; round < 2; round++) {
        IG_TRY(ig_driver_guard(r->module->context, reduction_know, r));
        if (reduction_try(r) != NO) {
            return IG_OK;
        }
        if (r->is_open) {
            break;
        }
        r->is_open = true;
    }
    ig_location where = { .file = r->path };
    return ig_error(
        &r->module->context->diag, IG_INVALID, &where,
        "the check gives another result for the rewritten model than for this file");
}

static ig_status reduce_all(reduction *r) {
    IG_TRY(ig_driver_guard(r->module->context, open_file, r));
    id_list list = { &r->arena, NULL, r->node_count };
    IG_TRY(ig_driver_guard(r->module->context, ids_all, &list));
    IG_TRY(reduction_run(r));
    IG_TRY(try_whole(r));
    reduce_nodes(r, &list);
    return reduce_values(r);
}

ig_status ig_module_reduce(ig_module *module, const char *path,
                           const ig_argument *inputs, size_t input_count,
                           const ig_reduction *how) {
    reduction r = {
        .module = module, .path = path, .inputs = inputs, .input_count = input_count
    };
    ig_options_take(module->context, &r.how, sizeof r.how, how);
    ig_arena_init(&r.arena, &module->context->budget);
    ig_arena_init(&r.scratch, &module->context->budget);
    ig_status status = reduce_all(&r);
    ig_module_close(r.exposed);
    ig_module_close(r.model);
    ig_module_destroy(r.file);
    ig_arena_fini(&r.scratch);
    ig_arena_fini(&r.arena);
    return ig_driver_settle(module->context, status);
}
