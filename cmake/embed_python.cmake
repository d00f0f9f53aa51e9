# Writes OUT: the MODULES of Python, whose paths are below FROM, as bytes of C and a table
# of frontend/torch/stock/stock.h.  SPDX-License-Identifier: Apache-2.0
set(bytes "")
set(rows "")
foreach(module ${MODULES})
    file(READ ${FROM}/${module} hex HEX)
    string(REGEX REPLACE "(..)" "0x\\1," hex "${hex}")
    string(MAKE_C_IDENTIFIER ${module} array)
    string(REGEX REPLACE "(/__init__)?\\.py$" "" name ${module})
    string(REPLACE "/" "." name ${name})
    set(is_package false)
    if(module MATCHES "/__init__\\.py$")
        set(is_package true)
    endif()
    string(APPEND bytes "static const char ${array}[] = {${hex}};\n")
    string(APPEND rows "    { \"${name}\", \"${module}\", { ${array}, sizeof ${array} }, "
        "${is_package} },\n")
endforeach()
file(WRITE ${OUT} "/* Made by cmake/embed_python.cmake. */\n"
    "#include \"frontend/torch/stock/stock.h\"\n"
    "${bytes}const ig_stock_module ig_stock_modules[] = {\n${rows}};\n"
    "const size_t ig_stock_count = sizeof ig_stock_modules / sizeof *ig_stock_modules;\n")
