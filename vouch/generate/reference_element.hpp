// vouch/generate/reference_element.hpp -- shape-function gradients of linear elements; private.
#pragma once
#include <array>
#include <cmath>

#include <vouch/generate/mesh.hpp>

namespace vouch {

template <int D>
using point = std::array<double, D>;

/// Gradients and weights at the quadrature points of an element of N corners in D dimensions: one point for
/// simplices (N = D + 1), exact; 2^D Gauss points for tensor elements (N = 2^D).
template <int D, int N>
struct reference_element {
  static constexpr int points = N == D + 1 ? 1 : N;
  double weight = 0;                                        // of every point, the element's volume divided
  std::array<std::array<point<D>, N>, points> gradients{};  // in reference coordinates

  reference_element() {
    if constexpr (points == 1)
      set_simplex();
    else
      set_tensor();
  }

 private:
  void set_simplex() {
    weight = D == 2 ? 0.5 : 1.0 / 6;
    for (int d = 0; d < D; ++d) {
      gradients[0][0][d] = -1;
      gradients[0][d + 1][d] = 1;
    }
  }
  void set_tensor() {
    weight = 1.0 / points;
    for (int q = 0; q < points; ++q)
      for (int a = 0; a < N; ++a)
        for (int d = 0; d < D; ++d) gradients[q][a][d] = derivative(q, a, d);
  }
  // Of corner a's product of linear functions in direction d, at Gauss point q of [0, 1]^D.
  static double derivative(int q, int a, int d) {
    double product = 1;
    for (int e = 0; e < D; ++e) {
      const bool upper = (a >> e & 1) != 0;
      const double gauss = 0.5 + ((q >> e & 1) != 0 ? 0.5 : -0.5) / std::sqrt(3.0);
      product *= e == d ? (upper ? 1 : -1) : (upper ? gauss : 1 - gauss);
    }
    return product;
  }
};

/// Inverse and determinant of a 2-by-2 or 3-by-3 matrix by cofactors; inverse[i][j] * determinant is exact
/// up to rounding.
template <int D>
double invert(const std::array<point<D>, D>& J, std::array<point<D>, D>& inverse) {
  if constexpr (D == 2) {
    const double det = J[0][0] * J[1][1] - J[0][1] * J[1][0];
    inverse = {{{J[1][1] / det, -J[0][1] / det}, {-J[1][0] / det, J[0][0] / det}}};
    return det;
  } else {
    const auto minor = [&](int r, int c) {
      const int r1 = (r + 1) % 3, r2 = (r + 2) % 3, c1 = (c + 1) % 3, c2 = (c + 2) % 3;
      return J[r1][c1] * J[r2][c2] - J[r1][c2] * J[r2][c1];
    };
    const double det = J[0][0] * minor(0, 0) + J[0][1] * minor(0, 1) + J[0][2] * minor(0, 2);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) inverse[i][j] = minor(j, i) / det;
    return det;
  }
}

/// Gradients in space of the N shape functions at quadrature point q of an element with these corners;
/// returns the volume that the point stands for.
template <int D, int N>
double physical_gradients(const reference_element<D, N>& reference, int q,
                          const std::array<point<D>, N>& corner, std::array<point<D>, N>& gradient) {
  std::array<point<D>, D> J{}, inverse{};  // J[i][j] = d x_i / d xi_j
  for (int a = 0; a < N; ++a)
    for (int i = 0; i < D; ++i)
      for (int j = 0; j < D; ++j) J[i][j] += corner[a][i] * reference.gradients[q][a][j];
  const double det = invert<D>(J, inverse);
  for (int a = 0; a < N; ++a)
    for (int i = 0; i < D; ++i) {
      double sum = 0;
      for (int j = 0; j < D; ++j) sum += reference.gradients[q][a][j] * inverse[j][i];
      gradient[a][i] = sum;
    }
  return reference.weight * det;
}

}  // namespace vouch
