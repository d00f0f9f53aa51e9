/* MurmurHash3 of 32 bits (x86_32), of numbers of 4 and 8 bytes.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Words are u32, of which products keep the low bits.  Texts are refused: the IR has no
 * bytes of them.
 */
#include "frontend/onnx/import/args.h"
#include "frontend/onnx/ops/hooks.h"

static ig_value *with_word(ig_expr *e, ig_opcode code, ig_value *x, uint32_t y) {
    return ig_expr_with_integer(e, code, x, (int64_t)y);
}

static ig_value *rotate_left(ig_expr *e, ig_value *x, uint32_t left) {
    ig_value *high = with_word(e, IG_OP_shl, x, left);
    return ig_build_or(e, high, with_word(e, IG_OP_shr, x, 32 - left));
}

/* One word of the key. */
static ig_value *mix_word(ig_expr *e, ig_value *hash, ig_value *word) {
    word = rotate_left(e, with_word(e, IG_OP_mul, word, 0xcc9e2d51), 15);
    word = with_word(e, IG_OP_mul, word, 0x1b873593);
    hash = rotate_left(e, ig_build_xor(e, hash, word), 13);
    hash = with_word(e, IG_OP_mul, hash, 5);
    return with_word(e, IG_OP_add, hash, 0xe6546b64);
}

static ig_value *fold_high(ig_expr *e, ig_value *x, uint32_t right) {
    return ig_build_xor(e, x, with_word(e, IG_OP_shr, x, right));
}

static ig_value *mix_last(ig_expr *e, ig_value *x) {
    x = with_word(e, IG_OP_mul, fold_high(e, x, 16), 0x85ebca6b);
    x = with_word(e, IG_OP_mul, fold_high(e, x, 13), 0xc2b2ae35);
    return fold_high(e, x, 16);
}

ig_status ig_onnx_import_murmur_hash(ig_onnx_node *node) {
    ig_expr *e = node->e;
    ig_value *x = node->inputs[0];
    const ig_dtype_info *info = &ig_dtypes[x->type->dtype];
    uint32_t words = (uint32_t)info->bits / 32;
    if (x->type->dtype == IG_DT_str || (info->bits != 32 && info->bits != 64)) {
        return ig_onnx_fail(node, IG_UNSUPPORTED,
                            "hashes elements of type %s; numbers of 32 and 64 bits are "
                            "supported",
                            info->name);
    }
    int64_t seed = ig_onnx_attr_int(node, "seed", 0);
    bool is_positive = ig_onnx_attr_bool(node, "positive", true);
    x = ig_build_bitcast(
        e, x, (ig_bitcast_attrs){ .to = words == 1 ? IG_DT_u32 : IG_DT_u64 });
    ig_value *hash = ig_expr_integer(e, IG_DT_u32, (int64_t)(uint32_t)seed);
    for (uint32_t i = 0; i < words; i++) {
        ig_value *word = i == 0 ? x : with_word(e, IG_OP_shr, x, 32);
        word = words == 1 ? word : with_word(e, IG_OP_and, word, UINT32_MAX);
        hash = mix_word(e, hash, ig_expr_cast(e, word, IG_DT_u32));
    }
    hash = mix_last(e, with_word(e, IG_OP_xor, hash, 4 * words));
    ig_bitcast_attrs as_signed = { .to = IG_DT_i32 };
    return ig_onnx_give(node,
                        is_positive ? hash : ig_build_bitcast(e, hash, as_signed));
}
