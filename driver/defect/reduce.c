/* A smaller ONNX model that still does what the large one does wrong.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Most defects are of a few nodes that stand together: a binary search finds where they
 * end, and another one where they begin.  Then delta debugging (Zeller and Hildebrandt,
 * "Simplifying and Isolating Failure-Inducing Input", 2002) over what is left: parts
 * alone, then what is left without a part, with ever smaller parts.  One run of the
 * interpreter says before that what the model computes, so each part is a model of its
 * own.  At last single nodes are passed by, where an input has their result's type: the
 * others stay together, which a defect of what is fused needs.
 */
#include "ingot/defect.h"

#include "driver/values/argument.h"
#include "frontend/onnx/edit/edit.h"
#include "frontend/onnx/onnx.h"
#include "ir/interpret/interpret.h"
#include "ir/ops.h"

#include <assert.h>
#include <string.h>

enum { STOP = -1, NO = 0, YES = 1, CONSTANT_BYTES = 1 << 16 };

/* A value of the file's main graph. */
typedef struct named_value {
    const char *name;
    const ig_value *value;
} named_value;

typedef struct reduction {
    ig_module *module; /* the caller's */
    const char *path;
    const ig_argument *inputs;
    size_t input_count;
    ig_reduction how;
    ig_arena arena, scratch; /* scratch: of one variant */
    ig_module *file;         /* that the editor belongs to */
    ig_onnx_editor *editor;
    ig_module *model, *exposed; /* read anew for the names of its values */
    IG_VEC(named_value) names;
    ig_map place;              /* value -> 1 + its place in ig_module_values */
    const ig_argument *values; /* of the interpreter's run; NULL: it did not work */
    bool is_open;              /* extents stay open */
    size_t node_count;
    uint8_t *fates; /* by node: ig_onnx_fate */
    IG_VEC(ig_onnx_extent) extents;
    bool has_plain_weights;
    ig_writer text; /* of the variant at hand */
    bool is_written;
    int verdict;
} reduction;

/* ---- what is known of values ---- */

/* Whole numbers steer (shapes, axes, indices): made up, they would be out of range. */
static bool is_kept_as_constant(const ig_tensor *tensor) {
    return ig_dtypes[tensor->dtype].class != IG_FLOAT &&
           ig_tensor_bytes(tensor) <= CONSTANT_BYTES;
}

static void know_type(reduction *r, const char *name, const ig_type *type) {
    ig_tensor what = { .kind = IG_TENSOR, .dtype = (ig_dtype)type->dtype };
    if (type->kind != IG_TENSOR || type->rank > IG_TENSOR_RANK) {
        return;
    }
    what.rank = type->rank;
    for (uint32_t d = 0; d < type->rank; d++) {
        if (!ig_dim_known(type->dims[d], &what.dims[d])) {
            what.dims[d] = -1;
        }
    }
    ig_onnx_edit_know(r->editor, name, &what);
}

static ig_status know_argument(reduction *r, const char *name, const ig_argument *from,
                               bool may_be_constant) {
    ig_tensor what;
    if (from->kind != IG_ARGUMENT_TENSOR) {
        return IG_OK;
    }
    IG_TRY(ig_argument_to_tensor(r->module->context, &r->arena, from, &what));
    what.data = may_be_constant && is_kept_as_constant(&what) ? what.data : NULL;
    ig_onnx_edit_know(r->editor, name, &what);
    return IG_OK;
}

static ig_status know_constant(reduction *r, const named_value *named) {
    const ig_op *op = named->value->def;
    const ig_weight *weight = NULL;
    ig_tensor what;
    if (op->code == IG_OP_const) {
        IG_TRY(ig_evaluate_op(op, NULL, &r->arena, &what));
    } else if (op->code == IG_OP_weight) {
        weight = ig_module_weight(r->model, ig_attr_str(op, IG_weight_name));
        IG_TRY(ig_tensor_of_data(&weight->data, &r->arena, r->model->context, &what));
    } else {
        return IG_OK;
    }
    ig_onnx_edit_know(r->editor, named->name, &what);
    return IG_OK;
}

/* What the run gave for a value, or NULL. */
static const ig_argument *value_in_run(const reduction *r, const ig_value *value) {
    if (!value->def) {
        return value->index < r->input_count ? &r->inputs[value->index] : NULL;
    }
    uintptr_t place = (uintptr_t)ig_map_get_id(&r->place, IG_MAP_PTR(value));
    return r->values && place ? &r->values[ig_module_output_count(r->model) + place - 1]
                              : NULL;
}

static ig_status know_all(void *arguments) {
    reduction *r = arguments;
    for (size_t i = 0; i < r->names.count; i++) {
        const named_value *named = &r->names.items[i];
        const ig_op *def = named->value->def;
        const ig_argument *got = value_in_run(r, named->value);
        if (def && ig_ops[def->code].traits & IG_CONSTANT) {
            IG_TRY(know_constant(r, named));
        } else if (got && !r->is_open) {
            IG_TRY(know_argument(r, named->name, got, def != NULL));
        } else {
            know_type(r, named->name, named->value->type);
        }
    }
    return IG_OK;
}

/* ---- one run ---- */

static void add_name(void *user, const char *name, ig_value *value) {
    reduction *r = user;
    const char *own = ig_arena_printf(&r->arena, "%s", name);
    IG_PUSH(&r->arena, &r->names, (named_value){ own, value });
}

/* The model with the types that the caller's has. */
static ig_status read_names(void *arguments) {
    reduction *r = arguments;
    ig_onnx_input_type *types = IG_NEW_ARRAY(&r->arena, ig_onnx_input_type,
                                             r->input_count);
    for (size_t i = 0; i < r->input_count; i++) {
        types[i].name = ig_module_input_name(r->module, i);
        types[i].type = ig_module_input_type(r->module, i);
    }
    ig_onnx_options options = {
        .types = types, .type_count = r->input_count, .named = add_name, .user = r
    };
    IG_TRY(ig_import_onnx(r->module->context, r->path, &options, &r->model));
    ig_map_init(&r->place, &r->arena);
    uintptr_t place = 0;
    for (ig_op *op = ig_entry_of(r->model)->body.first; op; op = op->next) {
        bool is_constant = ig_ops[op->code].traits & IG_CONSTANT;
        for (uint32_t i = 0; i < op->result_count && !is_constant; i++) {
            if (op->results[i].type->kind == IG_TENSOR) {
                ig_map_set_id(&r->place, IG_MAP_PTR(&op->results[i]), (void *)++place);
            }
        }
    }
    return IG_OK;
}

/* 0, 1, 2 … */
typedef struct numbers {
    ig_arena *arena;
    size_t *items, count;
} numbers;

static ig_status number_all(void *arguments) {
    numbers *list = arguments;
    list->items = IG_NEW_ARRAY(list->arena, size_t, list->count);
    for (size_t i = 0; i < list->count; i++) {
        list->items[i] = i;
    }
    return IG_OK;
}

/* All that the model computes, of one run.  Where there is none (an op that is not
 * interpreted, too much memory) types do. */
static ig_status run_model(reduction *r) {
    ig_context *context = r->module->context;
    const ig_inner_value *values;
    size_t count, got = 0;
    IG_TRY(ig_host_guard(context, read_names, r));
    IG_TRY(ig_module_values(r->model, &values, &count));
    numbers all = { &r->arena, NULL, count };
    IG_TRY(ig_host_guard(context, number_all, &all));
    ig_diag diag = context->diag;
    context->diag.sink = NULL;
    ig_status status = ig_module_expose(r->model, all.items, count, &r->exposed);
    if (status == IG_OK) {
        status = ig_interpret_run(r->exposed, r->inputs, r->input_count, &r->values,
                                  &got);
    }
    context->diag = diag;
    bool is_whole = status == IG_OK && got == ig_module_output_count(r->model) + count;
    r->values = is_whole ? r->values : NULL;
    r->is_open = r->is_open || !r->values;
    return status == IG_CANCELLED ? status : IG_OK;
}

/* ---- one variant ---- */

static ig_onnx_variant variant_of(const reduction *r, const uint8_t *fates) {
    return (ig_onnx_variant){ .fates = fates,
                              .extents = r->extents.items,
                              .extent_count = r->extents.count,
                              .has_plain_weights = r->has_plain_weights };
}

static ig_status write_variant(void *arguments) {
    reduction *r = arguments;
    ig_onnx_variant variant = variant_of(r, r->fates);
    ig_writer_init(&r->text, &r->scratch);
    IG_TRY(ig_context_poll(r->module->context));
    r->is_written = ig_onnx_edit_write(r->editor, &variant, &r->scratch, &r->text);
    return IG_OK;
}

static size_t count_kept(const reduction *r) {
    size_t count = 0;
    for (size_t i = 0; i < r->node_count; i++) {
        count += r->fates[i] == IG_ONNX_KEPT;
    }
    return count;
}

/* Asks about the variant that r says; STOP stays. */
static int try_variant(reduction *r) {
    if (r->verdict == STOP) {
        return STOP;
    }
    ig_status status = ig_host_guard(r->module->context, write_variant, r);
    int answer = status != IG_OK ? STOP : NO;
    if (status == IG_OK && r->is_written) {
        answer = r->how.check(r->how.user, r->text.data, r->text.size);
    }
    if (answer == YES && r->how.smaller) {
        r->how.smaller(r->how.user, count_kept(r), r->node_count);
    }
    ig_arena_fini(&r->scratch);
    ig_arena_init(&r->scratch, &r->module->context->budget);
    r->verdict = answer == STOP ? STOP : NO;
    return answer;
}

/* ---- nodes ---- */

static bool fails_between(reduction *r, const numbers *list, size_t from, size_t to) {
    memset(r->fates, IG_ONNX_GONE, r->node_count);
    for (size_t i = from; i < to; i++) {
        r->fates[list->items[i]] = IG_ONNX_KEPT;
    }
    return try_variant(r) == YES;
}

/* The shortest beginning that fails, and of that the shortest end. */
static void reduce_ends(reduction *r, numbers *list) {
    size_t from = 0, to = list->count;
    for (size_t least = 1; least < to && r->verdict != STOP;) {
        size_t middle = least + (to - least) / 2;
        if (fails_between(r, list, 0, middle)) {
            to = middle;
        } else {
            least = middle + 1;
        }
    }
    for (size_t most = to - 1; from < most && r->verdict != STOP;) {
        size_t middle = most - (most - from) / 2;
        if (fails_between(r, list, middle, to)) {
            from = middle;
        } else {
            most = middle - 1;
        }
    }
    list->items += from;
    list->count = to - from;
}

/* Part `number` of `parts` of the list: alone, or all the others. */
static void keep_part(reduction *r, const numbers *list, size_t number, size_t parts,
                      bool is_alone) {
    memset(r->fates, IG_ONNX_GONE, r->node_count);
    for (size_t i = 0; i < list->count; i++) {
        bool is_in = i * parts / list->count == number;
        r->fates[list->items[i]] = is_in == is_alone ? IG_ONNX_KEPT : IG_ONNX_GONE;
    }
}

static void take_kept(const reduction *r, numbers *list) {
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (r->fates[list->items[i]] == IG_ONNX_KEPT) {
            list->items[count++] = list->items[i];
        }
    }
    assert(count > 0 && "a variant has nodes");
    list->count = count;
}

static bool try_parts(reduction *r, numbers *list, size_t parts, bool is_alone) {
    for (size_t i = 0; i < parts; i++) {
        keep_part(r, list, i, parts, is_alone);
        if (try_variant(r) == YES) {
            take_kept(r, list);
            return true;
        }
    }
    return false;
}

static void reduce_nodes(reduction *r, numbers *list) {
    size_t parts = 2;
    while (list->count > 1 && r->verdict != STOP) {
        parts = parts < list->count ? parts : list->count;
        if (try_parts(r, list, parts, true)) {
            parts = 2;
        } else if (parts > 2 && try_parts(r, list, parts, false)) {
            parts = parts > 3 ? parts - 1 : 2;
        } else if (parts == list->count) {
            break;
        } else {
            parts *= 2;
        }
    }
    memset(r->fates, IG_ONNX_GONE, r->node_count);
    for (size_t i = 0; i < list->count; i++) {
        r->fates[list->items[i]] = IG_ONNX_KEPT;
    }
}

/* Passes by each node that is not needed so; again, while one of them was not. */
static void pass_nodes(reduction *r, const numbers *list) {
    for (bool is_less = true; is_less && r->verdict != STOP;) {
        is_less = false;
        for (size_t i = list->count; i-- > 0 && r->verdict != STOP;) {
            uint8_t *fate = &r->fates[list->items[i]];
            if (*fate == IG_ONNX_KEPT) {
                *fate = IG_ONNX_PASSED;
                bool is_passed = try_variant(r) == YES;
                *fate = is_passed ? IG_ONNX_PASSED : IG_ONNX_KEPT;
                is_less = is_less || is_passed;
            }
        }
    }
}

/* ---- extents and weights ---- */

typedef struct extents_call {
    reduction *r;
    int64_t *items;
    size_t count;
} extents_call;

static ig_status list_extents(void *arguments) {
    extents_call *call = arguments;
    ig_onnx_variant variant = variant_of(call->r, call->r->fates);
    call->count = ig_onnx_edit_extents(call->r->editor, &variant, &call->r->arena,
                                       &call->items);
    return IG_OK;
}

static ig_status add_extent(void *arguments) {
    reduction *r = arguments;
    IG_PUSH(&r->arena, &r->extents, (ig_onnx_extent){ 0 });
    return IG_OK;
}

/* The smallest that does of 1, 2, 3 and the half. */
static ig_status reduce_extent(reduction *r, int64_t extent) {
    const int64_t tries[] = { 1, 2, 3, extent / 2 };
    IG_TRY(ig_host_guard(r->module->context, add_extent, r));
    ig_onnx_extent *at = &r->extents.items[r->extents.count - 1];
    for (size_t i = 0; i < IG_COUNT_OF(tries); i++) {
        *at = (ig_onnx_extent){ extent, tries[i] };
        if (tries[i] < extent && try_variant(r) == YES) {
            return IG_OK;
        }
    }
    r->extents.count--;
    return IG_OK;
}

static ig_status reduce_values(reduction *r) {
    extents_call call = { .r = r };
    IG_TRY(ig_host_guard(r->module->context, list_extents, &call));
    for (size_t i = 0; i < call.count && r->verdict != STOP; i++) {
        IG_TRY(reduce_extent(r, call.items[i]));
    }
    r->has_plain_weights = true;
    r->has_plain_weights = try_variant(r) == YES;
    return IG_OK;
}

/* ---- all of it ---- */

static ig_status open_file(void *arguments) {
    reduction *r = arguments;
    const ig_graph *graph = ig_entry_of(r->module);
    ig_location where = { .file = r->path };
    if (!graph || strcmp(ig_model_format(r->path), "onnx") != 0) {
        return ig_error(&r->module->context->diag, IG_UNSUPPORTED, &where,
                        "only ONNX models are made smaller");
    }
    IG_TRY(ig_onnx_edit_open(r->module->context, r->path, &r->file, &r->editor));
    r->node_count = ig_onnx_edit_node_count(r->editor);
    r->fates = IG_NEW_ARRAY(&r->arena, uint8_t, r->node_count);
    return IG_OK;
}

/* The whole model with extents as they are in this run, or else open. */
static ig_status try_whole(reduction *r) {
    memset(r->fates, IG_ONNX_KEPT, r->node_count);
    for (int round = 0; round < 2; round++) {
        IG_TRY(ig_host_guard(r->module->context, know_all, r));
        int answer = try_variant(r);
        if (answer != NO) {
            return IG_OK;
        }
        if (r->is_open) {
            break;
        }
        r->is_open = true;
    }
    ig_location where = { .file = r->path };
    return ig_error(&r->module->context->diag, IG_INVALID, &where,
                    "the check does not say of the model, written anew, what it says "
                    "of this file");
}

static ig_status reduce_all(reduction *r) {
    IG_TRY(ig_host_guard(r->module->context, open_file, r));
    numbers list = { &r->arena, NULL, r->node_count };
    IG_TRY(ig_host_guard(r->module->context, number_all, &list));
    IG_TRY(run_model(r));
    IG_TRY(try_whole(r));
    reduce_ends(r, &list);
    reduce_nodes(r, &list);
    pass_nodes(r, &list);
    return reduce_values(r);
}

ig_status ig_module_reduce(ig_module *module, const char *path,
                           const ig_argument *inputs, size_t input_count,
                           const ig_reduction *how) {
    reduction r = {
        .module = module, .path = path, .inputs = inputs, .input_count = input_count
    };
    ig_options_take(&r.how, sizeof r.how, how);
    ig_arena_init(&r.arena, &module->context->budget);
    ig_arena_init(&r.scratch, &module->context->budget);
    ig_status status = reduce_all(&r);
    ig_module_close(r.exposed);
    ig_module_close(r.model);
    ig_module_destroy(r.file);
    ig_arena_fini(&r.scratch);
    ig_arena_fini(&r.arena);
    return ig_host_settle(module->context, status);
}
