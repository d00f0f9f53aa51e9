/* Register tiles that a product can be made of, for tools that measure them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/compile/compile.h"
#include "ir/semantics/panels.h"
#include "passes/lower/gemm_tile.h"

#include <assert.h>

typedef struct tiles_call {
    ig_context *context;
    const char *target;
    const int64_t *shape;
    ig_matmul_tile *tiles;
    size_t capacity, *count;
} tiles_call;

static ig_status list_tiles(void *arguments) {
    tiles_call *call = arguments;
    ig_diag *diag = &call->context->diag;
    ig_target_list list;
    IG_TRY(ig_targets_parse(call->context, call->target, &list));
    if (list.count != 1 || list.targets[0]->family != IG_FAMILY_CPU) {
        return ig_error(diag, IG_UNSUPPORTED, NULL,
                        "register tiles are listed for one level of a CPU");
    }
    for (int i = 0; i < 3; i++) {
        if (call->shape[i] < 1 || call->shape[i] > INT32_MAX) {
            return ig_error(diag, IG_INVALID, NULL, "no product has an extent of %lld",
                            (long long)call->shape[i]);
        }
    }
    ig_gemm_tile tiles[IG_GEMM_MAX_TILES];
    *call->count = ig_gemm_tiles(list.targets[0], call->shape, tiles);
    assert(*call->count <= IG_GEMM_MAX_TILES && "there is room for each tile");
    for (size_t i = 0; i < *call->count && i < call->capacity; i++) {
        call->tiles[i] = (ig_matmul_tile){
            .rows = (int)tiles[i].rows,
            .columns = (int)tiles[i].panels * IG_PANEL,
            .block_rows = (int)tiles[i].block_rows,
            .is_pick = tiles[i].is_pick,
        };
    }
    return IG_OK;
}

ig_status ig_matmul_tiles(ig_context *context, const char *target,
                          const int64_t shape[3], ig_matmul_tile *tiles,
                          size_t capacity, size_t *out_count) {
    tiles_call call = { context, target, shape, tiles, capacity, out_count };
    *out_count = 0;
    return ig_driver_settle(context, ig_driver_guard(context, list_tiles, &call));
}
