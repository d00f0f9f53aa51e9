/* The stand-ins for CUDA; C++ compiled on this machine.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/cuda/cuda_library.h"

#include "tests/unit/unit.h"

#include <dlfcn.h>
#include <unistd.h>

static const char *compiler(void) {
    const char *named = getenv("CXX");
    return named && named[0] ? named : "c++";
}

bool cuda_find_compiler(void) {
    char command[512];
    snprintf(command, sizeof command, "%s --version >/dev/null 2>&1", compiler());
    return system(command) == 0;
}

bool cuda_has_compiler(void) {
    bool is_there = cuda_find_compiler();
    if (!is_there) {
        unit_skip("emitted CUDA text on the CPU: no C++ compiler (%s)", compiler());
    }
    return is_there;
}

cuda_library cuda_library_build(const char *text, const char *flags) {
    cuda_library library = { .folder = "/tmp/ingot-cuda-host-XXXXXX" };
    char source[64], command[1024];
    CHECK(mkdtemp(library.folder) != NULL);
    snprintf(source, sizeof source, "%s/unit.cc", library.folder);
    snprintf(library.path, sizeof library.path, "%s/unit.so", library.folder);
    FILE *file = fopen(source, "w");
    CHECK_MSG(file && fputs(text, file) >= 0 && fclose(file) == 0, "%s", source);
    snprintf(command, sizeof command,
             "%s -std=c++17 -O1 -fPIC -shared -ffp-contract=off -pthread %s -o %s %s",
             compiler(), flags, library.path, source);
    int failed = system(command);
    unlink(source);
    if (failed) {
        cuda_library_remove(&library);
    }
    CHECK_MSG(!failed, "%s", command);
    return library;
}

void cuda_library_remove(const cuda_library *library) {
    unlink(library->path);
    rmdir(library->folder);
}

static void *driver;

bool cuda_open_stand_ins(void) {
    if (!cuda_has_compiler()) {
        return false;
    }
    setenv("INGOT_CUDA_DIR", INGOT_BINARY_DIR "/unit/cuda", 1);
    driver = dlopen(INGOT_BINARY_DIR "/unit/cuda/libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    CHECK_MSG(driver != NULL, "%s", dlerror());
    return true;
}

void *cuda_stand_in(const char *name) {
    void *symbol = dlsym(driver, name);
    CHECK_MSG(symbol != NULL, "%s", dlerror());
    return symbol;
}
