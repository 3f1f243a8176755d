# SPDX-License-Identifier: BSD-3-Clause
# Sets headers_version to the release that FIO_SOURCE_DIR is the source of, such as fio-3.33, or
# to nothing where no directory was given. Who gives one wants the engine: what stands in the way
# is an error.
set(FIO_OLDEST 3.32)

set(headers_version "")
if(FIO_SOURCE_DIR STREQUAL "")
  message(STATUS "The fio engine is left out: no -DFIO_SOURCE_DIR=DIR with the source of fio "
                 "(scripts/fio-source fetches the distribution's)")
  return()
endif()
foreach(file IN ITEMS fio.h FIO-VERSION-GEN)
  if(NOT EXISTS ${FIO_SOURCE_DIR}/${file})
    message(FATAL_ERROR "FIO_SOURCE_DIR=${FIO_SOURCE_DIR} is not the source of fio: no ${file} there")
  endif()
endforeach()
file(STRINGS ${FIO_SOURCE_DIR}/FIO-VERSION-GEN line REGEX "^DEF_VER=")
string(REGEX MATCH "fio-([0-9]+\\.[0-9]+(\\.[0-9]+)?)" headers_version "${line}")
if(CMAKE_MATCH_1 VERSION_LESS FIO_OLDEST)
  message(FATAL_ERROR "FIO_SOURCE_DIR=${FIO_SOURCE_DIR} is ${headers_version}: the engine needs "
                      "fio ${FIO_OLDEST} or later")
endif()

find_program(FIO_PROGRAM fio)
if(FIO_PROGRAM)
  execute_process(COMMAND ${FIO_PROGRAM} --version OUTPUT_VARIABLE program_version ERROR_QUIET)
  string(REGEX MATCH "fio-[0-9]+\\.[0-9]+(\\.[0-9]+)?" program_version "${program_version}")
  if(NOT headers_version STREQUAL program_version)
    message(FATAL_ERROR "FIO_SOURCE_DIR=${FIO_SOURCE_DIR} is ${headers_version}, but ${FIO_PROGRAM} "
                        "is '${program_version}', which could not load the engine: give the source "
                        "of that release, or -DFIO_PROGRAM=PATH of the fio that is to load it")
  endif()
endif()
message(STATUS "The fio engine is built for ${headers_version}")
