/* Two states of the heap made one, after both branches of a run-time `if`.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every holder that either side changed is merged value by value:
 *
 *     equal                          stays as it is
 *     numbers of one kind            a result of the `if`
 *     tensors of one dtype and rank  a result of the `if`; extents that differ become
 *                                    symbols
 *     undefined and another          the other: the first is never looked at
 *     tuples, lists, objects made    item by item
 *     inside the branches
 *     anything else                  poison: an error when it is used
 *
 * The merge is walked twice.  The first walk makes, at the end of either block, the
 * values that the `if` is to choose between; then the op is made with as many results;
 * the second walk, in the same order, takes them and puts the merged values in place.
 */
#include "frontend/torch/eval/choice.h"
#include "frontend/torch/eval/control.h"

#include <assert.h>
#include <string.h>

typedef struct phi {
    ig_value *values[2];
    const ig_type *type;
} phi;

typedef struct pair {
    const void *a, *b;
    ig_ts_value merged;
} pair;

typedef struct merge {
    ig_ts_eval *eval;
    ig_ts_side *sides;
    uint32_t first_symbol;
    const ig_ts_point *point; /* NULL: the sides cannot go on apart */
    uint64_t start;           /* later births are in a branch */
    IG_VEC(phi) phis;
    IG_VEC(pair) pairs;
    ig_op *trial;         /* values that the op replaces */
    uint64_t merged_from; /* later births come from the second walk */
    ig_op *op;            /* NULL in the first walk */
    uint32_t next;
} merge;

static ig_status merge_values(merge *m, const ig_ts_value *a, const ig_ts_value *b,
                              ig_ts_value *out);

/* ---- sides ---- */

ig_ts_content ig_ts_side_content(const ig_ts_side *side, ig_ts_holder kind,
                                 const void *holder) {
    uintptr_t at = (uintptr_t)ig_map_get_id(&side->level->index, IG_MAP_PTR(holder));
    return at ? side->level->changes.items[at - 1].after
              : ig_ts_content_of(kind, holder);
}

static ig_status read_on_side(ig_ts_eval *eval, const ig_ts_side *side,
                              const ig_ts_tensor *tensor, ig_value **out_value) {
    const ig_ts_choice *choice = tensor->storage->choice;
    ig_ts_content content = ig_ts_side_content(side, IG_TS_HOLD_STORAGE,
                                               tensor->storage);
    ig_value *value = content.value;
    if (content.unknown) {
        return ig_ts_error(eval, IG_UNSUPPORTED, "reads a tensor that %s",
                           content.unknown);
    }
    for (uint32_t k = 0; choice && k < 2; k++) {
        ig_value *chosen;
        if (choice->sides[k]) {
            IG_TRY(read_on_side(eval, side, choice->sides[k], &chosen));
            value = ig_ts_choice_pick(eval, choice, k, chosen, value);
        }
    }
    return ig_ts_view_replay(eval, tensor, value, out_value);
}

static ig_status load_all(ig_ts_eval *eval, const ig_ts_tensor *tensor) {
    const ig_ts_choice *choice = tensor->storage->choice;
    for (uint32_t k = 0; choice && k < 2; k++) {
        if (choice->sides[k]) {
            IG_TRY(load_all(eval, choice->sides[k]));
        }
    }
    return ig_ts_storage_load(eval, tensor->storage);
}

ig_status ig_ts_side_read(ig_ts_eval *eval, ig_ts_side *side, const ig_ts_value *value,
                          ig_value **out_value) {
    ig_builder outside = eval->builder;
    ig_status status;
    if (value->kind == IG_TS_TENSOR) {
        IG_TRY(load_all(eval, value->as.tensor));
    }
    eval->builder = side->builder;
    if (value->kind == IG_TS_TENSOR) {
        status = read_on_side(eval, side, value->as.tensor, out_value);
    } else {
        status = ig_ts_number_read(eval, value, out_value);
    }
    side->builder = eval->builder;
    eval->builder = outside;
    return status;
}

void ig_ts_move_ops(ig_block *from, ig_block *to, ig_op *before) {
    assert(from != to && "ops move between blocks");
    while (from->first) {
        ig_op_move(from->first, to, before);
    }
}

/* ---- poison ---- */

static ig_ts_poison *begin_poison(const merge *m) {
    ig_ts_poison *p = IG_NEW(m->eval->arena, ig_ts_poison);
    p->where = ig_ts_where(m->eval);
    p->point = m->point;
    return p;
}

static ig_status make_poison(merge *m, const ig_ts_value *a, const ig_ts_value *b,
                             ig_ts_value *out) {
    const char *x = ig_ts_kind_name(a), *y = ig_ts_kind_name(b);
    ig_ts_poison *p = begin_poison(m);
    p->what = ig_arena_printf(
        m->eval->arena,
        strcmp(x, y) == 0
            ? "differs between two branches that a run-time condition chooses from (line %u), and cannot be chosen at run time (%s)"
            : "differs between two branches that a run-time condition chooses from (line %u): %s in one, %s in the other",
        p->where.line, x, y);
    *out = (ig_ts_value){ .kind = IG_TS_POISON, .as.poison = p };
    return IG_OK;
}

/* Of a container; that of an earlier branch tells more. */
static const ig_ts_poison *content_poison(const merge *m, const ig_ts_content *x,
                                          const ig_ts_content *y) {
    if (x->poison || y->poison) {
        return x->poison ? x->poison : y->poison;
    }
    ig_ts_poison *p = begin_poison(m);
    p->what = ig_arena_printf(
        m->eval->arena,
        "has one length or other keys in one branch than in the other, which a run-time condition chooses from (line %u)",
        p->where.line);
    return p;
}

/* ---- results of the `if` ---- */

static ig_dim join_dims(merge *m, ig_dim a, ig_dim b) {
    ig_module *module = m->eval->module;
    bool is_outer = !ig_dim_mentions_since(module, a, m->first_symbol);
    if (is_outer && ig_dim_equal(module, a, b) == IG_YES) {
        return a;
    }
    ig_dim dim = ig_dim_symbol(module, "branch");
    ig_dim_as_symbol(module, dim)->origin = "an extent in which two branches differ";
    return dim;
}

ig_value *ig_ts_make_zeros(ig_builder *builder, const ig_type *type,
                           uint32_t first_symbol) {
    assert(type->rank <= IG_TENSOR_RANK && "the type of a tensor");
    ig_expr e = ig_expr_of(builder);
    ig_dim dims[IG_TENSOR_RANK];
    for (uint32_t i = 0; i < type->rank; i++) {
        bool is_own = ig_dim_mentions_since(e.module, type->dims[i], first_symbol);
        dims[i] = is_own ? ig_dim_of(1) : type->dims[i];
    }
    return ig_expr_fill(&e, (ig_dtype)type->dtype, type->rank, dims, 0);
}

/* The value that is a's on one side and b's on the other; NULL: undefined there. */
static ig_status choose_value(merge *m, const ig_ts_value *a, const ig_ts_value *b,
                              ig_value **out_value) {
    const ig_ts_value *given[2] = { a, b };
    phi p = { 0 };
    if (m->op) {
        *out_value = ig_op_result(m->op, m->next++);
        return IG_OK;
    }
    *out_value = NULL;
    for (uint32_t k = 0; k < 2; k++) {
        if (given[k]) {
            IG_TRY(ig_ts_side_read(m->eval, &m->sides[k], given[k], &p.values[k]));
        }
    }
    for (uint32_t k = 0; k < 2; k++) {
        if (!given[k]) {
            p.values[k] = ig_ts_make_zeros(&m->sides[k].builder, p.values[1 - k]->type,
                                           m->first_symbol);
        }
    }
    const ig_type *x = p.values[0]->type, *y = p.values[1]->type;
    ig_dim dims[IG_TENSOR_RANK];
    for (uint32_t i = 0; i < x->rank; i++) {
        dims[i] = join_dims(m, x->dims[i], y->dims[i]);
    }
    p.type = ig_type_with_dims(m->eval->module, x, x->rank, dims);
    IG_PUSH(m->eval->arena, &m->phis, p);
    return IG_OK;
}

/* ---- tensors ---- */

static bool is_one_tensor(const ig_ts_tensor *a, const ig_ts_tensor *b) {
    return a->storage == b->storage && a->step_count == b->step_count &&
           a->type == b->type &&
           (a->step_count == 0 ||
            memcmp(a->steps, b->steps, a->step_count * sizeof(*a->steps)) == 0);
}

static bool tensors_fit(const ig_ts_tensor *a, const ig_ts_tensor *b) {
    return a->dtype == b->dtype && a->type->rank == b->type->rank &&
           a->quant == b->quant;
}

static ig_ts_fork fork_of(const merge *m) {
    return (ig_ts_fork){ .op = m->op ? m->op : m->trial,
                         .start = m->start,
                         .first_symbol = m->first_symbol };
}

/* `a` or `b` may be NULL: undefined on that side. */
static ig_status merge_tensors(merge *m, const ig_ts_value *a, const ig_ts_value *b,
                               ig_ts_value *out) {
    const ig_ts_tensor *x = a ? a->as.tensor : NULL, *y = b ? b->as.tensor : NULL;
    const ig_ts_tensor *like = x ? x : y;
    ig_value *value;
    IG_TRY(choose_value(m, a, b, &value));
    *out = a ? *a : *b;
    if (!m->op) {
        return IG_OK;
    }
    ig_ts_tensor *merged = ig_ts_tensor_create(m->eval, value, like->dtype);
    merged->quant = like->quant;
    merged->storage->order = ig_ts_order_of_either(m->eval, x, y);
    const ig_ts_tensor *sides[2] = { x, y };
    ig_ts_fork fork = fork_of(m);
    if (!ig_ts_choice_make(m->eval, &fork, merged, sides)) {
        merged->alias = ig_ts_alias_of(m->eval, sides, 2, m->start);
    }
    *out = ig_ts_of_tensor(merged);
    return IG_OK;
}

/* ---- containers ---- */

static bool is_young(const merge *m, const ig_ts_value *value) {
    switch (value->kind) {
    case IG_TS_LIST:
        return value->as.list->cell.born > m->start;
    case IG_TS_DICT:
        return value->as.dict->cell.born > m->start;
    case IG_TS_OBJECT:
        return value->as.object->cell.born > m->start;
    default:
        return true;
    }
}

/* The content of a container on a side; all undefined when there is none. */
static ig_ts_content content_of(const merge *m, uint32_t side, ig_ts_holder kind,
                                const ig_ts_value *value) {
    assert(side < 2 && "a branch has two sides");
    return value ? ig_ts_side_content(&m->sides[side], kind, value->as.list)
                 : (ig_ts_content){ 0 };
}

static ig_status merge_items(merge *m, const ig_ts_value *a, const ig_ts_value *b,
                             ig_ts_value *out) {
    const ig_ts_value *like = a ? a : b;
    ig_ts_holder kind = like->kind == IG_TS_DICT     ? IG_TS_HOLD_DICT
                        : like->kind == IG_TS_OBJECT ? IG_TS_HOLD_OBJECT
                                                     : IG_TS_HOLD_LIST;
    ig_ts_content x = content_of(m, 0, kind, a), y = content_of(m, 1, kind, b);
    ig_ts_content c = a ? x : y;
    ig_ts_value *items = IG_NEW_ARRAY(m->eval->arena, ig_ts_value, c.count + 1);
    ig_ts_value nothing = { .kind = IG_TS_UNDEFINED };
    for (size_t i = 0; i < c.count; i++) {
        IG_TRY(merge_values(m, a ? &x.values[i] : &nothing, b ? &y.values[i] : &nothing,
                            &items[i]));
    }
    *out = *like;
    if (!m->op) {
        return IG_OK;
    }
    c.values = items;
    if (kind == IG_TS_HOLD_LIST) {
        ig_ts_list *list = ig_ts_list_create(m->eval, 0);
        list->type = like->as.list->type;
        list->class = like->as.list->class;
        list->is_set = like->as.list->is_set;
        out->as.list = list;
    } else if (kind == IG_TS_HOLD_DICT) {
        out->as.dict = ig_ts_dict_create(m->eval);
        out->as.dict->type = like->as.dict->type;
    } else {
        out->as.object = ig_ts_object_create(m->eval, like->as.object->class_name);
        out->as.object->class = like->as.object->class;
    }
    ig_ts_set_content(m->eval, kind, out->as.list, &c);
    return IG_OK;
}

static bool keys_agree(const ig_ts_content *x, const ig_ts_content *y) {
    bool agree = x->count == y->count && !x->poison && !y->poison;
    for (size_t i = 0; agree && i < x->count; i++) {
        bool is_known = true;
        agree = (!x->keys || ig_ts_equal(&x->keys[i], &y->keys[i], &is_known)) &&
                is_known && (!x->names || strcmp(x->names[i], y->names[i]) == 0);
    }
    return agree;
}

static bool containers_fit(const merge *m, const ig_ts_value *a, const ig_ts_value *b) {
    ig_ts_holder kind = a->kind == IG_TS_DICT     ? IG_TS_HOLD_DICT
                        : a->kind == IG_TS_OBJECT ? IG_TS_HOLD_OBJECT
                                                  : IG_TS_HOLD_LIST;
    ig_ts_content x = content_of(m, 0, kind, a), y = content_of(m, 1, kind, b);
    bool is_class = kind != IG_TS_HOLD_OBJECT ||
                    strcmp(a->as.object->class_name, b->as.object->class_name) == 0;
    bool is_set = kind == IG_TS_HOLD_LIST && a->as.list->is_set != b->as.list->is_set;
    return is_young(m, a) && is_young(m, b) && is_class && !is_set &&
           keys_agree(&x, &y);
}

/* ---- values ---- */

static ig_status merge_numbers(merge *m, const ig_ts_value *a, const ig_ts_value *b,
                               ig_ts_value *out) {
    ig_value *value;
    IG_TRY(choose_value(m, a, b, &value));
    *out = a ? *a : *b;
    if (m->op) {
        *out = ig_ts_of_run((ig_ts_kind)out->kind, value);
    }
    return IG_OK;
}

static bool is_container(const ig_ts_value *value) {
    return value->kind == IG_TS_LIST || value->kind == IG_TS_TUPLE ||
           value->kind == IG_TS_DICT || value->kind == IG_TS_OBJECT;
}

/* An older tensor, or a view of one, is itself: the other side is never looked at. */
static ig_status merge_lone_tensor(merge *m, const ig_ts_value *a, const ig_ts_value *b,
                                   ig_ts_value *out) {
    const ig_ts_tensor *tensor = a ? a->as.tensor : b->as.tensor;
    ig_ts_fork fork = fork_of(m);
    bool is_older = tensor->storage->cell.born < m->start &&
                    ig_ts_can_hoist(m->eval, &fork, tensor);
    if (!is_older) {
        return merge_tensors(m, a, b, out);
    }
    if (m->op) {
        const ig_ts_tensor *view = ig_ts_hoist(m->eval, &fork, tensor);
        out->as.tensor = (ig_ts_tensor *)(uintptr_t)view;
    }
    return IG_OK;
}

/* A value that the other side has not defined; `side` is the one that has. */
static ig_status merge_lone(merge *m, const ig_ts_value *value, uint32_t side,
                            ig_ts_value *out) {
    assert(side < 2 && "a branch has two sides");
    const ig_ts_value *a = side == 0 ? value : NULL, *b = side == 0 ? NULL : value;
    *out = *value;
    if (value->kind == IG_TS_TENSOR) {
        return merge_lone_tensor(m, a, b, out);
    }
    if (ig_ts_is_number(value)) {
        return value->form == IG_TS_RUN ? merge_numbers(m, a, b, out) : IG_OK;
    }
    if (is_container(value) && is_young(m, value)) {
        return merge_items(m, a, b, out);
    }
    return IG_OK;
}

static ig_status merge_pair(merge *m, const ig_ts_value *a, const ig_ts_value *b,
                            ig_ts_value *out) {
    if (a->kind == IG_TS_UNDEFINED || b->kind == IG_TS_UNDEFINED) {
        bool is_first = b->kind == IG_TS_UNDEFINED;
        return merge_lone(m, is_first ? a : b, is_first ? 0 : 1, out);
    }
    if (a->kind == IG_TS_POISON || b->kind == IG_TS_POISON) {
        *out = a->kind == IG_TS_POISON ? *a : *b;
        return IG_OK;
    }
    if (a->kind != b->kind) {
        return make_poison(m, a, b, out);
    }
    if (ig_ts_is_number(a)) {
        return merge_numbers(m, a, b, out);
    }
    if (a->kind == IG_TS_TENSOR) {
        *out = *a;
        if (is_one_tensor(a->as.tensor, b->as.tensor)) {
            return IG_OK;
        }
        return tensors_fit(a->as.tensor, b->as.tensor) ? merge_tensors(m, a, b, out)
                                                       : make_poison(m, a, b, out);
    }
    return is_container(a) && containers_fit(m, a, b) ? merge_items(m, a, b, out)
                                                      : make_poison(m, a, b, out);
}

static ig_status merge_values(merge *m, const ig_ts_value *a, const ig_ts_value *b,
                              ig_ts_value *out) {
    bool is_known = !is_container(a) && a->kind != IG_TS_TENSOR;
    *out = *a;
    if (a->kind == IG_TS_UNSET || b->kind == IG_TS_UNSET) {
        *out = (ig_ts_value){ 0 };
        return IG_OK;
    }
    if (ig_ts_is_same(a, b)) {
        return IG_OK;
    }
    for (size_t i = 0; !is_known && i < m->pairs.count; i++) {
        const pair *p = &m->pairs.items[i];
        if (p->a == a->as.list && p->b == (const void *)b->as.list &&
            p->merged.kind == a->kind) {
            *out = p->merged;
            return IG_OK;
        }
    }
    IG_TRY(merge_pair(m, a, b, out));
    if (!is_known) {
        pair p = { a->as.list, b->as.list, *out };
        IG_PUSH(m->eval->arena, &m->pairs, p);
    }
    return IG_OK;
}

/* ---- holders ---- */

static ig_status merge_storage(merge *m, const ig_ts_content *x, const ig_ts_content *y,
                               ig_ts_content *out) {
    *out = *x;
    out->is_written = x->is_written || y->is_written;
    out->unknown = x->unknown ? x->unknown : y->unknown;
    if (x->value == y->value) {
        return IG_OK;
    }
    if (m->op) {
        out->value = ig_op_result(m->op, m->next++);
        out->version = ++m->eval->clock;
        out->seen[0] = out->seen[1] = 0;
        return IG_OK;
    }
    phi p = { .values = { x->value, y->value } };
    ig_dim dims[IG_TENSOR_RANK];
    for (uint32_t i = 0; i < x->value->type->rank; i++) {
        dims[i] = join_dims(m, x->value->type->dims[i], y->value->type->dims[i]);
    }
    p.type = ig_type_with_dims(m->eval->module, x->value->type, x->value->type->rank,
                               dims);
    IG_PUSH(m->eval->arena, &m->phis, p);
    return IG_OK;
}

static const ig_ts_value *name_of(const ig_ts_content *content, const char *name) {
    for (size_t i = 0; i < content->count; i++) {
        if (strcmp(content->names[i], name) == 0) {
            return &content->values[i];
        }
    }
    return NULL;
}

/* A name that one branch binds, and the other does not. */
static void merge_lone_name(const merge *m, const ig_ts_value *a, const ig_ts_value *b,
                            ig_ts_value *out) {
    if ((a->kind == IG_TS_UNSET) == (b->kind == IG_TS_UNSET)) {
        return;
    }
    ig_ts_poison *p = begin_poison(m);
    p->what = ig_arena_printf(
        m->eval->arena,
        "is there in one of two branches only, which a run-time condition chooses from (line %u)",
        p->where.line);
    *out = (ig_ts_value){ .kind = IG_TS_POISON, .as.poison = p };
}

/* Attributes of an object: by name, for either side may have added some. */
static ig_status merge_object(merge *m, const ig_ts_content *x, const ig_ts_content *y,
                              ig_ts_content *out) {
    size_t all = x->count + y->count;
    const ig_ts_value nothing = { 0 };
    ig_ts_value *values = IG_NEW_ARRAY(m->eval->arena, ig_ts_value, all + 1);
    const char **names = IG_NEW_ARRAY(m->eval->arena, const char *, all + 1);
    *out = *x;
    out->values = values;
    out->names = names;
    for (size_t i = 0; i < x->count; i++) {
        const ig_ts_value *other = name_of(y, x->names[i]);
        names[i] = x->names[i];
        if (other) {
            IG_TRY(merge_values(m, &x->values[i], other, &values[i]));
        }
        merge_lone_name(m, &x->values[i], other ? other : &nothing, &values[i]);
    }
    for (size_t i = 0; i < y->count; i++) {
        if (!name_of(x, y->names[i])) {
            names[out->count] = y->names[i];
            merge_lone_name(m, &nothing, &y->values[i], &values[out->count++]);
        }
    }
    return IG_OK;
}

static ig_status merge_holder(merge *m, const ig_ts_change *change) {
    ig_ts_holder kind = change->kind;
    ig_ts_content x = ig_ts_side_content(&m->sides[0], kind, change->holder);
    ig_ts_content y = ig_ts_side_content(&m->sides[1], kind, change->holder);
    ig_ts_content merged = x;
    if (kind == IG_TS_HOLD_STORAGE) {
        IG_TRY(merge_storage(m, &x, &y, &merged));
    } else if (kind == IG_TS_HOLD_OBJECT) {
        IG_TRY(merge_object(m, &x, &y, &merged));
    } else if (kind != IG_TS_HOLD_FRAME && !keys_agree(&x, &y)) {
        merged.poison = content_poison(m, &x, &y);
    } else {
        /* A frame may have got more names on one side. */
        size_t count = x.count < y.count ? x.count : y.count;
        ig_ts_value *values = IG_NEW_ARRAY(m->eval->arena, ig_ts_value, count + 1);
        for (size_t i = 0; i < count; i++) {
            IG_TRY(merge_values(m, &x.values[i], &y.values[i], &values[i]));
            if (kind == IG_TS_HOLD_FRAME && m->point) {
                merge_lone_name(m, &x.values[i], &y.values[i], &values[i]);
            }
        }
        merged.values = values;
        merged.count = count;
    }
    if (m->op) {
        ig_ts_set_content(m->eval, kind, change->holder, &merged);
    }
    return IG_OK;
}

static ig_status merge_changes(merge *m) {
    m->next = 0;
    m->pairs.count = 0;
    for (uint32_t k = 0; k < 2; k++) {
        const ig_ts_level *level = m->sides[k].level;
        for (size_t i = 0; i < level->changes.count; i++) {
            const ig_ts_change *change = &level->changes.items[i];
            bool is_done = k == 1 && ig_map_get_id(&m->sides[0].level->index,
                                                   IG_MAP_PTR(change->holder));
            if (!is_done) {
                IG_TRY(merge_holder(m, change));
            }
        }
    }
    return IG_OK;
}

/* What merged tensors may share memory with is sealed when all of that is in place. */
static void seal_aliases(merge *m) {
    for (size_t i = 0; i < m->pairs.count; i++) {
        ig_ts_value *merged = &m->pairs.items[i].merged;
        bool is_new = merged->kind == IG_TS_TENSOR &&
                      merged->as.tensor->storage->cell.born > m->merged_from;
        if (!is_new) {
            continue;
        }
        ig_ts_alias_seal(merged->as.tensor->alias);
        if (merged->as.tensor->storage->choice) {
            ig_ts_choice_seal(merged->as.tensor->storage);
        }
    }
}

static void make_if(merge *m, ig_op *trial) {
    size_t count = m->phis.count;
    const ig_type **types = IG_NEW_ARRAY(m->eval->arena, const ig_type *, count + 1);
    ig_value **yields = IG_NEW_ARRAY(m->eval->arena, ig_value *, count + 1);
    ig_value *condition = trial->operands[0].value;
    ig_builder builder = ig_builder_before(trial);
    for (size_t i = 0; i < count; i++) {
        types[i] = m->phis.items[i].type;
    }
    ig_op_spec spec = { .operands = &condition,
                        .operand_count = 1,
                        .result_types = types,
                        .result_count = (uint32_t)count };
    m->op = ig_make_op(&builder, IG_OP_if, &spec);
    for (uint32_t k = 0; k < 2; k++) {
        ig_ts_move_ops(trial->bodies[k], m->op->bodies[k], NULL);
        ig_builder end = ig_builder_at_end(m->op->bodies[k]);
        for (size_t i = 0; i < count; i++) {
            yields[i] = m->phis.items[i].values[k];
        }
        ig_make_yield(&end, yields, (uint32_t)count);
    }
    ig_op_erase(trial);
}

ig_status ig_ts_merge(ig_ts_eval *eval, ig_op *trial, ig_ts_side *sides,
                      uint32_t first_symbol, const ig_ts_point *point) {
    merge m = { .eval = eval,
                .sides = sides,
                .point = point,
                .trial = trial,
                .first_symbol = first_symbol,
                .start = sides[0].level->start };
    IG_TRY(merge_changes(&m));
    make_if(&m, trial);
    m.merged_from = eval->clock;
    IG_TRY(merge_changes(&m));
    seal_aliases(&m);
    return IG_OK;
}
