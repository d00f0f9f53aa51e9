/* Tables and bars of a plan.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/shard/shard_report.h"

#include "tools/ingot/values/plan_text.h"

#include <stdlib.h>
#include <string.h>

static const char *const phases[] = { "fwd_compute", "fwd_comms", "bwd_compute",
                                      "bwd_comms" };
enum { PHASES = sizeof phases / sizeof phases[0] };
#define GIB (1024.0 * 1024 * 1024)

static double number_of(const json_t *object, const char *key) {
    return json_number_value(json_object_get(object, key));
}

/* ---- text ---- */

/* Types by short names, as TorchRec's statistics have them. */
static const struct {
    const char *name, *shown;
} types[] = {
    { "data_parallel", "DP" }, { "table_wise", "TW" },
    { "column_wise", "CW" },   { "table_column_wise", "TWCW" },
    { "row_wise", "RW" },      { "table_row_wise", "TWRW" },
    { "grid_shard", "GS" },
};
enum { TYPES = sizeof types / sizeof types[0] };

/* Shards of each type on a rank. */
static void print_counts(const json_t *plan, json_int_t rank) {
    size_t counts[TYPES] = { 0 }, i, k;
    json_t *table, *shard;
    json_array_foreach(json_object_get(plan, "tables"), i, table) {
        const char *type = json_string_value(json_object_get(table, "sharding_type"));
        size_t at = 0;
        while (strcmp(types[at].name, type) != 0) {
            at++;
        }
        json_array_foreach(json_object_get(table, "shards"), k, shard) {
            counts[at] += json_integer_value(json_object_get(shard, "rank")) == rank;
        }
    }
    for (i = 0; i < TYPES; i++) {
        if (counts[i] > 0) {
            printf(" %s: %zu", types[i].shown, counts[i]);
        }
    }
}

static void print_ranks(const json_t *plan) {
    size_t i;
    json_t *rank;
    printf("%5s %10s %10s %12s  %s\n", "Rank", "HBM (GB)", "DDR (GB)", "Perf (ms)",
           "(fwd compute, fwd comms, bwd compute, bwd comms) Shards");
    json_array_foreach(json_object_get(plan, "ranks"), i, rank) {
        printf("%5zu %10.3f %10.3f %12.4g  (", i, number_of(rank, "hbm") / GIB,
               number_of(rank, "ddr") / GIB, number_of(rank, "total"));
        for (size_t k = 0; k < PHASES; k++) {
            printf("%s%.3g", k ? ", " : "", number_of(rank, phases[k]));
        }
        fputs(")", stdout);
        print_counts(plan, (json_int_t)i);
        puts("");
    }
}

/* "0, 3" or, of more than a line's worth, "0, 1, 2 … 127". */
static void print_placements(const json_t *shards) {
    enum { SHOWN = 8 };
    size_t count = json_array_size(shards);
    for (size_t i = 0; i < count; i++) {
        if (i >= SHOWN && i + 1 < count) {
            continue;
        }
        const json_t *shard = json_array_get(shards, i);
        printf("%s%lld",
               i == 0      ? ""
               : i > SHOWN ? " … "
                           : ", ",
               (long long)json_integer_value(json_object_get(shard, "rank")));
    }
}

static void print_tables(const json_t *plan) {
    size_t i;
    json_t *table;
    printf("\n%-32s %-18s %-18s %s\n", "param", "sharding type", "compute kernel",
           "ranks");
    json_array_foreach(json_object_get(plan, "tables"), i, table) {
        const char *name = json_string_value(json_object_get(table, "name"));
        put_plain(stdout, name);
        size_t width = strlen(name);
        printf("%*s %-18s %-18s ", width < 32 ? (int)(32 - width) : 0, "",
               json_string_value(json_object_get(table, "sharding_type")),
               json_string_value(json_object_get(table, "compute_kernel")));
        print_placements(json_object_get(table, "shards"));
        puts("");
    }
}

void shard_print_plan(const json_t *plan, bool is_torchrec) {
    print_ranks(plan);
    if (is_torchrec) {
        puts("");
        put_plan_text(stdout, plan);
    } else {
        print_tables(plan);
    }
    printf("\nbusiest rank %.4g ms · critical path %.4g ms, at least %.4g (gap %.1f %%"
           "%s)\n%.0f proposals, of which %.0f fit\n",
           number_of(plan, "worst_rank"), number_of(plan, "critical_path"),
           number_of(plan, "bound"), 100 * number_of(plan, "gap"),
           json_is_true(json_object_get(plan, "is_exact")) ? ", all plans tried" : "",
           number_of(plan, "proposals"), number_of(plan, "plans"));
}

/* ---- a picture ---- */

enum { BAR = 14, ROW = 36, LEFT = 70, WIDTH = 600, TOP = 40 };

static double max_of(const json_t *ranks, const char *a, const char *b) {
    double max = 0;
    size_t i;
    json_t *rank;
    json_array_foreach(ranks, i, rank) {
        double value = number_of(rank, a) + (b ? number_of(rank, b) : 0);
        max = value > max ? value : max;
    }
    return max > 0 ? max : 1;
}

/* Parts of one bar, side by side; `max` fills the width. */
typedef struct bar {
    double x, max;
    size_t y;
} bar;

static void draw_part(FILE *to, bar *b, double value, const char *colour,
                      const char *title) {
    double width = value / b->max * WIDTH;
    if (width <= 0) {
        return;
    }
    fprintf(to,
            "<rect x=\"%.2f\" y=\"%zu\" width=\"%.2f\" height=\"%d\" fill=\"%s\">"
            "<title>%s: %.6g</title></rect>\n",
            LEFT + b->x, b->y, width, BAR, colour, title, value);
    b->x += width;
}

static void draw_rank(FILE *to, const json_t *ranks, size_t i) {
    static const char *const colours[PHASES] = { "#4878a8", "#a8c8e8", "#b85c38",
                                                 "#f0b890" };
    const json_t *rank = json_array_get(ranks, i);
    size_t y = TOP + i * ROW;
    bar memory = { 0, max_of(ranks, "hbm", "ddr"), y };
    bar time = { 0, max_of(ranks, "total", NULL), y + BAR + 2 };
    fprintf(to, "<text x=\"8\" y=\"%zu\">rank %zu</text>\n", y + BAR, i);
    draw_part(to, &memory, number_of(rank, "hbm"), "#508050", "device memory, bytes");
    draw_part(to, &memory, number_of(rank, "ddr"), "#a0d0a0", "host memory, bytes");
    for (size_t k = 0; k < PHASES; k++) {
        draw_part(to, &time, number_of(rank, phases[k]), colours[k], phases[k]);
    }
}

void shard_draw_ranks(FILE *to, const json_t *plan) {
    const json_t *ranks = json_object_get(plan, "ranks");
    size_t count = json_array_size(ranks);
    fprintf(to,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%zu\" "
            "font-family=\"sans-serif\" font-size=\"12\">\n"
            "<text x=\"8\" y=\"20\">memory of a rank (up to %.3f GB: device, host) and "
            "time (up to %.4g ms: fwd compute, fwd comms, bwd compute, bwd comms)"
            "</text>\n",
            LEFT + WIDTH + 20, TOP + count * ROW + 10,
            max_of(ranks, "hbm", "ddr") / GIB, max_of(ranks, "total", NULL));
    for (size_t i = 0; i < count; i++) {
        draw_rank(to, ranks, i);
    }
    fputs("</svg>\n", to);
}
