// vouch/solve/driver/device_memory.hpp -- whether a system fits the GPU that is to solve it; private.
#pragma once
#include <cstdint>

#include <vouch/core/string_printf.hpp>
#include <vouch/solve/driver/ready_method.hpp>
#include <vouch/solve/room.hpp>

namespace vouch {

/// What an entry of a dense matrix of elements of so many bytes takes on a GPU, all copies counted: as sent, in
/// the form in which it is read, what the method makes besides.
constexpr std::int64_t dense_bytes_on_gpu(std::int64_t size, bool direct, bool mixed) {
  return (direct ? 3 : 2) * size + (mixed ? 8 : 0);
}

/// Throws  out_of_memory  the method does not fit the GPU it is set on, said before anything is sent there
template <real T>
void check_device_memory(const method_setting& setting, matrix_form form, bool direct) {
  if (!setting.dev.is_cuda()) return;
  const std::string where =
      string_printf("GPU %d for %s", setting.dev.index(), setting.options.names.matrix.c_str());
  constexpr auto size = static_cast<std::int64_t>(sizeof(T));
  const std::int64_t free = setting.dev.memory_free();
  if (form == matrix_form::dense)
    check_dense_room(where, free, setting.A.rows(), dense_bytes_on_gpu(size, direct, setting.mixed()));
  else
    check_sparse_room(where, free, setting.A.rows(), setting.A.facts().matrix.nonzeros,
                      2 * (size + 4) + (setting.mixed() ? 12 : 0), 16 + 10 * size);
}

}  // namespace vouch
