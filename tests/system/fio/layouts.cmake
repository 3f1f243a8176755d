# SPDX-License-Identifier: BSD-3-Clause
# Engines built with headers of a fio whose structs are laid out otherwise than those of the fio that
# runs, under the same name, as sources between two releases have it: members more, as if the engine
# were of later sources, and members fewer, as if the program were. test_layouts.py loads them.
set(headers ${CMAKE_CURRENT_BINARY_DIR}/layouts)
set(other_engines "")
list(GET FIO_SOURCE_DIR 0 source)
get_property(version GLOBAL PROPERTY rpma_fio_version)

# A copy of the headers with `old` in `file` replaced.
function(add_layout name file old new)
  set(folder ${headers}/${name})
  if(NOT EXISTS ${folder}/fio.h)
    file(COPY ${source}/ DESTINATION ${folder} FILES_MATCHING PATTERN "*.h"
         PATTERN engines EXCLUDE PATTERN .git EXCLUDE)
  endif()
  file(READ ${source}/${file} text)
  string(FIND "${text}" "${old}" found)
  if(found EQUAL -1)
    message(STATUS "no '${old}' in ${source}/${file}: tests of other layouts are without ${name}")
    return()
  endif()
  string(REPLACE "${old}" "${new}" text "${text}")
  file(WRITE ${folder}/${file}.new "${text}")
  configure_file(${folder}/${file}.new ${folder}/${file} COPYONLY)
  add_library(fio_layout_${name} MODULE ${PROJECT_SOURCE_DIR}/fio_engine/engine.c
    ${PROJECT_SOURCE_DIR}/fio_engine/struct_guard.c ${PROJECT_SOURCE_DIR}/fio_engine/options.c
    "$<FILTER:$<TARGET_OBJECTS:fio_glue_${version}>,EXCLUDE,/(engine|struct_guard|options)[.]c>")
  target_include_directories(fio_layout_${name} SYSTEM PRIVATE ${folder})
  target_compile_definitions(fio_layout_${name} PRIVATE FIO_HEADERS_VERSION="${version}")
  target_link_libraries(fio_layout_${name} PRIVATE rpma_fio_parts rpma_compile_options)
  target_link_options(fio_layout_${name} PRIVATE -Wl,--as-needed -Wl,-z,nodelete
    -Wl,--version-script=${PROJECT_SOURCE_DIR}/fio_engine/engine.map)
  set_target_properties(fio_layout_${name} PROPERTIES PREFIX "" NO_SONAME ON)
  list(APPEND other_engines $<TARGET_FILE:fio_layout_${name}>)
  set(other_engines ${other_engines} PARENT_SCOPE)
endfunction()

set(more "uint64_t made_for_a_test[4];")
add_layout(longer fio.h "struct ioengine_ops *io_ops;" "${more} struct ioengine_ops *io_ops;")
add_layout(shorter fio.h "unsigned long long num_unique_pages;" "")
add_layout(longer_at_its_end fio.h "char verror[FIO_VERROR_SIZE];" "${more} char verror[FIO_VERROR_SIZE];")
add_layout(longer_options thread_options.h "unsigned int iodepth;" "unsigned int iodepth, made_for_a_test[6];")
add_layout(shorter_options thread_options.h "unsigned long long rand_seed;" "")
add_layout(longer_table parse.h "int no_free;" "int no_free, made_for_a_test[2];")
add_layout(longer_io_u io_u.h "void *xfer_buf;" "${more} void *xfer_buf;")
add_layout(longer_file file.h "int fileno;" "${more} int fileno;")
