/* A learning curve as a picture: see curve.h.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/train/curve.h"

#include "tools/ingot/cli/console.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 720, HEIGHT = 360, LEFT = 70, TOP = 20, BOTTOM = 40, WINDOW = 50 };
enum { MAX_POINTS = 2000, LINES = 4 };

typedef struct curve {
    FILE *to;
    const double *losses;
    size_t count;
    double low, high;
} curve;

static double x_of(const curve *c, size_t step) {
    double share = c->count > 1 ? (double)step / (double)(c->count - 1) : 0;
    return LEFT + share * (WIDTH - LEFT - 20);
}

static double y_of(const curve *c, double loss) {
    double share = c->high > c->low ? (loss - c->low) / (c->high - c->low) : 0.5;
    return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM);
}

static double mean_at(const curve *c, size_t step) {
    double sum = 0;
    size_t index = 0;
    for (size_t i = step + 1 > WINDOW ? step + 1 - WINDOW : 0; i <= step; i++) {
        index += isfinite(c->losses[i]) != 0;
        sum += isfinite(c->losses[i]) ? c->losses[i] : 0;
    }
    return index > 0 ? sum / (double)index : NAN;
}

static void put_line(const curve *c, const char *colour, bool is_mean) {
    size_t stride = c->count / MAX_POINTS + 1;
    fprintf(c->to,
            "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"%s\" points=\"",
            colour, is_mean ? "2" : "1");
    for (size_t i = 0; i < c->count; i += stride) {
        double loss = is_mean ? mean_at(c, i) : c->losses[i];
        if (isfinite(loss)) {
            fprintf(c->to, "%.1f,%.1f ", x_of(c, i), y_of(c, loss));
        }
    }
    fputs("\"/>\n", c->to);
}

static void put_axes(const curve *c, int64_t first) {
    for (int i = 0; i <= LINES; i++) {
        double loss = c->low + (c->high - c->low) * i / LINES, y = y_of(c, loss);
        size_t step = c->count > 0 ? (c->count - 1) * (size_t)i / LINES : 0;
        fprintf(c->to,
                "<path d=\"M%d %.1fH%d\" stroke=\"#ddd\"/>\n"
                "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.4g</text>\n"
                "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%lld</text>\n",
                LEFT, y, WIDTH - 20, LEFT - 6, y + 4, loss, x_of(c, step),
                HEIGHT - BOTTOM + 18, (long long)first + (long long)step);
    }
}

static void find_range(curve *c) {
    c->low = INFINITY;
    c->high = -INFINITY;
    for (size_t i = 0; i < c->count; i++) {
        if (isfinite(c->losses[i])) {
            c->low = fmin(c->low, c->losses[i]);
            c->high = fmax(c->high, c->losses[i]);
        }
    }
    if (c->low > c->high) {
        c->low = c->high = 0;
    }
}

bool curve_write(const char *path, const double *losses, size_t count, int64_t first) {
    curve c = { .to = fopen(path, "we"), .losses = losses, .count = count };
    if (!c.to) {
        complain(0, "%s: %s", path, strerror(errno));
        return false;
    }
    find_range(&c);
    fprintf(
        c.to,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
        "font-family=\"sans-serif\" font-size=\"12\">\n<title>Loss by step, and its "
        "mean over %d steps</title>\n",
        WIDTH, HEIGHT, WINDOW);
    put_axes(&c, first);
    put_line(&c, "#9bc", false);
    put_line(&c, "#025", true);
    fputs("</svg>\n", c.to);
    bool is_good = !ferror(c.to);
    is_good = fclose(c.to) == 0 && is_good;
    if (!is_good) {
        complain(0, "%s: it cannot be written", path);
    }
    return is_good;
}
