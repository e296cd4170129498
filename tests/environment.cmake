# cmake -D SOURCE=... -P environment.cmake: what computes does so in the floating-point environment that results stand
# on (include/vouch/core/ieee_environment.hpp): every parallel region gives it to its threads, and every source beside a public
# header asks for it or is named here as one that computes nothing or is called by those alone. The library computes nothing
# in long double, which has a control word of its own.
cmake_minimum_required(VERSION 3.25)
set(compute_nothing core/cancellation core/device core/error core/string_printf core/solve_status text/tokens
  sparse/fill sparse/minimum_degree sparse/picture
  reduce/choose_reduce_device solve/loop/choose_device solve/methods solve/options solve/loop/device_memory_check
 )

file(GLOB_RECURSE files RELATIVE ${SOURCE} ${SOURCE}/vouch/*.[ch]* ${SOURCE}/include/*.hpp ${SOURCE}/cli/*.[ch]*)
foreach(file ${files})
  file(STRINGS ${SOURCE}/${file} regions REGEX "pragma omp parallel")
  foreach(region ${regions})
    if(NOT region MATCHES "firstprivate\\(ieee\\)")
      message(SEND_ERROR "${file}: '${region}' lacks firstprivate(ieee)")
    endif()
  endforeach()
  file(STRINGS ${SOURCE}/${file} wide REGEX "long double")
  if(wide AND NOT file MATCHES "^cli/")
    message(SEND_ERROR "${file}: long double is computed with in another environment")
  endif()
endforeach()

file(GLOB_RECURSE headers RELATIVE ${SOURCE}/include/vouch ${SOURCE}/include/vouch/*.hpp)
foreach(header ${headers})
  string(REGEX REPLACE "\\.hpp$" "" stem ${header})
  string(REGEX REPLACE "^(.*)/([^/]*)$" "\\1/*/\\2" below ${stem})
  file(GLOB source ${SOURCE}/vouch/${stem}.cpp ${SOURCE}/vouch/${below}.cpp)
  if(stem IN_LIST compute_nothing OR NOT source)
    continue()
  endif()
  file(READ ${SOURCE}/include/vouch/${header} text LIMIT 2000)
  string(REGEX MATCH "^(//[^\n]*\n)+" about "${text}")
  file(STRINGS ${source} scopes REGEX "ieee_environment")
  if(NOT about MATCHES "a detail of public headers" AND scopes STREQUAL "")
    message(SEND_ERROR "${source}: no function declares an ieee_environment")
  endif()
endforeach()
