/* Changes by a call that its caller can see: inputs, and values in modules.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The journal has every holder that changed.  A buffer that was written to is state by
 * its storage.  A value that was replaced, an attribute's or an item's of a list or a
 * dict, outlives the call in one of two ways: a tensor's content goes to the storage of
 * the tensor that it replaces; a number is carried (carried.c).  A change that can
 * outlive in neither way - a list that grows, a string - is refused, since the next
 * call would begin with the archive's value.
 */
#include "frontend/torch/entry/entry.h"

#include <assert.h>
#include <string.h>

static void add_changed_inputs(ig_ts_entry *entry) {
    for (size_t i = 0; i < entry->leaves.count; i++) {
        const ig_ts_leaf *leaf = &entry->leaves.items[i];
        if (!leaf->storage || !leaf->storage->is_written) {
            continue;
        }
        ig_node node = { .kind = IG_NODE_TENSOR,
                         .is_leaf = true,
                         .name = ig_str_of(leaf->path ? leaf->path : "") };
        ig_node_add(entry->eval->arena, &entry->nodes, node);
        IG_PUSH(entry->eval->arena, &entry->results, leaf->storage->value);
        IG_PUSH(&entry->eval->module->arena, &entry->result_names, leaf->path);
        entry->after_count++;
    }
}

/* ---- messages ---- */

static const char *place_text(ig_arena *arena, const ig_ts_slot *slot) {
    const char *dot = slot->path[0] ? "." : "";
    return slot->item < 0
               ? ig_arena_printf(arena, "attribute '%s%s%s'", slot->path, dot,
                                 slot->name)
               : ig_arena_printf(arena, "item %lld of attribute '%s%s%s'",
                                 (long long)slot->item, slot->path, dot, slot->name);
}

static const char *value_text(ig_arena *arena, const ig_ts_value *value) {
    const ig_ts_list *list = value->as.list;
    if (value->kind == IG_TS_LIST || value->kind == IG_TS_TUPLE) {
        return ig_arena_printf(arena, "a %s of %zu items", ig_ts_kind_name(value),
                               list->count);
    }
    if (value->kind == IG_TS_DICT) {
        return ig_arena_printf(arena, "a dict of %zu items", value->as.dict->count);
    }
    if (value->kind == IG_TS_TENSOR) {
        return ig_arena_printf(arena, "a tensor of %s and rank %u",
                               value->as.tensor->dtype->name,
                               value->as.tensor->type->rank);
    }
    if (value->kind == IG_TS_STR) {
        return ig_arena_printf(
            arena, "the string '%.40s'",
            ig_arena_copy(arena, value->as.str.data, value->as.str.size));
    }
    return value->kind == IG_TS_POISON ? "a value that a run-time condition chooses"
                                       : ig_ts_kind_name(value);
}

static ig_status refuse_change(const ig_ts_entry *entry, const ig_location *where,
                               const ig_ts_slot *slot, const char *before,
                               const char *after) {
    ig_arena *arena = entry->eval->arena;
    return ig_error_hint(
        &entry->eval->context->diag, IG_UNSUPPORTED, where,
        "keep it in a tensor (a buffer) of one dtype and rank, or in a list or dict of fixed length; call the module once before it is saved, if its first call makes values that all calls use",
        "the call changes %s from %s to %s; only tensors and numbers can outlive a call yet",
        place_text(arena, slot), before, after);
}

/* ---- tensors that are replaced ---- */

static bool is_own(const ig_ts_entry *entry, const ig_ts_storage *storage, size_t but) {
    for (size_t i = 0; i < entry->kept.count; i++) {
        if (i != but && entry->kept.items[i].from == storage) {
            return false;
        }
    }
    return !storage->origin;
}

/* Two attributes that share memory from now on would have to share it in the next call,
 * where a write to one is seen in the other. */
static ig_status check_sharing(const ig_ts_entry *entry) {
    for (size_t i = 0; i < entry->kept.count; i++) {
        const ig_ts_kept *kept = &entry->kept.items[i];
        bool is_written = kept->storage->is_written || kept->from->is_written;
        if (is_written && !is_own(entry, kept->from, i)) {
            return ig_error(
                &entry->eval->context->diag, IG_UNSUPPORTED, &kept->where,
                "the call binds an attribute to a tensor that another attribute holds, and writes to one of them in place: that they share memory from then on is not supported yet; use clone()");
        }
    }
    return IG_OK;
}

static bool has_extents(const ig_module *module, const ig_type *a, const ig_type *b) {
    bool is_same = a->rank == b->rank;
    for (uint32_t i = 0; is_same && i < a->rank; i++) {
        is_same = ig_dim_equal(module, a->dims[i], b->dims[i]) == IG_YES;
    }
    return is_same;
}

/* Its storage takes the content, as if it had been written to. */
static ig_status keep_tensor(ig_ts_entry *entry, const ig_location *where,
                             const ig_ts_slot *slot, const ig_ts_value *before,
                             const ig_ts_value *after) {
    ig_ts_tensor *old = before->as.tensor;
    ig_ts_tensor *new = after->as.tensor;
    ig_arena *arena = entry->eval->arena;
    if (old->dtype != new->dtype || old->step_count > 0 || old->quant != new->quant ||
        old->type->rank != new->type->rank) {
        return refuse_change(entry, where, slot, value_text(arena, before),
                             value_text(arena, after));
    }
    ig_ts_kept kept = { .storage = old->storage,
                        .from = new->storage,
                        .where = *where };
    IG_TRY(ig_ts_tensor_read(entry->eval, new, &kept.value));
    IG_TRY(ig_ts_storage_load(entry->eval, old->storage));
    if (!has_extents(entry->eval->module, kept.value->type, old->type)) {
        return ig_ts_carried_note_extents(entry, slot, old->type, kept.value->type)
                   ? IG_OK
                   : refuse_change(entry, where, slot, value_text(arena, before),
                                   "one of other extents");
    }
    IG_PUSH(arena, &entry->kept, kept);
    return IG_OK;
}

/* After all were read: one may be what another held. */
static void put_kept(ig_ts_entry *entry) {
    for (size_t i = 0; i < entry->kept.count; i++) {
        const ig_ts_kept *kept = &entry->kept.items[i];
        ig_ts_touch(entry->eval, IG_TS_HOLD_STORAGE, kept->storage);
        kept->storage->value = kept->value;
        kept->storage->is_written = true;
    }
}

/* ---- containers and objects ---- */

static ig_status look_at_items(ig_ts_entry *entry, const ig_location *where,
                               ig_ts_slot slot, ig_ts_content before,
                               ig_ts_content after);

static bool is_held(const ig_ts_value *value) {
    return value->kind == IG_TS_LIST || value->kind == IG_TS_DICT;
}

static ig_ts_content items_of(const ig_ts_value *value) {
    assert(is_held(value) && "a list or a dict holds items");
    return ig_ts_content_of(
        value->kind == IG_TS_LIST ? IG_TS_HOLD_LIST : IG_TS_HOLD_DICT, value->as.list);
}

static ig_status look_at_value(ig_ts_entry *entry, const ig_location *where,
                               const ig_ts_slot *slot, const ig_ts_value *before,
                               const ig_ts_value *after) {
    if (ig_ts_is_same(before, after) || ig_ts_carried_has(entry, slot) ||
        ig_ts_carried_note(entry, slot, before, after)) {
        return IG_OK;
    }
    if (before->kind == IG_TS_TENSOR && after->kind == IG_TS_TENSOR) {
        return keep_tensor(entry, where, slot, before, after);
    }
    if (slot->item < 0 && is_held(before) && before->kind == after->kind) {
        return look_at_items(entry, where, *slot, items_of(before), items_of(after));
    }
    return refuse_change(entry, where, slot, value_text(entry->eval->arena, before),
                         value_text(entry->eval->arena, after));
}

static bool is_key_kept(const ig_ts_content *before, const ig_ts_content *after,
                        size_t at) {
    bool is_known = true;
    return !before->keys ||
           (ig_ts_equal(&before->keys[at], &after->keys[at], &is_known) && is_known);
}

static ig_status look_at_items(ig_ts_entry *entry, const ig_location *where,
                               ig_ts_slot slot, ig_ts_content before,
                               ig_ts_content after) {
    ig_arena *arena = entry->eval->arena;
    const char *what = before.keys || after.keys ? "a dict" : "a list";
    if (after.poison || before.count != after.count) {
        const char *to = after.poison
                             ? ig_arena_printf(arena, "one that %s", after.poison->what)
                             : ig_arena_printf(arena, "one of %zu", after.count);
        return refuse_change(
            entry, where, &slot,
            ig_arena_printf(arena, "%s of %zu items", what, before.count), to);
    }
    for (size_t i = 0; i < before.count; i++) {
        if (!is_key_kept(&before, &after, i)) {
            return refuse_change(entry, where, &slot, "a dict", "one of other keys");
        }
        slot.item = (int64_t)i;
        IG_TRY(look_at_value(entry, where, &slot, &before.values[i], &after.values[i]));
    }
    return IG_OK;
}

/* A list or dict that changes in place: only an attribute's own is found again. */
static ig_status look_at_container(ig_ts_entry *entry, const ig_ts_change *change,
                                   const char *path) {
    ig_arena *arena = entry->eval->arena;
    const char *dot = strrchr(path, '.');
    ig_ts_slot slot = { .path = "", .name = path, .item = -1 };
    if (dot) {
        slot.path = ig_arena_copy(arena, path, (size_t)(dot - path));
        slot.name = dot + 1;
    }
    ig_ts_content after = ig_ts_content_of(change->kind, change->holder);
    bool is_same = !after.poison && change->before.count == after.count;
    for (size_t i = 0; is_same && i < after.count; i++) {
        is_same = ig_ts_is_same(&change->before.values[i], &after.values[i]) &&
                  is_key_kept(&change->before, &after, i);
    }
    if (is_same) {
        return IG_OK;
    }
    const ig_ts_value *held = ig_ts_slot_get(entry, &slot);
    if (!held || !is_held(held)) {
        return refuse_change(entry, &change->where, &slot, "a container in a container",
                             "another content");
    }
    return look_at_items(entry, &change->where, slot, change->before, after);
}

static ig_status look_at_object(ig_ts_entry *entry, const ig_ts_change *change) {
    const ig_ts_object *object = change->holder;
    for (size_t i = 0; i < object->count && i < change->before.count; i++) {
        ig_ts_slot slot = { object->path, object->names[i], -1 };
        IG_TRY(look_at_value(entry, &change->where, &slot, &change->before.values[i],
                             &object->values[i]));
    }
    return IG_OK;
}

static ig_status look_at_change(ig_ts_entry *entry, const ig_ts_change *change) {
    const ig_ts_object *object = change->holder;
    const ig_ts_list *list = change->holder;
    const ig_ts_dict *dict = change->holder;
    const ig_ts_storage *storage = change->holder;
    if (change->kind == IG_TS_HOLD_STORAGE) {
        bool is_seen = storage->poison && (storage->origin || storage->is_input);
        return is_seen ? ig_error(&entry->eval->context->diag, IG_UNSUPPORTED,
                                  &change->where, "an input or a buffer %s",
                                  storage->poison)
                       : IG_OK;
    }
    if (change->kind == IG_TS_HOLD_OBJECT && object->path) {
        return look_at_object(entry, change);
    }
    if (change->kind == IG_TS_HOLD_LIST && list->path) {
        return look_at_container(entry, change, list->path);
    }
    return change->kind == IG_TS_HOLD_DICT && dict->path
               ? look_at_container(entry, change, dict->path)
               : IG_OK;
}

ig_status ig_ts_entry_changes(ig_ts_entry *entry, const ig_ts_level *level) {
    for (size_t i = 0; i < level->changes.count; i++) {
        IG_TRY(look_at_change(entry, &level->changes.items[i]));
    }
    IG_TRY(check_sharing(entry));
    put_kept(entry);
    add_changed_inputs(entry);
    for (size_t i = 0; i < level->changes.count; i++) {
        const ig_ts_change *change = &level->changes.items[i];
        ig_ts_storage *storage = change->holder;
        if (change->kind == IG_TS_HOLD_STORAGE && storage->origin &&
            storage->is_written && storage->value != storage->initial) {
            IG_PUSH(entry->eval->arena, &entry->states, storage);
            ig_ts_carried_note_buffer(entry, storage);
        }
    }
    return IG_OK;
}
