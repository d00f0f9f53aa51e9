/* Archives: real ones, hostile ones, and ones made here.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/torch/torch_case.h"
#include "tests/unit/unit.h"

#include "frontend/torch/package/package.h"
#include "frontend/torch/entry/torchscript.h"

#include <dirent.h>

/* ---- made here ---- */

static const torch_entry plain[] = {
    { "net/data.pkl", { "\200\002N.", 4 } },
    { "net/constants.pkl", { "\200\002).", 4 } },
    { "net/version", { "3\n", 2 } },
};

static ig_status open_bytes(torch_case *c, ig_archive *archive, ig_str bytes) {
    return ig_archive_open(archive, &c->context, &c->arena, "net.pt", bytes);
}

TEST(entries_are_found_below_the_root) {
    torch_case c;
    ig_archive archive;
    ig_archive_span span;
    torch_case_init(&c);
    ig_str zip = torch_zip(&c.arena, plain, IG_COUNT_OF(plain));
    CHECK_OK(open_bytes(&c, &archive, zip));
    CHECK_INT(archive.format, IG_ARCHIVE_torchscript);
    CHECK_INT(archive.version, 3);
    CHECK_STR(archive.root, "net/");
    ig_archive_entry *entry = ig_archive_find(&archive, IG_STR("data.pkl"));
    CHECK(entry && !ig_archive_find(&archive, IG_STR("net/data.pkl")));
    CHECK_OK(ig_archive_read(&archive, entry, &span));
    CHECK_INT(span.bytes.size, 4);
    CHECK(span.bytes.data >= zip.data && span.bytes.data < zip.data + zip.size);
    CHECK_PTR(zip.data + span.offset, span.bytes.data);
    torch_case_fini(&c);
}
END_TEST

/* Whatever one byte is changed to, the answer is a status with words, and what is
 * opened all the same lies inside the file. */
TEST(one_changed_byte_never_harms) {
    torch_case c;
    torch_case_init(&c);
    ig_str zip = torch_zip(&c.arena, plain, IG_COUNT_OF(plain));
    char *copy = ig_arena_copy(&c.arena, zip.data, zip.size);
    for (size_t at = 0; at < zip.size; at++) {
        for (int value = 0; value < 256; value += 15) {
            ig_archive archive;
            ig_archive_span span;
            torch_case_clear(&c);
            copy[at] = (char)value;
            ig_status status = open_bytes(&c, &archive, (ig_str){ copy, zip.size });
            CHECK_MSG(status == IG_OK || c.why[0], "byte %zu is refused silently", at);
            for (size_t i = 0; status == IG_OK && i < archive.entry_count; i++) {
                if (ig_archive_read(&archive, &archive.entries[i], &span) == IG_OK) {
                    (void)ig_hash_bytes(span.bytes.data, span.bytes.size, 0);
                }
            }
        }
        copy[at] = zip.data[at];
    }
    torch_case_fini(&c);
}
END_TEST

typedef struct bad_name {
    const char *name, *word;
} bad_name;

TEST(bad_names_are_refused) {
    static const bad_name names[] = {
        { "net/../x", "plain path" },    { "/net/x", "plain path" },
        { "net//x", "plain path" },      { "net/a\\b", "plain path" },
        { "net/\033[2J", "plain path" }, { "net/version", "two entries" },
    };
    for (size_t i = 0; i < IG_COUNT_OF(names); i++) {
        torch_case c;
        ig_archive archive;
        torch_entry entries[4];
        torch_case_init(&c);
        memcpy(entries, plain, sizeof(plain));
        entries[3] = (torch_entry){ names[i].name, IG_STR("3") };
        CHECK_STATUS(open_bytes(&c, &archive, torch_zip(&c.arena, entries, 4)),
                     IG_INVALID);
        CHECK_MSG(strstr(c.why, names[i].word), "%s", c.why);
        torch_case_fini(&c);
    }
}
END_TEST

/* ---- formats ---- */

typedef struct format_row {
    ig_str bytes;
    ig_archive_format format;
} format_row;

#define BYTES(text, format) \
    { { text, sizeof(text) - 1 }, IG_ARCHIVE_##format }

TEST(formats_are_given_by_content) {
    static const format_row rows[] = {
        BYTES("PYTORCH1........", pytorch1),
        BYTES("\x80\x02\x8a\x0al\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", legacy_save),
        BYTES("\x18\0\0\0PTMF....", lite_flatbuffer),
        BYTES("\x18\0\0\0ET12....", executorch),
        BYTES("\x80\x04N.", raw_pickle),
        BYTES("hello", unknown),
        BYTES("", unknown),
        BYTES("PK\3\4....", damaged_zip),
    };
    for (size_t i = 0; i < IG_COUNT_OF(rows); i++) {
        torch_case c;
        ig_archive archive;
        torch_case_init(&c);
        CHECK_INT(ig_archive_sniff(rows[i].bytes), rows[i].format);
        ig_status status = open_bytes(&c, &archive, rows[i].bytes);
        CHECK(status == IG_INVALID || status == IG_UNSUPPORTED);
        CHECK_MSG(strstr(c.why, "hint"), "%s", c.why);
        torch_case_fini(&c);
    }
}
END_TEST

typedef struct names_row {
    const char *names[3];
    ig_archive_format format;
} names_row;

TEST(zip_formats_are_given_by_entries) {
    static const names_row rows[] = {
        { { "m/data.pkl", "m/version", "m/data/0" }, IG_ARCHIVE_checkpoint },
        { { "m/data.pkl", "m/version", "m/code/x.py" }, IG_ARCHIVE_torchscript },
        { { "m/model.json", "m/code/x.py", "m/version" }, IG_ARCHIVE_json_script },
        { { "m/model.json", "m/tensors/0", "m/version" }, IG_ARCHIVE_json_script },
        { { "m/archive_format", "m/data.pkl", "m/version" }, IG_ARCHIVE_pt2 },
        { { "serialized_exported_program.json", "version", "x" }, IG_ARCHIVE_pt2 },
        { { "p/.data/extern_modules", "p/.data/version", "p/a/b.pkl" },
          IG_ARCHIVE_package },
        { { "readme.txt", "version", "x" }, IG_ARCHIVE_other_zip },
    };
    for (size_t i = 0; i < IG_COUNT_OF(rows); i++) {
        torch_case c;
        torch_entry entries[3];
        torch_case_init(&c);
        for (size_t k = 0; k < 3; k++) {
            entries[k] = (torch_entry){ rows[i].names[k], IG_STR("3\n") };
        }
        CHECK_INT(ig_archive_sniff(torch_zip(&c.arena, entries, 3)), rows[i].format);
        torch_case_fini(&c);
    }
}
END_TEST

/* ---- real ones ---- */

/* Reads every entry (its checksum is the judge) and the pickles; tells the status. */
static ig_status read_all(torch_case *c, ig_str bytes) {
    ig_archive archive;
    ig_pickle_set set;
    ig_ts_program program;
    IG_TRY(ig_archive_open(&archive, &c->context, &c->arena, "m.pt", bytes));
    ig_pickle_set_init(&set, &archive);
    for (size_t i = 0; i < archive.entry_count; i++) {
        ig_archive_span span;
        ig_str text;
        bool is_code = ig_str_ends(archive.entries[i].name, ".py");
        IG_TRY(is_code ? ig_archive_read_text(&archive, &archive.entries[i], &text)
                       : ig_archive_read(&archive, &archive.entries[i], &span));
    }
    return ig_ts_program_open(&c->context, &c->arena, "m.pt", bytes, NULL, &program);
}

static int read_folder(const char *group) {
    char folder[400], path[1000];
    int count = 0;
    torch_case_folder(folder, sizeof(folder));
    snprintf(path, sizeof(path), "%s/%s", folder, group);
    DIR *dir = opendir(path);
    for (struct dirent *at; dir && (at = readdir(dir)) != NULL;) {
        torch_case c;
        ig_str bytes;
        torch_case_init(&c);
        const char *name = ig_arena_printf(&c.arena, "%s/%s/model.pt", group,
                                           at->d_name);
        if (at->d_name[0] != '.' && torch_case_map(&c, name, &bytes)) {
            CHECK_MSG(read_all(&c, bytes) == IG_OK, "%s: %s", name, c.why);
            count++;
        }
        torch_case_fini(&c);
    }
    if (dir) {
        closedir(dir);
    }
    return count;
}

TEST(all_torchscript_cases_are_read) {
    static const char *const groups[] = {
        "traced",
        "scripted",
        "quantized",
        "ops",
        "old/1.13.1/traced",
        "old/1.13.1/scripted",
        "old/1.13.1/quantized",
        "old/2.6.0/traced",
        "old/2.6.0/scripted",
        "old/2.6.0/quantized",
        "../torchrec",
    };
    int count = 0;
    for (size_t i = 0; i < IG_COUNT_OF(groups); i++) {
        count += read_folder(groups[i]);
    }
    if (count == 0) {
        unit_skip("no cases");
    }
}
END_TEST

/* The names of files in bad/ that are wrong in their container or in a pickle. */
TEST(bad_files_are_refused) {
    static const char *const names[] = {
        "empty",
        "not_zip",
        "truncated",
        "truncated_tail",
        "cd_offset",
        "cd_size_lies",
        "header_offset_lies",
        "bomb_declared",
        "bomb_real",
        "duplicate_names",
        "path_traversal",
        "crc_wrong",
        "reduce_os_system",
        "reduce_eval",
        "unknown_global",
        "memo_self",
        "memo_unset",
        "stack_underflow",
        "no_stop",
        "string_past_end",
        "nested_tuples_100k",
        "storage_short",
        "view_past_storage",
        "negative_stride",
        "negative_size",
        "size_overflow",
        "rank_mismatch",
        "storage_missing",
        "storage_key_path",
        "storage_type_unknown",
        "version_999",
        "version_text",
        "byteorder_middle",
        "no_constants",
        "no_data",
        "package_reduce",
        "package_no_extern",
    };
    for (size_t i = 0; i < IG_COUNT_OF(names); i++) {
        torch_case c;
        ig_str bytes;
        torch_case_init(&c);
        const char *name = ig_arena_printf(&c.arena, "bad/%s.pt", names[i]);
        if (!torch_case_map(&c, name, &bytes) && strcmp(names[i], "empty") != 0) {
            unit_skip("no %s", name);
            torch_case_fini(&c);
            return;
        }
        double begin = ig_time_now();
        ig_status status = read_all(&c, c.map.base ? bytes : IG_STR(""));
        CHECK_MSG(status == IG_INVALID || status == IG_UNSUPPORTED ||
                      status == IG_LIMIT,
                  "%s: %s", names[i], ig_status_name(status));
        CHECK_MSG(c.why[0], "%s is refused silently", names[i]);
        CHECK_MSG(ig_time_now() - begin < 2, "%s takes long", names[i]);
        CHECK_MSG(c.context.budget.peak < 64u << 20, "%s takes much", names[i]);
        torch_case_fini(&c);
    }
}
END_TEST

UNIT_SUITE(archive_zip, entries_are_found_below_the_root, one_changed_byte_never_harms,
           bad_names_are_refused, formats_are_given_by_content,
           zip_formats_are_given_by_entries, all_torchscript_cases_are_read,
           bad_files_are_refused)
