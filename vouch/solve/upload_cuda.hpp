// vouch/solve/upload_cuda.hpp -- the CUDA side of upload_with_start.hpp; private, defined only in CUDA builds.
#pragma once
#include <vouch/core/device.hpp>
#include <vouch/dense/matrix.hpp>
#include <vouch/dense/types.hpp>

namespace vouch {

/// The square matrix `from` of the host into `to`, of its size; its columns are rows of the system with the
/// right-hand side b, which improve x, where b is not nullptr.
template <real T>
void send_matrix(const device& gpu, matrix_view<const T> from, matrix_view<T> to, const T* b, T* x);

}  // namespace vouch
