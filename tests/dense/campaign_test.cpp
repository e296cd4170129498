// The campaign of inclusion: every routine of BLAS 2 and 3 on adversarial matrices of intervals, and the exact
// result for a point in every entry. VOUCH_SOAK=1 runs 200,000 cases, otherwise a hundredth of that.
#include <gtest/gtest.h>

#include <functional>
#include <iostream>

#include <vouch/dense/blas2.hpp>
#include <vouch/dense/blas3.hpp>

#include "dense/campaign_operands.hpp"

namespace vouch {
namespace {

using namespace testing;

const device cpu = device::cpu(1);

template <real T>
class campaign_case {
  using set = interval<T>;
  using op = operand<T>;

 public:
  explicit campaign_case(std::uint64_t seed)
      : source_(seed, static_cast<entry_kind>(random_bits(seed, 1) % 4)),
        n_(1 + static_cast<std::int64_t>(pick(6))),
        m_(1 + static_cast<std::int64_t>(pick(6))),
        k_(static_cast<std::int64_t>(pick(8))),
        trans_(pick(2) == 0 ? transpose::no : transpose::yes),
        stored_(pick(2) == 0 ? triangle::lower : triangle::upper),
        unit_(pick(2) == 0 ? diagonal::general : diagonal::unit),
        side_(pick(2) == 0 ? side::left : side::right),
        alpha_(scalar_entry(false)),
        beta_(scalar_entry(true)) {}

  static constexpr int routines = 22;

  /// Entries of results that do not hold the exact ones.
  int violations(int routine) {
    switch (routine) {
      case 0:
        return product(gemm_mode::tight);
      case 1:
        return product(gemm_mode::fast);
      case 2:
        return product(gemm_mode::exact);
      case 3:
        return symmetric_product();
      case 4:
        return rank_update(1);
      case 5:
        return rank_update(2);
      case 6:
        return triangular_product();
      case 7:
        return times_vector();
      case 8:
        return band_times_vector();
      case 9:
        return symmetric_times_vector(0);
      case 10:
        return symmetric_times_vector(1);
      case 11:
        return symmetric_times_vector(2);
      case 12:
        return triangular_times_vector(0);
      case 13:
        return triangular_times_vector(1);
      case 14:
        return triangular_times_vector(2);
      case 15:
        return outer_product();
      case 16:
        return vector_update(false);
      case 17:
        return vector_update(true);
      case 18:
        return points_times_intervals();
      default:
        return triangular_solution(routine - 19);
    }
  }

 private:
  std::uint64_t pick(std::uint64_t count) { return source_.choice(count); }
  op scalar_entry(bool may_be_zero) {
    op one(1, 1, source_);
    const std::uint64_t kind = pick(4);
    if (kind == 0) one.sets[0] = one.points[0] = 1;
    if (kind == 1 && may_be_zero) one.sets[0] = one.points[0] = 0;
    return one;
  }
  op draw(std::int64_t m, std::int64_t n) { return {m, n, source_}; }
  set alpha() const { return alpha_.sets[0]; }
  set beta() const { return beta_.sets[0]; }

  // Out against alpha A B + beta C in the entries that select(i, j) names. As in BLAS, A and B are not read for
  // an alpha of 0, nor C for a beta of 0.
  int compare(op& out, const op& A, const op& B, const op* C, const op& alpha,
              const std::function<bool(std::int64_t, std::int64_t)>& select) {
    int wrong = 0;
    const bool with_old = C != nullptr && !(beta() == set{}), with_product = !(alpha.sets[0] == set{});
    for (std::int64_t j = 0; j < out.cols; ++j)
      for (std::int64_t i = 0; i < out.rows; ++i) {
        if (!select(i, j)) continue;
        exact_value sum;
        bool empty =
            is_empty(alpha.sets[0]) || (with_old && (is_empty(beta()) || is_empty(C->sets[C->at(i, j)])));
        for (std::int64_t k = 0; with_product && k < A.cols; ++k) {
          const std::size_t a = A.at(i, k), b = B.at(k, j);
          if (!A.present[a] || !B.present[b]) continue;
          empty = empty || is_empty(A.sets[a]) || is_empty(B.sets[b]);
          sum.add(double{alpha.points[0]}, double{A.points[a]}, double{B.points[b]});
        }
        if (with_old) sum.add(1, double{beta_.points[0]}, double{C->points[C->at(i, j)]});
        wrong += empty ? !is_empty(out.set(i, j)) : !sum.in(out.set(i, j));
      }
    return wrong;
  }
  static bool everywhere(std::int64_t, std::int64_t) { return true; }
  auto in_triangle() const {
    return [this](std::int64_t i, std::int64_t j) { return stored_ == triangle::lower ? i >= j : i <= j; };
  }
  op one() const {
    op e(1, 1);
    e.sets[0] = e.points[0] = 1;
    return e;
  }
  bool turned() const { return trans_ == transpose::yes; }

  int product(gemm_mode mode) {
    const transpose trans_b = pick(2) == 0 ? transpose::no : transpose::yes;
    op A = draw(turned() ? k_ : m_, turned() ? m_ : k_);
    op B = draw(trans_b == transpose::yes ? n_ : k_, trans_b == transpose::yes ? k_ : n_);
    op C = draw(m_, n_), out = C;
    gemm<set, set, set>(cpu, trans_, trans_b, alpha(), A.read(), B.read(), beta(), out.all(), mode);
    return compare(out, A.transposed(turned()), B.transposed(trans_b == transpose::yes), &C, alpha_,
                   everywhere);
  }

  // A and y points: their matrices are read as they stand.
  int points_times_intervals() {
    op A = draw(m_, k_), B = draw(k_, n_), C = draw(m_, n_), out = C;
    for (std::size_t e = 0; e < A.sets.size(); ++e) A.sets[e] = A.points[e];
    const matrix_view<const T> points{A.points.data(), m_, k_, m_};
    gemm<T, set, set>(cpu, transpose::no, transpose::no, alpha(), points, B.read(), beta(), out.all(),
                      static_cast<gemm_mode>(pick(3)));
    return compare(out, A, B, &C, alpha_, everywhere);
  }

  int symmetric_product() {
    const std::int64_t order = side_ == side::left ? m_ : n_;
    op A = draw(order, order), B = draw(m_, n_), C = draw(m_, n_), out = C;
    symm<set, set, set>(cpu, side_, stored_, alpha(), A.read(), B.read(), beta(), out.all());
    const op S = A.mirrored(stored_);
    return side_ == side::left ? compare(out, S, B, &C, alpha_, everywhere)
                               : compare(out, B, S, &C, alpha_, everywhere);
  }

  int rank_update(int terms) {
    op A = draw(turned() ? k_ : n_, turned() ? n_ : k_), B = draw(A.rows, A.cols), C = draw(n_, n_), out = C;
    const op left = A.transposed(turned()), right = B.transposed(turned());
    if (terms == 1) {
      syrk<set, set>(cpu, stored_, trans_, alpha(), A.read(), beta(), out.all());
      return compare(out, left, left.transposed(), &C, alpha_, in_triangle());
    }
    syr2k<set, set>(cpu, stored_, trans_, alpha(), A.read(), B.read(), beta(), out.all());
    return compare(out, left.beside(right), right.beside(left).transposed(), &C, alpha_, in_triangle());
  }

  int triangular_product() {
    const std::int64_t order = side_ == side::left ? m_ : n_;
    op A = draw(order, order), B = draw(m_, n_), out = B;
    trmm<set, set>(cpu, side_, stored_, trans_, unit_, alpha(), A.read(), out.all());
    const op t = A.triangle_of(stored_, unit_).transposed(turned());
    return side_ == side::left ? compare(out, t, B, nullptr, alpha_, everywhere)
                               : compare(out, B, t, nullptr, alpha_, everywhere);
  }

  int times_vector() {
    op A = draw(m_, n_), x = draw(turned() ? m_ : n_, 1), y = draw(turned() ? n_ : m_, 1), out = y;
    gemv<set, set, set>(cpu, trans_, alpha(), A.read(), x.read_vector(), beta(), out.vector());
    return compare(out, A.transposed(turned()), x, &y, alpha_, everywhere);
  }

  int band_times_vector() {
    const auto kl = static_cast<std::int64_t>(pick(3)), ku = static_cast<std::int64_t>(pick(3));
    op A = draw(m_, n_).band(kl, ku), storage = A.band_storage(kl, ku);
    op x = draw(turned() ? m_ : n_, 1), y = draw(turned() ? n_ : m_, 1), out = y;
    gbmv<set, set, set>(cpu, trans_, m_, kl, ku, alpha(), storage.read(), x.read_vector(), beta(),
                        out.vector());
    return compare(out, A.transposed(turned()), x, &y, alpha_, everywhere);
  }

  // Full, band and packed storage.
  int symmetric_times_vector(int storage) {
    const auto k = static_cast<std::int64_t>(pick(3));
    op A = draw(n_, n_), x = draw(n_, 1), y = draw(n_, 1), out = y;
    const bool lower = stored_ == triangle::lower;
    op S = A.mirrored(stored_);
    if (storage == 0) {
      symv<set, set, set>(cpu, stored_, alpha(), A.read(), x.read_vector(), beta(), out.vector());
    } else if (storage == 1) {
      op band = A.band_storage(lower ? k : 0, lower ? 0 : k);
      S = S.band(k, k);
      sbmv<set, set, set>(cpu, stored_, k, alpha(), band.read(), x.read_vector(), beta(), out.vector());
    } else {
      op packed = A.packed(stored_);
      spmv<set, set, set>(cpu, stored_, alpha(), packed.read_vector(), x.read_vector(), beta(), out.vector());
    }
    return compare(out, S, x, &y, alpha_, everywhere);
  }

  int triangular_times_vector(int storage) {
    const auto k = static_cast<std::int64_t>(pick(3));
    op A = draw(n_, n_), x = draw(n_, 1), out = x;
    const bool lower = stored_ == triangle::lower;
    if (storage == 1) A = A.band(lower ? k : 0, lower ? 0 : k);
    op triangular = A.triangle_of(stored_, unit_);
    for (std::size_t e = 0; e < A.present.size(); ++e) triangular.present[e] &= A.present[e];
    if (storage == 0) {
      trmv<set, set>(cpu, stored_, trans_, unit_, A.read(), out.vector());
    } else if (storage == 1) {
      op band = A.band_storage(lower ? k : 0, lower ? 0 : k);
      tbmv<set, set>(cpu, stored_, trans_, unit_, k, band.read(), out.vector());
    } else {
      op packed = A.packed(stored_);
      tpmv<set, set>(cpu, stored_, trans_, unit_, packed.read_vector(), out.vector());
    }
    return compare(out, triangular.transposed(turned()), x, nullptr, one(), everywhere);
  }

  // Full and packed storage for a vector, and trsm. Diagonals stay away from 0 and numbers moderate, as a
  // solution is not exact in any number of bits: 3000 of them leave room for 2^-1000 of a bound.
  int triangular_solution(int form) {
    source_ = entry_source<T>(pick(1U << 30), entry_kind::moderate);
    op A = draw(n_, n_), B = draw(n_, form == 2 ? m_ : 1), out = B;
    for (std::int64_t i = 0; i < n_; ++i) {
      const std::size_t d = A.at(i, i);
      A.sets[d] = A.sets[d] + T{2};
      A.points[d] = source_.point_in(A.sets[d]);
    }
    if (form == 0) trsv<set, set>(cpu, stored_, trans_, unit_, A.read(), out.vector());
    if (form == 1) {
      op packed = A.packed(stored_);
      tpsv<set, set>(cpu, stored_, trans_, unit_, packed.read_vector(), out.vector());
    }
    if (form == 2) trsm<set, set>(cpu, side::left, stored_, trans_, unit_, T{1}, A.read(), out.all());
    const op t = A.triangle_of(stored_, unit_).transposed(turned());
    int wrong = 0;
    for (std::int64_t j = 0; j < B.cols; ++j) {
      const substitution x(t, B, j, (stored_ == triangle::lower) != turned());
      for (std::int64_t i = 0; i < n_; ++i) wrong += !x.in(i, out.set(i, j));
    }
    return wrong;
  }

  int outer_product() {
    op x = draw(m_, 1), y = draw(n_, 1), A = draw(m_, n_), out = A;
    beta_ = one();
    ger<set, set, set>(cpu, alpha(), x.read_vector(), y.read_vector(), out.all());
    return compare(out, x, y.transposed(), &A, alpha_, everywhere);
  }

  // syr and spr, or syr2 and spr2.
  int vector_update(bool two) {
    op x = draw(n_, 1), y = draw(n_, 1), A = draw(n_, n_), out = A, packed = A.packed(stored_);
    beta_ = one();
    const op left = two ? x.beside(y) : x, right = (two ? y.beside(x) : x).transposed();
    if (two) {
      syr2<set, set>(cpu, stored_, alpha(), x.read_vector(), y.read_vector(), out.all());
      spr2<set, set>(cpu, stored_, alpha(), x.read_vector(), y.read_vector(), packed.vector());
    } else {
      syr<set, set>(cpu, stored_, alpha(), x.read_vector(), out.all());
      spr<set, set>(cpu, stored_, alpha(), x.read_vector(), packed.vector());
    }
    op unpacked = out;
    std::int64_t k = 0;
    for (std::int64_t j = 0; j < n_; ++j)
      for (std::int64_t i = 0; i < n_; ++i)
        if (in_triangle()(i, j)) unpacked.set(i, j) = packed.set(k++, 0);
    return compare(out, left, right, &A, alpha_, in_triangle()) +
           compare(unpacked, left, right, &A, alpha_, in_triangle());
  }

  entry_source<T> source_;
  std::int64_t n_, m_, k_;
  transpose trans_;
  triangle stored_;
  diagonal unit_;
  side side_;
  op alpha_, beta_;
};

template <class T>
class blas_campaign : public ::testing::Test {};
using types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(blas_campaign, types);

TYPED_TEST(blas_campaign, results_for_points_lie_in_results_for_intervals) {
  const int cases = campaign(100'000);
  for (int c = 0; c < cases; ++c) {
    const int routine = c % campaign_case<TypeParam>::routines;
    campaign_case<TypeParam> one(static_cast<std::uint64_t>(c));
    ASSERT_EQ(one.violations(routine), 0) << "case " << c << ", routine " << routine;
  }
  std::cout << cases << " cases of matrices, 0 violations\n";
}

}  // namespace
}  // namespace vouch
