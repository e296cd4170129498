// vouch/solve/krylov/scalar_vectors.hpp -- what Krylov methods do to vectors by scalars that are real or complex; private.
#pragma once
#include <algorithm>
#include <complex>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/dense/blas1.hpp>
#include <vouch/dense/blas2.hpp>
#include <vouch/dense/matrix.hpp>
#include <vouch/solve/loop/complex_vectors.hpp>
#include <vouch/solve/loop/vector_update.hpp>

namespace vouch {

/// Vectors of n elements, whose scalars S are double, or complex numbers of which the elements are the parts in turns.
/// All live on one device; what is given back is on the CPU, and a GPU is waited for.
template <real T, class S>
class scalar_vectors {
 public:
  static constexpr bool is_complex = std::is_same_v<S, std::complex<double>>;
  static constexpr std::int64_t parts = is_complex ? 2 : 1;

  /// For up to so many products at once.
  scalar_vectors(const device& dev, std::int64_t n, std::int64_t most)
      : dev_(dev),
        n_(n),
        weights_(dev, needs_gemv() ? parts * most : 0),
        turned_(dev, is_complex && dev.is_cuda() ? n : 0),
        host_(static_cast<std::size_t>(weights_.size())) {}

  /// u* v
  S product(view<const T> u, view<const T> v) {
    if constexpr (is_complex) {
      S sum;
      products({u.data(), u.size(), 1, u.size()}, v, &sum);
      return sum;
    } else {
      return dot<T, T>(dev_, u, v);
    }
  }
  /// y := y + a x, of any length.
  void add(S a, view<const T> x, view<T> y) {
    if constexpr (is_complex)
      add_multiple<T>(dev_, a, x.data(), y.data(), x.size());
    else
      axpy<T, T>(dev_, static_cast<T>(a), x, y);
  }
  /// y := x + b y, of any length.
  void add_to_multiple(view<const T> x, S b, view<T> y) {
    if constexpr (is_complex)
      turn_direction<T>(dev_, x.data(), b, y.data(), x.size());
    else
      axpby<T>(dev_, T{1}, x.data(), static_cast<T>(b), y.data(), x.size());
  }
  /// out[k] := V_k* v
  void products(matrix_view<const T> V, view<const T> v, S* out) {
    std::fill_n(out, V.cols, S{});
    if constexpr (is_complex) {
      if (!dev_.is_cuda()) return multiply_columns<T>(dev_, V, v.data(), out);
      add_products(V, v, 1, {1, 0}, out);
      // Imaginary parts are real products with -i times v.
      multiply_by_i<T>(dev_, v.data(), turned_.data(), n_);
      add_products(V, turned_, -1, {0, 1}, out);
    } else {
      add_products(V, v, 1, 1, out);
    }
  }
  /// out[k V.cols + i] := V_i* V_k for i <= k; the rest means nothing.
  void gram(matrix_view<const T> V, S* out) {
    std::fill_n(out, V.cols * V.cols, S{});
    const auto by_column = [&](const auto& work) {
      for (std::int64_t k = 0; k < V.cols; ++k) work(V.block(0, 0, n_, k + 1), V.column(k), k * V.cols);
    };
    const auto add = [&](T sign, S unit, auto factor) {
      by_column(
          [&](matrix_view<const T> U, view<const T> v, std::int64_t at) { multiply(U, factor(v), sign, at); });
      add_multiplied(V.cols * V.cols, unit, out);
    };
    if constexpr (is_complex) {
      if (!dev_.is_cuda())
        return by_column([&](matrix_view<const T> U, view<const T> v, std::int64_t at) {
          multiply_columns<T>(dev_, U, v.data(), out + at);
        });
      add(1, {1, 0}, [](view<const T> v) { return v; });
      add(-1, {0, 1}, [&](view<const T> v) {
        multiply_by_i<T>(dev_, v.data(), turned_.data(), n_);
        return view<const T>(turned_);
      });
    } else {
      add(1, 1, [](view<const T> v) { return v; });
    }
  }
  /// Takes w for combine(); products take its place.
  void set_weights(const S* w, std::int64_t count) {
    given_.assign(w, w + count);
    if (!needs_gemv()) return;
    for (std::size_t k = 0; k < given_.size(); ++k) {
      host_[k] = static_cast<T>(std::real(w[k]));
      if constexpr (is_complex) host_[given_.size() + k] = static_cast<T>(w[k].imag());
    }
    copy_bytes(weights_.data(), dev_, host_.data(), device::cpu(1),
               static_cast<std::size_t>(parts) * given_.size() * sizeof(T));
  }
  /// y := sign V w + b y, where sign is 1 or -1; b = 0 overwrites y.
  void combine(matrix_view<const T> V, int sign, S b, view<T> y) {
    const view<const T> weights(weights_.data(), V.cols);
    if constexpr (is_complex) {
      if (b == 0.0)
        zero_bytes(dev_, y.data(), static_cast<std::size_t>(n_) * sizeof(T));
      else if (b != 1.0)
        scale_numbers<T>(dev_, b, y.data(), n_);
      if (!dev_.is_cuda()) return add_columns<T>(dev_, V, signed_weights(sign).data(), y.data());
      gemv<T, T, T>(dev_, transpose::no, T(sign), V, weights, T{1}, y);
      const view<const T> imaginary(weights_.data() + V.cols, V.cols);
      gemv<T, T, T>(dev_, transpose::no, T(sign), V, imaginary, T{0}, turned_);
      add_multiple<T>(dev_, {0, 1}, turned_.data(), y.data(), n_);
    } else {
      gemv<T, T, T>(dev_, transpose::no, T(sign), V, weights, static_cast<T>(b), y);
    }
  }
  /// v := v - V (V* v); what was taken is added to h.
  void take_out(matrix_view<const T> V, view<T> v, S* h) {
    if constexpr (is_complex) {
      std::vector<S> along(static_cast<std::size_t>(V.cols));
      products(V, v, along.data());
      for (std::size_t k = 0; k < along.size(); ++k) h[k] += along[k];
      set_weights(along.data(), V.cols);
      combine(V, -1, 1, v);
    } else {
      add_products(V, v, 1, 1, h);
      gemv<T, T, T>(dev_, transpose::no, T{-1}, V, view<const T>(weights_.data(), V.cols), T{1}, v);
    }
  }

 private:
  bool needs_gemv() const { return !is_complex || dev_.is_cuda(); }

  // weights_ from `at` on := sign V^T v
  void multiply(matrix_view<const T> V, view<const T> v, T sign, std::int64_t at) {
    gemv<T, T, T>(dev_, transpose::yes, sign, V, v, T{0}, view<T>(weights_.data() + at, V.cols));
  }
  // out += unit times the first weights
  void add_multiplied(std::int64_t count, S unit, S* out) {
    copy_bytes(host_.data(), device::cpu(1), weights_.data(), dev_,
               static_cast<std::size_t>(count) * sizeof(T));
    for (std::int64_t k = 0; k < count; ++k)
      out[k] += unit * static_cast<double>(host_[static_cast<std::size_t>(k)]);
  }
  void add_products(matrix_view<const T> V, view<const T> v, T sign, S unit, S* out) {
    multiply(V, v, sign, 0);
    add_multiplied(V.cols, unit, out);
  }
  std::vector<S> signed_weights(int sign) const {
    std::vector<S> w = given_;
    for (S& of : w) of *= sign;
    return w;
  }

  device dev_;
  std::int64_t n_;
  array<T> weights_, turned_;
  std::vector<T> host_;   // weights_
  std::vector<S> given_;  // by set_weights()
};

}  // namespace vouch
