// vouch/solve/krylov/scalar_vectors.hpp -- what Krylov methods do to vectors by scalars that are real or complex, each
// vector read and written once in a pass; private.
#pragma once
#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <type_traits>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/solve/krylov/product_pass.hpp>
#include <vouch/solve/krylov/vector_pass.hpp>
#include <vouch/solve/loop/operator.hpp>

namespace vouch {

/// Vectors of n elements, each on a boundary of 64 bytes; zeros at first.
template <real T>
class vector_set {
 public:
  vector_set() = default;
  vector_set(const device& dev, std::int64_t n, std::int64_t count)
      : n_(n),
        stride_(ceil_div<std::int64_t>(n, 64 / sizeof(T)) * static_cast<std::int64_t>(64 / sizeof(T))),
        all_(array<T>::zeros(dev, stride_ * count)) {}
  view<T> operator[](std::int64_t j) { return {all_.data() + j * stride_, n_}; }
  T* at(std::int64_t j) { return all_.data() + j * stride_; }
  /// Elements from one vector to the next.
  std::int64_t stride() const { return stride_; }

 private:
  std::int64_t n_ = 0, stride_ = 0;
  array<T> all_;
};

/// Up to four vectors to be made in one pass, each a sum of multiples of vectors as they were before it. S is double or a
/// complex number.
///
///   recipe.make(y).add(1, y).add(alpha, p).make(r).add(1, r).add(-alpha, q)
template <real T, class S>
class vector_recipe {
 public:
  static constexpr int most = combination<T>::most_outputs;
  /// Begins with the next vector. Of the first the sums of scalar_vectors::make_and_multiply() are.
  vector_recipe& make(T* out) {
    out_[outputs_++] = out;
    return *this;
  }
  vector_recipe& make(view<T> out) { return make(out.data()); }
  vector_recipe& add(S factor, const T* in) {
    const auto same = [&](const term& t) { return t.in == in; };
    auto found = std::find_if(terms_.begin(), terms_.end(), same);
    if (found == terms_.end()) found = terms_.insert(found, {in, {}});
    found->factor[static_cast<std::size_t>(outputs_ - 1)] += factor;
    return *this;
  }
  vector_recipe& add(S factor, view<const T> in) { return add(factor, in.data()); }
  /// Asks for with* times the first vector made.
  vector_recipe& multiply(const T* with) {
    probes_[static_cast<std::size_t>(probe_count_++)] = with;
    return *this;
  }
  vector_recipe& multiply(view<const T> with) { return multiply(with.data()); }
  /// Asks for the first vector made times itself, complex numbers without conjugation; other products then are, too.
  vector_recipe& multiply_by_itself() {
    transposed_ = true;
    probes_[static_cast<std::size_t>(probe_count_++)] = nullptr;
    return *this;
  }
  int outputs() const { return outputs_; }

 private:
  template <real, class>
  friend class scalar_vectors;
  struct term {
    const T* in;
    std::array<S, most> factor;
  };

  int outputs_ = 0, probe_count_ = 0;
  bool transposed_ = false;
  T* out_[most] = {};
  std::array<const T*, combination<T>::most_probes> probes_{};
  std::vector<term> terms_;
};

/// Of the first vector of a recipe.
template <class S>
struct recipe_sums {
  double square = 0;
  std::array<S, combination<double>::most_probes> product{};
};

/// product_sums with their scalars.
template <class S>
struct operator_sums {
  double yy, vv;
  S uy, vy, uv;
};

/// Vectors of n elements, whose scalars S are double, or complex numbers of which the elements are the parts in turns.
/// All live on one device; what is given back is on the CPU, and a GPU is waited for.
template <real T, class S>
class scalar_vectors {
 public:
  static constexpr bool is_complex = std::is_same_v<S, std::complex<double>>;
  static constexpr std::int64_t parts = is_complex ? 2 : 1;
  using recipe = vector_recipe<T, S>;

  scalar_vectors(const device& dev, std::int64_t n) : dev_(dev), n_(n), room_(dev) {}

  void make(const recipe& r) { run(r, false); }
  recipe_sums<S> make_and_multiply(const recipe& r) { return run(r, true); }

  /// out[k * vectors + v] := columns[k]* vectors[v]; one vector or two.
  void products(std::span<const T* const> columns, std::initializer_list<const T*> vectors, S* out) {
    constexpr std::size_t most = column_products<T>::most_columns;
    double sums[column_products<T>::most_columns * column_products<T>::most_vectors * parts];
    column_products<T> c;
    for (const T* v : vectors) c.vector[c.vectors++] = v;
    for (std::size_t first = 0; first < columns.size(); first += most) {
      const std::span<const T* const> some = columns.subspan(first, std::min(most, columns.size() - first));
      c.columns = static_cast<int>(some.size());
      std::copy(some.begin(), some.end(), c.column);
      multiply_columns<T>(dev_, c, is_complex, n_, room_, sums);
      for (int k = 0; k < c.columns * c.vectors; ++k) *out++ = scalar(sums + k * parts);
    }
  }
  S product(view<const T> u, view<const T> v) {
    const T* const column[] = {u.data()};
    S sum;
    products(column, {v.data()}, &sum);
    return sum;
  }
  /// As the pass says.
  operator_sums<S> apply(const linear_operator<T>& A, const product_pass<T>& pass) {
    const product_sums s = multiply_fused<T>(dev_, A, n_, pass, is_complex, room_);
    if constexpr (is_complex)
      return {s.yy, s.vv, {s.uy, s.imaginary_uy}, {s.vy, s.imaginary_vy}, {s.uv, s.imaginary_uv}};
    else
      return {s.yy, s.vv, s.uy, s.vy, s.uv};
  }

 private:
  static S scalar(const double* parts_of) {
    if constexpr (is_complex)
      return {parts_of[0], parts_of[1]};
    else
      return parts_of[0];
  }
  static void set(combination<T>& c, int output, int input, S factor) {
    c.re[output][input] = static_cast<T>(std::real(factor));
    c.im[output][input] = 0;
    if constexpr (is_complex) c.im[output][input] = static_cast<T>(factor.imag());
  }
  // What is made is read by the first pass alone; others, where there are too many vectors for one, go on from what that
  // made.
  recipe_sums<S> run(const recipe& r, bool with_sums) {
    std::vector<typename recipe::term> terms = r.terms_;
    std::stable_partition(terms.begin(), terms.end(), [&](const auto& t) {
      return std::find(r.out_, r.out_ + r.outputs_, t.in) != r.out_ + r.outputs_;
    });
    combination<T> c{};
    c.outputs = r.outputs_;
    c.probes = with_sums ? r.probe_count_ : 0;
    c.transposed = r.transposed_;
    std::copy_n(r.out_, r.outputs_, c.out);
    std::copy_n(r.probes_.begin(), c.probes, c.probe);
    double sums[1 + combination<T>::most_probes * parts];
    for (std::size_t next = 0; next < terms.size() || next == 0;) {
      c.inputs = 0;
      if (next > 0)
        for (; c.inputs < c.outputs; ++c.inputs) {
          c.in[c.inputs] = c.out[c.inputs];
          for (int j = 0; j < c.outputs; ++j) set(c, j, c.inputs, j == c.inputs ? 1 : 0);
        }
      for (; next < terms.size() && c.inputs < combination<T>::most_inputs; ++next, ++c.inputs) {
        c.in[c.inputs] = terms[next].in;
        for (int j = 0; j < c.outputs; ++j)
          set(c, j, c.inputs, terms[next].factor[static_cast<std::size_t>(j)]);
      }
      vouch::combine<T>(dev_, c, is_complex, n_, room_, with_sums && next == terms.size() ? sums : nullptr);
      if (terms.empty()) break;
    }
    recipe_sums<S> all;
    if (!with_sums) return all;
    all.square = sums[0];
    for (int p = 0; p < c.probes; ++p) all.product[static_cast<std::size_t>(p)] = scalar(sums + 1 + p * parts);
    return all;
  }

  device dev_;
  std::int64_t n_;
  sum_room room_;
};

}  // namespace vouch
