/* Rates this machine reaches at this moment: limits that times are compared with.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The benchmarks compile this file too: it needs nothing but libc.
 */
#include "tools/ingot/measure/roofline.h"

#include "tools/ingot/measure/clock.h"

#include <immintrin.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { MAX_THREADS = 64, LINE = 64, FMA_CHAINS = 12, FMA_STEPS = 2000 };

typedef struct task {
    double (*measure)(const struct task *task);
    const unsigned char *memory;
    size_t size;
    double seconds;
    uint64_t seed;
    double rate; /* written by the thread */
} task;

/* ---- on one thread ---- */

__attribute__((noinline, target("avx512f"))) static float run_fma_512(float seed) {
    __m512 sum[FMA_CHAINS], factor = _mm512_set1_ps(seed);
    for (int i = 0; i < FMA_CHAINS; i++) {
        sum[i] = _mm512_set1_ps((float)i);
    }
    for (int step = 0; step < FMA_STEPS; step++) {
        for (int i = 0; i < FMA_CHAINS; i++) {
            sum[i] = _mm512_fmadd_ps(sum[i], factor, factor);
        }
    }
    for (int i = 1; i < FMA_CHAINS; i++) {
        sum[0] = _mm512_add_ps(sum[0], sum[i]);
    }
    return _mm512_cvtss_f32(sum[0]);
}

__attribute__((noinline, target("avx2,fma"))) static float run_fma_256(float seed) {
    __m256 sum[FMA_CHAINS], factor = _mm256_set1_ps(seed);
    for (int i = 0; i < FMA_CHAINS; i++) {
        sum[i] = _mm256_set1_ps((float)i);
    }
    for (int step = 0; step < FMA_STEPS; step++) {
        for (int i = 0; i < FMA_CHAINS; i++) {
            sum[i] = _mm256_fmadd_ps(sum[i], factor, factor);
        }
    }
    for (int i = 1; i < FMA_CHAINS; i++) {
        sum[0] = _mm256_add_ps(sum[0], sum[i]);
    }
    return _mm256_cvtss_f32(sum[0]);
}

static double measure_fma(const task *self) {
    int wide = __builtin_cpu_supports("avx512f");
    double flops = 2.0 * (wide ? 16 : 8) * FMA_CHAINS * FMA_STEPS;
    volatile float seed = 0.999f, sink;
    double start = clock_seconds(), best = 0, last = start;
    while (last - start < self->seconds) {
        sink = wide ? run_fma_512(seed) : run_fma_256(seed);
        double end = clock_seconds(), rate = flops / (end - last) * 1e-9;
        best = rate > best ? rate : best;
        last = end;
    }
    (void)sink;
    return best;
}

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
    return *state;
}

/* Lines per ns.  Addresses do not depend on loads, so many are under way at once. */
static double measure_line(const task *self) {
    enum { BATCH = 4096, AHEAD = 32 };
    uint64_t state = self->seed, lines = self->size / LINE, done = 0;
    size_t at[BATCH + AHEAD];
    volatile unsigned sink = 0;
    unsigned sum = 0;
    double start = clock_seconds(), spent = 0;
    while (clock_seconds() - start < self->seconds) {
        for (int i = 0; i < BATCH + AHEAD; i++) {
            at[i] = (size_t)(next_random(&state) % lines) * LINE;
        }
        double before = clock_seconds();
        for (int i = 0; i < BATCH; i++) {
            __builtin_prefetch(self->memory + at[i + AHEAD]);
            sum += self->memory[at[i]];
        }
        spent += clock_seconds() - before;
        done += BATCH;
    }
    sink = sum;
    (void)sink;
    return (double)done / (spent * 1e9);
}

__attribute__((noinline, target("avx2"))) static int64_t sum_bytes(
    const unsigned char *memory, size_t size) {
    __m256i sum[8] = { 0 };
    for (size_t i = 0; i + 256 <= size; i += 256) {
        for (size_t j = 0; j < 8; j++) {
            const void *at = memory + i + 32 * j;
            sum[j] = _mm256_add_epi64(sum[j], _mm256_load_si256(at));
        }
    }
    for (size_t j = 1; j < 8; j++) {
        sum[0] = _mm256_add_epi64(sum[0], sum[j]);
    }
    return _mm256_extract_epi64(sum[0], 0);
}

/* GB/s. */
static double measure_stream(const task *self) {
    size_t passes = 0;
    volatile int64_t sink;
    double start = clock_seconds(), last;
    do {
        sink = sum_bytes(self->memory, self->size);
        passes++;
        last = clock_seconds();
    } while (last - start < self->seconds);
    (void)sink;
    return (double)self->size * (double)passes / (last - start) * 1e-9;
}

/* ---- on several threads ---- */

static void *run_task(void *argument) {
    task *self = argument;
    self->rate = self->measure(self);
    return NULL;
}

static double run_threads(const task *common, int threads) {
    pthread_t ids[MAX_THREADS];
    task tasks[MAX_THREADS];
    int started = 1;
    for (int i = 0; i < MAX_THREADS; i++) {
        tasks[i] = *common;
        tasks[i].seed = 88172645463325252u + (uint64_t)i * 977;
    }
    while (started < threads && started < MAX_THREADS &&
           pthread_create(&ids[started], NULL, run_task, &tasks[started]) == 0) {
        started++;
    }
    run_task(&tasks[0]);
    double total = tasks[0].rate;
    for (int i = 1; i < started; i++) {
        pthread_join(ids[i], NULL);
        total += tasks[i].rate;
    }
    return total;
}

double probe_fma(int threads, double seconds) {
    task fma = { .measure = measure_fma, .seconds = seconds };
    return run_threads(&fma, threads);
}

double probe_line(const void *memory, size_t size, int threads, double seconds) {
    task line = {
        .measure = measure_line, .memory = memory, .size = size, .seconds = seconds
    };
    double lines_per_ns = run_threads(&line, threads);
    return lines_per_ns > 0 ? 1 / lines_per_ns : 0;
}

double probe_stream(const void *memory, size_t size, int threads, double seconds) {
    task stream = {
        .measure = measure_stream, .memory = memory, .size = size, .seconds = seconds
    };
    return run_threads(&stream, threads);
}

void *probe_memory(size_t size) {
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                        -1, 0);
    if (memory == MAP_FAILED) {
        return NULL;
    }
    madvise(memory, size, MADV_HUGEPAGE);
    for (size_t i = 0; i < size; i += 4096) {
        ((unsigned char *)memory)[i] = 1;
    }
    return memory;
}
