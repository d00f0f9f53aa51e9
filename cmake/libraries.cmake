# The libraries that are shipped, made of the folders' objects.
# SPDX-License-Identifier: Apache-2.0
#
#   libingot-runtime   base + runtime               exports ingot/{runtime,tree,dlpack}.h
#   libingot           base + media + ir … driver           exports ingot.h, and ir/ privately
#   libingot-llvm      base + codegen/cpu           opened by libingot when it compiles
#   libingot-store     base + runtime/store         exports ingot/{store,dynamic}.h
#   libingot-lookahead base + runtime/store/ahead exports ingot/lookahead.h
#   libingot-train     base + runtime/train         exports ingot/trainer.h
#   libingot-group     base + runtime/collective    exports ingot/group.h
#   libingot-capture   runtime/capture              opened by libingot-runtime to write calls down
#   libingot-observe   base + runtime/observe       opened by libingot-runtime for gdb and perf
#   libingot-watch     base + runtime/watch         opened by libingot-runtime for profiles
#                                               and programs that check what they touch
#   libingot-cuda      base + runtime/cuda          opened by libingot-runtime for code for GPUs
#   libingot-text      base + runtime/text          opened by libingot-runtime for strings
#   libingot-image     base + media + runtime/image         opened by libingot-runtime for images
#   libingot-custom    base + runtime/custom        opened by libingot-runtime for the user's own operators
#   libingot-interp    base + runtime/interp        exports ingot/interp.h
#   libingot-interp-E  runtime/interp/E             opened by libingot-interp
#   ingot-interp-child base + runtime/interp/child  begun by libingot-interp-process
#   libingot-store-T   base + runtime/store/T       opened by libingot-store for T://

set(INGOT_SO_VERSION 0)

# A version script for `target`: the IG_API functions of HEADERS under a public node, and
# under another the functions PRIVATE and those that the folder library USER needs of it.
# What nobody can name from outside, the linker leaves out where it is not called.
function(ig_export target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "USER" "HEADERS;PRIVATE")
    set(users)
    set(own)
    if(TARGET ${arg_USER})
        set(users $<TARGET_OBJECTS:${arg_USER}>)
        set(own $<TARGET_OBJECTS:ig_base>) # of which the user has its own copy
    endif()
    string(TOUPPER "${target}" node)
    string(REPLACE "-" "_" node ${node})
    set(script ${PROJECT_BINARY_DIR}/generated/${target}.map)
    list(TRANSFORM arg_HEADERS PREPEND ${PROJECT_SOURCE_DIR}/include/ingot/)
    add_custom_command(OUTPUT ${script}
        COMMAND ${CMAKE_COMMAND} -D "HEADERS=${arg_HEADERS}" -D NODE=${node}_${INGOT_SO_VERSION}
                -D "PRIVATE=${arg_PRIVATE}" -D NM=${CMAKE_NM} -D "USERS=${users}" -D "OWN=${own}"
                -D OUTPUT=${script} -P ${PROJECT_SOURCE_DIR}/cmake/write_exports.cmake
        DEPENDS ${arg_HEADERS} ${PROJECT_SOURCE_DIR}/cmake/write_exports.cmake ${users} ${own}
        COMMENT "Listing the symbols of ${target}" VERBATIM)
    add_custom_target(${target}-exports DEPENDS ${script})
    add_dependencies(${target} ${target}-exports)
    target_link_options(${target} PRIVATE -Wl,--version-script=${script})
    set_target_properties(${target} PROPERTIES LINK_DEPENDS ${script})
    ig_version(${target})
endfunction()

# Of a library that others link: libNAME.so -> libNAME.so.0 -> libNAME.so.0.2.0.  A wheel
# holds no links.
function(ig_version target)
    set(version ${PROJECT_VERSION})
    if(INGOT_WHEEL)
        set(version ${INGOT_SO_VERSION})
    endif()
    set_target_properties(${target} PROPERTIES VERSION ${version}
        SOVERSION ${INGOT_SO_VERSION})
endfunction()

ig_folder_objects(runtime_objects ig_runtime)
if(runtime_objects AND EXISTS ${PROJECT_SOURCE_DIR}/include/ingot/runtime.h)
    ig_folder_objects(runtime_objects ig_base ig_runtime)
    add_library(ingot-runtime SHARED ${runtime_objects})
    target_link_libraries(ingot-runtime PRIVATE Threads::Threads m ${CMAKE_DL_LIBS})
    target_link_options(ingot-runtime PRIVATE $<$<CONFIG:Release>:-Wl,--as-needed>)
    ig_export(ingot-runtime HEADERS runtime.h program.h profile.h view.h tree.h dlpack.h)
    add_library(ingot-runtime-static STATIC ${runtime_objects})
    set_target_properties(ingot-runtime-static PROPERTIES OUTPUT_NAME ingot-runtime
        ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
endif()

# Runs steps of training.
if(TARGET ingot-runtime)
    ig_folder_objects(train_objects ig_base ig_train)
    add_library(ingot-train SHARED ${train_objects}
        $<FILTER:$<TARGET_OBJECTS:ig_runtime>,INCLUDE,/message\\.c>)
    target_link_libraries(ingot-train PUBLIC ingot-runtime)
    ig_export(ingot-train HEADERS trainer.h)
endif()

# Profiles and programs that check what they touch: exports ig_watch_find alone.
if(TARGET ingot-runtime)
    ig_folder_objects(watch_objects ig_base ig_watch)
    add_library(ingot-watch MODULE ${watch_objects}
        $<FILTER:$<TARGET_OBJECTS:ig_runtime>,INCLUDE,/expr\\.c|/memory\\.c|/message\\.c>)
    target_link_libraries(ingot-watch PRIVATE Threads::Threads)
    if(NOT INGOT_SANITIZE) # whose functions are the program's
        target_link_options(ingot-watch PRIVATE -Wl,-z,defs)
    endif()
    set_target_properties(ingot-watch PROPERTIES PREFIX lib)
endif()

# Runs programs on NVIDIA GPUs: exports ig_cuda_start alone.
if(TARGET ingot-runtime)
    ig_folder_objects(cuda_objects ig_base ig_cuda)
    add_library(ingot-cuda MODULE ${cuda_objects}
        $<FILTER:$<TARGET_OBJECTS:ig_runtime>,INCLUDE,/memory\\.c|/message\\.c>)
    target_link_libraries(ingot-cuda PRIVATE ${CMAKE_DL_LIBS})
    if(NOT INGOT_SANITIZE) # whose functions are the program's
        target_link_options(ingot-cuda PRIVATE -Wl,-z,defs)
    endif()
    set_target_properties(ingot-cuda PROPERTIES PREFIX lib)
endif()

# Writes calls down: exports ig_capture_start alone.
ig_folder_objects(capture_objects ig_capture)
add_library(ingot-capture MODULE ${capture_objects})
set_target_properties(ingot-capture PROPERTIES PREFIX lib)

# Tells gdb and perf of code: exports ig_observe_start, and the two names that gdb's JIT
# interface asks for, which are this library's own whatever else is in the process.
ig_folder_objects(observe_objects ig_base ig_observe)
add_library(ingot-observe MODULE ${observe_objects}
    $<FILTER:$<TARGET_OBJECTS:ig_runtime>,INCLUDE,/hash\\.c|/container\\.c|/message\\.c>)
target_link_libraries(ingot-observe PRIVATE Threads::Threads)
target_link_options(ingot-observe PRIVATE -Wl,-Bsymbolic)
set_target_properties(ingot-observe PROPERTIES PREFIX lib)

# Host functions on strings: exports ig_texts_find alone.
ig_folder_objects(text_objects ig_base ig_text)
add_library(ingot-text MODULE ${text_objects})
target_link_libraries(ingot-text PRIVATE m ${CMAKE_DL_LIBS})
set_target_properties(ingot-text PROPERTIES PREFIX lib)

# Host functions on images: exports ig_images_find alone.
ig_folder_objects(image_objects ig_base ig_media ig_image)
add_library(ingot-image MODULE ${image_objects})
target_link_libraries(ingot-image PRIVATE ${CMAKE_DL_LIBS})
set_target_properties(ingot-image PROPERTIES PREFIX lib)

# Operators of the user's own: exports ig_customs_find alone.
ig_folder_objects(custom_objects ig_base ig_custom)
add_library(ingot-custom MODULE ${custom_objects})
target_link_libraries(ingot-custom PRIVATE ${CMAKE_DL_LIBS})
set_target_properties(ingot-custom PROPERTIES PREFIX lib)

if(INGOT_RUNTIME_ONLY)
    return()
endif()

ig_folder_objects(store_objects ig_base ig_store)
add_library(ingot-store SHARED ${store_objects})
target_link_libraries(ingot-store PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
ig_export(ingot-store HEADERS store.h id_map.h dynamic.h)

# Runs programs whose tables lie in stores.
ig_folder_objects(ahead_objects ig_base ig_store_ahead)
add_library(ingot-lookahead SHARED ${ahead_objects}
    $<FILTER:$<TARGET_OBJECTS:ig_store>,INCLUDE,/call\\.c>)
target_link_libraries(ingot-lookahead PUBLIC ingot-runtime ingot-store
    PRIVATE Threads::Threads)
ig_export(ingot-lookahead HEADERS lookahead.h)

ig_folder_objects(group_objects ig_base ig_collective)
add_library(ingot-group SHARED ${group_objects}
    $<FILTER:$<TARGET_OBJECTS:ig_cuda>,INCLUDE,/driver\\.c>
    $<FILTER:$<TARGET_OBJECTS:ig_runtime>,INCLUDE,/message\\.c>)
target_link_libraries(ingot-group PRIVATE rt ${CMAKE_DL_LIBS})
ig_export(ingot-group HEADERS group.h)

ig_folder_objects(interp_objects ig_base ig_interp)
add_library(ingot-interp SHARED ${interp_objects})
target_link_libraries(ingot-interp PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
ig_export(ingot-interp HEADERS interp.h)

# The engine is opened into link namespaces, once an interpreter.
if(TARGET ig_interp_cpython)
    ig_folder_objects(objects ig_interp_cpython)
    add_library(ingot-interp-cpython MODULE ${objects}
        $<FILTER:$<TARGET_OBJECTS:ig_interp>,INCLUDE,/futex\\.c|/shared\\.c>
        $<FILTER:$<TARGET_OBJECTS:ig_runtime>,INCLUDE,/dlpack\\.c>)
    target_link_libraries(ingot-interp-cpython PRIVATE PkgConfig::PYTHON_EMBED
        Threads::Threads)
    set_target_properties(ingot-interp-cpython PROPERTIES PREFIX lib)
endif()

if(TARGET ig_interp_lua)
    ig_folder_objects(objects ig_base ig_interp_lua)
    add_library(ingot-interp-lua MODULE ${objects})
    target_link_libraries(ingot-interp-lua PRIVATE ingot-runtime PkgConfig::LUA)
    set_target_properties(ingot-interp-lua PROPERTIES PREFIX lib)
endif()

# The engine whose interpreters are children, and the program that these run.
if(TARGET ig_interp_cpython)
    set(dtype $<FILTER:$<TARGET_OBJECTS:ig_runtime>,INCLUDE,/dtype\\.c>)
    ig_folder_objects(objects ig_interp_process ig_interp_wire)
    add_library(ingot-interp-process MODULE ${objects} ${dtype})
    target_link_libraries(ingot-interp-process PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
    set_target_properties(ingot-interp-process PROPERTIES PREFIX lib)
    ig_folder_objects(objects ig_base ig_interp ig_interp_wire ig_interp_child)
    add_executable(ingot-interp-child ${objects} ${dtype})
    target_link_libraries(ingot-interp-child PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
    add_dependencies(ingot-interp-child ingot-interp-cpython)
endif()

# A type of stores: a library that exports ig_store_plugin_v2 alone.
function(ig_store_plugin type library)
    if(NOT TARGET ig_store_${type})
        return()
    endif()
    ig_folder_objects(objects ig_store_${type})
    ig_folder_objects(base_objects ig_base)
    add_library(ingot-store-${type} MODULE ${objects} ${base_objects}
        $<FILTER:$<TARGET_OBJECTS:ig_store>,INCLUDE,/call\\.c>)
    target_link_libraries(ingot-store-${type} PRIVATE ${library} Threads::Threads)
    set_target_properties(ingot-store-${type} PROPERTIES PREFIX lib)
endfunction()

ig_store_plugin(lmdb PkgConfig::LMDB)
ig_store_plugin(redis PkgConfig::HIREDIS)

ig_folder_objects(driver_objects ig_driver)
if(driver_objects AND TARGET ingot-runtime
   AND EXISTS ${PROJECT_SOURCE_DIR}/include/ingot/ingot.h)
    ig_folder_objects(objects ig_base ig_media ig_ir ig_compose ig_frontend ig_passes ig_codegen ig_driver)
    add_library(ingot SHARED ${objects})
    target_link_libraries(ingot PUBLIC ingot-runtime PRIVATE PkgConfig::PROTOBUF_C
        PkgConfig::LIBZIP PkgConfig::JANSSON PkgConfig::ZLIB Threads::Threads m ${CMAKE_DL_LIBS})
    target_link_options(ingot PRIVATE -Wl,-Bsymbolic-functions)
    ig_export(ingot HEADERS ingot.h log.h module.h compile.h values.h defect.h page.h
              shard.h grad.h stored.h quantize.h train.h
              PRIVATE ig_worker_main USER ig_cpu)
endif()

if(INGOT_LLVM AND TARGET ingot)
    ig_folder_objects(provider_objects ig_cpu)
    if(provider_objects)
        ig_folder_objects(base_objects ig_base)
        add_library(ingot-llvm SHARED ${provider_objects} ${base_objects})
        target_link_libraries(ingot-llvm PRIVATE ingot ingot_llvm_c)
        if(NOT INGOT_WHEEL) # there it is opened by its plain name
            ig_version(ingot-llvm)
            set_target_properties(ingot-llvm PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
        endif()
    endif()
endif()
