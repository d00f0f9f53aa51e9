/* ingot info --kernels M,K,N: the tiles that a product can be made of, measured.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each candidate is a graph of one product whose attribute asks for its tile, compiled
 * as models are.  Rounds go over all candidates, each round from another one on, and
 * measure the machine's multiply-adds too, so that a change of the clock meets all of
 * them.  x and y are others in each call; the matrix stays, as a layer's does.
 */
#include "tools/ingot/info/info_kernels.h"

#include "tools/ingot/measure/clock.h"
#include "tools/ingot/measure/roofline.h"
#include "tools/ingot/model/model.h"

#include <stdlib.h>
#include <string.h>

enum {
    ROUNDS = 5,
    MAX_TILES = 128,
    MAX_SAMPLES = 4000, /* of a candidate, all rounds together */
    MAX_SETS = 16,
    SETS_BYTES = 16 << 20, /* that x and y go through */
    MAX_ELEMENTS = 1 << 28,
};

typedef struct candidate {
    ig_matmul_tile tile;
    ig_program *program;
    ig_session *session;
    double *samples;
    size_t count;
    double seconds; /* the median */
} candidate;

typedef struct contest {
    int64_t m, k, n, panels;
    float *x, *w, *y;
    size_t sets;
    candidate *items;
    size_t count;
    double fma; /* GFLOP/s */
} contest;

/* ---- the shape ---- */

/* "M,K,N": three counts from 1 on, of matrices that fit into memory. */
static bool read_shape(const char *text, contest *c) {
    int64_t *to[] = { &c->m, &c->k, &c->n };
    for (int i = 0; i < 3; i++) {
        char *end;
        *to[i] = strtoll(text, &end, 10);
        if (end == text || *text < '0' || *text > '9' || *to[i] < 1 ||
            *to[i] > MAX_ELEMENTS || *end != (i < 2 ? ',' : '\0')) {
            return false;
        }
        text = end + 1;
    }
    c->panels = (c->n + 15) / 16;
    return c->m * c->k <= MAX_ELEMENTS && c->m * c->n <= MAX_ELEMENTS &&
           c->k * c->panels * 16 <= MAX_ELEMENTS;
}

/* Reals in -1 … 1. */
static float *make_reals(size_t count) {
    float *reals = need(malloc(count * sizeof *reals));
    uint32_t state = 12345;
    for (size_t i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        reals[i] = (float)(state >> 8) * 0x1p-23f - 1.0f;
    }
    return reals;
}

static void make_values(contest *c) {
    size_t x = (size_t)(c->m * c->k), y = (size_t)(c->m * c->n);
    size_t sets = SETS_BYTES / sizeof(float) / (x + y);
    c->sets = sets < 2 ? 2 : sets > MAX_SETS ? MAX_SETS : sets;
    c->x = make_reals(c->sets * x);
    c->y = make_reals(c->sets * y);
    c->w = make_reals((size_t)(c->k * c->panels * 16));
}

/* ---- candidates ---- */

static ig_status compile_tile(const settings *given, ig_context *context,
                              const contest *c, candidate *to) {
    long long m = c->m, k = c->k, n = c->n, panels = c->panels;
    char *text = text_of(
        "module @kernels {\n"
        "  graph @main(%%x: f32[%lld, %lld], %%w: f32[%lld, %lld, 16]) -> (f32[%lld, %lld] \"y\") {\n"
        "    %%0 = matmul_panels %%x, %%w {columns = %lld, tile = [%d, %d]} : f32[%lld, %lld]\n"
        "    ret %%0\n  }\n}\n",
        m, k, panels, k, m, n, n, to->tile.rows, to->tile.columns, m, n);
    ig_module *module = NULL;
    ig_compile_options how = compile_options(given);
    ig_status status = ig_import_memory(context, text, strlen(text), NULL, NULL,
                                        &module);
    if (status == IG_OK) {
        status = ig_compile(module, &how, &to->program);
    }
    ig_module_close(module);
    free(text);
    return status;
}

static ig_status open_candidates(const settings *given, ig_context *context,
                                 contest *c) {
    ig_matmul_tile tiles[MAX_TILES];
    int64_t shape[] = { c->m, c->k, c->n };
    ig_status status = ig_matmul_tiles(context, given->target, shape, tiles, MAX_TILES,
                                       &c->count);
    c->count = c->count < MAX_TILES ? c->count : MAX_TILES;
    c->items = need(calloc(c->count + 1, sizeof *c->items));
    for (size_t i = 0; i < c->count && status == IG_OK; i++) {
        candidate *item = &c->items[i];
        item->tile = tiles[i];
        item->samples = need(malloc(MAX_SAMPLES * sizeof *item->samples));
        status = compile_tile(given, context, c, item);
        if (status == IG_OK) {
            ig_session_options how = { .size = sizeof how, .threads = 1 };
            status = ig_session_create(item->program, &how, &item->session);
        }
        status = status == IG_OK && was_interrupted() ? IG_CANCELLED : status;
    }
    return status;
}

static void contest_fini(contest *c) {
    for (size_t i = 0; i < c->count; i++) {
        ig_session_destroy(c->items[i].session);
        ig_program_close(c->items[i].program);
        free(c->items[i].samples);
    }
    free(c->items);
    free(c->x);
    free(c->y);
    free(c->w);
}

/* ---- measuring ---- */

static ig_status bind_set(const contest *c, candidate *item, size_t set) {
    size_t x = (size_t)(c->m * c->k), y = (size_t)(c->m * c->n);
    ig_view inputs[] = {
        { .data = c->x + set * x, .dtype = IG_F32, .rank = 2, .dims = { c->m, c->k } },
        { .data = c->w, .dtype = IG_F32, .rank = 3, .dims = { c->panels, c->k, 16 } },
    };
    ig_view output = { .data = c->y + set * y, .capacity = y * sizeof(float) };
    return ig_session_bind(item->session, inputs, 2, &output, 1);
}

/* Calls for so long, each with the next set; the first ones are not kept. */
static ig_status measure_turn(const contest *c, candidate *item, double seconds) {
    size_t max = item->count + MAX_SAMPLES / ROUNDS, calls = 0;
    double end = clock_seconds() + seconds;
    while (calls < 4 || (clock_seconds() < end && item->count < max)) {
        ig_status status = bind_set(c, item, calls % c->sets);
        double begin = clock_seconds();
        status = status == IG_OK ? ig_session_run_bound(item->session) : status;
        double took = clock_seconds() - begin;
        if (status != IG_OK) {
            return status;
        }
        if (calls++ >= 2) {
            item->samples[item->count++] = took;
        }
    }
    return IG_OK;
}

static int compare_seconds(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static ig_status measure_all(const settings *given, contest *c) {
    double seconds = (given->has_seconds ? given->seconds : 0.1) / ROUNDS;
    for (size_t round = 0; round < ROUNDS; round++) {
        double fma = probe_fma(1, 0.02);
        c->fma = fma > c->fma ? fma : c->fma;
        for (size_t i = 0; i < c->count; i++) {
            candidate *item = &c->items[(i + round * 7) % c->count];
            ig_status status = measure_turn(c, item, seconds);
            if (status != IG_OK || was_interrupted()) {
                return status == IG_OK ? IG_CANCELLED : status;
            }
        }
    }
    for (size_t i = 0; i < c->count; i++) {
        candidate *item = &c->items[i];
        qsort(item->samples, item->count, sizeof *item->samples, compare_seconds);
        item->seconds = item->samples[(item->count - 1) / 2];
    }
    return IG_OK;
}

/* ---- telling ---- */

static int by_time(const void *a, const void *b) {
    const candidate *x = a, *y = b;
    return compare_seconds(&x->seconds, &y->seconds);
}

static double rate_of(const contest *c, const candidate *item) {
    return 2e-9 * (double)c->m * (double)c->k * (double)c->n / item->seconds;
}

/* How much longer the pick takes than the best, in percent; the best comes first. */
static double percent_above_best(const contest *c) {
    for (size_t i = 0; i < c->count; i++) {
        if (c->items[i].tile.is_pick) {
            return 100 * (c->items[i].seconds / c->items[0].seconds - 1);
        }
    }
    return 0;
}

static void put_table(const contest *c, const char *level) {
    printf(
        "{\"shape\": [%lld, %lld, %lld], \"level\": \"%s\", \"fma_gflops\": %.6g, \"pick_behind_percent\": %.4g,\n \"candidates\": [",
        (long long)c->m, (long long)c->k, (long long)c->n, level, c->fma,
        percent_above_best(c));
    for (size_t i = 0; i < c->count; i++) {
        const candidate *item = &c->items[i];
        double rate = rate_of(c, item);
        printf(
            "%s\n  {\"rows\": %d, \"columns\": %d, \"block_rows\": %d, \"seconds\": %.6g, \"calls\": %zu, \"gflops\": %.6g, \"percent_of_fma\": %.4g, \"is_pick\": %s}",
            i ? "," : "", item->tile.rows, item->tile.columns, item->tile.block_rows,
            item->seconds, item->count, rate, 100 * rate / c->fma,
            item->tile.is_pick ? "true" : "false");
    }
    puts("]}");
}

static void print_table(const contest *c, const char *level) {
    printf(
        "x [%lld, %lld] times w [%lld, %lld], level %s, 1 thread; multiply-adds in registers: %.1f GFLOP/s\n",
        (long long)c->m, (long long)c->k, (long long)c->k, (long long)c->n, level,
        c->fma);
    printf("%8s %10s %10s %8s\n", "tile", "µs", "GFLOP/s", "% fma");
    for (size_t i = 0; i < c->count; i++) {
        const candidate *item = &c->items[i];
        double rate = rate_of(c, item);
        printf("%4dx%-3d %10.2f %10.2f %8.1f%s\n", item->tile.block_rows,
               item->tile.columns, item->seconds * 1e6, rate, 100 * rate / c->fma,
               item->tile.is_pick ? "  <- the model's pick" : "");
    }
    printf("the pick takes %.1f%% longer than the best\n", percent_above_best(c));
}

int info_kernels(const settings *given, ig_context *context) {
    contest c = { 0 };
    if (is_interpret(given->target)) {
        return complain(EXIT_USAGE, "the interpreter has no kernels");
    }
    if (!read_shape(given->kernels, &c)) {
        return complain(
            EXIT_USAGE,
            "--kernels takes M,K,N: counts from 1 on, of matrices of at most %d elements, not '%s'",
            MAX_ELEMENTS, given->kernels);
    }
    message why = { "" };
    ig_status status = open_candidates(given, context, &c);
    if (status == IG_OK) {
        make_values(&c);
        status = measure_all(given, &c);
    }
    progress_clear();
    if (status == IG_OK) {
        ig_program_facts facts = { .size = sizeof facts };
        ig_program_get_facts(c.items[0].program, &facts);
        qsort(c.items, c.count, sizeof *c.items, by_time);
        void (*tell)(const contest *, const char *) = given->json ? put_table
                                                                  : print_table;
        tell(&c, facts.level);
    }
    contest_fini(&c);
    return report(status, &why);
}
