# ig_folder(name [EXCLUDE regex] [LINK libraries…] [GENERATED sources…])
# SPDX-License-Identifier: Apache-2.0
#
# Makes a static library of all C files below the current folder, less those whose path
# matches EXCLUDE.  New files are found by the next build.  A folder that has no source
# yet gives an empty interface library, so that others can link it all the same.
# GENERATED sources are compiled without our warnings.
function(ig_folder name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "EXCLUDE" "LINK;GENERATED")
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.c)
    if(arg_EXCLUDE)
        list(FILTER sources EXCLUDE REGEX ${arg_EXCLUDE})
    endif()
    if(NOT sources)
        add_library(${name} INTERFACE)
        target_link_libraries(${name} INTERFACE ${arg_LINK})
        return()
    endif()
    add_library(${name} STATIC ${sources} ${arg_GENERATED})
    target_link_libraries(${name} PUBLIC ${arg_LINK})
    set_source_files_properties(${sources} PROPERTIES COMPILE_OPTIONS "${INGOT_WARNINGS}")
endfunction()

# Puts the objects of folder libraries that have any into the variable `out`.
function(ig_folder_objects out)
    set(objects)
    foreach(folder ${ARGN})
        get_target_property(type ${folder} TYPE)
        if(type STREQUAL "STATIC_LIBRARY")
            list(APPEND objects $<TARGET_OBJECTS:${folder}>)
        endif()
    endforeach()
    set(${out} ${objects} PARENT_SCOPE)
endfunction()
