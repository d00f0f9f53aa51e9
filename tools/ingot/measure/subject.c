/* The subject of a measurement: its model and its settings.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/measure/subject.h"

#include <string.h>

/* Linux tells it on a line "model name : AMD EPYC …" for each CPU. */
static void read_cpu_name(char *out, size_t size) {
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    snprintf(out, size, "unknown CPU");
    while (file && fgets(line, sizeof line, file)) {
        const char *colon = strncmp(line, "model name", 10) == 0 ? strchr(line, ':')
                                                                 : NULL;
        if (colon) {
            colon += strspn(colon, ": ");
            snprintf(out, size, "%.*s", (int)strcspn(colon, "\n"), colon);
            break;
        }
    }
    if (file) {
        fclose(file);
    }
}

void subject_read(const char *path, const ig_program *program, subject *out) {
    const char *slash = strrchr(path, '/');
    ig_program_facts facts = { .size = sizeof facts };
    ig_program_get_facts(program, &facts);
    *out = (subject){ .model = slash ? slash + 1 : path,
                      .build = facts.build_id,
                      .level = facts.level };
    read_cpu_name(out->cpu, sizeof out->cpu);
}

void subject_print(const subject *what, bool with_model) {
    if (with_model) {
        put_plain(stdout, what->model);
        fputs(", ", stdout);
    }
    printf("ingot %s, level %s, ", what->build, what->level);
    put_plain(stdout, what->cpu);
}

static void put_text_member(const char *name, const char *text) {
    printf("\"%s\": ", name);
    put_json_text(stdout, text);
    fputs(", ", stdout);
}

void subject_put_json(const subject *what) {
    put_text_member("model", what->model);
    put_text_member("build", what->build);
    put_text_member("level", what->level);
    put_text_member("cpu", what->cpu);
}
