/* Sets of locations, and who inherits them.  SPDX-License-Identifier: Apache-2.0 */
#include "ir/graph.h"
#include "ir/ops.h"

#include <assert.h>
#include <stdlib.h>

static bool is_union(ig_origins origins) {
    return origins & 1;
}

ig_origins ig_op_origins(const ig_op *op) {
    return op->origins ? op->origins : op->loc << 1;
}

static const ig_origin_union *parts_of(const ig_module *module, ig_origins origins) {
    assert(is_union(origins) && origins >> 1 < module->unions.count &&
           "the union is one of the module's");
    return &module->unions.items[origins >> 1];
}

/* As far as one look tells. */
static bool has_part(const ig_module *module, ig_origins whole, ig_origins part) {
    if (whole == part || !part) {
        return true;
    }
    if (!is_union(whole)) {
        return false;
    }
    const ig_origin_union *parts = parts_of(module, whole);
    return parts->first == part || parts->second == part;
}

ig_origins ig_origins_join(ig_module *module, ig_origins a, ig_origins b) {
    if (has_part(module, a, b)) {
        return a;
    }
    if (has_part(module, b, a)) {
        return b;
    }
    ig_origin_union parts = { a < b ? a : b, a < b ? b : a };
    uint64_t key = (uint64_t)parts.first << 32 | parts.second;
    uintptr_t known = (uintptr_t)ig_map_get_id(&module->union_of, key);
    if (known) {
        return (ig_origins)known;
    }
    IG_PUSH(&module->arena, &module->unions, parts);
    assert(module->unions.count <= UINT32_MAX >> 1 && "unions are counted in 31 bits");
    ig_origins origins = (ig_origins)(module->unions.count - 1) << 1 | 1;
    ig_map_set_id(&module->union_of, key, (void *)(uintptr_t)origins);
    return origins;
}

/* ---- heirs ---- */

enum { LONGEST_CHAIN = 64 }; /* of ops that were erased one after the other */

/* Who does the work of `op` now; NULL when nobody does, or the chain is too long. */
static ig_op *heir_of(const ig_op *op) {
    ig_op *heir = op->heir;
    for (int i = 0; heir && heir->code == IG_OP_ERASED; i++) {
        heir = i < LONGEST_CHAIN ? heir->heir : NULL;
    }
    return heir == op ? NULL : heir;
}

void ig_op_inherit(ig_op *heir, ig_op *op) {
    assert(heir != op && heir->code != IG_OP_ERASED && "the heir is another op");
    op->heir = heir;
    if (heir->heir == op) {
        heir->heir = NULL; /* it is at work again */
    }
}

static void note_gone(ig_op *op) {
    ig_graph *graph = op->block ? op->block->graph : NULL;
    ig_origins origins = ig_op_origins(op);
    if (graph && origins && graph->stage != IG_STAGE_KERNEL) {
        IG_PUSH(&graph->module->arena, &graph->module->gone,
                (ig_op_gone){ origins, op->code });
    }
}

void ig_origins_pass_on(ig_op *op) {
    ig_op *heir = heir_of(op);
    if (!heir) {
        note_gone(op);
        return;
    }
    if (heir->block) {
        ig_module *module = heir->block->graph->module;
        heir->origins = ig_origins_join(module, ig_op_origins(heir), ig_op_origins(op));
    }
    for (uint32_t i = 0; i < op->operand_count; i++) {
        ig_op *maker = op->operands[i].value->def;
        if (maker && maker != heir) {
            maker->heir = heir;
        }
    }
    for (uint32_t b = 0; b < op->body_count; b++) {
        for (ig_op *inner = op->bodies[b]->first; inner; inner = inner->next) {
            inner->heir = heir;
        }
    }
}

/* ---- lists ---- */

static int compare_numbers(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

uint32_t ig_origins_list(const ig_module *module, ig_origins origins, ig_arena *arena,
                         uint32_t **out_locations) {
    IG_VEC(ig_origins) todo = { 0 };
    IG_VEC(uint32_t) found = { 0 };
    ig_map seen;
    ig_map_init(&seen, arena);
    IG_PUSH(arena, &todo, origins);
    while (todo.count) {
        ig_origins at = IG_POP(&todo);
        if (!at || ig_map_get_id(&seen, at)) {
            continue;
        }
        ig_map_set_id(&seen, at, &seen);
        if (is_union(at)) {
            IG_PUSH(arena, &todo, parts_of(module, at)->first);
            IG_PUSH(arena, &todo, parts_of(module, at)->second);
        } else {
            IG_PUSH(arena, &found, at >> 1);
        }
    }
    if (found.count) {
        qsort(found.items, found.count, sizeof *found.items, compare_numbers);
    }
    *out_locations = found.items;
    return (uint32_t)found.count;
}
