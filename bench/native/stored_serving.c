/* A model whose tables lie in a store beside the same model with its tables in memory:
 * bits, and the rate of one thread.  SPDX-License-Identifier: Apache-2.0
 *
 *     stored_serving WHOLE.ingot STORED.ingot ROWS KEPT BATCH ROUNDS [TRACE.json]
 *
 * Inputs: f32 dense, then i64[BATCH] ids of tables of ROWS rows, of which KEPT are in
 * memory.  An id is one of KEPT / 2 hot ones in 19 of 20 cases, else any.
 */
#include <ingot/lookahead.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_INPUTS = 64, PER_ROUND = 40, DEPTH = 3, TRACED = 40 };

static double seconds_of(clockid_t clock) {
    struct timespec now;
    (void)clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* By the clock, and of this thread's CPU time, of which other programs take none. */
typedef struct moment {
    double clock, cpu;
} moment;

static moment now(void) {
    return (moment){ seconds_of(CLOCK_MONOTONIC), seconds_of(CLOCK_THREAD_CPUTIME_ID) };
}

typedef struct batch {
    float *dense;
    int64_t *ids;
    ig_view in[MAX_INPUTS];
} batch;

static int64_t rows, kept, batch_rows;
static size_t input_count;
static uint64_t state = 1;

static uint64_t draw(void) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 33;
}

static void fill_batch(batch *b, const ig_program *program) {
    int64_t wide = ig_program_input(program, 0).dims[1];
    if (!b->dense) {
        b->dense = calloc((size_t)(batch_rows * wide), sizeof *b->dense);
        b->ids = calloc((size_t)batch_rows * input_count, sizeof *b->ids);
        b->in[0] = (ig_view){
            .data = b->dense, .dtype = IG_F32, .rank = 2, .dims = { batch_rows, wide }
        };
    }
    for (int64_t i = 0; i < batch_rows * wide; i++) {
        b->dense[i] = (float)(draw() % 1000) / 1000 - 0.5f;
    }
    for (size_t t = 1; t < input_count; t++) {
        int64_t *ids = b->ids + (int64_t)(t - 1) * batch_rows;
        for (int64_t i = 0; i < batch_rows; i++) {
            int64_t hot = (int64_t)draw() % (kept / 2) * 7 % rows;
            ids[i] = draw() % 20 ? hot : (int64_t)draw() % rows;
        }
        b->in[t] = (ig_view){
            .data = ids, .dtype = IG_I64, .rank = 1, .dims = { batch_rows }
        };
    }
}

static int fail(const char *what) {
    fprintf(stderr, "%s\n", what);
    return 1;
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, compare_doubles);
    return values[count / 2];
}

typedef struct waits {
    double fetched, waited; /* seconds */
    ig_lookahead_answer last[TRACED];
    size_t count;
} waits;

/* The round's batches, DEPTH ahead, into `out`; false: an error was told. */
static int run_ahead(ig_lookahead *ahead, batch *batches, float *out, size_t per_batch,
                     waits *w) {
    for (int i = 0, sent = 0; i < PER_ROUND; i++) {
        for (; sent < PER_ROUND && sent <= i + DEPTH; sent++) {
            if (ig_lookahead_submit(ahead, batches[sent].in, input_count, NULL)) {
                return fail(ig_lookahead_error(ahead));
            }
        }
        ig_view view = { .data = out + (size_t)i * per_batch,
                         .capacity = per_batch * sizeof(float) };
        ig_lookahead_answer answer = { .size = sizeof answer };
        if (ig_lookahead_wait(ahead, &view, 1, &answer)) {
            return fail(ig_lookahead_error(ahead));
        }
        w->fetched += 1e-9 * (double)(answer.fetch_end - answer.fetch_begin);
        w->waited += 1e-9 * (double)(answer.run_begin - answer.wait_begin);
        w->last[w->count++ % TRACED] = answer;
    }
    return 0;
}

static void write_trace(const waits *w, const char *path) {
    FILE *out = fopen(path, "w");
    const char *comma = "[\n";
    for (size_t i = 0; out && i < TRACED && i < w->count; i++) {
        const ig_lookahead_answer *a = &w->last[i];
        int64_t spans[3][2] = { { a->fetch_begin, a->fetch_end },
                                { a->wait_begin, a->run_begin },
                                { a->run_begin, a->run_end } };
        static const char *const names[] = { "fetch", "wait for rows", "compute" };
        for (int s = 0; s < 3; s++) {
            fprintf(out,
                    "%s{\"name\": \"%s\", \"ph\": \"X\", \"pid\": 1, \"tid\": %d, "
                    "\"ts\": %.3f, \"dur\": %.3f}",
                    comma, names[s], s ? 2 : 1, (double)spans[s][0] * 1e-3,
                    (double)(spans[s][1] - spans[s][0]) * 1e-3);
            comma = ",\n";
        }
    }
    if (out) {
        fputs("\n]\n", out);
        fclose(out);
    }
}

/* What is measured: both programs, and the sums of all rounds. */
typedef struct bench {
    ig_program *program;
    ig_session *session;
    ig_lookahead *ahead;
    batch batches[PER_ROUND];
    waits waits;
    float *want, *got;
    double memory, store; /* seconds */
    int same;             /* rounds whose bits are */
} bench;

static char why[512];

static int open_both(bench *b, const char *whole_path, const char *stored_path) {
    ig_program_options whole = { .size = sizeof whole,
                                 .message = why,
                                 .message_size = sizeof why };
    ig_lookahead_table table = { .name = "*", .row_count = kept };
    ig_lookahead_options stored = { .size = sizeof stored,
                                    .message = why,
                                    .message_size = sizeof why,
                                    .tables = &table,
                                    .table_count = 1,
                                    .depth = DEPTH };
    if (ig_program_open(whole_path, &whole, &b->program) ||
        ig_session_create(b->program, NULL, &b->session) ||
        ig_lookahead_open(stored_path, &stored, &b->ahead)) {
        return fail(why);
    }
    input_count = ig_program_input_count(b->program);
    size_t count = PER_ROUND * (size_t)batch_rows;
    b->want = calloc(count, sizeof *b->want);
    b->got = calloc(count, sizeof *b->got);
    return 0;
}

static int run_in_memory(bench *b) {
    for (int i = 0; i < PER_ROUND; i++) {
        ig_view view = { .data = b->want + i * batch_rows,
                         .capacity = (size_t)batch_rows * sizeof(float) };
        if (ig_session_run(b->session, b->batches[i].in, input_count, &view, 1)) {
            return fail(ig_session_error(b->session));
        }
    }
    return 0;
}

/* Sets the ratios of the round's times; 0, or 1 after an error was told. */
static int run_round(bench *b, double *ratio, double *cpu_ratio) {
    for (int i = 0; i < PER_ROUND; i++) {
        fill_batch(&b->batches[i], b->program);
    }
    moment begin = now();
    if (run_in_memory(b)) {
        return 1;
    }
    moment middle = now();
    if (run_ahead(b->ahead, b->batches, b->got, (size_t)batch_rows, &b->waits)) {
        return 1;
    }
    moment end = now();
    *ratio = (middle.clock - begin.clock) / (end.clock - middle.clock);
    *cpu_ratio = (middle.cpu - begin.cpu) / (end.cpu - middle.cpu);
    b->memory += middle.clock - begin.clock;
    b->store += end.clock - middle.clock;
    size_t bytes = PER_ROUND * (size_t)batch_rows * sizeof *b->want;
    b->same += memcmp(b->want, b->got, bytes) == 0;
    return 0;
}

static void print_result(const bench *b, double *ratios, double *cpu_ratios, int rounds,
                         double hits) {
    double count = (double)b->waits.count;
    printf(
        "{\"same_bits\": %s, \"rate\": %.3f, \"cpu_rate\": %.3f, \"hits\": %.4f, \"batch_us\": %.1f, "
        "\"stored_batch_us\": %.1f, \"fetch_us\": %.1f, \"waited_us\": %.1f}\n",
        b->same == rounds ? "true" : "false", median(ratios, rounds),
        median(cpu_ratios, rounds), hits, b->memory / count * 1e6,
        b->store / count * 1e6, b->waits.fetched / count * 1e6,
        b->waits.waited / count * 1e6);
}

int main(int argc, char **argv) {
    static bench b;
    enum { WARM = 3 };
    if (argc < 7) {
        return fail(
            "usage: stored_serving WHOLE STORED ROWS KEPT BATCH ROUNDS [TRACE]");
    }
    rows = atoll(argv[3]);
    kept = atoll(argv[4]);
    batch_rows = atoll(argv[5]);
    int rounds = atoi(argv[6]);
    double *ratios = calloc((size_t)rounds + WARM, sizeof *ratios);
    double *cpu_ratios = calloc((size_t)rounds + WARM, sizeof *ratios);
    ig_lookahead_facts before = { .size = sizeof before }, after = before;
    if (open_both(&b, argv[1], argv[2])) {
        return 1;
    }
    for (int r = 0; r < rounds + WARM; r++) {
        if (r == WARM) {
            b.waits = (waits){ 0 };
            b.memory = b.store = 0;
            b.same = 0;
            ig_lookahead_get_facts(b.ahead, &before);
        }
        int position = r < WARM ? r : r - WARM;
        if (run_round(&b, &ratios[position], &cpu_ratios[position])) {
            return 1;
        }
    }
    ig_lookahead_get_facts(b.ahead, &after);
    print_result(&b, ratios, cpu_ratios, rounds,
                 (double)(after.hits - before.hits) / (double)(after.ids - before.ids));
    if (argc > 7) {
        write_trace(&b.waits, argv[7]);
    }
    ig_lookahead_close(b.ahead);
    ig_session_destroy(b.session);
    ig_program_close(b.program);
    return b.same != rounds;
}
