/* Files, folders, clocks, CPU quotas and checksums.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/platform/platform.h"

#include "base/crc32.h"
#include "tests/unit/unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char why[128];
static char folder[] = "/tmp/ingot-unit-XXXXXX";

/* Every test runs in a fresh folder, as the current one. */
static void enter_folder(void) {
    CHECK(mkdtemp(folder) != NULL);
    CHECK(chdir(folder) == 0);
}

static void leave_folder(void) {
    char command[64];
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    CHECK(chdir("/") == 0 && system(command) == 0);
}

static void write_text(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static int count_files(const char *path) {
    int count = 0;
    DIR *stream = opendir(path);
    for (struct dirent *entry; (entry = readdir(stream));) {
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    }
    closedir(stream);
    return count;
}

/* ---- mapping ---- */

TEST(maps_a_file) {
    enter_folder();
    write_text("a", "hello");
    ig_file_map map;
    CHECK_OK(ig_file_map_open("a", &map, why));
    CHECK_INT(map.size, 5);
    CHECK(memcmp(map.data, "hello", 5) == 0);
    struct stat facts;
    CHECK(stat("a", &facts) == 0);
    CHECK(map.inode == facts.st_ino && map.device == facts.st_dev && map.mtime_ns > 0);
    ig_file_map_close(&map);
    CHECK_INT(map.size, 0);
    ig_file_map_close(&map);
    leave_folder();
}

/* A mapping would kill its reader here, and the bytes of a copy stay. */
TEST(what_others_may_cut_short_is_copied) {
    enter_folder();
    write_text("shared", "words");
    CHECK(chmod("shared", 0646) == 0);
    ig_file_map map;
    CHECK_INT(ig_file_map_open("shared", &map, why), IG_OK);
    CHECK(truncate("shared", 0) == 0);
    CHECK(map.size == 5 && memcmp(map.data, "words", 5) == 0);
    ig_file_map_close(&map);
    leave_folder();
}

TEST(maps_an_empty_file) {
    enter_folder();
    write_text("a", "");
    ig_file_map map;
    CHECK_OK(ig_file_map_open("a", &map, why));
    CHECK(map.size == 0 && map.data != NULL);
    ig_file_map_close(&map);
    leave_folder();
}

TEST(refuses_what_is_no_file) {
    enter_folder();
    ig_file_map map;
    CHECK_STATUS(ig_file_map_open("none", &map, why), IG_IO);
    CHECK_TEXT(why, "no such file");
    CHECK(mkdir("d", 0755) == 0 && mkfifo("f", 0644) == 0);
    CHECK_STATUS(ig_file_map_open("d", &map, why), IG_IO);
    CHECK_TEXT(why, "is a folder");
    CHECK_STATUS(ig_file_map_open("f", &map, why), IG_IO);
    CHECK_TEXT(why, "not a regular file");
    CHECK_STATUS(ig_file_map_open("/dev/zero", &map, why), IG_IO);
    CHECK_STATUS(ig_file_map_open("none", &map, NULL), IG_IO);
    ig_file_map_close(&map);
    leave_folder();
}

TEST(users_may_use_links) {
    enter_folder();
    write_text("a", "x");
    CHECK(symlink("a", "s") == 0 && link("a", "h") == 0);
    ig_file_map map;
    CHECK_OK(ig_file_map_open("s", &map, why));
    ig_file_map_close(&map);
    CHECK_OK(ig_file_map_open("h", &map, why));
    ig_file_map_close(&map);
    leave_folder();
}

/* ---- names from a model ---- */

TEST(maps_beneath_the_model_s_folder) {
    enter_folder();
    CHECK(mkdir("m", 0755) == 0 && mkdir("m/sub", 0755) == 0);
    write_text("m/w.bin", "weights");
    write_text("m/sub/w.bin", "deeper");
    write_text("top", "top");
    static const char *const names[] = { "w.bin", "./w.bin", ".//./w.bin", "sub/w.bin",
                                         "sub//w.bin" };
    ig_file_map map;
    for (size_t i = 0; i < IG_COUNT_OF(names); i++) {
        CHECK_OK(ig_file_map_beneath("m/model.onnx", ig_str_of(names[i]), &map, why));
        CHECK(map.size == (i < 3 ? 7 : 6));
        ig_file_map_close(&map);
    }
    CHECK_OK(ig_file_map_beneath("model.onnx", IG_STR("top"), &map, why));
    ig_file_map_close(&map);
    CHECK_OK(ig_file_map_beneath("m/x", (ig_str){ "w.bin~", 5 }, &map, why));
    ig_file_map_close(&map);
    CHECK_STATUS(ig_file_map_beneath("none/model.onnx", IG_STR("top"), &map, why),
                 IG_IO);
    leave_folder();
}

static const char left_by_link[] =
    "a symbolic link leads out of the model's folder, where nothing is read: copy the "
    "file that it names there";

static void check_linked(const char *model, const char *name, const char *text) {
    ig_file_map map;
    CHECK_OK(ig_file_map_beneath(model, ig_str_of(name), &map, why));
    CHECK(map.size == strlen(text) && memcmp(map.data, text, map.size) == 0);
    ig_file_map_close(&map);
}

/* Links of the user's own folder: among its files, as a mounted volume has them, and to
 * the blobs of a cache of downloads. */
TEST(follows_links_that_stay) {
    enter_folder();
    CHECK(mkdir("v", 0755) == 0 && mkdir("v/..1", 0755) == 0);
    write_text("v/..1/w", "mounted");
    CHECK(symlink("..1", "v/..data") == 0 && symlink("..data/w", "v/w") == 0);
    check_linked("v/model.onnx", "w", "mounted");
    check_linked("v/model.onnx", "..data/w", "mounted");
    CHECK(symlink("v", "other") == 0);
    check_linked("other/model.onnx", "w", "mounted");

    CHECK(mkdir("hub", 0755) == 0 && mkdir("hub/blobs", 0755) == 0);
    CHECK(mkdir("hub/snapshots", 0755) == 0 && mkdir("hub/snapshots/r", 0755) == 0);
    CHECK(mkdir("hub/snapshots/r/onnx", 0755) == 0);
    write_text("hub/blobs/1", "model");
    write_text("hub/blobs/2", "weights");
    write_text("hub/secret", "s");
    CHECK(symlink("../../../blobs/1", "hub/snapshots/r/onnx/model.onnx") == 0);
    CHECK(symlink("../../../blobs/2", "hub/snapshots/r/onnx/w") == 0);
    CHECK(symlink("../../../secret", "hub/snapshots/r/onnx/out") == 0);
    check_linked("hub/snapshots/r/onnx/model.onnx", "w", "weights");
    check_linked("hub/snapshots/r/onnx/written.onnx", "w", "weights");
    ig_file_map map;
    CHECK_STATUS(ig_file_map_beneath("hub/snapshots/r/onnx/model.onnx", IG_STR("out"),
                                     &map, why),
                 IG_INVALID);
    CHECK_TEXT(why, left_by_link);
    leave_folder();
}

typedef struct beneath_case {
    const char *name, *reason;
} beneath_case;

TEST(refuses_to_leave_the_model_s_folder) {
    enter_folder();
    CHECK(mkdir("m", 0755) == 0 && mkdir("m/d", 0755) == 0 && mkdir("out", 0755) == 0);
    write_text("secret", "s");
    write_text("out/secret", "s");
    write_text("m/w", "w");
    write_text("m/linked", "w");
    CHECK(link("m/linked", "m/hard") == 0);
    CHECK(symlink("../secret", "m/link") == 0 && symlink("loop", "m/loop") == 0);
    CHECK(symlink("../out", "m/linkdir") == 0 && mkfifo("m/fifo", 0644) == 0);
    char absolute[128];
    snprintf(absolute, sizeof(absolute), "%s/m/w", folder);
    const beneath_case cases[] = {
        { "", "the name is empty" },
        { absolute, "absolute paths are not followed" },
        { "../secret", "\"..\" is not followed" },
        { "d/../../secret", "\"..\" is not followed" },
        { "d/..", "\"..\" is not followed" },
        { "..", "\"..\" is not followed" },
        { "link", left_by_link },
        { "linkdir/secret", left_by_link },
        { "loop", left_by_link },
        { "hard", "has hard links" },
        { "d", "is a folder" },
        { "d/", "is a folder" },
        { ".", "is a folder" },
        { "fifo", "not a regular file" },
        { "none", "no such file" },
        { "w/x", "a part of the path is not a folder" },
    };
    for (size_t i = 0; i < IG_COUNT_OF(cases); i++) {
        ig_file_map map;
        ig_str name = ig_str_of(cases[i].name);
        ig_status status = ig_file_map_beneath("m/x", name, &map, why);
        CHECK_MSG(status == IG_INVALID, "'%s': %s", cases[i].name,
                  ig_status_name(status));
        CHECK_TEXT(why, cases[i].reason);
        CHECK(map.size == 0 && map.base == NULL);
    }
    leave_folder();
}

TEST(refuses_odd_names) {
    enter_folder();
    write_text("w", "w");
    ig_file_map map;
    CHECK_STATUS(ig_file_map_beneath("m", (ig_str){ "w\0x", 3 }, &map, why),
                 IG_INVALID);
    CHECK_TEXT(why, "the name holds a zero byte");
    static char name[100000];
    memset(name, 'n', sizeof(name));
    ig_str longest = { name, sizeof(name) };
    CHECK_STATUS(ig_file_map_beneath("m", longest, &map, why), IG_INVALID);
    CHECK_TEXT(why, "the name is too long");
    for (size_t i = 0; i + 2 < sizeof(name); i += 2) { /* "./././…n" */
        memcpy(name + i, "./", 2);
    }
    CHECK_STATUS(ig_file_map_beneath("m", longest, &map, why), IG_INVALID);
    CHECK_TEXT(why, "no such file");
    leave_folder();
}

/* ---- publishing ---- */

TEST(publishes_parts_in_order) {
    enter_folder();
    ig_file_part parts[] = { { "ab", 2 }, { NULL, 0 }, { "cde", 3 } };
    CHECK_OK(ig_file_publish("out", parts, 3, why));
    CHECK_OK(ig_file_publish("out", parts, 2, why)); /* replaces */
    CHECK_OK(ig_file_publish("./sub", parts, 0, why));
    ig_file_map map;
    CHECK_OK(ig_file_map_open("out", &map, why));
    CHECK(map.size == 2 && memcmp(map.data, "ab", 2) == 0);
    ig_file_map_close(&map);
    CHECK_INT(count_files("."), 2);
    leave_folder();
}

TEST(replacing_leaves_open_maps_alone) {
    enter_folder();
    CHECK_OK(ig_file_publish("out", &(ig_file_part){ "old", 3 }, 1, why));
    ig_file_map map;
    CHECK_OK(ig_file_map_open("out", &map, why));
    CHECK_OK(ig_file_publish("out", &(ig_file_part){ "new!", 4 }, 1, why));
    CHECK(memcmp(map.data, "old", 3) == 0);
    ig_file_map_close(&map);
    leave_folder();
}

TEST(a_copy_is_a_file_of_its_own) {
    enum { BYTES = 3000001 };
    static char big[BYTES];
    enter_folder();
    for (int i = 0; i < BYTES; i++) {
        big[i] = (char)(i * 7 >> 3);
    }
    ig_file_part parts[] = { { big, 1000 }, { big + 1000, BYTES - 1000 } };
    CHECK_OK(ig_file_publish("from", parts, 2, why));
    CHECK_OK(ig_file_publish("to", parts, 0, why));
    CHECK_OK(ig_file_publish_copy("to", "from", why));
    struct stat facts;
    CHECK(stat("to", &facts) == 0 && facts.st_nlink == 1 && facts.st_size == BYTES);
    int fd = open("from", O_WRONLY);
    CHECK(fd >= 0 && pwrite(fd, "!", 1, 5000) == 1 && close(fd) == 0);
    ig_file_map map;
    CHECK_OK(ig_file_map_open("to", &map, why));
    CHECK(map.size == BYTES && memcmp(map.data, big, BYTES) == 0);
    ig_file_map_close(&map);
    CHECK_STATUS(ig_file_publish_copy("to", "none", why), IG_IO);
    CHECK_TEXT(why, "no such file");
    CHECK(mkdir("d", 0755) == 0);
    CHECK_STATUS(ig_file_publish_copy("d", "from", why), IG_IO);
    CHECK_OK(ig_file_publish("empty", NULL, 0, why));
    CHECK_OK(ig_file_publish_copy("to", "empty", why));
    CHECK(stat("to", &facts) == 0 && facts.st_size == 0);
    CHECK_INT(count_files("."), 4);
    leave_folder();
}

TEST(never_replaces_a_device_or_folder) {
    enter_folder();
    ig_file_part part = { "x", 1 };
    CHECK(mkdir("d", 0755) == 0 && mkfifo("f", 0644) == 0);
    CHECK_STATUS(ig_file_publish("d", &part, 1, why), IG_IO);
    CHECK_TEXT(why, "is a folder");
    CHECK_STATUS(ig_file_publish("f", &part, 1, why), IG_IO);
    CHECK_TEXT(why, "not a regular file");
    CHECK_STATUS(ig_file_publish("none/x", &part, 1, why), IG_IO);
    CHECK_TEXT(why, "no such file");
    CHECK_STATUS(ig_file_publish("/proc/ingot", &part, 1, why), IG_IO);
    CHECK_INT(count_files("."), 2);
    leave_folder();
}

TEST(a_failed_write_leaves_nothing) {
    enter_folder();
    CHECK_OK(ig_file_publish("out", &(ig_file_part){ "old", 3 }, 1, why));
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit = { 1000, 1000 };
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    static char big[5000];
    CHECK_STATUS(ig_file_publish("out", &(ig_file_part){ big, sizeof(big) }, 1, why),
                 IG_IO);
    CHECK_TEXT(why, "the file would be too large");
    CHECK_INT(count_files("."), 1);
    ig_file_map map;
    CHECK_OK(ig_file_map_open("out", &map, why));
    CHECK_INT(map.size, 3);
    ig_file_map_close(&map);
    leave_folder();
}

TEST(long_names_are_published) {
    enter_folder();
    char name[256];
    memset(name, 'n', 255);
    name[255] = '\0';
    CHECK_OK(ig_file_publish(name, &(ig_file_part){ "x", 1 }, 1, why));
    CHECK(ig_file_exists(name));
    static char path[6000];
    memset(path, 'p', sizeof(path) - 1);
    CHECK_STATUS(ig_file_publish(path, NULL, 0, why), IG_IO);
    CHECK_TEXT(why, "the name is too long");
    leave_folder();
}

/* ---- stale temporaries ---- */

static pid_t dead_process(void) {
    pid_t pid = fork();
    if (pid == 0) {
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    return pid;
}

static void write_temporary(char *name, size_t size, pid_t pid) {
    snprintf(name, size, ".out.ingot-%ld-0", (long)pid);
    write_text(name, "half");
}

TEST(removes_temporaries_of_the_dead_only) {
    enter_folder();
    char dead[64], alive[64], locked[64];
    write_temporary(dead, sizeof(dead), dead_process());
    write_temporary(alive, sizeof(alive), getppid());
    write_temporary(locked, sizeof(locked), dead_process());
    int fd = open(locked, O_WRONLY);
    CHECK(flock(fd, LOCK_EX) == 0);
    static const char *const others[] = {
        "out",           ".out.ingot-",    ".out.ingot-x-0", ".out.ingot-99999999x-0",
        "out.ingot-1-0", ".out.ingot-0-0", ".out.ingot--5-0"
    };
    for (size_t i = 0; i < IG_COUNT_OF(others); i++) {
        write_text(others[i], "mine");
    }
    ig_file_remove_stale("./out");
    CHECK(!ig_file_exists(dead));
    CHECK(ig_file_exists(alive) && ig_file_exists(locked));
    for (size_t i = 0; i < IG_COUNT_OF(others); i++) {
        CHECK_MSG(ig_file_exists(others[i]), "%s", others[i]);
    }
    close(fd);
    ig_file_remove_stale("out"); /* the lock is gone */
    CHECK(!ig_file_exists(locked));
    ig_file_remove_stale("none/out");
    leave_folder();
}

TEST(a_killed_writer_s_temporary_is_removed) {
    enter_folder();
    static char big[1 << 20];
    int gate[2];
    CHECK(pipe(gate) == 0);
    pid_t pid = fork();
    if (pid == 0) { /* publishes for ever, each time seconds long */
        static ig_file_part parts[100000];
        for (size_t i = 0; i < IG_COUNT_OF(parts); i++) {
            parts[i] = (ig_file_part){ big, i < 10 ? sizeof(big) : 1 };
        }
        ig_status status = write(gate[1], "x", 1) == 1 ? IG_OK : IG_IO;
        while (status == IG_OK) {
            status = ig_file_publish("out", parts, IG_COUNT_OF(parts), why);
        }
        _exit(1);
    }
    char go;
    CHECK(read(gate[0], &go, 1) == 1);
    for (int i = 0; i < 30000 && count_files(".") == 0; i++) {
        usleep(1000);
    }
    CHECK(kill(pid, SIGKILL) == 0 && waitpid(pid, NULL, 0) == pid);
    CHECK(count_files(".") >= 1);
    ig_file_remove_stale("out");
    CHECK_INT(count_files("."), ig_file_exists("out") ? 1 : 0);
    leave_folder();
}

/* ---- folders, clock, CPUs ---- */

TEST(creates_folders_with_parents) {
    enter_folder();
    CHECK_OK(ig_folder_create("a/b/c", why));
    CHECK_OK(ig_folder_create("a/b/c/", why));
    CHECK_OK(ig_folder_create("/", why));
    CHECK(ig_file_exists("a/b/c"));
    write_text("file", "x");
    CHECK_STATUS(ig_folder_create("file/x", why), IG_IO);
    CHECK_STATUS(ig_folder_create("file", why), IG_IO);
    CHECK_STATUS(ig_folder_create("", why), IG_IO);
    leave_folder();
}

TEST(time_goes_forward) {
    double before = ig_time_now();
    usleep(2000);
    double passed = ig_time_now() - before;
    CHECK(passed >= 0.002 && passed < 60);
}

TEST(counts_at_min_one_cpu) {
    int count = ig_cpu_count();
    CHECK(count >= 1 && count <= sysconf(_SC_NPROCESSORS_CONF));
}

TEST(reads_quotas_of_version_two) {
    enter_folder();
    CHECK_OK(ig_folder_create("fs/a/b", why));
    write_text("groups", "0::/a/b\n");
    CHECK_INT(ig_cpu_quota("groups", "fs"), 0);
    write_text("fs/a/b/cpu.max", "max 100000\n");
    CHECK_INT(ig_cpu_quota("groups", "fs"), 0);
    write_text("fs/a/cpu.max", "250000 100000\n");
    CHECK_INT(ig_cpu_quota("groups", "fs"), 3);
    write_text("fs/a/b/cpu.max", "50000 100000\n");
    CHECK_INT(ig_cpu_quota("groups", "fs"), 1);
    write_text("groups", "0::/not/visible/here\n");
    CHECK_INT(ig_cpu_quota("groups", "fs"), 0);
    write_text("fs/cpu.max", "200000 100000\n"); /* a container's own group */
    CHECK_INT(ig_cpu_quota("groups", "fs"), 2);
    write_text("groups", "0::/\n");
    CHECK_INT(ig_cpu_quota("groups", "fs"), 2);
    CHECK_INT(ig_cpu_quota("none", "fs"), 0);
    leave_folder();
}

TEST(reads_quotas_of_version_one) {
    enter_folder();
    CHECK_OK(ig_folder_create("fs/cpu,cpuacct/job", why));
    write_text("groups", "5:memory:/job\n4:cpu,cpuacct:/job\n3:cpuset:/\n0::/\n");
    CHECK_INT(ig_cpu_quota("groups", "fs"), 0);
    write_text("fs/cpu,cpuacct/job/cpu.cfs_quota_us", "-1\n");
    write_text("fs/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
    CHECK_INT(ig_cpu_quota("groups", "fs"), 0);
    write_text("fs/cpu,cpuacct/job/cpu.cfs_quota_us", "400000\n");
    CHECK_INT(ig_cpu_quota("groups", "fs"), 4);
    write_text("groups", "garbage\n:\n::\n4:cpuset:/job\n\n");
    CHECK_INT(ig_cpu_quota("groups", "fs"), 0);
    leave_folder();
}

static uint32_t add_bit_by_bit(uint32_t crc, const unsigned char *bytes, size_t size) {
    uint32_t rest = ~crc;
    for (size_t i = 0; i < size; i++) {
        rest ^= bytes[i];
        for (int bit = 0; bit < 8; bit++) {
            rest = (rest >> 1) ^ (rest & 1 ? 0xedb88320u : 0);
        }
    }
    return ~rest;
}

TEST(checksums_of_any_length_are_those_of_bits) {
    enum { BYTES = 700 };
    static unsigned char bytes[BYTES + 3];
    ig_crc32 tables;
    size_t wrong = 0;
    ig_crc32_init(&tables);
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (unsigned char)(i * i * 31 + i / 7);
    }
    CHECK_INT(ig_crc32_add(&tables, 0, "123456789", 9), 0xcbf43926u);
    for (size_t size = 0; size <= BYTES; size++) {
        const unsigned char *from = bytes + size % 3;
        uint32_t first = ig_crc32_add(&tables, 0, from, size);
        wrong += first != add_bit_by_bit(0, from, size);
        wrong += ig_crc32_add(&tables, first, bytes, BYTES - size) !=
                 add_bit_by_bit(first, bytes, BYTES - size);
    }
    CHECK_INT(wrong, 0);
}

UNIT_SUITE(base_platform, maps_a_file, what_others_may_cut_short_is_copied,
           maps_an_empty_file, refuses_what_is_no_file, users_may_use_links,
           maps_beneath_the_model_s_folder, follows_links_that_stay,
           refuses_to_leave_the_model_s_folder, refuses_odd_names,
           publishes_parts_in_order, replacing_leaves_open_maps_alone,
           a_copy_is_a_file_of_its_own, never_replaces_a_device_or_folder,
           a_failed_write_leaves_nothing, long_names_are_published,
           removes_temporaries_of_the_dead_only, a_killed_writer_s_temporary_is_removed,
           creates_folders_with_parents, time_goes_forward, counts_at_min_one_cpu,
           reads_quotas_of_version_two, reads_quotas_of_version_one,
           checksums_of_any_length_are_those_of_bits)
