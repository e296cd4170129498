#include <vouch/core/ieee_environment.hpp>
#include <vouch/generate/assembly.hpp>
#include <vouch/generate/finite_elements.hpp>

namespace vouch {
namespace {

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
  switch (m.kind) {
    case element::triangle:
      return assemble_laplacian<2, 3>(dev, m, edge);
    case element::quadrilateral:
      return assemble_laplacian<2, 4>(dev, m, edge);
    case element::tetrahedron:
      return assemble_laplacian<3, 4>(dev, m, edge);
    case element::hexahedron:
      break;
  }
  return assemble_laplacian<3, 8>(dev, m, edge);
}

}  // namespace vouch
