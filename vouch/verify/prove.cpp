#include <vouch/verify/prove.hpp>

#include <vouch/core/ieee_environment.hpp>
#include <vouch/sparse/valid_csr.hpp>
#include <vouch/verify/dense/dense_inverse.hpp>
#include <vouch/verify/sparse/h_matrix.hpp>
#include <vouch/verify/sparse/positive_definite.hpp>
#include <vouch/verify/sparse/sparse_inverse.hpp>

namespace vouch {
std::unique_ptr<certificate> prove_by_structure(const device& dev, csr_view<const double> A,
                                                const structure_facts& facts, const uncertainty& within,
                                                std::string& reason) {
  const ieee_environment here;
  detail::require_radii("prove_by_structure", within);
  const valid_csr valid("prove_by_structure", dev, A);
  if (!facts.square) {
    reason = "the matrix is not square";
    return nullptr;
  }
  if (facts.first_zero_diagonal < 0) {
    h_matrix_options options;
    options.within = within;
    options.symmetric = facts.symmetric;
    options.positive_diagonal = facts.diagonal_positive;
    if (std::unique_ptr<certificate> proof = h_matrix::prove(dev, A, options, reason)) return proof;
  } else {
    reason = "a diagonal entry is zero: the matrix is no H-matrix";
  }
  if (facts.symmetric && facts.diagonal_positive) {
    std::string other;
    if (std::unique_ptr<certificate> proof = positive_definite::prove(dev, A, {within}, other)) return proof;
    reason += "; " + other;
  }
  return nullptr;
}

std::unique_ptr<certificate> prove_nonsingular(const device_group& devices, csr_view<const double> A,
                                               const structure_facts& facts, const uncertainty& within,
                                               std::string& reason) {
  const ieee_environment here;
  const device& dev = devices.front();
  const valid_csr valid("prove_nonsingular", dev, A);
  if (std::unique_ptr<certificate> proof = prove_by_structure(dev, A, facts, within, reason)) return proof;
  if (!facts.square) return nullptr;
  if (sparse_inverse::is_for(A)) {
    std::string other;
    if (std::unique_ptr<certificate> proof = sparse_inverse::prove(dev, A, {within}, other)) return proof;
    reason += "; " + other;
  }
  std::string other;
  if (std::unique_ptr<certificate> proof = dense_inverse::prove(devices, A, within, other)) return proof;
  reason += "; " + other;
  return nullptr;
}

std::unique_ptr<certificate> prove_nonsingular(const device_group& devices, matrix_view<const double> A,
                                               const uncertainty& within, std::string& reason) {
  const ieee_environment here;
  detail::require_radii("prove_nonsingular", within);
  if (A.rows != A.cols) {
    reason = "the matrix is not square";
    return nullptr;
  }
  return dense_inverse::prove(devices, A, within, reason);
}

}  // namespace vouch
