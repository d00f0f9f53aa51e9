/* The actions of opcodes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/pickle/vm.h"

#include "base/writer.h"
#include "frontend/torch/pickle/number.h"

#include <assert.h>
#include <string.h>

/* Marks nest as values do; a value is kept once, and once more when it is shared. */
enum { NEWEST_PROTOCOL = 5, MAX_MARKS = 1 << 16, MAX_SPARE = 1 << 16 };

#define RUN(name) ig_status ig_pickle_run_##name(ig_pickle_vm *vm)

/* ---- the stack ---- */

static void push_value(ig_pickle_vm *vm, ig_py *item) {
    assert(item && "makers set their value before it is pushed");
    IG_PUSH(vm->arena, &vm->stack, item);
}

/* Values above the last mark, which must not be reached beneath. */
static size_t count_above_mark(const ig_pickle_vm *vm) {
    size_t floor = vm->marks.count ? IG_LAST(&vm->marks) : 0;
    assert(floor <= vm->stack.count && "nothing below the last mark was taken");
    return vm->stack.count - floor;
}

static ig_status need_values(ig_pickle_vm *vm, size_t count) {
    return count_above_mark(vm) >= count
               ? IG_OK
               : ig_pickle_fail(vm, IG_INVALID,
                                "it takes %zu values from the stack, which has %zu",
                                count, count_above_mark(vm));
}

static ig_status pop_value(ig_pickle_vm *vm, ig_py **out_item) {
    IG_TRY(need_values(vm, 1));
    *out_item = IG_POP(&vm->stack);
    return IG_OK;
}

/* Values of the stack; good until the next push. */
typedef struct span {
    ig_py **items;
    size_t count;
} span;

/* Takes the last mark away, with the values above it. */
static ig_status pop_to_mark(ig_pickle_vm *vm, span *out) {
    *out = (span){ NULL, 0 };
    if (!vm->marks.count) {
        return ig_pickle_fail(vm, IG_INVALID, "there is no mark on the stack");
    }
    size_t floor = IG_POP(&vm->marks);
    assert(floor <= vm->stack.count && "nothing below the last mark was taken");
    *out = (span){ vm->stack.items + floor, vm->stack.count - floor };
    vm->stack.count = floor;
    return IG_OK;
}

static ig_status push_new(ig_pickle_vm *vm, ig_py_kind kind, ig_py **out_value) {
    IG_TRY(ig_pickle_new(vm, kind, out_value));
    push_value(vm, *out_value);
    return IG_OK;
}

RUN(mark) {
    if (vm->marks.count >= MAX_MARKS) {
        return ig_pickle_fail(vm, IG_LIMIT, "more than %d marks are open", MAX_MARKS);
    }
    IG_PUSH(vm->arena, &vm->marks, vm->stack.count);
    return IG_OK;
}

RUN(stop) {
    if (vm->marks.count) {
        return ig_pickle_fail(vm, IG_INVALID, "a mark is left on the stack");
    }
    vm->is_done = true;
    return need_values(vm, 1);
}

/* Python takes a mark away when it is on top. */
RUN(pop) {
    if (vm->marks.count && count_above_mark(vm) == 0) {
        vm->marks.count--;
        return IG_OK;
    }
    ig_py *item;
    return pop_value(vm, &item);
}

RUN(pop_mark) {
    span values;
    return pop_to_mark(vm, &values);
}

RUN(dup) {
    IG_TRY(need_values(vm, 1));
    if (vm->stack.count > MAX_SPARE + 2 * (size_t)vm->set->value_count) {
        return ig_pickle_fail(vm, IG_LIMIT, "it doubles more values than there are");
    }
    push_value(vm, IG_LAST(&vm->stack));
    return IG_OK;
}

RUN(proto) {
    if (vm->number > NEWEST_PROTOCOL) {
        return ig_pickle_fail(vm, IG_UNSUPPORTED, "protocol %lld is not known",
                              (long long)vm->number);
    }
    return IG_OK;
}

RUN(nothing) {
    (void)vm;
    return IG_OK;
}

RUN(foreign) {
    return ig_pickle_fail(
        vm, IG_UNSUPPORTED,
        "it refers to something outside of the pickle, which only the process that wrote it has");
}

/* ---- plain values ---- */

RUN(none) {
    ig_py *item;
    return push_new(vm, IG_PY_NONE, &item);
}

RUN(bool) {
    ig_py *item;
    IG_TRY(push_new(vm, IG_PY_BOOL, &item));
    item->as.b = vm->value != 0;
    return IG_OK;
}

RUN(int) {
    ig_py *item;
    IG_TRY(push_new(vm, IG_PY_INT, &item));
    item->as.i = vm->number;
    return IG_OK;
}

RUN(float) {
    ig_py *item;
    IG_TRY(push_new(vm, IG_PY_FLOAT, &item));
    item->as.f = vm->real;
    return IG_OK;
}

/* "12", "12L"; "00" and "01" are False and True where `value` is 0. */
RUN(int_line) {
    ig_str text = vm->text;
    ig_py *item;
    IG_TRY(push_new(vm, IG_PY_INT, &item));
    if (vm->value == 0 && (ig_str_is(text, "00") || ig_str_is(text, "01"))) {
        item->kind = IG_PY_BOOL;
        item->as.b = text.data[1] == '1';
        return IG_OK;
    }
    if (vm->value == 1 && ig_str_ends(text, "L")) {
        text.size--;
    }
    return ig_pickle_int_of_text(vm, text, item);
}

RUN(long) {
    ig_py *item;
    IG_TRY(push_new(vm, IG_PY_INT, &item));
    return ig_pickle_int_of_bytes(vm, vm->text, item);
}

RUN(float_line) {
    ig_py *item;
    IG_TRY(push_new(vm, IG_PY_FLOAT, &item));
    return ig_str_to_f64(vm->text, &item->as.f)
               ? IG_OK
               : ig_pickle_fail(vm, IG_INVALID, "'%.*s' is not a number",
                                (int)(vm->text.size < 40 ? vm->text.size : 40),
                                vm->text.data);
}

static ig_status push_text(ig_pickle_vm *vm, ig_py_kind kind, ig_str text) {
    ig_py *item;
    IG_TRY(push_new(vm, kind, &item));
    item->as.text = text;
    return IG_OK;
}

/* Python 2's str is text where it can be; Python writes lone surrogates too, which are
 * bytes to us. */
static ig_status push_string(ig_pickle_vm *vm, ig_str text) {
    return push_text(vm, ig_utf8_is_valid(text) ? IG_PY_STR : IG_PY_BYTES, text);
}

RUN(string) {
    return push_string(vm, vm->text);
}

RUN(bytes) {
    return push_text(vm, IG_PY_BYTES, vm->text);
}

RUN(string_line) {
    ig_str text = vm->text;
    bool is_quoted = text.size >= 2 && (text.data[0] == '\'' || text.data[0] == '"') &&
                     text.data[text.size - 1] == text.data[0];
    if (!is_quoted) {
        return ig_pickle_fail(vm, IG_INVALID, "its text is not quoted");
    }
    ig_str inner = { text.data + 1, text.size - 2 }, plain;
    IG_TRY(ig_pickle_unescape(vm, inner, false, &plain));
    return push_string(vm, plain);
}

RUN(unicode_line) {
    ig_str plain;
    IG_TRY(ig_pickle_unescape(vm, vm->text, true, &plain));
    return push_string(vm, plain);
}

/* ---- containers ---- */

/* A list, tuple or set of `count` items, or a dict of half as many. */
static ig_status push_container(ig_pickle_vm *vm, ig_py_kind kind, ig_py **items,
                                size_t count) {
    assert((kind == IG_PY_LIST || kind == IG_PY_TUPLE || kind == IG_PY_SET ||
            kind == IG_PY_DICT) &&
           "opcodes.def collects items in containers only");
    assert((items || count == 0) && "an empty container has no items");
    ig_py *container;
    IG_TRY(ig_pickle_new(vm, kind, &container));
    if (kind == IG_PY_DICT && count % 2 != 0) {
        return ig_pickle_fail(vm, IG_INVALID, "a key has no value");
    }
    if (kind == IG_PY_TUPLE) {
        container->as.list.items = IG_NEW_ARRAY(vm->arena, ig_py *, count + 1);
        container->as.list.count = count;
        if (count) {
            memcpy(container->as.list.items, items, count * sizeof(*items));
        }
    }
    for (size_t i = 0; i < count && kind != IG_PY_TUPLE; i++) {
        if (kind != IG_PY_DICT) {
            ig_pickle_append(vm, container, items[i]);
        } else if (i % 2 != 0) {
            ig_pickle_insert(vm, container, items[i - 1], items[i]);
        }
    }
    push_value(vm, container);
    return IG_OK;
}

RUN(tuple_of) {
    size_t count = (size_t)vm->value;
    assert(vm->value >= 0 && vm->value <= 3 &&
           "opcodes.def has tuples of up to 3 items");
    IG_TRY(need_values(vm, count));
    vm->stack.count -= count;
    return push_container(vm, IG_PY_TUPLE, vm->stack.items + vm->stack.count, count);
}

RUN(collect) {
    span values;
    IG_TRY(pop_to_mark(vm, &values));
    return push_container(vm, (ig_py_kind)vm->value, values.items, values.count);
}

RUN(frozen_set) {
    span values;
    IG_TRY(pop_to_mark(vm, &values));
    IG_TRY(push_container(vm, IG_PY_SET, values.items, values.count));
    IG_LAST(&vm->stack)->type = "frozenset";
    return IG_OK;
}

RUN(empty) {
    return push_container(vm, (ig_py_kind)vm->value, NULL, 0);
}

/* Where the items of `target` go: itself, or the items of an object or call. */
static ig_status item_holder(ig_pickle_vm *vm, ig_py *target, bool is_dict,
                             ig_py **out_holder) {
    ig_py_kind kind = is_dict ? IG_PY_DICT : IG_PY_LIST;
    ig_py **slot = target->kind == IG_PY_OBJECT ? &target->as.object.items
                   : target->kind == IG_PY_CALL ? &target->as.call.items
                                                : NULL;
    if (slot && !*slot) {
        IG_TRY(ig_pickle_new(vm, kind, slot));
    }
    *out_holder = slot ? *slot : target;
    ig_py_kind got = (*out_holder)->kind;
    if (got == kind || (!is_dict && got == IG_PY_SET)) {
        return IG_OK;
    }
    return ig_pickle_fail(vm, IG_INVALID, "it adds items to a value that is %s",
                          ig_py_kind_name(got));
}

static ig_status add_items(ig_pickle_vm *vm, ig_py **items, size_t count) {
    ig_py *holder;
    IG_TRY(need_values(vm, 1));
    IG_TRY(item_holder(vm, IG_LAST(&vm->stack), false, &holder));
    for (size_t i = 0; i < count; i++) {
        ig_pickle_append(vm, holder, items[i]);
    }
    return IG_OK;
}

static ig_status set_pairs(ig_pickle_vm *vm, ig_py **items, size_t count) {
    ig_py *holder;
    IG_TRY(need_values(vm, 1));
    IG_TRY(item_holder(vm, IG_LAST(&vm->stack), true, &holder));
    if (count % 2 != 0) {
        return ig_pickle_fail(vm, IG_INVALID, "a key has no value");
    }
    for (size_t i = 0; i < count; i += 2) {
        ig_pickle_insert(vm, holder, items[i], items[i + 1]);
    }
    return IG_OK;
}

RUN(append) {
    IG_TRY(need_values(vm, 2));
    vm->stack.count--;
    return add_items(vm, vm->stack.items + vm->stack.count, 1);
}

RUN(appends) {
    span values;
    IG_TRY(pop_to_mark(vm, &values));
    return add_items(vm, values.items, values.count);
}

RUN(set_item) {
    IG_TRY(need_values(vm, 3));
    vm->stack.count -= 2;
    return set_pairs(vm, vm->stack.items + vm->stack.count, 2);
}

RUN(set_items) {
    span values;
    IG_TRY(pop_to_mark(vm, &values));
    return set_pairs(vm, values.items, values.count);
}

/* ---- memo ---- */

static ig_status put_at(ig_pickle_vm *vm, uint64_t index) {
    IG_TRY(need_values(vm, 1));
    if (vm->memo.count > MAX_SPARE + 2 * (size_t)vm->set->value_count) {
        return ig_pickle_fail(vm, IG_LIMIT, "it keeps more values than there are");
    }
    ig_map_set_id(&vm->memo, index, IG_LAST(&vm->stack));
    return IG_OK;
}

static ig_status get_at(ig_pickle_vm *vm, uint64_t index) {
    ig_py *item = ig_map_get_id(&vm->memo, index);
    if (!item) {
        return ig_pickle_fail(vm, IG_INVALID, "nothing was kept under number %llu",
                              (unsigned long long)index);
    }
    if (vm->stack.count >= (size_t)vm->set->context->limits.pickle_values) {
        return ig_pickle_error_limit(vm, IG_LIMIT_pickle_values, "its stack");
    }
    push_value(vm, item);
    return IG_OK;
}

static ig_status line_number(ig_pickle_vm *vm, ig_str text, uint64_t *out_number) {
    int64_t number = 0;
    *out_number = 0;
    if (!ig_str_to_i64(text, &number) || number < 0) {
        return ig_pickle_fail(vm, IG_INVALID, "its argument is not a number");
    }
    *out_number = (uint64_t)number;
    return IG_OK;
}

RUN(put) {
    return put_at(vm, (uint64_t)vm->number);
}

RUN(put_line) {
    uint64_t index;
    IG_TRY(line_number(vm, vm->text, &index));
    return put_at(vm, index);
}

RUN(memoize) {
    return put_at(vm, vm->memo.count);
}

RUN(get) {
    return get_at(vm, (uint64_t)vm->number);
}

RUN(get_line) {
    uint64_t index;
    IG_TRY(line_number(vm, vm->text, &index));
    return get_at(vm, index);
}

/* ---- names, objects, calls ---- */

RUN(global) {
    ig_str name;
    ig_py *item;
    IG_TRY(ig_pickle_line(vm, &name));
    IG_TRY(ig_pickle_name(vm, vm->text, name, &item));
    push_value(vm, item);
    return IG_OK;
}

RUN(stack_global) {
    ig_py *module, *name, *item;
    IG_TRY(pop_value(vm, &name));
    IG_TRY(pop_value(vm, &module));
    if (module->kind != IG_PY_STR || name->kind != IG_PY_STR) {
        return ig_pickle_fail(vm, IG_INVALID,
                              "the name of a module or class is not a text");
    }
    IG_TRY(ig_pickle_name(vm, module->as.text, name->as.text, &item));
    push_value(vm, item);
    return IG_OK;
}

RUN(reduce) {
    ig_py *function, *args, *item;
    IG_TRY(pop_value(vm, &args));
    IG_TRY(pop_value(vm, &function));
    IG_TRY(ig_pickle_call(vm, function, args, &item));
    push_value(vm, item);
    return IG_OK;
}

static ig_status push_object(ig_pickle_vm *vm, ig_py *class, ig_py *args) {
    if (class->kind != IG_PY_GLOBAL || args->kind != IG_PY_TUPLE) {
        return ig_pickle_fail(
            vm, IG_INVALID, "it makes an object of %s with arguments that are %s",
            ig_py_kind_name(class->kind), ig_py_kind_name(args->kind));
    }
    ig_py *item;
    IG_TRY(push_new(vm, IG_PY_OBJECT, &item));
    item->as.object.class = class;
    item->as.object.args = args;
    return IG_OK;
}

/* NEWOBJ: class, tuple.  NEWOBJ_EX has keyword arguments as well, on top. */
RUN(new_object) {
    ig_py *keywords = NULL, *args, *class;
    if (vm->value == 1) {
        IG_TRY(pop_value(vm, &keywords));
    }
    IG_TRY(pop_value(vm, &args));
    IG_TRY(pop_value(vm, &class));
    if (keywords && keywords->kind == IG_PY_DICT && keywords->as.dict.count > 0) {
        return ig_pickle_fail(vm, IG_UNSUPPORTED,
                              "it makes an object with keyword arguments");
    }
    return push_object(vm, class, args);
}

/* An object of `class`, with `items` as the tuple of its arguments. */
static ig_status push_instance(ig_pickle_vm *vm, ig_py *class, ig_py **items,
                               size_t count) {
    IG_TRY(push_container(vm, IG_PY_TUPLE, items, count));
    ig_py *args;
    IG_TRY(pop_value(vm, &args));
    return push_object(vm, class, args);
}

RUN(inst) {
    ig_str name;
    ig_py *class;
    span values;
    IG_TRY(ig_pickle_line(vm, &name));
    IG_TRY(ig_pickle_name(vm, vm->text, name, &class));
    IG_TRY(pop_to_mark(vm, &values));
    return push_instance(vm, class, values.items, values.count);
}

RUN(obj) {
    span values;
    IG_TRY(pop_to_mark(vm, &values));
    if (values.count == 0) {
        return ig_pickle_fail(vm, IG_INVALID, "there is no class on the stack");
    }
    return push_instance(vm, values.items[0], values.items + 1, values.count - 1);
}

RUN(persistent) {
    ig_py *id, *item;
    IG_TRY(pop_value(vm, &id));
    IG_TRY(ig_pickle_persistent(vm, id, &item));
    push_value(vm, item);
    return IG_OK;
}

RUN(persistent_line) {
    return ig_pickle_fail(vm, IG_UNSUPPORTED, "it refers to '%.*s' outside of it",
                          (int)(vm->text.size < 40 ? vm->text.size : 40),
                          vm->text.data);
}

/* Gives an object its state.  That of a container (the _metadata of a state_dict) is
 * dropped: it is no part of the container's content. */
RUN(build) {
    ig_py *state;
    IG_TRY(pop_value(vm, &state));
    IG_TRY(need_values(vm, 1));
    ig_py *target = IG_LAST(&vm->stack);
    ig_py **slot = target->kind == IG_PY_OBJECT   ? &target->as.object.state
                   : target->kind == IG_PY_CALL   ? &target->as.call.state
                   : target->kind == IG_PY_TENSOR ? &target->as.tensor->extra
                                                  : NULL;
    bool is_container = target->kind == IG_PY_DICT || target->kind == IG_PY_LIST ||
                        target->kind == IG_PY_SET;
    if (is_container) {
        return IG_OK;
    }
    if (!slot || *slot) {
        return ig_pickle_fail(vm, IG_INVALID, "it gives a state to %s",
                              slot ? "an object that has one"
                                   : ig_py_kind_name(target->kind));
    }
    *slot = state;
    return IG_OK;
}
