# Libraries from the system; scripts/deps installs them on Debian.
# SPDX-License-Identifier: Apache-2.0

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(PkgConfig)

# xxHash is only ever included (XXH_INLINE_ALL), never linked.
find_path(INGOT_XXHASH_INCLUDE xxhash.h REQUIRED)

if(INGOT_TESTS)
    if(PkgConfig_FOUND)
        pkg_check_modules(CHECK IMPORTED_TARGET check)
    endif()
    if(NOT CHECK_FOUND)
        message(STATUS "Check is absent: no unit tests")
    endif()
endif()

if(INGOT_RUNTIME_ONLY)
    return()
endif()

# Each store that needs a library is built where that is there.
pkg_check_modules(LMDB IMPORTED_TARGET lmdb)
pkg_check_modules(HIREDIS IMPORTED_TARGET hiredis)
pkg_check_modules(PYTHON_EMBED IMPORTED_TARGET python3-embed)
pkg_check_modules(LUA IMPORTED_TARGET lua5.4)
pkg_get_variable(INGOT_PYTHON_PREFIX python3-embed prefix)

pkg_check_modules(PROTOBUF_C REQUIRED IMPORTED_TARGET libprotobuf-c)
pkg_check_modules(LIBZIP REQUIRED IMPORTED_TARGET libzip)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)
find_program(INGOT_PROTOC_C protoc-c REQUIRED)

# The server is built where all of its libraries are there.
pkg_check_modules(NGHTTP2 IMPORTED_TARGET libnghttp2)
pkg_check_modules(MICROHTTPD IMPORTED_TARGET libmicrohttpd)
pkg_check_modules(GNUTLS IMPORTED_TARGET gnutls)
set(INGOT_SERVE ON)
if(NOT NGHTTP2_FOUND OR NOT MICROHTTPD_FOUND OR NOT GNUTLS_FOUND)
    set(INGOT_SERVE OFF)
    message(STATUS "nghttp2, libmicrohttpd or GnuTLS is absent: no server (ingot-serve)")
endif()

# LLVM is used by one provider library; everything else builds without it, which
# INGOT_LLVM_CONFIG=none asks for.
if(NOT INGOT_LLVM_CONFIG)
    find_program(found_llvm_config NAMES llvm-config-19 llvm-config
                 HINTS ${LLVM_DIR}/bin /usr/lib/llvm-19/bin NO_CACHE)
    set(INGOT_LLVM_CONFIG ${found_llvm_config})
endif()
set(INGOT_LLVM OFF)
if(INGOT_LLVM_CONFIG)
    foreach(what version includedir libdir)
        execute_process(COMMAND ${INGOT_LLVM_CONFIG} --${what}
                        OUTPUT_VARIABLE llvm_${what} OUTPUT_STRIP_TRAILING_WHITESPACE)
    endforeach()
    set(llvm_wanted --link-shared --libs)
    if(INGOT_LLVM_STATIC) # the code generators that codegen/cpu initialises
        set(llvm_wanted --link-static --libs x86 aarch64 passes)
    endif()
    execute_process(COMMAND ${INGOT_LLVM_CONFIG} ${llvm_wanted}
                    OUTPUT_VARIABLE llvm_libs OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(INGOT_LLVM_STATIC) # nothing of LLVM may be seen by others in the process
        string(APPEND llvm_libs " -Wl,--exclude-libs,ALL -Wl,--as-needed"
               " -l:libz.a -l:libzstd.so.1 -l:libstdc++.a -lm -ldl")
    endif()
    if(llvm_version MATCHES "^19\\.")
        set(INGOT_LLVM ON)
        add_library(ingot_llvm_c INTERFACE)
        target_include_directories(ingot_llvm_c SYSTEM INTERFACE ${llvm_includedir})
        target_link_directories(ingot_llvm_c INTERFACE ${llvm_libdir})
        separate_arguments(llvm_libs UNIX_COMMAND "${llvm_libs}")
        target_link_libraries(ingot_llvm_c INTERFACE ${llvm_libs})
    endif()
endif()
if(NOT INGOT_LLVM)
    message(STATUS "LLVM 19 is absent: no CPU code generation (libingot-llvm.so)")
endif()
