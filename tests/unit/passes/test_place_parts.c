/* Which parts of a buffer lie apart: an extent may be 0 wherever a symbol may.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every pair of parts that the writers below write into one buffer.
 */
#include "ir/parse/read.h"
#include "passes/engine/pass.h"
#include "passes/place/part.h"

#include "tests/unit/unit.h"

#include <stdio.h>

enum { PARTS_MAX = 64 };

typedef struct parts {
    ig_context context;
    ig_arena arena;
    ig_module *module;
    ig_part of[PARTS_MAX];
    uint32_t count;
} parts;

/* The parts of a graph that returns the concat of %x, %y, %x, %y along `axis`. */
static void collect(parts *p, const char *axis, const char *type) {
    char text[1024];
    snprintf(text, sizeof text,
             "module @parts {\n  symbol B {min = 0}\n  symbol C {min = 0}\n"
             "  graph @main(%%x: f32[B, 4], %%y: f32[%s, 4]) -> (f32[%s]) {\n"
             "    %%0 = concat %%x, %%y, %%x, %%y {axis = %s} : f32[%s]\n"
             "    ret %%0\n  }\n}\n",
             *axis == '0' ? "C" : "B", type, axis, type);
    *p = (parts){ .context = { .limits = ig_limits_default } };
    ig_arena_init(&p->arena, NULL);
    CHECK_OK(ig_parse_module(&p->context, "parts", ig_str_of(text), &p->module));
    ig_pass_options options = { 0 };
    CHECK_OK(ig_passes_run(p->module, &options, "bufferise"));
    const ig_graph *graph = ig_module_graph(p->module, "main");
    for (const ig_op *op = graph->body.first; op; op = op->next) {
        if (op->code == IG_OP_view) {
            p->of[p->count++] = ig_part_of(p->module, &op->results[0]);
        }
    }
    CHECK(p->count == 4);
}

static void close_parts(parts *p) {
    ig_module_destroy(p->module);
    ig_arena_fini(&p->arena);
}

static void check_apart(parts *p) {
    for (uint32_t i = 0; i < p->count; i++) {
        for (uint32_t k = 0; k < p->count; k++) {
            CHECK(ig_parts_lie_apart(p->module, &p->of[i], &p->of[k]) == (i != k));
        }
    }
}

TEST(rows_that_may_be_none_lie_apart) {
    parts p;
    collect(&p, "0", "2*B + 2*C, 4");
    check_apart(&p);
    ig_part_list list = { 0 };
    for (uint32_t i = 0; i < p.count; i++) {
        ig_part_list_add(&p.arena, &list, &p.of[i]);
    }
    CHECK(list.count == 1); /* one after the other */
    for (uint32_t i = 0; i < p.count; i++) {
        CHECK(!ig_parts_lie_apart(p.module, &list.items[0], &p.of[i]));
    }
    close_parts(&p);
}

TEST(columns_that_alternate_lie_apart) {
    parts p;
    collect(&p, "1", "B, 16");
    check_apart(&p);
    ig_part_list list = { 0 };
    for (uint32_t i = 0; i < p.count; i++) {
        ig_part_list_add(&p.arena, &list, &p.of[i]);
    }
    CHECK(list.count == 4);
    p.of[1].offset = ig_dim_of(3); /* a column of the first, too */
    p.of[1].end = ig_dim_sub(p.module, p.of[1].end, ig_dim_of(1));
    CHECK(!ig_parts_lie_apart(p.module, &p.of[0], &p.of[1]));
    CHECK(ig_parts_lie_apart(p.module, &p.of[1], &p.of[2]));
    close_parts(&p);
}

UNIT_SUITE(place_parts, rows_that_may_be_none_lie_apart,
           columns_that_alternate_lie_apart)
