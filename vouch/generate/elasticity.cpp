#include <cmath>
#include <string>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/random.hpp>
#include <vouch/generate/assembly.hpp>
#include <vouch/generate/elasticity.hpp>

namespace vouch {
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
  switch (m.kind) {
    case element::triangle:
      return assemble_elasticity<2, 3>(dev, m, options);
    case element::quadrilateral:
      return assemble_elasticity<2, 4>(dev, m, options);
    case element::tetrahedron:
      return assemble_elasticity<3, 4>(dev, m, options);
    case element::hexahedron:
      break;
  }
  return assemble_elasticity<3, 8>(dev, m, options);
}

}  // namespace vouch
