/* Click data with a planted signal: see planted.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/igcheck/cases/planted.h"

#include "tools/ingot/cli/console.h"

#include <stdlib.h>
#include <string.h>

/* Streams of one seed. */
enum {
    STREAM_DENSE = 1,
    STREAM_DENSE_EFFECT = 2,
    STREAM_NOISE = 3,
    STREAM_LENGTH = 100,
    STREAM_ID = 200,
    STREAM_EFFECT = 300,
    STREAM_LATENT = 400,
};

enum { SLOTS = 64, LATENT = 4 };

static const uint64_t golden = 0x9E3779B97F4A7C15u;

/* The finaliser of splitmix64. */
static uint64_t mix_bits(uint64_t x) {
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

static uint64_t draw_bits(const planted *p, size_t stream, uint64_t index) {
    uint64_t key = mix_bits(p->seed + golden * ((uint64_t)stream + 1));
    return mix_bits(key + golden * (index + 1));
}

/* The sum of the four pieces of 16 bits, less its mean. */
static int64_t bell_of(uint64_t bits) {
    uint64_t sum = (bits & 0xFFFF) + (bits >> 16 & 0xFFFF) + (bits >> 32 & 0xFFFF) +
                   (bits >> 48);
    return (int64_t)sum - 131070;
}

/* Below `bound`, by the upper 32 bits. */
static int64_t draw_below(uint64_t bits, uint64_t bound) {
    return (int64_t)((bits >> 32) * bound >> 32);
}

/* ---- the signal ---- */

static int64_t integer_in(const json_t *object, const char *key) {
    return (int64_t)json_integer_value(json_object_get(object, key));
}

static void open_field(planted *p, size_t index, const json_t *from) {
    planted_field *f = &p->fields[index];
    const char *pooling = json_string_value(json_object_get(from, "pooling"));
    f->rows = (uint64_t)integer_in(from, "rows");
    f->min_length = integer_in(from, "min_len");
    f->max_length = integer_in(from, "max_len");
    f->is_mean = pooling && strcmp(pooling, "mean") == 0;
    f->is_skewed = json_is_true(json_object_get(from, "skew"));
    f->effects = need(calloc(f->rows + 1, sizeof *f->effects));
    f->latent = need(calloc(f->rows * LATENT + 1, sizeof *f->latent));
    for (uint64_t i = 0; i < f->rows; i++) {
        f->effects[i] = bell_of(draw_bits(p, STREAM_EFFECT + index, i));
    }
    for (uint64_t i = 0; i < f->rows * LATENT; i++) {
        f->latent[i] = bell_of(draw_bits(p, STREAM_LATENT + index, i));
    }
}

void planted_open(planted *p, const json_t *data) {
    const json_t *fields = json_object_get(data, "fields");
    const json_t *pairs = json_object_get(data, "pairs");
    *p = (planted){ .seed = (uint64_t)integer_in(data, "seed"),
                    .dense = (size_t)integer_in(data, "dense"),
                    .threshold = integer_in(data, "threshold"),
                    .noise = integer_in(data, "noise") };
    p->dense_effects = need(calloc(p->dense + 1, sizeof *p->dense_effects));
    for (size_t i = 0; i < p->dense; i++) {
        p->dense_effects[i] = draw_below(draw_bits(p, STREAM_DENSE_EFFECT, i), 17) - 8;
    }
    for (size_t i = 0; i < json_array_size(fields) && i < PLANTED_FIELDS; i++) {
        open_field(p, p->field_count++, json_array_get(fields, i));
    }
    for (size_t i = 0; i < json_array_size(pairs) && i < PLANTED_FIELDS; i++) {
        const json_t *pair = json_array_get(pairs, i);
        for (size_t k = 0; k < 2; k++) {
            p->pairs[i][k] = (int)json_integer_value(json_array_get(pair, k));
        }
        p->pair_count++;
    }
}

void planted_close(planted *p) {
    for (size_t i = 0; i < p->field_count; i++) {
        free(p->fields[i].effects);
        free(p->fields[i].latent);
    }
    free(p->dense_effects);
}

/* ---- samples ---- */

static int64_t draw_id(const planted *p, size_t field, uint64_t sample,
                       int64_t position) {
    const planted_field *f = &p->fields[field];
    uint64_t bits = draw_bits(p, STREAM_ID + field,
                              sample * SLOTS + (uint64_t)position);
    int64_t id = draw_below(bits, f->rows), other = draw_below(bits << 32, f->rows);
    return f->is_skewed && other < id ? other : id;
}

/* A field's ids of one sample, written to `ids`; their part of the signal. */
static int64_t draw_field(const planted *p, size_t field, uint64_t sample, int64_t *ids,
                          int64_t *out_length) {
    const planted_field *f = &p->fields[field];
    uint64_t lengths = (uint64_t)(f->max_length - f->min_length + 1);
    int64_t length = f->min_length +
                     draw_below(draw_bits(p, STREAM_LENGTH + field, sample), lengths);
    int64_t sum = 0;
    for (int64_t i = 0; i < length; i++) {
        ids[i] = draw_id(p, field, sample, i);
        sum += f->effects[ids[i]];
    }
    *out_length = length;
    return f->is_mean ? sum * (length ? 12 / length : 0) : sum * 6;
}

/* Of the first ids of two fields; towards minus infinity. */
static int64_t add_pair(const planted *p, const int *pair, const int64_t *first) {
    int64_t a = first[pair[0]], b = first[pair[1]], sum = 0;
    for (size_t k = 0; k < LATENT && a >= 0 && b >= 0; k++) {
        sum += p->fields[pair[0]].latent[a * LATENT + (int64_t)k] *
               p->fields[pair[1]].latent[b * LATENT + (int64_t)k];
    }
    return sum >= 0 ? sum / 16384 : -((-sum + 16383) / 16384);
}

static int64_t draw_dense(const planted *p, uint64_t sample, float *out) {
    int64_t sum = 0;
    for (size_t i = 0; i < p->dense; i++) {
        int64_t value = bell_of(draw_bits(p, STREAM_DENSE, sample * p->dense + i));
        out[i] = (float)value / 32768.0f;
        sum += value * p->dense_effects[i];
    }
    return sum;
}

static void draw_sample(const planted *p, uint64_t sample, planted_batch *to,
                        size_t at) {
    int64_t first[PLANTED_FIELDS], length;
    int64_t signal = draw_dense(p, sample, to->dense + at * p->dense);
    for (size_t f = 0; f < p->field_count; f++) {
        int64_t *ids = to->ids[f] + to->offsets[f][at];
        signal += draw_field(p, f, sample, ids, &length);
        to->offsets[f][at + 1] = to->offsets[f][at] + length;
        first[f] = length ? ids[0] : -1;
    }
    for (size_t i = 0; i < p->pair_count; i++) {
        signal += add_pair(p, p->pairs[i], first);
    }
    signal += p->noise * bell_of(draw_bits(p, STREAM_NOISE, sample));
    to->labels[at] = signal > p->threshold;
}

void planted_draw(const planted *p, uint64_t first, size_t count, planted_batch *out) {
    *out = (planted_batch){ .count = count };
    out->dense = need(calloc(count * p->dense + 1, sizeof(float)));
    out->labels = need(calloc(count + 1, sizeof(float)));
    for (size_t f = 0; f < p->field_count; f++) {
        size_t room = count * (size_t)p->fields[f].max_length + 1;
        out->ids[f] = need(calloc(room, sizeof(int64_t)));
        out->offsets[f] = need(calloc(count + 1, sizeof(int64_t)));
    }
    for (size_t i = 0; i < count; i++) {
        draw_sample(p, first + i, out, i);
    }
}

void planted_batch_free(planted_batch *batch) {
    for (size_t f = 0; f < PLANTED_FIELDS; f++) {
        free(batch->ids[f]);
        free(batch->offsets[f]);
    }
    free(batch->dense);
    free(batch->labels);
}
