# Language, warnings, sanitizers and where outputs go.
# SPDX-License-Identifier: Apache-2.0

set(CMAKE_C_STANDARD 11 CACHE STRING "C standard: 11, 17 or 23")
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Release or Debug" FORCE)
endif()
set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_C_FLAGS_DEBUG "-O1 -g")

# Binaries find the libraries beside them, in the build and after installation.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/folders)
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
set(CMAKE_INSTALL_RPATH "$ORIGIN;$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")

# Linux names (openat2, sched_getaffinity, memfd) beside the C11 language.
add_compile_definitions(_GNU_SOURCE INGOT_VERSION="${PROJECT_VERSION}")
include_directories(${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)

set(INGOT_WARNINGS
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes
    -Wmissing-prototypes -Wvla -Wswitch-enum -Werror)
# No contraction and no fast math: numerics are written down, not left to flags.
add_compile_options(-ffp-contract=off -ffunction-sections -fdata-sections)
add_link_options(-Wl,--gc-sections -Wl,-z,relro)

if(INGOT_SANITIZE)
    add_compile_options(-fsanitize=${INGOT_SANITIZE} -fno-sanitize-recover=all
                        -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${INGOT_SANITIZE})
else()
    add_link_options($<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,SHARED_LIBRARY>:-Wl,-z,defs>)
endif()
if(INGOT_FUZZ)
    if(NOT CMAKE_C_COMPILER_ID MATCHES Clang)
        message(FATAL_ERROR "INGOT_FUZZ needs clang: add -DCMAKE_C_COMPILER=clang-14")
    endif()
    add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# Names of functions are for debuggers: a build of the kind Release is installed without.
install(CODE "
if(\"\${CMAKE_INSTALL_CONFIG_NAME}\" STREQUAL Release)
    set(CMAKE_INSTALL_DO_STRIP ON)
endif()")
