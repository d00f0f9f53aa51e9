/* Attributes: making, reading, comparing.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Strings and arrays are interned as bytes in the module, so equal payloads are the
 * same pointer and live as long as the module.
 */
#include "ir/ops.h"

#include <assert.h>
#include <string.h>

/* ---- reading ---- */

static const ig_attr *slot_of(const ig_op *op, uint32_t slot) {
    assert(slot < ig_ops[op->code].attr_count && "no such attribute slot");
    return &op->attrs[slot];
}

int64_t ig_attr_int(const ig_op *op, uint32_t slot, int64_t absent) {
    const ig_attr *attr = slot_of(op, slot);
    assert((attr->kind <= IG_ATTR_INT || attr->kind == IG_ATTR_BOOL ||
            attr->kind == IG_ATTR_ENUM || attr->kind == IG_ATTR_DTYPE) &&
           "the slot is not an integer");
    return attr->kind == IG_ATTR_NONE ? absent : attr->as.i;
}

double ig_attr_float(const ig_op *op, uint32_t slot, double absent) {
    const ig_attr *attr = slot_of(op, slot);
    assert((attr->kind == IG_ATTR_NONE || attr->kind == IG_ATTR_FLOAT) &&
           "the slot is not a float");
    return attr->kind == IG_ATTR_NONE ? absent : attr->as.f;
}

const char *ig_attr_str(const ig_op *op, uint32_t slot) {
    const ig_attr *attr = slot_of(op, slot);
    assert((attr->kind == IG_ATTR_NONE || attr->kind == IG_ATTR_STR ||
            attr->kind == IG_ATTR_SYM) &&
           "the slot is not a string");
    return attr->kind == IG_ATTR_NONE ? NULL : attr->as.str;
}

bool ig_attr_is_set(const ig_op *op, uint32_t slot) {
    return slot_of(op, slot)->kind != IG_ATTR_NONE;
}

const char *ig_attr_word(const ig_attr_info *info, int64_t value) {
    assert(info->names && "the slot is not an enumeration");
    int64_t number = 0;
    while (number < value && info->names[number]) {
        number++;
    }
    return number == value ? info->names[number] : NULL;
}

void ig_attr_set(ig_op *op, uint32_t slot, ig_attr attr) {
    assert(slot < ig_ops[op->code].attr_count && "no such attribute slot");
    assert((attr.kind == IG_ATTR_NONE ||
            attr.kind == (uint32_t)ig_ops[op->code].attrs[slot].kind) &&
           "attribute of another kind than its row says");
    op->attrs[slot] = attr;
}

/* ---- making ---- */

ig_attr ig_attr_of_int(int64_t value) {
    return (ig_attr){ .kind = IG_ATTR_INT, .as.i = value };
}

ig_attr ig_attr_of_enum(int64_t value) {
    assert(value >= 0 && "enumerators count from 0");
    return (ig_attr){ .kind = IG_ATTR_ENUM, .as.i = value };
}

ig_attr ig_attr_of_bool(bool value) {
    return (ig_attr){ .kind = IG_ATTR_BOOL, .as.i = value };
}

ig_attr ig_attr_of_dtype(ig_dtype value) {
    assert((int)value < IG_DT_COUNT && "no such element type");
    return (ig_attr){ .kind = IG_ATTR_DTYPE, .as.i = value };
}

ig_attr ig_attr_of_float(double value) {
    return (ig_attr){ .kind = IG_ATTR_FLOAT, .as.f = value };
}

ig_attr ig_attr_of_str(ig_module *module, ig_str text) {
    return (ig_attr){ .kind = IG_ATTR_STR, .as.str = ig_module_string(module, text) };
}

ig_attr ig_attr_of_sym(ig_module *module, const char *name) {
    assert(name && "an item has a name");
    return (ig_attr){ .kind = IG_ATTR_SYM,
                      .as.str = ig_module_string(module, ig_str_of(name)) };
}

ig_attr ig_attr_of_ints(ig_module *module, const int64_t *ints, uint32_t count) {
    assert((ints || !count) && "a list has its numbers");
    const void *copy = ig_module_bytes(module, ints, count * sizeof(*ints));
    return (ig_attr){ .kind = IG_ATTR_INTS,
                      .count = count,
                      .as.ints = (const int64_t *)copy };
}

ig_attr ig_attr_of_dim(ig_dim dim) {
    assert(!ig_dim_same(dim, IG_DIM_KEEP) && "no dim");
    return (ig_attr){ .kind = IG_ATTR_DIM, .as.dim = dim };
}

ig_attr ig_attr_of_dims(ig_module *module, const ig_dim *dims, uint32_t count) {
    assert((dims || !count) && "a list has its dims");
    const void *copy = ig_module_bytes(module, dims, count * sizeof(*dims));
    return (ig_attr){ .kind = IG_ATTR_DIMS,
                      .count = count,
                      .as.dims = (const ig_dim *)copy };
}

/* The header is copied plainly: a mapped payload is told apart by content, never by
 * reading it here. */
ig_attr ig_attr_of_data(ig_module *module, const ig_data *data) {
    assert(data->type && "a constant has a type");
    ig_data *copy = IG_NEW(&module->arena, ig_data);
    *copy = *data;
    return (ig_attr){ .kind = IG_ATTR_DATA, .as.data = copy };
}

/* ---- comparing ---- */

size_t ig_data_stored_bytes(const ig_data *data) {
    assert(data->size >= 0 && "a size is never negative");
    return data->is_splat ? (size_t)(ig_dtypes[data->type->dtype].bits + 7) / 8
                          : (size_t)data->size;
}

static bool data_equal(const ig_data *a, const ig_data *b) {
    if (a == b) {
        return true;
    }
    if (a->type != b->type || a->is_splat != b->is_splat || a->size != b->size) {
        return false;
    }
    if (a->bytes == b->bytes) {
        return a->bytes || (a->file == b->file && a->offset == b->offset);
    }
    return a->bytes && b->bytes &&
           memcmp(a->bytes, b->bytes, ig_data_stored_bytes(a)) == 0;
}

bool ig_attr_equal(const ig_attr *a, const ig_attr *b) {
    assert(a->kind <= IG_ATTR_DATA && b->kind <= IG_ATTR_DATA &&
           "no such kind of attribute");
    if (a->kind != b->kind || a->count != b->count) {
        return false;
    }
    switch ((ig_attr_kind)a->kind) {
    case IG_ATTR_NONE:
        return true;
    case IG_ATTR_FLOAT: /* bits: 0 and -0 differ, a NaN equals itself */
    case IG_ATTR_INT:
    case IG_ATTR_BOOL:
    case IG_ATTR_ENUM:
    case IG_ATTR_DTYPE:
    case IG_ATTR_DIM:
        return a->as.i == b->as.i;
    case IG_ATTR_STR:
    case IG_ATTR_SYM:
        return a->as.str == b->as.str || strcmp(a->as.str, b->as.str) == 0;
    case IG_ATTR_INTS:
    case IG_ATTR_DIMS:
        return a->as.ints == b->as.ints ||
               memcmp(a->as.ints, b->as.ints, a->count * sizeof(int64_t)) == 0;
    case IG_ATTR_DATA:
        return data_equal(a->as.data, b->as.data);
    }
    return false;
}
