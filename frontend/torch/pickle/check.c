/* The finished graph of a pickle: no value may hold itself, nor nest too deep.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A depth-first walk with a stack of its own.  Each value is entered once and left
 * once; its depth is one more than its deepest child's.  Meeting a value that was
 * entered and not left is a cycle.
 */
#include "frontend/torch/pickle/vm.h"

#include <assert.h>

typedef struct check_frame {
    const ig_py *value;
    size_t next; /* child */
} check_frame;

typedef struct checker {
    ig_pickle_vm *vm;
    uint32_t *depths; /* by id; 0: not entered; OPEN: not left */
    IG_VEC(check_frame) frames;
} checker;

#define OPEN UINT32_MAX

/* Child `index` of a list, tuple or set; NULL after the last. */
static const ig_py *list_child(const ig_py *value, size_t index) {
    return index < value->as.list.count ? value->as.list.items[index] : NULL;
}

static const ig_py *dict_child(const ig_py *value, size_t index) {
    size_t count = value->as.dict.count;
    return index < count       ? value->as.dict.keys[index]
           : index < 2 * count ? value->as.dict.values[index - count]
                               : NULL;
}

/* The next child from `*next` on, over gaps; NULL when there is none left. */
static const ig_py *pick_child(const ig_py *const *children, size_t count,
                               size_t *next) {
    while (*next < count) {
        const ig_py *child = children[(*next)++];
        if (child) {
            return child;
        }
    }
    return NULL;
}

static const ig_py *tensor_child(const ig_py *value, size_t *next) {
    const ig_py_tensor *tensor = value->as.tensor;
    const ig_py_quant *quant = tensor->quant;
    size_t parts = tensor->sparse ? tensor->sparse->part_count : 0;
    const ig_py *children[] = { tensor->extra, quant ? quant->scales : NULL,
                                quant ? quant->zero_points : NULL };
    if (*next < IG_COUNT_OF(children)) {
        const ig_py *child = pick_child(children, IG_COUNT_OF(children), next);
        if (child) {
            return child;
        }
    }
    assert(*next >= IG_COUNT_OF(children) && "parts come after the other children");
    size_t part = *next - IG_COUNT_OF(children);
    if (part >= parts) {
        return NULL;
    }
    ++*next;
    return tensor->sparse->parts[part];
}

static const ig_py *list_next(const ig_py *value, size_t *next) {
    return list_child(value, (*next)++);
}

static const ig_py *dict_next(const ig_py *value, size_t *next) {
    return dict_child(value, (*next)++);
}

static const ig_py *object_next(const ig_py *value, size_t *next) {
    const ig_py *children[] = { value->as.object.args, value->as.object.state,
                                value->as.object.items };
    return pick_child(children, IG_COUNT_OF(children), next);
}

static const ig_py *enum_next(const ig_py *value, size_t *next) {
    const ig_py *children[] = { value->as.enumeration.value };
    return pick_child(children, IG_COUNT_OF(children), next);
}

static const ig_py *call_next(const ig_py *value, size_t *next) {
    const ig_py *children[] = { value->as.call.function, value->as.call.args,
                                value->as.call.state, value->as.call.items };
    return pick_child(children, IG_COUNT_OF(children), next);
}

static const ig_py *(*const nexts[IG_PY_KIND_COUNT])(const ig_py *value,
                                                     size_t *next) = {
    [IG_PY_LIST] = list_next, [IG_PY_TUPLE] = list_next,     [IG_PY_SET] = list_next,
    [IG_PY_DICT] = dict_next, [IG_PY_OBJECT] = object_next,  [IG_PY_ENUM] = enum_next,
    [IG_PY_CALL] = call_next, [IG_PY_TENSOR] = tensor_child,
};

static ig_status enter_value(checker *check, const ig_py *value) {
    assert(value->id < check->vm->set->value_count &&
           "ids are dense over the values of a set");
    uint32_t *depth = &check->depths[value->id];
    if (*depth == OPEN) {
        return ig_pickle_fail(
            check->vm, IG_UNSUPPORTED, "the %s of byte %llu holds itself",
            ig_py_kind_name(value->kind), (unsigned long long)value->offset);
    }
    if (*depth != 0) {
        return IG_OK;
    }
    if (!nexts[value->kind]) {
        *depth = 1;
        return IG_OK;
    }
    *depth = OPEN;
    IG_PUSH(check->vm->arena, &check->frames, (check_frame){ .value = value });
    return IG_OK;
}

/* Leaves the topmost value. */
static ig_status leave_value(checker *check, const ig_py *value) {
    assert(IG_LAST(&check->frames).value == value && "the topmost value is left");
    uint32_t deepest = 0;
    size_t next = 0;
    const ig_py *child;
    while ((child = nexts[value->kind](value, &next)) != NULL) {
        uint32_t depth = check->depths[child->id];
        assert(depth != 0 && depth != OPEN && "children are left before their parent");
        deepest = depth > deepest ? depth : deepest;
    }
    check->depths[value->id] = deepest + 1;
    int64_t max = check->vm->set->context->limits.pickle_depth;
    if (deepest + 1 > (uint64_t)max) {
        return ig_pickle_error_limit(check->vm, IG_LIMIT_pickle_depth,
                                     "the nesting of values");
    }
    check->frames.count--;
    return IG_OK;
}

ig_status ig_pickle_check(ig_pickle_vm *vm, ig_py *root) {
    checker check = { .vm = vm };
    check.depths = IG_NEW_ARRAY(vm->arena, uint32_t, vm->set->value_count);
    IG_TRY(enter_value(&check, root));
    while (check.frames.count) {
        check_frame *top = &IG_LAST(&check.frames);
        const ig_py *child = nexts[top->value->kind](top->value, &top->next);
        IG_TRY(child ? enter_value(&check, child) : leave_value(&check, top->value));
    }
    return IG_OK;
}
