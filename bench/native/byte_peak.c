/* How fast a core multiplies bytes and adds: the fastest of what it has.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Tiles (AMX), dot products of four bytes (VNNI), or products of pairs widened to 16
 * bits.  Nothing is loaded in the loop; chains are long enough to hide what one step
 * waits for the other.
 */
#define _GNU_SOURCE
#include <immintrin.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { STEPS = 20000, PARTS = 50, PERMIT = 0x1023, TILE_DATA = 18 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct tiles {
    unsigned char palette, start, reserved[14];
    unsigned short bytes[16];
    unsigned char rows[16];
};

/* Each returns the operations of one step: two for each product. */

__attribute__((target("amx-int8,amx-tile"))) static double step_tiles(int count) {
    struct tiles shape;
    memset(&shape, 0, sizeof shape);
    shape.palette = 1;
    for (int i = 0; i < 8; i++) {
        shape.bytes[i] = 64;
        shape.rows[i] = 16;
    }
    __asm__ volatile("" : : "r"(&shape) : "memory"); /* all of it is read */
    _tile_loadconfig(&shape);
    for (int i = 0; i < count; i++) {
        _tile_dpbusd(0, 4, 6);
        _tile_dpbusd(1, 4, 7);
        _tile_dpbusd(2, 5, 6);
        _tile_dpbusd(3, 5, 7);
    }
    _tile_release();
    return 4 * 2.0 * 16 * 16 * 64;
}

#define CHAINS(step) step(0) step(1) step(2) step(3) step(4) step(5) step(6) step(7) \
    step(8) step(9) step(10) step(11)

__attribute__((target("avx512f,avx512vnni"))) static double step_dots(int count) {
    __m512i x = _mm512_set1_epi8(1), y = _mm512_set1_epi8(2), sums[12];
    memset(sums, 0, sizeof sums);
    for (int i = 0; i < count; i++) {
#define STEP(n) sums[n] = _mm512_dpbusd_epi32(sums[n], x, y);
        CHAINS(STEP)
#undef STEP
        __asm__ volatile("" : "+v"(x), "+v"(y));
    }
    for (int n = 1; n < 12; n++) {
        sums[0] = _mm512_add_epi32(sums[0], sums[n]);
    }
    __asm__ volatile("" : : "v"(sums[0]));
    return 12 * 2.0 * 64;
}

__attribute__((target("avx2"))) static double step_pairs(int count) {
    __m256i x = _mm256_set1_epi16(1), y = _mm256_set1_epi16(2), sums[12];
    memset(sums, 0, sizeof sums);
    for (int i = 0; i < count; i++) {
#define STEP(n)                                                  \
    sums[n] = _mm256_add_epi32(sums[n], _mm256_madd_epi16(x, y)); \
    __asm__ volatile("" : "+x"(x));
        CHAINS(STEP)
#undef STEP
    }
    for (int n = 1; n < 12; n++) {
        sums[0] = _mm256_add_epi32(sums[0], sums[n]);
    }
    __asm__ volatile("" : : "x"(sums[0]));
    return 12 * 2.0 * 16;
}

/* 10^9 operations a second, the best of some short tries. */
double byte_peak(int has_tiles, int has_dots) {
    double (*step)(int) = has_dots ? step_dots : step_pairs;
    double best = 0;
    if (has_tiles && syscall(SYS_arch_prctl, PERMIT, TILE_DATA) == 0) {
        step = step_tiles;
    }
    for (int i = 0; i < PARTS; i++) {
        double start = now(), each = step(STEPS), spent = now() - start;
        double rate = each * STEPS / spent * 1e-9;
        best = rate > best ? rate : best;
    }
    return best;
}
