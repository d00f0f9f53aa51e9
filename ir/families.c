/* Families of kernels, expanded from families.def.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/families.h"

#include "ir/ops.h"

#include <assert.h>
#include <string.h>

enum {
    ANCHOR = IG_FAMILY_ANCHOR,
    EPILOGUE = IG_FAMILY_EPILOGUE,
    ROWS = IG_FAMILY_ROWS,
    STRIDED = IG_FAMILY_STRIDED,
    IMAGES = IG_FAMILY_IMAGES,
    OPERAND_BITS = 32,
};

const ig_family_info ig_families[IG_FAMILY_COUNT] = {
    [IG_FAMILY_none] = { "none", 0, 0, 0 },
#define FAMILY(name, traits, unit_strides, whole) \
    [IG_FAMILY_##name] = { #name, traits, unit_strides, whole },
#include "ir/families.def"
#undef FAMILY
};

ig_kernel_family ig_family_find(const char *name) {
    assert(name && "a family has a name");
    for (int i = 0; i < IG_FAMILY_COUNT; i++) {
        if (strcmp(ig_families[i].name, name) == 0) {
            return (ig_kernel_family)i;
        }
    }
    return IG_FAMILY_none;
}

ig_kernel_family ig_op_family(const ig_op *op) {
    assert(op->code < IG_OP_COUNT && "family of an erased op");
    bool is_region = op->code == IG_OP_fused || op->code == IG_OP_compute;
    uint32_t slot = op->code == IG_OP_fused ? IG_fused_family : IG_compute_family;
    return is_region ? ig_family_find(ig_attr_str(op, slot)) : ig_ops[op->code].family;
}

bool ig_family_has(ig_kernel_family family, ig_family_trait trait) {
    assert(family < IG_FAMILY_COUNT && "no such family");
    return (ig_families[family].traits & trait) != 0;
}

bool ig_family_needs_unit_stride(ig_kernel_family family, uint32_t operand) {
    assert(family < IG_FAMILY_COUNT && "no such family");
    uint32_t bits = ig_families[family].unit_strides;
    return bits == IG_ALL_OPERANDS ||
           (operand < OPERAND_BITS && ((bits >> operand) & 1) != 0);
}

bool ig_family_needs_whole(ig_kernel_family family, uint32_t operand) {
    assert(family < IG_FAMILY_COUNT && "no such family");
    return operand < OPERAND_BITS && ((ig_families[family].whole >> operand) & 1) != 0;
}
