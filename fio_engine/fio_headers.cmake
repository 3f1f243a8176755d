# SPDX-License-Identifier: BSD-3-Clause
# Sets headers_version to the versions that the folders of FIO_SOURCE_DIR are the sources of, such
# as fio-3.33, or fio-3.33-12-gabcdef between two releases, as fio itself makes its version of its
# git; or to nothing where no directory was given. Who gives one wants the engine: what
# stands in the way is an error.
cmake_policy(SET CMP0057 NEW) # IN_LIST, where a test runs this as a script
set(FIO_OLDEST 3.32)
set(version_regex "fio-([0-9]+\\.[0-9]+(\\.[0-9]+)?)(-[0-9]+-g[0-9a-f]+)?")

set(headers_version "")
if(FIO_SOURCE_DIR STREQUAL "")
  message(STATUS "The fio engine is left out: no -DFIO_SOURCE_DIR=DIR with the source of fio "
                 "(scripts/fio-source fetches the distribution's)")
  return()
endif()
foreach(folder IN LISTS FIO_SOURCE_DIR)
  foreach(file IN ITEMS fio.h FIO-VERSION-GEN)
    if(NOT EXISTS ${folder}/${file})
      message(FATAL_ERROR "FIO_SOURCE_DIR=${folder} is not the source of fio: no ${file} there")
    endif()
  endforeach()
  file(STRINGS ${folder}/FIO-VERSION-GEN line REGEX "^DEF_VER=")
  if(EXISTS ${folder}/.git)
    execute_process(COMMAND git -C ${folder} describe --match "fio-[0-9]*" --abbrev=4 HEAD
                    OUTPUT_VARIABLE described ERROR_QUIET RESULT_VARIABLE failed)
    if(NOT failed AND described MATCHES "^fio-")
      set(line "${described}")
    endif()
  endif()
  string(REGEX MATCH "${version_regex}" version "${line}")
  if(CMAKE_MATCH_1 VERSION_LESS FIO_OLDEST)
    message(FATAL_ERROR "FIO_SOURCE_DIR=${folder} is ${version}: the engine needs "
                        "fio ${FIO_OLDEST} or later")
  endif()
  if(version IN_LIST headers_version)
    message(FATAL_ERROR "FIO_SOURCE_DIR=${FIO_SOURCE_DIR} has ${version} twice")
  endif()
  list(APPEND headers_version ${version})
endforeach()
list(JOIN headers_version ", " versions)

find_program(FIO_PROGRAM fio)
if(FIO_PROGRAM)
  execute_process(COMMAND ${FIO_PROGRAM} --version OUTPUT_VARIABLE program_version ERROR_QUIET)
  string(REGEX MATCH "${version_regex}" program_version "${program_version}")
  if(NOT program_version IN_LIST headers_version)
    message(FATAL_ERROR "FIO_SOURCE_DIR=${FIO_SOURCE_DIR} is ${versions}, but ${FIO_PROGRAM} "
                        "is '${program_version}', which could not load the engine: give the source "
                        "of that very fio, or -DFIO_PROGRAM=PATH of the fio that is to load it")
  endif()
endif()
message(STATUS "The fio engine is built for ${versions}")
