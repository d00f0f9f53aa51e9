/* Tables and pictures of requests.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/load/report.h"

#include <math.h>
#include <stdlib.h>

enum { GOOD = 200, STATUSES = 600 };

static const double shares[] = { 0.5, 0.9, 0.95, 0.99, 0.999, 1 };
enum { SHARES = sizeof shares / sizeof *shares };

/* Good ones first, those without an answer last. */
static int rank_of(const load_sample *of) {
    return of->status == GOOD ? 0 : of->status ? 1 : 2;
}

static int compare_samples(const void *a, const void *b) {
    const load_sample *x = a, *y = b;
    int rank_x = rank_of(x), rank_y = rank_of(y);
    return rank_x != rank_y ? rank_x - rank_y
                            : (x->seconds > y->seconds) - (x->seconds < y->seconds);
}

void load_sort(load_result *of) {
    if (of->count) {
        qsort(of->samples, of->count, sizeof *of->samples, compare_samples);
    }
}

static size_t count_good(const load_result *of) {
    size_t count = 0;
    while (count < of->count && of->samples[count].status == GOOD) {
        count++;
    }
    return count;
}

/* The time that `share` of `count` samples took at the most, in milliseconds. */
static double time_among(const load_sample *samples, size_t count, double share) {
    size_t at = (size_t)ceil(share * (double)count);
    return count ? samples[at ? at - 1 : 0].seconds * 1000 : 0;
}

static double time_of(const load_result *of, size_t good, double share) {
    return time_among(of->samples, good, share);
}

/* The requests that got another answer, which are sorted after the good ones. */
static double time_of_others(const load_result *of, size_t good, double share) {
    size_t end = good;
    while (end < of->count && of->samples[end].status != 0) {
        end++;
    }
    return time_among(of->samples + good, end - good, share);
}

/* The requests with this answer.  Those that were never sent have none, and are no
 * broken connections: they are not among those of 0. */
static size_t count_status(const load_result *of, int status) {
    size_t count = 0;
    for (size_t i = 0; i < of->count; i++) {
        count += of->samples[i].status == status;
    }
    return status == 0 ? count - of->unsent : count;
}

void load_print(const load_plan *plan, const load_result *of) {
    size_t good = count_good(of);
    if (plan->rate > 0) {
        printf("open loop, %g requests a second, %zu connections at the most\n",
               plan->rate, plan->connections);
    } else {
        printf("closed loop, %zu connections\n", plan->connections);
    }
    printf("%zu requests in %.2f s, %zu of them good: %.1f a second\n", of->count,
           of->seconds, good, (double)good / of->seconds);
    for (int status = 0; status < STATUSES; status++) {
        size_t count = count_status(of, status);
        if (count && status == 0) {
            printf("  no answer: %zu\n", count);
        } else if (count && status != GOOD) {
            printf("  status %d: %zu\n", status, count);
        }
    }
    if (of->unsent) {
        printf("  never sent, as no connection was free or the server asked for a "
               "rest: %zu\n",
               of->unsent);
    }
    fputs("milliseconds of good ones:", stdout);
    for (int i = 0; i < SHARES; i++) {
        printf("  %s%g %.3f", shares[i] < 1 ? "p" : "max p", shares[i] * 100,
               time_of(of, good, shares[i]));
    }
    double others = time_of_others(of, good, 0.99);
    if (others > 0) {
        printf("\nmilliseconds of other answers:  p50 %.3f  p99 %.3f",
               time_of_others(of, good, 0.5), others);
    }
    putchar('\n');
}

void load_put_json(const load_plan *plan, const load_result *of) {
    size_t good = count_good(of);
    printf(
        "{\"rate\": %g, \"connections\": %zu, \"seconds\": %.6g, \"requests\": %zu, "
        "\"good\": %zu, \"good_per_second\": %.6g, \"unsent\": %zu,\n \"statuses\": {",
        plan->rate, plan->connections, of->seconds, of->count, good,
        (double)good / of->seconds, of->unsent);
    const char *comma = "";
    for (int status = 0; status < STATUSES; status++) {
        size_t count = count_status(of, status);
        if (count) {
            printf("%s\"%d\": %zu", comma, status, count);
            comma = ", ";
        }
    }
    fputs("},\n \"milliseconds\": {", stdout);
    for (int i = 0; i < SHARES; i++) {
        printf("%s\"p%g\": %.6g", i ? ", " : "", shares[i] * 100,
               time_of(of, good, shares[i]));
    }
    printf("},\n \"milliseconds_of_others\": {\"p50\": %.6g, \"p99\": %.6g}}\n",
           time_of_others(of, good, 0.5), time_of_others(of, good, 0.99));
}

/* ---- the picture ---- */

enum { LEFT = 70, TOP = 40, WIDTH = 600, HEIGHT = 300, POINTS = 200, NINES = 4 };

/* Shares on a scale of nines: 0, 90, 99, 99.9, 99.99 % are equally far apart. */
static double position_of(double share) {
    return LEFT + WIDTH * fmin(-log10(1 - share), NINES) / NINES;
}

void load_draw(FILE *to, const load_plan *plan, const load_result *of) {
    size_t good = count_good(of);
    double max = good ? of->samples[good - 1].seconds * 1000 : 1;
    fprintf(to,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "font-family=\"sans-serif\" font-size=\"12\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
            "<text x=\"%d\" y=\"20\">%zu good of %zu requests, ",
            LEFT + WIDTH + 30, TOP + HEIGHT + 40, LEFT, good, of->count);
    if (plan->rate > 0) {
        fprintf(to, "%g a second", plan->rate);
    } else {
        fprintf(to, "%zu connections", plan->connections);
    }
    fputs("; milliseconds by share</text>\n", to);
    static const char *const names[] = { "0", "90 %", "99 %", "99.9 %", "99.99 %" };
    for (int i = 0; i <= NINES; i++) {
        int x = LEFT + WIDTH * i / NINES, y = TOP + HEIGHT * i / NINES;
        fprintf(to, "<path d=\"M%d %dV%d M%d %dH%d\" stroke=\"#ccc\"/>\n", x, TOP,
                TOP + HEIGHT, LEFT, y, LEFT + WIDTH);
        fprintf(to, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", x,
                TOP + HEIGHT + 20, names[i]);
        fprintf(to, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%.3g</text>\n",
                LEFT - 6, y + 4, max * (NINES - i) / NINES);
    }
    fputs("<path fill=\"none\" stroke=\"#2060c0\" stroke-width=\"2\" d=\"", to);
    for (int i = 0; good && i <= POINTS; i++) {
        double share = 1 - pow(10, -(double)NINES * i / POINTS);
        fprintf(to, "%c%.1f %.1f", i ? 'L' : 'M', position_of(share),
                TOP + HEIGHT * (1 - time_of(of, good, share) / max));
    }
    fputs("\"/>\n</svg>\n", to);
}
