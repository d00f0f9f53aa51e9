# Writes a linker version script: the IG_API functions of HEADERS; see libraries.cmake.
# SPDX-License-Identifier: Apache-2.0
cmake_minimum_required(VERSION 3.25)

set(text)
foreach(header ${HEADERS})
    file(READ ${header} one)
    string(APPEND text "${one}")
endforeach()
string(REGEX REPLACE "[\n;]" " " text "${text}")
# From each IG_API on, the first name before a parenthesis that begins with ig_.
string(REGEX MATCHALL "IG_API [^(]*[ *](ig_[a-z0-9_]+) *\\(" declarations "${text}")
set(names)
foreach(declaration ${declarations})
    string(REGEX MATCH "(ig_[a-z0-9_]+) *\\($" _ "${declaration}")
    list(APPEND names ${CMAKE_MATCH_1})
endforeach()
string(REGEX MATCHALL "IG_API " marks "${text}")
list(LENGTH marks mark_count)
list(LENGTH names name_count)
if(name_count EQUAL 0 OR NOT name_count EQUAL mark_count)
    message(FATAL_ERROR
            "${HEADERS}: ${mark_count} uses of IG_API, but ${name_count} functions found")
endif()
list(JOIN names ";\n        " names)

# What the objects of USERS need, less what those of OWN define themselves.
function(ig_needed_names out)
    execute_process(COMMAND ${NM} -u -P ${USERS} OUTPUT_VARIABLE needed
                    COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND ${NM} --defined-only -P ${USERS} ${OWN} OUTPUT_VARIABLE own
                    COMMAND_ERROR_IS_FATAL ANY)
    foreach(list needed own)
        string(REGEX MATCHALL "(^|\n)ig_[a-z0-9_]+ " ${list} "${${list}}")
        list(TRANSFORM ${list} STRIP)
        list(REMOVE_DUPLICATES ${list})
    endforeach()
    list(REMOVE_ITEM needed ${own})
    list(SORT needed)
    set(${out} ${needed} PARENT_SCOPE)
endfunction()

set(script "${NODE} {\n    global:\n        ${names};\n    local:\n        *;\n};\n")
if(USERS)
    ig_needed_names(needed)
    list(APPEND PRIVATE ${needed})
endif()
if(PRIVATE)
    list(JOIN PRIVATE ";\n        " names)
    string(APPEND script "${NODE}_PRIVATE {\n    global:\n        ${names};\n};\n")
endif()
file(WRITE ${OUTPUT} "${script}")
