/* The types of values.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Interned in their module: equal types are the same pointer.  Text forms:
 *
 *     f32[B, 13]   f32[]              tensor (tensor stage)
 *     i8<rowwise f16>[4096, 64]       table: quantised row by row (DESIGN 3)
 *     u8<rowwise float 4 7 stride 80>[4096, 64]       rows of small floats, with a gap
 *     &f32[B, 512]                    buffer of a plan, row-major unless viewed
 *     &f32                            buffer as a kernel sees it: a pointer
 *     f32   f32<16>                   scalar and vector of a kernel
 *     seq<f32[N]>   opt<f32[N]>       host values
 *     f32[*]   seq<f32[*]>            of any rank, of items of any rank: host values
 */
#ifndef IG_IR_TYPE_H
#define IG_IR_TYPE_H

#include "ir/dim/handle.h"
#include "ir/tensor/dtype.h"
#include "ir/tensor/row.h"

typedef struct ig_module ig_module;

typedef struct ig_type ig_type;
struct ig_type {
    uint8_t kind;   /* ig_kind */
    uint8_t dtype;  /* ig_dtype */
    uint16_t lanes; /* vectors only */
    ig_rows rows;   /* tables only */
    uint32_t rank;
    const ig_type *element; /* sequences and optionals */
    ig_dim dims[];
};

const ig_type *ig_type_tensor(ig_module *module, ig_dtype dtype, uint32_t rank,
                              const ig_dim *dims);
/* The same of extents that are known, and none of them negative. */
const ig_type *ig_type_of_extents(ig_module *module, ig_dtype dtype, uint32_t rank,
                                  const int64_t *extents);
const ig_type *ig_type_table(ig_module *module, ig_dtype dtype, ig_rows rows,
                             ig_dim count, ig_dim dim);
const ig_type *ig_type_buffer(ig_module *module, ig_dtype dtype, uint32_t rank,
                              const ig_dim *dims);
const ig_type *ig_type_vector(ig_module *module, ig_dtype dtype, uint32_t lanes);
const ig_type *ig_type_any(ig_module *module, ig_dtype dtype);
const ig_type *ig_type_host(ig_module *module, ig_kind kind, const ig_type *element);
/* The same type with another dtype, or with other dims. */
const ig_type *ig_type_with_dtype(ig_module *module, const ig_type *type,
                                  ig_dtype dtype);
const ig_type *ig_type_with_dims(ig_module *module, const ig_type *type, uint32_t rank,
                                 const ig_dim *dims);

/* The same type in another module; dims go by the names of their symbols, or where
 * `by_symbol` is there by that (ig_dim_move). */
const ig_type *ig_type_translate(const ig_module *from, const ig_type *type,
                                 const ig_dim *by_symbol, ig_module *to);

bool ig_type_is_static(const ig_type *type); /* no dim is an expression */
/* Number of elements as a dim expression (1 for rank 0). */
ig_dim ig_type_count(ig_module *module, const ig_type *type);
/* Number of elements of a tensor, table, buffer or vector whose dims are known; false
 * when one is not, or on overflow. */
bool ig_type_known_count(const ig_type *type, int64_t *out_count);
/* Bytes of a constant of that type, a table's scales and biases with it. */
bool ig_type_bytes(const ig_type *type, int64_t *out_bytes);

#endif
