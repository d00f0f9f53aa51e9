/* JSON about the server.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/http/describe.h"

#include "tools/serve/call/datatype.h"

#include <string.h>

static void put_name(bytes *to, const char *name) {
    put_string(to, name, strlen(name));
}

void describe_error(bytes *to, const char *words) {
    put_text(to, "{\"error\":");
    put_name(to, words);
    put_text(to, "}");
}

void describe_server(bytes *to) {
    put_format(to, "{\"name\":\"ingot\",\"version\":\"%s\",\"extensions\":[",
               INGOT_VERSION);
    put_text(to, "\"model_repository\",\"model_configuration\",\"statistics\","
                 "\"binary_tensor_data\"]}");
}

static void put_dims(bytes *to, const ig_port *port, uint32_t from) {
    put_text(to, "[");
    for (uint32_t i = from; i < port->rank; i++) {
        put_format(to, i > from ? ",%lld" : "%lld", (long long)port->dims[i]);
    }
    put_text(to, "]");
}

static void put_ports(bytes *to, const ig_port *ports, size_t count) {
    put_text(to, "[");
    for (size_t i = 0; i < count; i++) {
        put_text(to, i ? ",{\"name\":" : "{\"name\":");
        put_name(to, ports[i].name);
        put_format(to,
                   ",\"datatype\":\"%s\",\"shape\":", datatype_name(ports[i].dtype));
        put_dims(to, &ports[i], 0);
        put_text(to, "}");
    }
    put_text(to, "]");
}

void describe_model(bytes *to, const catalog *list, const served *of) {
    size_t count, first = catalog_rows_of(list, of->name, &count);
    put_text(to, "{\"name\":");
    put_name(to, of->name);
    put_text(to, ",\"versions\":[");
    const char *comma = "";
    for (size_t i = first + count; i-- > first;) { /* oldest first */
        if (list->rows[i].is_ready) {
            put_format(to, "%s\"%lld\"", comma, (long long)list->rows[i].version);
            comma = ",";
        }
    }
    put_format(to, "],\"platform\":\"%s\",\"inputs\":", of->platform);
    put_ports(to, of->shown_inputs, of->shown_input_count);
    put_text(to, ",\"outputs\":");
    put_ports(to, of->shown_outputs, of->shown_output_count);
    put_text(to, "}");
}

static void put_config_ports(bytes *to, const ig_port *ports, size_t count,
                             bool has_batch) {
    put_text(to, "[");
    for (size_t i = 0; i < count; i++) {
        put_text(to, i ? ",{\"name\":" : "{\"name\":");
        put_name(to, ports[i].name);
        put_format(to, ",\"data_type\":\"%s\",\"dims\":",
                   datatype_config_name(ports[i].dtype));
        put_dims(to, &ports[i], has_batch && ports[i].rank ? 1 : 0);
        put_text(to, "}");
    }
    put_text(to, "]");
}

void describe_config(bytes *to, const served *of) {
    bool has_batch = of->config.max_batch_size > 0;
    put_text(to, "{\"name\":");
    put_name(to, of->name);
    put_format(to, ",\"platform\":\"%s\",\"backend\":\"ingot\",\"max_batch_size\":%lld",
               of->platform, (long long)of->config.max_batch_size);
    put_text(to, ",\"input\":");
    put_config_ports(to, of->shown_inputs, of->shown_input_count, has_batch);
    put_text(to, ",\"output\":");
    put_config_ports(to, of->shown_outputs, of->shown_output_count, has_batch);
    if (of->max_batch_size) {
        put_format(to, ",\"dynamic_batching\":{\"max_queue_delay_microseconds\":%lld}",
                   (long long)of->config.queue_delay / 1000);
    }
    put_text(to, "}");
}

/* ---- statistics ---- */

static void put_duration(bytes *to, const char *name, uint64_t count, uint64_t ns) {
    put_format(to, "\"%s\":{\"count\":%llu,\"ns\":%llu}", name,
               (unsigned long long)count, (unsigned long long)ns);
}

static void put_measure(bytes *to, const char *name, const histogram *of) {
    put_duration(to, name, count_now(&of->count), count_now(&of->sum));
}

static void put_statistics(bytes *to, const served *of) {
    statistics all = { 0 };
    for (size_t i = 0; i < of->loop_count; i++) {
        statistics_sum(&all, &of->counts[i]);
    }
    put_text(to, "{\"name\":");
    put_name(to, of->name);
    put_format(to,
               ",\"version\":\"%lld\",\"last_inference\":%llu,\"inference_count\":%llu,"
               "\"execution_count\":%llu,\"inference_stats\":{",
               (long long)of->version, (unsigned long long)count_now(&all.last_ms),
               (unsigned long long)count_now(&all.rows),
               (unsigned long long)count_now(&all.runs));
    put_measure(to, "success", &all.of[MEASURE_TOTAL]);
    put_text(to, ",");
    put_duration(to, "fail", count_now(&all.failed), count_now(&all.failed_ns));
    put_text(to, ",");
    put_measure(to, "queue", &all.of[MEASURE_QUEUE]);
    put_text(to, ",");
    put_duration(to, "compute_input", count_now(&all.of[MEASURE_QUEUE].count), 0);
    put_text(to, ",");
    put_measure(to, "compute_infer", &all.of[MEASURE_COMPUTE]);
    put_text(to, ",");
    put_duration(to, "compute_output", count_now(&all.of[MEASURE_QUEUE].count), 0);
    put_text(to, "},\"batch_stats\":[]}");
}

void describe_statistics(bytes *to, const catalog *list, const served *of) {
    put_text(to, "{\"model_stats\":[");
    const char *comma = "";
    for (size_t i = 0; i < list->count; i++) {
        const catalog_row *row = &list->rows[i];
        if (row->is_ready && (!of || row->served == of)) {
            put_text(to, comma);
            put_statistics(to, row->served);
            comma = ",";
        }
    }
    put_text(to, "]}");
}

void describe_index(bytes *to, const catalog *list, bool only_ready) {
    put_text(to, "[");
    const char *comma = "";
    for (size_t i = 0; i < list->count; i++) {
        const catalog_row *row = &list->rows[i];
        if (only_ready && !row->is_ready) {
            continue;
        }
        put_format(to, "%s{\"name\":", comma);
        put_name(to, row->name);
        put_format(to, ",\"version\":\"%lld\",\"state\":\"%s\",\"reason\":",
                   (long long)row->version, row->is_ready ? "READY" : "UNAVAILABLE");
        put_name(to, row->reason);
        put_text(to, "}");
        comma = ",";
    }
    put_text(to, "]");
}

/* ---- metrics ---- */

static const struct {
    const char *name, *help;
} metrics[] = {
    [MEASURE_QUEUE] = { "ingot_request_queue_seconds",
                        "From the last byte of a request to the start of its run." },
    [MEASURE_COMPUTE] = { "ingot_request_compute_seconds",
                          "The run that a request was part of." },
    [MEASURE_TOTAL] = { "ingot_request_seconds",
                        "From the last byte of a request to its answer." },
    [MEASURE_ROWS] = { "ingot_run_rows", "Rows of a run." },
};

/* {model="a",version="1" and the rest. */
static void put_labels(bytes *to, const served *of) {
    put_text(to, "{model=");
    put_name(to, of->name);
    put_format(to, ",version=\"%lld\"", (long long)of->version);
}

static void put_histogram(bytes *to, const served *of, measure which,
                          const histogram *from) {
    double unit = which == MEASURE_ROWS ? 1 : 1e-9;
    uint64_t below = 0;
    for (size_t i = 0; i < BUCKETS; i++) {
        below += count_now(&from->buckets[i]);
        put_format(to, "%s_bucket", metrics[which].name);
        put_labels(to, of);
        if (i < BUCKETS - 1) {
            put_format(to, ",le=\"%.9g\"", (double)histogram_bound(which, i) * unit);
        } else {
            put_text(to, ",le=\"+Inf\"");
        }
        put_format(to, "} %llu\n", (unsigned long long)below);
    }
    put_format(to, "%s_sum", metrics[which].name);
    put_labels(to, of);
    put_format(to, "} %.9g\n", (double)count_now(&from->sum) * unit);
    put_format(to, "%s_count", metrics[which].name);
    put_labels(to, of);
    put_format(to, "} %llu\n", (unsigned long long)below);
}

static void put_outcomes(bytes *to, const served *of, const statistics *all) {
    const uint64_t counts[] = { count_now(&all->succeeded), count_now(&all->failed) };
    static const char *const names[] = { "success", "failure" };
    for (int i = 0; i < 2; i++) {
        put_text(to, "ingot_requests_total");
        put_labels(to, of);
        put_format(to, ",outcome=\"%s\"} %llu\n", names[i],
                   (unsigned long long)counts[i]);
    }
}

/* Calls `put` for each version that is served, with its counts of all loops. */
static void put_each(bytes *to, const catalog *list, int which) {
    for (size_t i = 0; i < list->count; i++) {
        const served *of = list->rows[i].served;
        statistics all = { 0 };
        for (size_t k = 0; of && k < of->loop_count; k++) {
            statistics_sum(&all, &of->counts[k]);
        }
        if (of && which < 0) {
            put_outcomes(to, of, &all);
        } else if (of) {
            put_histogram(to, of, (measure)which, &all.of[which]);
        }
    }
}

static void put_shadow(bytes *to, const served *of, const char *what, uint64_t count) {
    put_text(to, "ingot_shadow_runs_total");
    put_labels(to, of);
    put_format(to, ",shadow=\"%lld\",outcome=\"%s\"} %llu\n",
               (long long)of->config.shadow, what, (unsigned long long)count);
}

static void put_shadows(bytes *to, const catalog *list) {
    put_text(to, "# HELP ingot_shadow_runs_total Runs that a second version repeated.\n"
                 "# TYPE ingot_shadow_runs_total counter\n");
    for (size_t i = 0; i < list->count; i++) {
        const served *of = list->rows[i].served;
        if (of && of->shadow) {
            shadow_counts counts = shadow_count(of->shadow);
            put_shadow(to, of, "same", counts.compared - counts.different);
            put_shadow(to, of, "different", counts.different);
            put_shadow(to, of, "failed", counts.failed);
            put_shadow(to, of, "passed_over", counts.passed_over);
        }
    }
    put_text(to, "# HELP ingot_shadow_difference_max Largest |a - b| / max(1, |b|).\n"
                 "# TYPE ingot_shadow_difference_max gauge\n");
    for (size_t i = 0; i < list->count; i++) {
        const served *of = list->rows[i].served;
        if (of && of->shadow) {
            double gap = shadow_count(of->shadow).max_gap;
            put_text(to, "ingot_shadow_difference_max");
            put_labels(to, of);
            put_format(to, gap <= 1e300 ? "} %.9g\n" : "} +Inf\n", gap);
        }
    }
}

void describe_metrics(bytes *to, const catalog *list) {
    put_text(to, "# HELP ingot_requests_total Requests that ended.\n"
                 "# TYPE ingot_requests_total counter\n");
    put_each(to, list, -1);
    for (int m = 0; m < MEASURE_COUNT; m++) {
        put_format(to, "# HELP %s %s\n# TYPE %s histogram\n", metrics[m].name,
                   metrics[m].help, metrics[m].name);
        put_each(to, list, m);
    }
    put_shadows(to, list);
}
