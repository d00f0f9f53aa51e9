/* From observed values to a scale and a zero point.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every method cuts the range that min and max give at one end or both, so that the
 * values in it are told apart better, and those beyond it become its ends:
 *
 *     percentile   a given part of all values stays
 *     mse          minimises the mean square error of rounding and cutting
 *     entropy      minimises the loss of the distribution (Kullback and Leibler's
 *                  divergence); as S. Migacz, "8-bit Inference with TensorRT", GTC 2017
 */
#include "passes/quantise/quantise.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

enum { SHARES = 100, MIN_SHARE = 10, LEVELS = 255 };

/* ---- grids ---- */

ig_quant_grid ig_quant_grid_of(double low, double high, int32_t min, int32_t max,
                               bool is_symmetric) {
    assert(min < max && "a grid has steps");
    ig_quant_grid grid = { .min = min, .max = max };
    low = fmin(low, 0);
    high = fmax(high, 0);
    double steps = is_symmetric ? max : (double)max - min;
    double range = is_symmetric ? fmax(-low, high) : high - low;
    double scale = fmin(range / steps, FLT_MAX);
    grid.scale = range > 0 ? (float)fmax(scale, FLT_MIN) : 1;
    if (!is_symmetric) {
        double zero = nearbyint(min - low / (double)grid.scale);
        grid.zero = (int32_t)fmin(fmax(zero, min), max);
    }
    return grid;
}

ig_quant_grid ig_quant_grid_of_values(const ig_quant_options *options, double low,
                                      double high) {
    return options->has_signed_values
               ? ig_quant_grid_of(low, high, -127, 127, true)
               : ig_quant_grid_of(low, high, 0, UINT8_MAX, false);
}

int32_t ig_quant_code(const ig_quant_grid *grid, double x) {
    double code = nearbyint(x / (double)grid->scale) + grid->zero;
    return (int32_t)fmin(fmax(code, grid->min), grid->max);
}

/* ---- percentile ---- */

static double bin_width(const ig_histogram *h) {
    return (h->high - h->low) / IG_QUANT_BINS;
}

static double count_all(const ig_histogram *h) {
    double all = 0;
    for (int i = 0; i < IG_QUANT_BINS; i++) {
        all += (double)h->bins[i];
    }
    return all;
}

/* As many values as may be are left out at both ends together, the rarer end first:
 * half of them at each. */
static void keep_percentile(const ig_histogram *h, double percentile, double *low,
                            double *high) {
    double out = count_all(h) * (1 - percentile / 100) / 2, below = 0, above = 0;
    int first = 0, last = IG_QUANT_BINS - 1;
    while (first < last && below + (double)h->bins[first] <= out) {
        below += (double)h->bins[first++];
    }
    while (last > first && above + (double)h->bins[last] <= out) {
        above += (double)h->bins[last--];
    }
    *low = h->low + first * bin_width(h);
    *high = h->low + (last + 1) * bin_width(h);
}

/* ---- mean square error ---- */

static double square_error(const ig_quant_options *options, const ig_histogram *h,
                           double low, double high) {
    ig_quant_grid grid = ig_quant_grid_of_values(options, low, high);
    double sum = 0, width = bin_width(h);
    for (int i = 0; i < IG_QUANT_BINS; i++) {
        if (h->bins[i]) {
            double x = h->low + (i + 0.5) * width;
            double back = (double)(ig_quant_code(&grid, x) - grid.zero) *
                          (double)grid.scale;
            sum += (double)h->bins[i] * (x - back) * (x - back);
        }
    }
    return sum;
}

/* Shrinks the ends that `moves` says while that makes the error least. */
static void shrink_ends(const ig_quant_options *options, const ig_histogram *h,
                        const bool moves[2], double *low, double *high) {
    double from[2] = { *low, *high };
    double min = square_error(options, h, *low, *high);
    for (int share = SHARES - 1; share >= MIN_SHARE; share--) {
        double part = (double)share / SHARES;
        double ends[2] = { moves[0] ? from[0] * part : from[0],
                           moves[1] ? from[1] * part : from[1] };
        double error = square_error(options, h, ends[0], ends[1]);
        if (error < min) {
            min = error;
            *low = ends[0];
            *high = ends[1];
        }
    }
}

static void keep_min_error(const ig_quant_options *options, const ig_histogram *h,
                           double *low, double *high) {
    static const bool both[] = { true, true }, first[] = { true, false },
                      second[] = { false, true };
    shrink_ends(options, h, both, low, high);
    shrink_ends(options, h, first, low, high);
    shrink_ends(options, h, second, low, high);
}

/* ---- entropy ---- */

/* Bins first … last as LEVELS groups: each bin that holds something gets its share. */
static void spread_groups(const ig_histogram *h, int first, int last, double *out) {
    int count = last - first + 1;
    for (int level = 0; level < LEVELS; level++) {
        int begin = first + (int)((int64_t)count * level / LEVELS);
        int end = first + (int)((int64_t)count * (level + 1) / LEVELS);
        double sum = 0;
        int filled = 0;
        for (int i = begin; i < end; i++) {
            sum += (double)h->bins[i];
            filled += h->bins[i] > 0;
        }
        for (int i = begin; i < end; i++) {
            out[i - first] = h->bins[i] ? sum / filled : 0;
        }
    }
}

/* Of bins first … last with all values beyond them in its ends, against its groups.
 * Zeros, which a relu makes many of, are exact in any range and do not count. */
static double lost_of_window(const ig_histogram *h, int first, int last) {
    double kept[IG_QUANT_BINS], grouped[IG_QUANT_BINS], all = 0, in = 0, lost = 0;
    int count = last - first + 1;
    spread_groups(h, first, last, grouped);
    for (int i = 0; i < count; i++) {
        kept[i] = (double)h->bins[first + i];
        in += kept[i];
    }
    for (int i = 0; i < first; i++) {
        kept[0] += (double)h->bins[i];
    }
    for (int i = last + 1; i < IG_QUANT_BINS; i++) {
        kept[count - 1] += (double)h->bins[i];
    }
    all = count_all(h);
    for (int i = 0; i < count && in > 0; i++) {
        double p = kept[i] / all, q = fmax(grouped[i] / in, 1e-9);
        lost += p > 0 ? p * log(p / q) : 0;
    }
    return in > 0 ? lost : (double)INFINITY;
}

static void keep_entropy(const ig_histogram *all, double *low, double *high) {
    ig_histogram without = *all, *h = &without;
    double width = bin_width(h), min = (double)INFINITY;
    double zero = fmin(fmax(-h->low / width, 0), IG_QUANT_BINS - 1);
    h->bins[(int)zero] = 0;
    double from[2] = { *low, *high };
    for (int share = SHARES; share >= MIN_SHARE; share--) {
        double part = (double)share / SHARES;
        int first = (int)((from[0] * part - h->low) / width);
        int last = (int)ceil((from[1] * part - h->low) / width) - 1;
        first = first < 0 ? 0 : first;
        last = last >= IG_QUANT_BINS ? IG_QUANT_BINS - 1 : last;
        double lost = last - first + 1 >= LEVELS ? lost_of_window(h, first, last)
                                                 : (double)INFINITY;
        if (lost < min) {
            min = lost;
            *low = from[0] * part;
            *high = from[1] * part;
        }
    }
}

/* ---- the choice ---- */

void ig_quant_choose_range(const ig_quant_options *options, const ig_histogram *counts,
                           double *low, double *high) {
    *low = fmin(*low, 0);
    *high = fmax(*high, 0);
    if (!counts || !(counts->high > counts->low)) {
        return;
    }
    double ends[2] = { *low, *high };
    switch (options->method) {
    case IG_QUANT_PERCENTILE:
        keep_percentile(counts, options->percentile, low, high);
        break;
    case IG_QUANT_MSE:
        keep_min_error(options, counts, low, high);
        break;
    case IG_QUANT_ENTROPY:
        keep_entropy(counts, low, high);
        break;
    case IG_QUANT_MIN_MAX:
        break;
    }
    *low = fmax(fmin(*low, 0), ends[0]);
    *high = fmin(fmax(*high, 0), ends[1]);
}
