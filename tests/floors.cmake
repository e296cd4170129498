# cmake -D SOURCE=... -P floors.cmake: a room of the library includes only what stands below it, and of other rooms
# public headers alone; public headers include public ones; headers of CUDA are included by sources of CUDA alone
# (CONTRIBUTING.md).
cmake_minimum_required(VERSION 3.25)
set(floors "core" "text" "interval" "sparse" "dense band reduce" "io" "solve" "verify price generate")

# Private headers that other rooms of the library include: all of the two lowest, and these.
set(shared band/band_rows.hpp band/row_boxes.cuh dense/aligned_rows.hpp dense/approximate_factors.hpp dense/cusolver.hpp
  dense/lapack.hpp dense/rounded_square.hpp dense/square.hpp interval/exact_sums.hpp sparse/inverse_norm.hpp
  sparse/residual_merge.cuh sparse/residual_row.hpp sparse/spmv_kernels.cuh)

function(check_include file room include)
  if(include MATCHES "<vouch/(([a-z]+)/[^>]+)>")
    set(header ${CMAKE_MATCH_1})
    set(other ${CMAKE_MATCH_2})
    set(is_public FALSE)
    if(EXISTS ${SOURCE}/include/vouch/${header} OR header STREQUAL "core/config.hpp")
      set(is_public TRUE)
    endif()
    if(NOT other IN_LIST below AND NOT other STREQUAL room)
      message(SEND_ERROR "${file}: ${include} does not stand below ${room}")
    elseif(file MATCHES "^include/" AND NOT is_public)
      message(SEND_ERROR "${file}: ${include} is private")
    elseif(NOT is_public AND NOT other MATCHES "^(core|text|${room})$" AND NOT header IN_LIST shared)
      message(SEND_ERROR "${file}: ${include} is private to another room")
    endif()
  endif()
  if(include MATCHES "\\.cuh|<(cuda|cub|cooperative_groups|mma)[_/.]" AND NOT file MATCHES "\\.cuh?$")
    message(SEND_ERROR "${file}: ${include} is for sources of CUDA")
  endif()
endfunction()

set(below)
foreach(floor ${floors})
  separate_arguments(rooms UNIX_COMMAND ${floor})
  foreach(room ${rooms})
    file(GLOB_RECURSE files RELATIVE ${SOURCE} ${SOURCE}/vouch/${room}/*.[ch]* ${SOURCE}/include/vouch/${room}/*.hpp)
    foreach(file ${files})
      file(STRINGS ${SOURCE}/${file} includes REGEX "^#include")
      foreach(include ${includes})
        check_include(${file} ${room} ${include})
      endforeach()
    endforeach()
  endforeach()
  list(APPEND below ${rooms})
endforeach()
