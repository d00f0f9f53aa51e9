/* Types: interning, so that equal types are the same pointer.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A candidate is written into a zeroed buffer and its bytes are the key: every field is
 * plain, an element type is itself interned, and padding is zero.
 */
#include "ir/type.h"

#include "base/checked.h"
#include "ir/graph.h"

#include <assert.h>
#include <string.h>

enum { INLINE_RANK = 32 };

_Static_assert(sizeof(ig_type) % sizeof(int64_t) == 0, "dims follow the head directly");

typedef struct candidate {
    ig_type *type;
    size_t size;
    int64_t room[sizeof(ig_type) / sizeof(int64_t) + INLINE_RANK];
} candidate;

static void start_candidate(candidate *c, ig_module *module, ig_kind kind,
                            uint32_t rank, const ig_dim *dims) {
    /* One for a scalar too: an importer that was given axis 0 instead of an invalid
     * axis reads a harmless value. */
    c->size = sizeof(ig_type) + (rank ? rank : 1) * sizeof(ig_dim);
    if (rank <= INLINE_RANK) {
        memset(c->room, 0, c->size);
        c->type = (ig_type *)(void *)c->room;
    } else {
        c->type = (ig_type *)ig_arena_zalloc(&module->arena, c->size);
    }
    c->type->kind = (uint8_t)kind;
    c->type->rank = rank;
    if (rank) {
        memcpy((char *)c->type + offsetof(ig_type, dims), dims, rank * sizeof(ig_dim));
    }
}

/* Field by field: padding stays zero. */
static void set_rows(ig_type *type, ig_rows rows) {
    type->rows.format = rows.format;
    type->rows.exponent_bits = rows.exponent_bits;
    type->rows.exponent_bias = rows.exponent_bias;
    type->rows.stride = rows.stride;
}

static const ig_type *intern_candidate(candidate *c, ig_module *module) {
    ig_str key = { (const char *)c->type, c->size };
    const ig_type *known = (const ig_type *)ig_map_get(&module->types, key);
    if (known) {
        return known;
    }
    void *copy = ig_arena_copy(&module->arena, c->type, c->size);
    ig_map_set(&module->types, key, copy);
    return (const ig_type *)copy;
}

const ig_type *ig_type_tensor(ig_module *module, ig_dtype dtype, uint32_t rank,
                              const ig_dim *dims) {
    assert((int)dtype < IG_DT_COUNT && "no such element type");
    assert((dims || !rank) && "a shape has its extents");
    candidate c;
    start_candidate(&c, module, IG_TENSOR, rank, dims);
    c.type->dtype = (uint8_t)dtype;
    return intern_candidate(&c, module);
}

const ig_type *ig_type_of_extents(ig_module *module, ig_dtype dtype, uint32_t rank,
                                  const int64_t *extents) {
    assert((extents || !rank) && "a shape has its extents");
    ig_dim few[INLINE_RANK];
    ig_dim *dims = rank <= INLINE_RANK ? few
                                       : IG_NEW_ARRAY(&module->arena, ig_dim, rank);
    for (uint32_t i = 0; i < rank; i++) {
        dims[i] = ig_dim_of(extents[i]);
    }
    return ig_type_tensor(module, dtype, rank, dims);
}

const ig_type *ig_type_table(ig_module *module, ig_dtype dtype, ig_rows rows,
                             ig_dim count, ig_dim dim) {
    assert((int)dtype < IG_DT_COUNT && "no such element type");
    candidate c;
    start_candidate(&c, module, IG_TABLE, 2, (ig_dim[]){ count, dim });
    c.type->dtype = (uint8_t)dtype;
    set_rows(c.type, rows);
    return intern_candidate(&c, module);
}

const ig_type *ig_type_buffer(ig_module *module, ig_dtype dtype, uint32_t rank,
                              const ig_dim *dims) {
    assert((int)dtype < IG_DT_COUNT && "no such element type");
    assert((dims || !rank) && "a shape has its extents");
    candidate c;
    start_candidate(&c, module, IG_BUFFER, rank, dims);
    c.type->dtype = (uint8_t)dtype;
    return intern_candidate(&c, module);
}

const ig_type *ig_type_vector(ig_module *module, ig_dtype dtype, uint32_t lanes) {
    assert((int)dtype < IG_DT_COUNT && "no such element type");
    assert(lanes >= 1 && lanes <= UINT16_MAX && "a vector has 1 to 65535 lanes");
    candidate c;
    start_candidate(&c, module, IG_VECTOR, 0, NULL);
    c.type->dtype = (uint8_t)dtype;
    c.type->lanes = (uint16_t)lanes;
    return intern_candidate(&c, module);
}

const ig_type *ig_type_any(ig_module *module, ig_dtype dtype) {
    assert((int)dtype < IG_DT_COUNT && "no such element type");
    candidate c;
    start_candidate(&c, module, IG_ANY, 0, NULL);
    c.type->dtype = (uint8_t)dtype;
    return intern_candidate(&c, module);
}

const ig_type *ig_type_host(ig_module *module, ig_kind kind, const ig_type *element) {
    assert(element && "a host value holds values of a type");
    assert((kind == IG_SEQUENCE || kind == IG_OPTIONAL) && "not a host kind");
    candidate c;
    start_candidate(&c, module, kind, 0, NULL);
    c.type->element = element;
    return intern_candidate(&c, module);
}

const ig_type *ig_type_with_dtype(ig_module *module, const ig_type *type,
                                  ig_dtype dtype) {
    assert((int)dtype < IG_DT_COUNT && "no such element type");
    if (type->dtype == dtype) {
        return type;
    }
    candidate c;
    start_candidate(&c, module, (ig_kind)type->kind, type->rank, type->dims);
    c.type->dtype = (uint8_t)dtype;
    set_rows(c.type, type->rows);
    c.type->lanes = type->lanes;
    c.type->element = type->element;
    return intern_candidate(&c, module);
}

const ig_type *ig_type_with_dims(ig_module *module, const ig_type *type, uint32_t rank,
                                 const ig_dim *dims) {
    assert((dims || !rank) && "a shape has its extents");
    assert((type->kind == IG_TENSOR || type->kind == IG_BUFFER ||
            type->kind == IG_TABLE) &&
           "only a type with a shape takes another");
    candidate c;
    start_candidate(&c, module, (ig_kind)type->kind, rank, dims);
    c.type->dtype = type->dtype;
    set_rows(c.type, type->rows);
    c.type->lanes = type->lanes;
    c.type->element = type->element;
    return intern_candidate(&c, module);
}

bool ig_type_is_static(const ig_type *type) {
    for (uint32_t i = 0; i < type->rank; i++) {
        if (!ig_dim_is_static(type->dims[i])) {
            return false;
        }
    }
    return true;
}

ig_dim ig_type_count(ig_module *module, const ig_type *type) {
    assert(type->kind != IG_SEQUENCE && type->kind != IG_OPTIONAL &&
           "a host value has no elements that types count");
    return ig_dim_product(module, type->dims, type->rank);
}

/* Recursion is as deep as host types nest, which readers bound by
 * limits.graph_depth. */
const ig_type *ig_type_translate(const ig_module *from, const ig_type *type,
                                 const ig_dim *by_symbol, ig_module *to) {
    if (from == to || !type) {
        return type;
    }
    ig_dim few[INLINE_RANK];
    ig_dim *dims = type->rank <= INLINE_RANK
                       ? few
                       : IG_NEW_ARRAY(&to->arena, ig_dim, type->rank);
    for (uint32_t i = 0; i < type->rank; i++) {
        dims[i] = by_symbol ? ig_dim_move(from, type->dims[i], by_symbol, to)
                            : ig_dim_translate(from, type->dims[i], to);
    }
    candidate c;
    start_candidate(&c, to, (ig_kind)type->kind, type->rank, dims);
    c.type->dtype = type->dtype;
    set_rows(c.type, type->rows);
    c.type->lanes = type->lanes;
    c.type->element = ig_type_translate(from, type->element, by_symbol, to);
    return intern_candidate(&c, to);
}

bool ig_type_known_count(const ig_type *type, int64_t *out_count) {
    assert((!type->rank || type->kind != IG_VECTOR) &&
           "a vector has lanes, not extents");
    *out_count = type->kind == IG_VECTOR ? type->lanes : 1;
    for (uint32_t i = 0; i < type->rank; i++) {
        int64_t extent;
        if (!ig_dim_known(type->dims[i], &extent) ||
            !ig_mul_i64(*out_count, extent, out_count)) {
            return false;
        }
    }
    return type->kind != IG_SEQUENCE && type->kind != IG_OPTIONAL;
}

bool ig_type_bytes(const ig_type *type, int64_t *out_bytes) {
    int64_t count;
    ig_row_layout layout;
    if (!ig_type_known_count(type, &count)) {
        return false;
    }
    ig_dtype dtype = (ig_dtype)type->dtype;
    if (dtype == IG_DT_str) {
        return false; /* no constant holds addresses */
    }
    if (type->kind != IG_TABLE) {
        return ig_dtype_bytes(dtype, count, out_bytes);
    }
    return ig_row_layout_of(type->rows, ig_dtypes[dtype].bits,
                            ig_dim_value(type->dims[1]), &layout) &&
           ig_mul_i64(layout.stride, ig_dim_value(type->dims[0]), out_bytes);
}
