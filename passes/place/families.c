/* Families of kernels, from the `lower` column of ops.def.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/place/families.h"

#include <string.h>

static const char *const family_of[IG_OP_COUNT] = {
#define OP(name, min, max, outs, bodies, stages, traits, infer, fold, dims, expand, \
           lower, attrs)                                                            \
    [IG_OP_##name] = #lower,
#include "ir/ops.def"
#undef OP
};

typedef struct family_row {
    const char *name;
    bool is_anchor, has_epilogue, is_row_local;
    uint32_t unit_stride; /* bit per operand */
} family_row;

static const family_row families[] = {
    { "gemm", true, true, true, 1 },     { "dot", true, true, true, 0 },
    { "bag", true, false, false, 0 },    { "interact", true, false, true, 1 },
    { "reduce", true, false, false, 0 }, { "softmax", true, false, false, 0 },
    { "gather", true, false, false, 0 }, { "pad", true, false, false, 0 },
    { "range", true, false, false, 0 },  { "scan", true, false, false, 0 },
    { "arg", true, false, false, 0 },    { "search", true, false, false, 0 },
    { "random", true, false, false, 0 }, { "scatter", true, false, false, 0 },
    { "conv", true, true, false, 0 },    { "pool", true, false, false, 0 },
    { "map", false, false, true, 0 },
};

static const family_row *find(const char *family) {
    for (size_t i = 0; i < IG_COUNT_OF(families); i++) {
        if (strcmp(families[i].name, family) == 0) {
            return &families[i];
        }
    }
    return NULL;
}

const char *ig_op_family(ig_opcode code) {
    return family_of[code];
}

bool ig_family_is_anchor(const char *family) {
    const family_row *row = find(family);
    return row && row->is_anchor;
}

bool ig_family_has_epilogue(const char *family) {
    const family_row *row = find(family);
    return row && row->has_epilogue;
}

bool ig_family_needs_unit_stride(const char *family, uint32_t operand) {
    const family_row *row = find(family);
    return row && operand < 32 && ((row->unit_stride >> operand) & 1);
}

bool ig_family_is_row_local(const char *family) {
    const family_row *row = find(family);
    return strcmp(family, "copy") == 0 || (row && row->is_row_local);
}
