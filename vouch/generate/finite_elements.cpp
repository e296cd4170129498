#include <vouch/generate/finite_elements.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/loop_threads.hpp>
#include <vouch/core/random.hpp>
#include <vouch/generate/elasticity.hpp>
#include <vouch/generate/mesh.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch {
namespace {

template <int D>
using point = std::array<double, D>;

// Gradients and weights at the quadrature points of an element of N corners in D dimensions: one point for
// simplices (N = D + 1), exact; 2^D Gauss points for tensor elements (N = 2^D).
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

// Inverse and determinant of a 2-by-2 or 3-by-3 matrix by cofactors; inverse[i][j] * determinant is exact
// up to rounding.
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

// Gradients in space of the N shape functions at quadrature point q of an element with these corners;
// returns the volume that the point stands for.
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

// The elements around each node, ascending: of node i those from start[i] to start[i+1]-1.
struct incidence {
  array<std::int64_t> start;
  array<std::int32_t> elements;
};

// Consecutive numbers of the nodes that lie on none of the faces, -1 for.
struct free_nodes {
  array<std::int32_t> number;
  array<std::int32_t> node;  // the nodes that have numbers, in their order
};

incidence elements_around_nodes(const device& dev, const mesh& m) {
  const int n = corners(m.kind);
  incidence around{array<std::int64_t>::zeros(dev, m.node_count() + 1),
                   array<std::int32_t>(dev, m.nodes.size())};
  for (const std::int32_t node : m.nodes) ++around.start[node + 1];
  std::partial_sum(around.start.begin(), around.start.end(), around.start.begin());
  array<std::int64_t> next = around.start.to(dev);
  for (std::int64_t e = 0; e < m.element_count(); ++e)
    for (int a = 0; a < n; ++a) around.elements[next[m.nodes[e * n + a]]++] = static_cast<std::int32_t>(e);
  return around;
}

free_nodes nodes_off_faces(const device& dev, const mesh& m, unsigned faces) {
  std::int64_t count = 0;
  for (const std::uint8_t f : m.faces) count += (f & faces) == 0;
  free_nodes free{array<std::int32_t>(dev, m.node_count()), array<std::int32_t>(dev, count)};
  std::int32_t next = 0;
  for (std::int64_t i = 0; i < m.node_count(); ++i) {
    const bool is_free = (m.faces[i] & faces) == 0;
    free.number[i] = is_free ? next : -1;
    if (is_free) free.node[next++] = static_cast<std::int32_t>(i);
  }
  return free;
}

// B-by-B blocks that one corner of an element has with its N corners.
template <int B, int N>
using block_row = std::array<std::array<std::array<double, B>, B>, N>;

// Writes a node's rows: collects its neighbours once, then adds the elements' blocks.
template <int D, int N, int B>
class row_assembler {
 public:
  row_assembler(const mesh& m, const incidence& around, const free_nodes& free)
      : m_(m), around_(around), free_(free) {}

  // Free numbers of the nodes that share an element with this one, itself included, ascending.
  const std::vector<std::int32_t>& neighbours(std::int64_t node) {
    found_.clear();
    for (std::int64_t k = around_.start[node]; k < around_.start[node + 1]; ++k)
      for (int b = 0; b < N; ++b) {
        const std::int32_t other = free_.number[m_.nodes[std::int64_t{around_.elements[k]} * N + b]];
        if (other >= 0) found_.push_back(other);
      }
    std::sort(found_.begin(), found_.end());
    found_.erase(std::unique(found_.begin(), found_.end()), found_.end());
    return found_;
  }

  // Adds up the rows of a node into val, B rows of B * neighbours each, and lists their columns.
  template <class Kernel>
  void write(std::int64_t node, const Kernel& kernel, std::int32_t* col, double* val) {
    const std::vector<std::int32_t>& list = neighbours(node);
    const std::int64_t length = B * std::ssize(list);
    for (int i = 0; i < B; ++i)
      for (std::int64_t k = 0; k < length; ++k)
        col[i * length + k] = static_cast<std::int32_t>(B * list[static_cast<std::size_t>(k / B)] + k % B);
    std::fill(val, val + B * length, 0.0);
    for (std::int64_t k = around_.start[node]; k < around_.start[node + 1]; ++k)
      add_element(around_.elements[k], node, kernel, val, length);
  }

 private:
  template <class Kernel>
  void add_element(std::int64_t e, std::int64_t node, const Kernel& kernel, double* val, std::int64_t length) {
    const std::int32_t* nodes = m_.nodes.data() + e * N;
    std::array<point<D>, N> corner;
    for (int b = 0; b < N; ++b)
      for (int d = 0; d < D; ++d) corner[b][d] = m_.points[std::int64_t{nodes[b]} * D + d];
    block_row<B, N> blocks{};
    kernel(e, static_cast<int>(std::find(nodes, nodes + N, node) - nodes), corner, blocks);
    for (int b = 0; b < N; ++b) {
      const std::int32_t other = free_.number[nodes[b]];
      if (other < 0) continue;
      const std::int64_t at = B * (std::lower_bound(found_.begin(), found_.end(), other) - found_.begin());
      for (int i = 0; i < B; ++i)
        for (int j = 0; j < B; ++j) val[i * length + at + j] += blocks[b][i][j];
    }
  }

  const mesh& m_;
  const incidence& around_;
  const free_nodes& free_;
  std::vector<std::int32_t> found_;
};

// The matrix on B unknowns at each node off the held faces. kernel(e, a, corner, blocks) gives the blocks
// of corner a of element e with all its corners; it is called once for every a, by several threads.
// Elements are added in ascending order, so a kernel with bitwise symmetric blocks gives such a matrix.
template <int D, int N, int B, class Kernel>
csr<double> assemble(const device& dev, const mesh& m, unsigned held_faces, const Kernel& kernel) {
  const incidence around = elements_around_nodes(dev, m);
  const free_nodes free = nodes_off_faces(dev, m, held_faces);
  const std::int64_t count = free.node.size(), rows = B * count;
  csr<double> A{rows, rows, array<std::int64_t>(dev, rows + 1), {}, {}};
  A.row_ptr[0] = 0;
  const cancellation_probe stop;
#pragma omp parallel firstprivate(ieee) num_threads(loop_threads(dev, 64 * count))
  {
    row_assembler<D, N, B> assembler(m, around, free);
#pragma omp for schedule(static)
    for (std::int64_t i = 0; i < count; ++i) {
      if (stop.requested()) continue;
      const std::int64_t length = B * std::ssize(assembler.neighbours(free.node[i]));
      for (int b = 0; b < B; ++b) A.row_ptr[B * i + b + 1] = length;
    }
  }
  stop.check();
  std::partial_sum(A.row_ptr.begin(), A.row_ptr.end(), A.row_ptr.begin());
  A.col = array<std::int32_t>(dev, A.row_ptr[rows]);
  A.val = array<double>(dev, A.row_ptr[rows]);
#pragma omp parallel firstprivate(ieee) num_threads(loop_threads(dev, 64 * count))
  {
    row_assembler<D, N, B> assembler(m, around, free);
#pragma omp for schedule(static)
    for (std::int64_t i = 0; i < count; ++i) {
      if (stop.requested()) continue;
      const std::int64_t first = A.row_ptr[B * i];
      assembler.write(free.node[i], kernel, A.col.data() + first, A.val.data() + first);
    }
  }
  stop.check();
  return A;
}

// What make() makes for the dimension and the corners of a kind of element.
template <class Make>
csr<double> with_element(element kind, Make make) {
  switch (kind) {
    case element::triangle:
      return make.template operator()<2, 3>();
    case element::quadrilateral:
      return make.template operator()<2, 4>();
    case element::tetrahedron:
      return make.template operator()<3, 4>();
    case element::hexahedron:
      break;
  }
  return make.template operator()<3, 8>();
}

constexpr unsigned all_faces = 63;

template <int D, int N>
csr<double> assemble_laplacian(const device& dev, const mesh& m, boundary edge) {
  const reference_element<D, N> reference;
  const auto kernel = [&](std::int64_t, int a, const std::array<point<D>, N>& corner, block_row<1, N>& blocks) {
    std::array<point<D>, N> g;
    for (int q = 0; q < reference.points; ++q) {
      const double volume = physical_gradients<D, N>(reference, q, corner, g);
      for (int b = 0; b < N; ++b) {
        double dot = 0;
        for (int d = 0; d < D; ++d) dot += g[a][d] * g[b][d];
        blocks[b][0][0] += volume * dot;
      }
    }
  };
  return assemble<D, N, 1>(dev, m, edge == boundary::dirichlet ? all_faces : 0, kernel);
}

}  // namespace

csr<double> finite_elements(const device& dev, const mesh& m, boundary edge) {
  const ieee_environment here;
  return with_element(m.kind, [&]<int D, int N>() { return assemble_laplacian<D, N>(dev, m, edge); });
}

namespace {

constexpr unsigned face_x0 = 1;

void check(const elasticity_options& options) {
  const double ratio = options.poisson_ratio;
  if (!(ratio > -1 && ratio < 0.5))
    throw value_error("a Poisson ratio of " + std::to_string(ratio) + " lies outside (-1, 0.5)");
  for (const double value : {options.young, options.contrast})
    if (!(value > 0) || std::isinf(value))
      throw value_error("a stiffness or contrast of " + std::to_string(value), "give a positive finite number");
}

// The blocks integral of lambda grad_a (x) grad_b + mu grad_b (x) grad_a + mu (grad_a . grad_b) I. Each
// product is written so that swapping a with b and i with j gives the same bits.
template <int D, int N>
class stiffness {
 public:
  explicit stiffness(const elasticity_options& options) : options_(options) {
    const double nu = options.poisson_ratio;
    lambda_ = options.young * nu / ((1 + nu) * (1 - 2 * nu));
    mu_ = options.young / (2 * (1 + nu));
  }

  void operator()(std::int64_t e, int a, const std::array<point<D>, N>& corner, block_row<D, N>& blocks) const {
    const double stiffer =
        options_.contrast == 1
            ? 1
            : std::pow(options_.contrast, random_unit(options_.seed, static_cast<std::uint64_t>(e)));
    std::array<point<D>, N> g;
    for (int q = 0; q < reference_element<D, N>::points; ++q) {
      const double volume = stiffer * physical_gradients<D, N>(reference_, q, corner, g);
      for (int b = 0; b < N; ++b) add_block(g[a], g[b], volume, blocks[b]);
    }
  }

 private:
  void add_block(const point<D>& ga, const point<D>& gb, double volume,
                 std::array<std::array<double, D>, D>& block) const {
    const double lambda = volume * lambda_, mu = volume * mu_;
    double dot = 0;
    for (int d = 0; d < D; ++d) dot += ga[d] * gb[d];
    for (int i = 0; i < D; ++i)
      for (int j = 0; j < D; ++j)
        block[i][j] += lambda * (ga[i] * gb[j]) + mu * (ga[j] * gb[i]) + (i == j ? mu * dot : 0);
  }

  elasticity_options options_;
  reference_element<D, N> reference_;
  double lambda_ = 0, mu_ = 0;
};

template <int D, int N>
csr<double> assemble_elasticity(const device& dev, const mesh& m, const elasticity_options& options) {
  return assemble<D, N, D>(dev, m, options.clamped ? face_x0 : 0, stiffness<D, N>(options));
}

}  // namespace

csr<double> elasticity(const device& dev, const mesh& m, const elasticity_options& options) {
  const ieee_environment here;
  check(options);
  return with_element(m.kind, [&]<int D, int N>() { return assemble_elasticity<D, N>(dev, m, options); });
}

}  // namespace vouch
