#include <vouch/verify/certificate.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include <vouch/core/error.hpp>
#include <vouch/generate/poisson.hpp>
#include <vouch/verify/dense/dense_inverse.hpp>
#include <vouch/verify/enclosed_residual.hpp>
#include <vouch/verify/interval_data.hpp>
#include <vouch/verify/prove.hpp>
#include <vouch/verify/sparse/h_matrix.hpp>
#include <vouch/verify/sparse/positive_definite.hpp>
#include <vouch/verify/sparse/sparse_inverse.hpp>
#include <vouch/verify/tridiagonal_bound.hpp>

#include "devices.hpp"
#include "sparse/matrices.hpp"
#include "verify/proofs.hpp"

namespace vouch {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double bad_radii[] = {nan, -0.25, -1e-300, HUGE_VAL, -HUGE_VAL};

// Symmetric, positive definite and dominant: everything proves it.
csr<double> near_singular(double corner = 1.0) {
  return testing::matrix_of(2, 2, {{{0, 0}, 1}, {{0, 1}, 0.999}, {{1, 0}, 0.999}, {{1, 1}, corner}});
}

using proofs = std::vector<std::unique_ptr<certificate>>;

// Every kind of proof, of the sparse form.
proofs all_proofs(const device& dev, csr_view<const double> A, const uncertainty& within) {
  std::string reason;
  proofs all;
  h_matrix_options as_h;
  as_h.within = within;
  all.push_back(h_matrix::prove(dev, A, as_h, reason));
  all.push_back(positive_definite::prove(dev, A, {within}, reason));
  all.push_back(sparse_inverse::prove(dev, A, {within}, reason));
  all.push_back(dense_inverse::prove(dev, A, within, reason));
  return all;
}

error_bound bound_of(const device& dev, csr_view<const double> A, certificate& proof,
                     const uncertainty& within) {
  const auto b = array<double>::from(dev, std::vector<double>(static_cast<std::size_t>(A.rows), 1.0));
  array<double> x = array<double>::zeros(dev, A.rows);
  bound_options options;
  options.within = within;
  return bound_error(dev, A, proof, b, x, options);
}

// [1 .999; .999 1] within 0.01 has singular matrices: 0.999 * 1.01 > 0.99.
TEST(certificate, speaks_for_no_larger_radius_than_it_proved) {
  for (const device& dev : testing::devices()) {
    const csr<double> A = near_singular().to(dev);
    for (const auto& proof : all_proofs(dev, A, {})) {
      ASSERT_NE(proof, nullptr);
      EXPECT_TRUE(bound_of(dev, A, *proof, {}).verified) << proof->method();
      EXPECT_TRUE(bound_of(dev, A, *proof, {0, 0.01}).verified) << proof->method();
      EXPECT_THROW(bound_of(dev, A, *proof, {0.01, 0}), value_error) << proof->method();
      EXPECT_THROW(bound_of(dev, A, *proof, {1e-300, 0}), value_error) << proof->method();
    }
    for (const auto& proof : all_proofs(dev, A, {1e-6, 0})) {
      ASSERT_NE(proof, nullptr);
      EXPECT_TRUE(bound_of(dev, A, *proof, {1e-6, 0}).verified) << proof->method();
      EXPECT_TRUE(bound_of(dev, A, *proof, {1e-7, 0}).verified) << proof->method();
      EXPECT_THROW(bound_of(dev, A, *proof, {1.1e-6, 0}), value_error) << proof->method();
    }
    for (const auto& proof : all_proofs(dev, A, {0.01, 0})) EXPECT_EQ(proof, nullptr);
  }
}

TEST(certificate, speaks_for_no_other_matrix) {
  for (const device& dev : testing::devices()) {
    const csr<double> A = near_singular().to(dev), same = near_singular().to(dev);
    const csr<double> other = near_singular(0.998001).to(dev);  // singular, but for rounding
    const csr<double> sparser = testing::matrix_of(2, 2, {{{0, 0}, 1}, {{0, 1}, 0.999}, {{1, 1}, 1}}).to(dev);
    const csr<double> larger =
        testing::matrix_of(3, 3, {{{0, 0}, 1}, {{1, 1}, 1}, {{1, 2}, 0.999}, {{2, 2}, 1}}).to(dev);
    for (const auto& proof : all_proofs(dev, A, {})) {
      EXPECT_TRUE(bound_of(dev, same, *proof, {}).verified) << proof->method();
      for (const csr<double>* B : {&other, &sparser, &larger})
        EXPECT_THROW(bound_of(dev, *B, *proof, {}), value_error) << proof->method();
    }
  }
}

// Whoever changes the matrix after the proof has another one.
TEST(certificate, notices_that_its_matrix_has_changed) {
  const device cpu = device::cpu(1);
  csr<double> A = near_singular();
  const proofs all = all_proofs(cpu, A, {});
  A.val[3] = 0.998001;
  for (const auto& proof : all) EXPECT_THROW(bound_of(cpu, A, *proof, {}), value_error) << proof->method();
  std::string reason;
  auto M = matrix<double>::from(cpu, 2, 2, std::vector{2.0, 1.0, 1.0, 3.0});
  const auto dense = prove_nonsingular(cpu, M.read(), {}, reason);
  M(0, 0) = 1.0 / 3;
  const auto b = array<double>::from(cpu, std::vector{1.0, 1.0});
  array<double> x = array<double>::zeros(cpu, 2);
  EXPECT_THROW(bound_error(cpu, M.read(), *dense, b, x), value_error);
}

// A proof of an H-matrix reads the caller's arrays. Where it keeps a copy in another form instead, it holds.
TEST(certificate, bounds_of_an_equal_matrix_are_not_made_with_one_that_has_changed) {
  const device cpu = device::cpu(1);
  for (const bool smoothing : {false, true}) {
    csr<double> A = poisson_2d(cpu, 40, 40);
    const csr<double> same = A.to(cpu);
    std::string reason;
    h_matrix_options options;
    options.symmetric = options.positive_diagonal = true;
    options.smoothing = smoothing;
    const auto proof = h_matrix::prove(cpu, A, options, reason);
    const bool copied = std::holds_alternative<detail::dia_layout<double>>(*proof->rows());
    EXPECT_EQ(copied, smoothing);
    for (std::int64_t k = 0; k < A.nonzeros(); ++k) A.val[k] *= 1024;
    if (copied)
      EXPECT_TRUE(bound_of(cpu, same, *proof, {}).verified);
    else
      EXPECT_THROW(bound_of(cpu, same, *proof, {}), value_error);
  }
}

TEST(certificate, facts_of_another_matrix_prove_nothing_false) {
  const device cpu = device::cpu(1);
  const csr<double> grid = poisson_2d(cpu, 12, 12);
  const structure_facts facts = structure<double>(cpu, grid);
  csr<double> A = grid.to(cpu);
  for (std::int64_t i = 0; i < A.rows; ++i)  // the upper half becomes another matrix's
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      if (A.col[k] > i) A.val[k] = -0.125;
  std::string reason;
  const auto proof = prove_nonsingular(cpu, A, facts, {}, reason);
  if (proof == nullptr) return;
  std::vector<double> rhs;
  for (std::int64_t i = 0; i < A.rows; ++i) rhs.push_back(static_cast<double>(i % 7) - 2);
  const auto exact = testing::exact_solution(testing::exactly(A), rhs);
  array<double> x = array<double>::zeros(cpu, A.rows);
  const error_bound bound = bound_error(cpu, A, *proof, array<double>::from(cpu, rhs), x);
  EXPECT_TRUE(!bound.verified || testing::contains(*exact, x.to_vector(), bound.radius.to_vector()));
}

TEST(certificate, a_bound_is_not_widened_by_the_proof_of_another_matrix) {
  const device cpu = device::cpu(1);
  const csr<double> A = near_singular(), other = near_singular(2.0);
  const auto proof = std::move(all_proofs(cpu, A, {}).front());
  const auto others = std::move(all_proofs(cpu, other, {}).front());
  error_bound bound = bound_of(cpu, A, *proof, {});
  const auto x = array<double>::zeros(cpu, 2);
  csr<double> R = near_singular();
  for (std::int64_t k = 0; k < 4; ++k) R.val[k] = 1e-9;
  const data_radii radii{std::move(R), array<double>::zeros(cpu, 2)};
  EXPECT_THROW(widen_to_data(cpu, *others, radii, x, 0, bound), value_error);
  const auto longer = array<double>::zeros(cpu, 4);
  EXPECT_THROW(widen_to_data(cpu, *proof, radii, view<const double>(longer.data(), 2, 2), 0, bound),
               shape_error);
  EXPECT_THROW(widen_to_data(cpu, *proof, radii, view<const double>(nullptr, 2), 0, bound), value_error);
  EXPECT_NO_THROW(widen_to_data(cpu, *proof, radii, x, 0, bound));
}

TEST(uncertainty, what_is_no_radius_is_refused_everywhere) {
  for (const device& dev : testing::devices()) {
    const csr<double> A = near_singular().to(dev);
    const structure_facts facts = structure<double>(device::cpu(1), near_singular());
    const auto proof = std::move(all_proofs(dev, A, {}).front());
    const auto M = matrix<double>::from(dev, 2, 2, std::vector{1.0, 0.5, 0.5, 1.0});
    const auto diagonal = array<double>::from(dev, std::vector{1.0, 1.0});
    array<double> x = array<double>::zeros(dev, 2), radius(dev, 2);
    array<interval<double>> r(dev, 2);
    for (const double bad : bad_radii)
      for (const uncertainty& within : {uncertainty{bad, 0}, uncertainty{0, bad}}) {
        std::string reason;
        EXPECT_THROW(all_proofs(dev, A, within), value_error);
        EXPECT_THROW(positive_definite::prove(dev, A, {within}, reason), value_error);
        EXPECT_THROW(sparse_inverse::prove(dev, A, {within}, reason), value_error);
        EXPECT_THROW(dense_inverse::prove(dev, A, within, reason), value_error);
        EXPECT_THROW(dense_inverse::prove(dev, M.read(), within, reason), value_error);
        EXPECT_THROW(prove_nonsingular(dev, A, facts, within, reason), value_error);
        EXPECT_THROW(prove_by_structure(dev, A, facts, within, reason), value_error);
        EXPECT_THROW(prove_nonsingular(dev, M.read(), within, reason), value_error);
        EXPECT_THROW(bound_of(dev, A, *proof, within), value_error);
        EXPECT_THROW(enclosed_residual(dev, A, diagonal, x, nullptr, r.all(), within), value_error);
        EXPECT_THROW(enclosed_residual(dev, M.read(), diagonal, x, nullptr, r.all(), within), value_error);
        bound_options options;
        options.within = within;
        const batch_shape shape = contiguous(2);
        EXPECT_THROW(bound_error(dev, {diagonal.data(), diagonal.data(), diagonal.data(), shape},
                                 {diagonal.data(), shape}, {x.data(), shape}, {radius.data(), shape}, options),
                     value_error);
      }
    try {
      bound_of(dev, A, *proof, {0, nan});
      FAIL();
    } catch (const value_error& refused) {
      EXPECT_NE(std::string(refused.what()).find("radius of the right-hand side is nan"), std::string::npos)
          << refused.what();
    }
  }
}

TEST(fingerprint, is_the_same_for_all_threads_and_devices_and_tells_single_bits) {
  const device one = device::cpu(1);
  const csr<double> A = poisson_2d(one, 60, 70);
  const matrix_fingerprint expected = fingerprint_of(one, A);
  EXPECT_EQ(fingerprint_of(device::cpu(4), A), expected);
  for (const device& dev : testing::devices()) EXPECT_EQ(fingerprint_of(dev, A.to(dev)), expected);
  csr<double> B = A.to(one);
  for (const std::int64_t k : {std::int64_t{0}, B.nonzeros() / 2, B.nonzeros() - 1}) {
    const double before = B.val[k];
    B.val[k] = std::nextafter(before, 9);
    EXPECT_NE(fingerprint_of(one, B), expected);
    B.val[k] = before;
    ++B.col[k];
    EXPECT_NE(fingerprint_of(one, B), expected);
    --B.col[k];
  }
  std::swap(B.val[0], B.val[1]);
  EXPECT_NE(fingerprint_of(one, B), expected);
  // Dense: what lies between the columns does not count.
  const auto M = matrix<double>::from(one, 3, 2, std::vector{1.0, 2.0, 3.0, 4.0, 5.0, 6.0});
  const auto block = matrix<double>::from(one, 2, 2, std::vector{1.0, 2.0, 4.0, 5.0});
  EXPECT_EQ(fingerprint_of(one, M.read().block(0, 0, 2, 2)), fingerprint_of(one, block.read()));
  for (const device& dev : testing::devices())
    EXPECT_EQ(fingerprint_of(dev, M.to(dev).read()), fingerprint_of(one, M.read()));
}

// Signs and exponents lie in the upper half of a number: what mixes the halves once and adds has 466 of these 2000
// alike, k + (k + 3) being (k + 1) + (k + 2).
TEST(fingerprint, tells_changes_of_several_signs_or_exponents) {
  const device cpu = device::cpu(1);
  constexpr std::int64_t n = 2003;
  for (const double factor : {-1.0, 2.0, 0.25}) {
    auto M = matrix<double>::from(cpu, n, 1, std::vector<double>(n, 1.0));
    const matrix_fingerprint expected = fingerprint_of(cpu, M.read());
    for (std::int64_t k = 0; k + 3 < n; ++k) {
      for (std::int64_t i = k; i < k + 4; ++i) M(i, 0) = factor;
      EXPECT_NE(fingerprint_of(cpu, M.read()), expected) << factor << " at " << k;
      for (std::int64_t i = k; i < k + 4; ++i) M(i, 0) = 1;
    }
  }
}

TEST(certificate, operands_that_are_nowhere_or_overlap_are_refused) {
  const device cpu = device::cpu(1);
  const auto M = matrix<double>::from(cpu, 2, 2, std::vector{2.0, 1.0, 1.0, 3.0});
  std::string reason;
  const auto proof = prove_nonsingular(cpu, M.read(), {}, reason);
  const auto b = array<double>::from(cpu, std::vector{1.0, 1.0});
  array<double> x = array<double>::zeros(cpu, 2), radius(cpu, 2);
  array<interval<double>> r(cpu, 2);
  const matrix_view<const double> nowhere{nullptr, 2, 2, 2}, narrow{M.data(), 2, 2, 1},
      negative{M.data(), -2, -2, 1};
  for (const matrix_view<const double>& bad : {nowhere, narrow, negative}) {
    EXPECT_THROW(prove_nonsingular(cpu, bad, {}, reason), error);
    EXPECT_THROW(bound_error(cpu, bad, *proof, b, x), error);
    EXPECT_THROW(enclosed_residual(cpu, bad, b, x, nullptr, r.all()), error);
  }
  EXPECT_THROW(bound_error(cpu, M.read(), *proof, view<const double>(nullptr, 2), x), error);
  const csr<double> S = near_singular();
  const std::int64_t* const row_ptr = S.row_ptr.data();
  const std::int32_t* const col = S.col.data();
  const double* const val = S.val.data();
  const csr_view<const double> nowhere_sparse[] = {{},
                                                   {2, 2, 4, nullptr, col, val},
                                                   {2, 2, 4, row_ptr, nullptr, val},
                                                   {2, 2, 4, row_ptr, col, nullptr},
                                                   {-2, 2, 4, row_ptr, col, val},
                                                   {2, 2, -4, row_ptr, col, val}};
  const auto sparse_proof = std::move(all_proofs(cpu, S, {}).front());
  for (const csr_view<const double>& bad : nowhere_sparse) {
    EXPECT_THROW(fingerprint_of(cpu, bad), error);
    EXPECT_THROW(bound_error(cpu, bad, *sparse_proof, b, x), error);
  }
  EXPECT_THROW(bound_error(cpu, M.read(), *proof, b, view<double>(nullptr, 2)), error);
  EXPECT_THROW(bound_error(cpu, M.read(), *proof, b, view<double>(x.data(), 1)), error);

  const double* const d = b.data();
  const batch_shape two = contiguous(2);
  const auto bound = [&](const tridiagonal_view<const double>& A, const double* rhs, double* solution,
                         double* radii, const batch_shape& shape) {
    return bound_error(cpu, A, {rhs, shape}, {solution, shape}, {radii, shape});
  };
  EXPECT_NO_THROW(bound({d, d, d, two}, d, x.data(), radius.data(), two));
  EXPECT_THROW(bound({nullptr, d, d, two}, d, x.data(), radius.data(), two), value_error);
  EXPECT_THROW(bound({d, d, d, two}, nullptr, x.data(), radius.data(), two), value_error);
  EXPECT_THROW(bound({d, d, d, two}, d, nullptr, radius.data(), two), value_error);
  EXPECT_THROW(bound({d, d, d, two}, d, x.data(), nullptr, two), value_error);
  EXPECT_THROW(bound({d, d, d, contiguous(1)}, d, x.data(), radius.data(), two), shape_error);
  EXPECT_THROW(bound({d, d, d, contiguous(-2)}, d, x.data(), radius.data(), contiguous(-2)), value_error);
  EXPECT_THROW(bound({d, d, d, two}, d, x.data(), radius.data(), {2, 1, 0, 0, nullptr}), value_error);
  for (const std::vector<std::int64_t>& offsets :
       {std::vector<std::int64_t>{0, 2, 1}, {-1, 1, 2}, {1, 1, 2}, {0, 0, 1 << 30}}) {
    const batch_shape ragged_by_hand{2, 2, 1, 0, offsets.data()};
    EXPECT_THROW(bound({d, d, d, ragged_by_hand}, d, x.data(), radius.data(), ragged_by_hand), value_error);
  }
}

TEST(certificate, vectors_of_another_length_are_refused) {
  const device cpu = device::cpu(1);
  const csr<double> A = near_singular();
  const array<double> two(cpu, 2), three(cpu, 3);
  array<double> d(cpu, 2);
  array<interval<double>> r(cpu, 2);
  for (const auto& proof : all_proofs(cpu, A, {})) {
    EXPECT_THROW(proof->bound({r.data(), 1}, d.all()), shape_error) << proof->method();
    EXPECT_THROW(proof->bound(r, {d.data(), 1}), shape_error) << proof->method();
    EXPECT_THROW(proof->correct(three, d.all()), shape_error) << proof->method();
    EXPECT_THROW(proof->correct(two, {d.data(), 1}), shape_error) << proof->method();
    EXPECT_THROW(proof->correct_roughly(three, d.all()), shape_error) << proof->method();
  }
}

}  // namespace
}  // namespace vouch
