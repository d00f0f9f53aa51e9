/* The clock, and how many CPUs this process may use.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A container with a quota of two CPUs on a machine of 64 must not start 64 threads:
 * they would be stopped for most of each period.  So the count is the least of the
 * affinity mask and the quotas of our control group and of every group above it, in
 * both versions of the interface:
 *
 *   /proc/self/cgroup   0::/a/b           →  <mount>/a/b/cpu.max      "200000 100000"
 *                       4:cpu,cpuacct:/c  →  <mount>/cpu,cpuacct/c/cpu.cfs_quota_us
 *
 * Inside a container the path may be the host's and not be there; the root of the mount
 * is then our own group, and it is always read.
 */
#include "base/platform/platform.h"

#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MAX_CPUS = 1 << 20 };

double ig_time_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* ---- affinity ---- */

static int count_affinity(void) {
    for (int bits = CPU_SETSIZE; bits <= MAX_CPUS; bits *= 2) {
        cpu_set_t *set = CPU_ALLOC((size_t)bits);
        if (!set) {
            break;
        }
        size_t size = CPU_ALLOC_SIZE((size_t)bits);
        int count = sched_getaffinity(0, size, set) == 0 ? CPU_COUNT_S(size, set) : 0;
        CPU_FREE(set);
        if (count > 0) {
            return count;
        }
    }
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 && online < INT_MAX ? (int)online : 1;
}

/* ---- control groups ---- */

/* The first line of a small file; false when there is none. */
static bool read_line(const char *path, char *line, int size) {
    FILE *file = fopen(path, "re");
    if (!file) {
        return false;
    }
    bool is_read = fgets(line, size, file) != NULL;
    fclose(file);
    return is_read;
}

/* CPUs for `quota` microseconds in each `period`, rounded up; 0 is no limit. */
static int cpus_of(long long quota, long long period) {
    if (quota <= 0 || period <= 0) {
        return 0;
    }
    long long count = quota / period + (quota % period != 0);
    return count < MAX_CPUS ? (int)count : 0;
}

/* The quota of one group's folder, either version; 0 is no limit. */
static int quota_of_folder(const char *folder) {
    char path[PATH_MAX + 32], line[128];
    long long quota = 0, period = 0;
    snprintf(path, sizeof(path), "%s/cpu.max", folder);
    if (read_line(path, line, sizeof(line))) {
        int count = sscanf(line, "%lld %lld", &quota, &period);
        return count == 2 ? cpus_of(quota, period) : 0;
    }
    snprintf(path, sizeof(path), "%s/cpu.cfs_quota_us", folder);
    if (!read_line(path, line, sizeof(line)) || sscanf(line, "%lld", &quota) != 1) {
        return 0;
    }
    snprintf(path, sizeof(path), "%s/cpu.cfs_period_us", folder);
    if (!read_line(path, line, sizeof(line)) || sscanf(line, "%lld", &period) != 1) {
        return 0;
    }
    return cpus_of(quota, period);
}

static int lesser_of(int a, int b) {
    return !a || (b && b < a) ? b : a;
}

/* The least quota from `group` (a path below `mount`) up to the mount. */
static int quota_up_to_root(const char *mount, const char *group) {
    char folder[PATH_MAX];
    int size = snprintf(folder, sizeof(folder), "%s%s", mount, group);
    if (size < 0 || (size_t)size >= sizeof(folder)) {
        return quota_of_folder(mount);
    }
    int quota = 0;
    size_t mount_size = strlen(mount);
    for (size_t end = (size_t)size; end > mount_size; end--) {
        if (folder[end] == '\0' || folder[end] == '/') {
            folder[end] = '\0';
            quota = lesser_of(quota, quota_of_folder(folder));
        }
    }
    return lesser_of(quota, quota_of_folder(mount));
}

static bool lists_cpu(const char *controllers) {
    for (const char *at = controllers; *at; at += strcspn(at, ","), at += *at == ',') {
        if (strncmp(at, "cpu", 3) == 0 && (at[3] == ',' || at[3] == '\0')) {
            return true;
        }
    }
    return false;
}

/* One line "number:controllers:path"; changes `line`. */
static int quota_of_line(char *line, const char *mount) {
    char *controllers = strchr(line, ':');
    char *group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group) {
        return 0;
    }
    *group++ = '\0';
    controllers++;
    group[strcspn(group, "\n")] = '\0';
    if (*controllers == '\0') {
        return quota_up_to_root(mount, group);
    }
    char folder[PATH_MAX];
    int size = snprintf(folder, sizeof(folder), "%s/%s", mount, controllers);
    if (!lists_cpu(controllers) || size < 0 || (size_t)size >= sizeof(folder)) {
        return 0;
    }
    return quota_up_to_root(folder, group);
}

int ig_cpu_quota(const char *groups_file, const char *mount) {
    char line[PATH_MAX];
    int quota = 0;
    FILE *file = fopen(groups_file, "re");
    while (file && fgets(line, sizeof(line), file)) {
        quota = lesser_of(quota, quota_of_line(line, mount));
    }
    if (file) {
        fclose(file);
    }
    return quota;
}

int ig_cpu_count(void) {
    return lesser_of(count_affinity(),
                     ig_cpu_quota("/proc/self/cgroup", "/sys/fs/cgroup"));
}
