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

set(script "${NODE} {\n    global:\n        ${names};\n    local:\n        *;\n};\n")
if(PRIVATE)
    string(APPEND script "${NODE}_PRIVATE {\n    global:\n        ig_*;\n};\n")
endif()
file(WRITE ${OUTPUT} "${script}")
