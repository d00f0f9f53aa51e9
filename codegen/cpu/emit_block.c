/* dot4_block: a block of sums in the tile registers of AMX.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A tile holds at most 16 rows of 64 bytes.  Memory holds panels of quads as its
 * second factor wants them: 16 quads of 16 columns are 16 rows of 64 bytes, one after
 * the other.
 *
 *     tiles 0 … 3   sums, one a panel       rows x 16 columns
 *     tile 4        16 quads of the rows    rows x 64 bytes
 *     tile 5        16 quads of a panel     16 x 64 bytes
 *     tiles 6, 7    the same of the k % 16 quads that are left
 *
 * Sums wrap in 32 bits, as those of dot4 do.  Setting tiles takes as long as some of
 * their products, so a kernel sets them anew for blocks of another shape alone.  What
 * tiles hold would be saved whenever the system switches threads, so a kernel releases
 * them at its end.
 */
#include "codegen/cpu/emit.h"

#include <assert.h>

enum { SUMS = 0, ROWS = 4, PANEL = 5, ROWS_LEFT = 6, PANEL_LEFT = 7 };
enum { LINE = 64, DEPTH = 16, COLUMNS = 16, SETTING_WORDS = 8 };

typedef struct dot_block {
    LLVMValueRef a, a_step, b, b_step, sums, sums_step, rows, k; /* addresses, i64 */
    int64_t panels;
    bool adds;
} dot_block;

static LLVMValueRef number_of(const ig_cpu_emitter *e, int64_t value) {
    return l_i64(e->llvm, value);
}

static LLVMValueRef tile_index(const ig_cpu_emitter *e, int64_t index) {
    return LLVMConstInt(LLVMInt8TypeInContext(e->llvm), (unsigned long long)index, 0);
}

static LLVMValueRef add_words(ig_cpu_emitter *e, LLVMValueRef x, LLVMValueRef y) {
    return LLVMBuildAdd(e->builder, x, y, L_UNNAMED);
}

static LLVMValueRef multiply_word(ig_cpu_emitter *e, LLVMValueRef x, int64_t y) {
    return LLVMBuildMul(e->builder, x, number_of(e, y), L_UNNAMED);
}

static LLVMValueRef byte_at(ig_cpu_emitter *e, LLVMValueRef base, LLVMValueRef offset) {
    return ig_cpu_address(e, LLVMInt8TypeInContext(e->llvm), base, offset);
}

static void load_tile(ig_cpu_emitter *e, int64_t index, LLVMValueRef from,
                      LLVMValueRef step) {
    LLVMValueRef args[] = { tile_index(e, index), from, step };
    l_intrinsic(e->builder, "llvm.x86.tileloadd64", NULL, 0, args, 3);
}

/* ---- the setting of tiles: 64 bytes ----
 *
 *     byte 0        1
 *     bytes 16 …    two for each tile: bytes of its rows
 *     bytes 48 …    one for each tile: rows
 */

static void write_setting(ig_cpu_emitter *e, const dot_block *d, LLVMValueRef left) {
    LLVMTypeRef i64 = LLVMInt64TypeInContext(e->llvm);
    LLVMValueRef setting = ig_cpu_alloca(e, i64, SETTING_WORDS, LINE);
    LLVMValueRef words[SETTING_WORDS];
    for (int i = 0; i < SETTING_WORDS; i++) {
        words[i] = number_of(e, i == 0);
    }
    words[2] = number_of(e, 0x0040004000400040);
    words[3] = add_words(e, number_of(e, 0x0040000000400040),
                         multiply_word(e, left, INT64_C(4) << 32));
    LLVMValueRef by_rows = multiply_word(e, d->rows, 0x0001000101010101);
    LLVMValueRef by_left = multiply_word(e, left, INT64_C(1) << 56);
    words[6] = add_words(e, add_words(e, by_rows, by_left),
                         number_of(e, (int64_t)DEPTH << 40));
    for (int i = 0; i < SETTING_WORDS; i++) {
        LLVMValueRef address = ig_cpu_address(e, i64, setting, number_of(e, i));
        LLVMBuildStore(e->builder, words[i], address);
    }
    l_intrinsic(e->builder, "llvm.x86.ldtilecfg", NULL, 0, &setting, 1);
}

/* Where the kernel keeps for which rows and k % 16 tiles are set; 0: for none. */
static LLVMValueRef setting_of(ig_cpu_emitter *e) {
    if (!e->tiles) {
        LLVMBasicBlockRef here = LLVMGetInsertBlock(e->builder);
        e->tiles = ig_cpu_alloca(e, LLVMInt64TypeInContext(e->llvm), 1, 8);
        LLVMPositionBuilderAtEnd(e->builder, LLVMGetEntryBasicBlock(e->function));
        LLVMBuildStore(e->builder, number_of(e, 0), e->tiles);
        LLVMPositionBuilderAtEnd(e->builder, here);
    }
    return e->tiles;
}

static void set_tiles(ig_cpu_emitter *e, const dot_block *d, LLVMValueRef left) {
    LLVMBuilderRef b = e->builder;
    LLVMTypeRef i64 = LLVMInt64TypeInContext(e->llvm);
    LLVMValueRef setting = setting_of(e);
    LLVMValueRef wanted = add_words(e, multiply_word(e, d->rows, LINE), left);
    LLVMValueRef now = LLVMBuildLoad2(b, i64, setting, L_UNNAMED);
    LLVMValueRef is_new = LLVMBuildICmp(b, LLVMIntNE, now, wanted, L_UNNAMED);
    ig_cpu_loop once = ig_cpu_loop_begin(e, LLVMBuildZExt(b, is_new, i64, L_UNNAMED));
    write_setting(e, d, left);
    LLVMBuildStore(b, wanted, setting);
    ig_cpu_loop_end(e, &once);
}

void ig_cpu_release_tiles(ig_cpu_emitter *e) {
    assert((!e->tiles || e->level->has_tiles) && "levels without tiles set none");
    if (e->tiles) {
        l_intrinsic(e->builder, "llvm.x86.tilerelease", NULL, 0, NULL, 0);
    }
}

/* ---- the sums ---- */

static LLVMValueRef sums_of_panel(ig_cpu_emitter *e, const dot_block *d,
                                  int64_t panel) {
    return byte_at(e, d->sums, number_of(e, panel * LINE));
}

static void open_sums(ig_cpu_emitter *e, const dot_block *d) {
    for (int64_t p = 0; p < d->panels; p++) {
        LLVMValueRef zeroed = tile_index(e, SUMS + p);
        if (d->adds) {
            load_tile(e, SUMS + p, sums_of_panel(e, d, p), d->sums_step);
        } else {
            l_intrinsic(e->builder, "llvm.x86.tilezero", NULL, 0, &zeroed, 1);
        }
    }
}

static void store_sums(ig_cpu_emitter *e, const dot_block *d) {
    for (int64_t p = 0; p < d->panels; p++) {
        LLVMValueRef args[] = { tile_index(e, SUMS + p), sums_of_panel(e, d, p),
                                d->sums_step };
        l_intrinsic(e->builder, "llvm.x86.tilestored64", NULL, 0, args, 3);
    }
}

/* The products of quads from `k` on. */
static void multiply_quads(ig_cpu_emitter *e, const dot_block *d, LLVMValueRef k,
                           int64_t rows, int64_t panel) {
    load_tile(e, rows, byte_at(e, d->a, multiply_word(e, k, 4)), d->a_step);
    LLVMValueRef at = byte_at(e, d->b, multiply_word(e, k, LINE));
    for (int64_t p = 0; p < d->panels; p++) {
        load_tile(e, panel, at, number_of(e, LINE));
        LLVMValueRef args[] = { tile_index(e, SUMS + p), tile_index(e, rows),
                                tile_index(e, panel) };
        l_intrinsic(e->builder, "llvm.x86.tdpbusd", NULL, 0, args, 3);
        at = byte_at(e, at, d->b_step);
    }
}

static dot_block read_block(ig_cpu_emitter *e, const ig_op *op) {
    return (dot_block){
        .a = ig_cpu_operand(e, op, 0),
        .a_step = ig_cpu_operand(e, op, 1),
        .b = ig_cpu_operand(e, op, 2),
        .b_step = ig_cpu_operand(e, op, 3),
        .sums = ig_cpu_operand(e, op, 4),
        .sums_step = multiply_word(e, ig_cpu_operand(e, op, 5), 4),
        .rows = ig_cpu_operand(e, op, 6),
        .k = ig_cpu_operand(e, op, 7),
        .panels = ig_attr_int(op, IG_dot4_block_panels, 1),
        .adds = ig_attr_int(op, IG_dot4_block_adds, 0) != 0,
    };
}

ig_status ig_cpu_emit_dot4_block(ig_cpu_emitter *e, const ig_op *op) {
    if (!e->level->has_tiles) {
        return ig_cpu_fail(e, IG_INTERNAL, op, "the level has no tiles");
    }
    LLVMBuilderRef b = e->builder;
    dot_block d = read_block(e, op);
    assert(d.panels >= 1 && d.panels <= ROWS - SUMS && "a tile of sums for each panel");
    LLVMValueRef whole = LLVMBuildLShr(b, d.k, number_of(e, 4), L_UNNAMED);
    LLVMValueRef left = LLVMBuildAnd(b, d.k, number_of(e, DEPTH - 1), L_UNNAMED);
    LLVMValueRef is_left = LLVMBuildICmp(b, LLVMIntNE, left, number_of(e, 0),
                                         L_UNNAMED);
    /* Tiles that are set have rows. */
    set_tiles(e, &d, LLVMBuildSelect(b, is_left, left, number_of(e, 1), L_UNNAMED));
    open_sums(e, &d);
    ig_cpu_loop loop = ig_cpu_loop_begin(e, whole);
    multiply_quads(e, &d, multiply_word(e, loop.index, DEPTH), ROWS, PANEL);
    ig_cpu_loop_end(e, &loop);
    ig_cpu_loop rest =
        ig_cpu_loop_begin(e, LLVMBuildZExt(b, is_left, LLVMTypeOf(left), L_UNNAMED));
    multiply_quads(e, &d, multiply_word(e, whole, DEPTH), ROWS_LEFT, PANEL_LEFT);
    ig_cpu_loop_end(e, &rest);
    store_sums(e, &d);
    return IG_OK;
}
