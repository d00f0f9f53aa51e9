/* Completion for bash, zsh and fish, made of the option tables.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each script knows the verbs, the options of each verb, and the words of options that
 * are a choice of them ("embed|reference"); everything else completes as files do.
 */
#include "tools/ingot/cli/options.h"

#include <string.h>

/* A text inside single quotes; fish and zsh take doubled or escaped ones differently,
 * so quotes and brackets are left out. */
static void put_quoted(FILE *to, const char *text) {
    fputc('\'', to);
    for (; *text; text++) {
        if (!strchr("'[]:\\\n", *text)) {
            fputc(*text, to);
        }
    }
    fputc('\'', to);
}

/* "embed|reference" as "embed reference". */
static void put_choices(FILE *to, const char *choices) {
    for (; *choices; choices++) {
        fputc(*choices == '|' ? ' ' : *choices, to);
    }
}

static bool has_choices(const option_row *row) {
    return row->kind == OPTION_TEXT && options_are_choices(row->value);
}

/* ---- bash ---- */

static void put_bash_verb(FILE *to, const verb *which) {
    fprintf(to, "        %s) words=\"", which->name);
    for (const option_row *row = which->options; row->name; row++) {
        fprintf(to, "%s--%s", row == which->options ? "" : " ", row->name);
    }
    fputs("\" ;;\n", to);
}

static void put_bash_choices(FILE *to, const verb *which) {
    for (const option_row *row = which->options; row->name; row++) {
        if (has_choices(row)) {
            fprintf(to, "        \"%s --%s\") words=\"", which->name, row->name);
            put_choices(to, row->value);
            fputs("\" ;;\n", to);
        }
    }
}

static void print_bash(const verb *const *verbs, FILE *to) {
    fputs("# bash completion for ingot\n_ingot() {\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} words= values=\n"
          "    if [ \"$COMP_CWORD\" = 1 ]; then\n        words=\"",
          to);
    for (size_t i = 0; verbs[i]; i++) {
        fprintf(to, "%s%s", i ? " " : "", verbs[i]->name);
    }
    fputs("\"\n    else\n        case ${COMP_WORDS[1]} in\n", to);
    for (size_t i = 0; verbs[i]; i++) {
        put_bash_verb(to, verbs[i]);
    }
    fputs("        esac\n        values=$words\n"
          "        case \"${COMP_WORDS[1]} ${COMP_WORDS[COMP_CWORD - 1]}\" in\n",
          to);
    for (size_t i = 0; verbs[i]; i++) {
        put_bash_choices(to, verbs[i]);
    }
    fputs("        esac\n    fi\n"
          "    if [ \"$COMP_CWORD\" = 1 ] || [ \"$words\" != \"$values\" ] || "
          "[[ $word == -* ]]; then\n"
          "        COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n    fi\n}\n"
          "complete -o default -F _ingot ingot\n",
          to);
}

/* ---- zsh ---- */

static void put_zsh_option(FILE *to, const option_row *row) {
    fprintf(to, " \\\n            '--%s%s[", row->name, row->value ? "=" : "");
    for (const char *text = row->help; *text; text++) {
        if (!strchr("'[]:\\\n", *text)) {
            fputc(*text, to);
        }
    }
    fputc(']', to);
    if (has_choices(row)) {
        fprintf(to, ":%s:(", row->name);
        put_choices(to, row->value);
        fputc(')', to);
    } else if (row->value) {
        fprintf(to, ":%s:_files", row->name);
    }
    fputc('\'', to);
}

static void print_zsh(const verb *const *verbs, FILE *to) {
    fputs("#compdef ingot\n_ingot() {\n    local -a verbs=(\n", to);
    for (size_t i = 0; verbs[i]; i++) {
        fprintf(to, "        %s:", verbs[i]->name);
        put_quoted(to, verbs[i]->help);
        fputc('\n', to);
    }
    fputs("    )\n    if (( CURRENT == 2 )); then\n        _describe verb verbs\n"
          "        return\n    fi\n    case $words[2] in\n",
          to);
    for (size_t i = 0; verbs[i]; i++) {
        fprintf(to, "    %s)\n        _arguments", verbs[i]->name);
        for (const option_row *row = verbs[i]->options; row->name; row++) {
            put_zsh_option(to, row);
        }
        fputs(" \\\n            '*:file:_files'\n        ;;\n", to);
    }
    fputs("    esac\n}\n_ingot \"$@\"\n", to);
}

/* ---- fish ---- */

static void put_fish_option(FILE *to, const verb *which, const option_row *row) {
    fprintf(to, "complete -c ingot -n '__fish_seen_subcommand_from %s' -l %s",
            which->name, row->name);
    if (row->letter) {
        fprintf(to, " -s %c", row->letter);
    }
    if (has_choices(row)) {
        fputs(" -x -a '", to);
        put_choices(to, row->value);
        fputc('\'', to);
    } else if (row->value) {
        fputs(" -r", to);
    }
    fputs(" -d ", to);
    put_quoted(to, row->help);
    fputc('\n', to);
}

static void print_fish(const verb *const *verbs, FILE *to) {
    fputs("# fish completion for ingot\n", to);
    for (size_t i = 0; verbs[i]; i++) {
        fprintf(to, "complete -c ingot -n __fish_use_subcommand -f -a %s -d ",
                verbs[i]->name);
        put_quoted(to, verbs[i]->help);
        fputc('\n', to);
    }
    for (size_t i = 0; verbs[i]; i++) {
        for (const option_row *row = verbs[i]->options; row->name; row++) {
            put_fish_option(to, verbs[i], row);
        }
    }
}

bool options_print_completion(const verb *const *verbs, const char *shell, FILE *to) {
    static const struct {
        const char *name;
        void (*print)(const verb *const *verbs, FILE *to);
    } shells[] = { { "bash", print_bash },
                   { "zsh", print_zsh },
                   { "fish", print_fish } };
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        if (strcmp(shells[i].name, shell) == 0) {
            shells[i].print(verbs, to);
            return true;
        }
    }
    return false;
}
