# Looks for nvcc; without it everything is built for the CPU.
#
# CMake 3.25 knows no C++20 for nvcc, so -std=c++20 is added by hand. -fmad=true (nvcc's default) stays on for
# device code: kernels that need an exact product write fma() themselves.
set(VOUCH_CUDA_BOOL false)
if(VOUCH_CUDA)
  include(CheckLanguage)
  if(NOT CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 90)
  endif()
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    find_package(CUDAToolkit REQUIRED)
    set(VOUCH_CUDA_BOOL true)
    set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
    target_compile_options(vouch_flags INTERFACE
      $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20 --expt-relaxed-constexpr --expt-extended-lambda -Xcompiler=-Wall,-Wextra>)
    if(VOUCH_WERROR)
      target_compile_options(vouch_flags INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings>)
    endif()
  else()
    message(STATUS "vouch: no nvcc found, building for the CPU only")
  endif()
endif()
