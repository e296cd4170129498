// vouch/sparse/structure_symmetry.hpp -- the symmetry check behind structure(); private.
#pragma once
#include <optional>

#include <vouch/core/device.hpp>
#include <vouch/sparse/csr.hpp>
#include <vouch/sparse/structure.hpp>

namespace vouch {

struct symmetry_facts {
  bool pattern_symmetric = false;
  std::optional<unsymmetric_entry> first;
};

/// Compares each entry of a square A with its mirror image; no transpose is formed.
template <real T>
symmetry_facts check_symmetry(csr_view<const T> A, int threads);

/// Whether A, which is not symmetric, is the real form of a complex matrix that equals its transpose.
template <real T>
bool is_complex_symmetric(const device& dev, csr_view<const T> A);

}  // namespace vouch
