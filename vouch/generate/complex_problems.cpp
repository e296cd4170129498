#include <vouch/generate/complex_problems.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include <vouch/core/double_double.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/loop_threads.hpp>
#include <vouch/core/random.hpp>
#include <vouch/sparse/coo.hpp>
#include <vouch/sparse/valid_csr.hpp>

namespace vouch {
namespace {

using complex = std::complex<double>;
constexpr complex i_unit{0, 1};

// Entries in any order; those of one place are added up.
class entry_list {
 public:
  explicit entry_list(std::int64_t n) : n_(n) {}

  void add(std::int64_t row, std::int64_t col, complex value) {
    row_.push_back(static_cast<std::int32_t>(row));
    col_.push_back(static_cast<std::int32_t>(col));
    val_.push_back(value);
  }
  /// An admittance between two nodes.
  void connect(std::int64_t a, std::int64_t b, complex y) {
    add(a, a, y);
    add(b, b, y);
    add(a, b, -y);
    add(b, a, -y);
  }
  csr<complex> matrix(const device& cpu) const {
    return to_csr(cpu, complex_coo{n_, n_, symmetry::general, array<std::int32_t>::from(cpu, row_),
                                   array<std::int32_t>::from(cpu, col_), array<complex>::from(cpu, val_)});
  }

 private:
  std::int64_t n_;
  std::vector<std::int32_t> row_, col_;
  std::vector<complex> val_;
};

struct grid_sizes {
  std::int64_t x, y, z;

  std::int64_t points() const { return x * y * z; }
  std::int64_t at(std::int64_t i, std::int64_t j, std::int64_t k) const { return (k * y + j) * x + i; }
};

grid_sizes checked_sizes(const complex_problem_options& o, std::int64_t standard) {
  const std::int64_t nx = o.nx.value_or(standard);
  const grid_sizes n{nx, o.ny.value_or(nx), o.nz.value_or(1)};
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max() / 16;
  for (const std::int64_t length : {n.x, n.y, n.z})
    if (length < 1 || length > most)
      throw value_error("a grid of " + std::to_string(length) + " points in a direction");
  if (n.x > most / n.y || n.x * n.y > most / n.z)
    throw value_error("a grid of more than " + std::to_string(most) + " points");
  return n;
}

double in_range(const char* name, std::optional<double> given, double standard, double least, double most) {
  const double value = given.value_or(standard);
  if (!(value >= least && value <= most))
    throw value_error(std::string(name) + " of " + std::to_string(value),
                      "from " + std::to_string(least) + " to " + std::to_string(most));
  return value;
}

// Calls visit(a, b) for every pair of neighbours, a before b.
template <class Visit>
void for_neighbours(const grid_sizes& n, const Visit& visit) {
  for (std::int64_t k = 0; k < n.z; ++k)
    for (std::int64_t j = 0; j < n.y; ++j)
      for (std::int64_t i = 0; i < n.x; ++i) {
        if (i + 1 < n.x) visit(n.at(i, j, k), n.at(i + 1, j, k));
        if (j + 1 < n.y) visit(n.at(i, j, k), n.at(i, j + 1, k));
        if (k + 1 < n.z) visit(n.at(i, j, k), n.at(i, j, k + 1));
      }
}

// At the ends of a direction the point outside is eliminated by (outside - inside) = ik inside.
csr<complex> helmholtz(const device& cpu, const complex_problem_options& o) {
  const grid_sizes n = checked_sizes(o, 64);
  const double k = 2 * std::numbers::pi / in_range("--wavelength", o.wavelength, 10, 2, 1e6);
  const complex squared = k * k * complex(1, in_range("--damping", o.damping, 0, -10, 10));
  entry_list entries(n.points());
  for_neighbours(n, [&](std::int64_t a, std::int64_t b) { entries.connect(a, b, 1); });
  for (std::int64_t z = 0; z < n.z; ++z)
    for (std::int64_t y = 0; y < n.y; ++y)
      for (std::int64_t x = 0; x < n.x; ++x) {
        int open = 0;  // neighbours outside, in the directions there are
        if (n.x > 1) open += (x == 0) + (x + 1 == n.x);
        if (n.y > 1) open += (y == 0) + (y + 1 == n.y);
        if (n.z > 1) open += (z == 0) + (z + 1 == n.z);
        entries.add(n.at(x, y, z), n.at(x, y, z), -squared - i_unit * k * double(open));
      }
  return entries.matrix(cpu);
}

// Landau's gauge: steps in y are turned by the flux to the left of them.
csr<complex> magnetic_poisson(const device& cpu, const complex_problem_options& o) {
  if (o.nz) throw value_error("magnetic-poisson takes no nz");
  const grid_sizes n = checked_sizes(o, 64);
  const double flux = in_range("--flux", o.flux, 0.5, -std::numbers::pi, std::numbers::pi);
  entry_list entries(n.points());
  for (std::int64_t j = 0; j < n.y; ++j)
    for (std::int64_t i = 0; i < n.x; ++i) {
      const std::int64_t a = n.at(i, j, 0);
      entries.add(a, a, 4);
      if (i + 1 < n.x) {
        entries.add(a, a + 1, -1);
        entries.add(a + 1, a, -1);
      }
      if (j + 1 < n.y) {
        const complex phase = std::polar(1.0, flux * double(i));
        entries.add(a, a + n.x, -phase);
        entries.add(a + n.x, a, -std::conj(phase));
      }
    }
  return entries.matrix(cpu);
}

csr<complex> impedance_network(const device& cpu, const complex_problem_options& o) {
  const grid_sizes n = checked_sizes(o, 64);
  entry_list entries(n.points());
  std::uint64_t element = 0;
  for_neighbours(n, [&](std::int64_t a, std::int64_t b) {
    const double size = std::exp2(4 * random_unit(o.seed, 2 * element) - 2);
    const std::uint64_t kind = random_bits(o.seed, 2 * element + 1) % 3;
    ++element;
    entries.connect(a, b, kind == 0 ? complex(size, 0) : kind == 1 ? complex(0, -size) : complex(0, size));
  });
  for (std::int64_t a = 0; a < n.points(); ++a) entries.add(a, a, complex(0.01, 0));
  return entries.matrix(cpu);
}

// Per-unit values of overhead lines: reactance above resistance, half of the charging at either end.
csr<complex> power_grid(const device& cpu, const complex_problem_options& o) {
  if (o.ny || o.nz) throw value_error("power-grid takes nx alone, its number of nodes");
  const std::int64_t n = o.nx.value_or(1000);
  if (n < 3 || n > 50'000'000)
    throw value_error("power-grid of " + std::to_string(n) + " nodes", "from 3 to 50000000");
  entry_list entries(n);
  std::uint64_t counter = 0;
  const auto number = [&](double from, double to) {
    return from + (to - from) * random_unit(o.seed, counter++);
  };
  const auto line = [&](std::int64_t a, std::int64_t b) {
    const complex impedance(number(0.002, 0.02), number(0.02, 0.2)), charging(0, number(0.01, 0.1) / 2);
    entries.connect(a, b, 1.0 / impedance);
    entries.add(a, a, charging);
    entries.add(b, b, charging);
  };
  for (std::int64_t a = 0; a < n; ++a) line(a, (a + 1) % n);
  for (std::int64_t c = 0; c < n / 2; ++c) {
    const auto a = static_cast<std::int64_t>(number(0, 1) * double(n));
    const std::int64_t far = 2 + static_cast<std::int64_t>(std::pow(double(n) / 2, number(0, 1)));
    if ((a + far) % n != a) line(a, (a + far) % n);
  }
  for (std::int64_t a = 0; a < n; ++a) entries.add(a, a, complex(number(0.1, 1), -number(0, 0.5)));
  return entries.matrix(cpu);
}

struct entry {
  problem_facts facts;
  csr<complex> (*build)(const device&, const complex_problem_options&);
};

const std::vector<entry>& registry() {
  static const std::vector<entry> all{
      {{"helmholtz", "complex: waves at one frequency, absorbed at the boundary", 3, {"wavelength", "damping"}},
       helmholtz},
      {{"magnetic-poisson", "complex Hermitian: Laplace in a magnetic field", 2, {"flux"}, false},
       magnetic_poisson},
      {{"impedance-network", "complex: a grid of resistors, coils, capacitors", 3, {}}, impedance_network},
      {{"power-grid", "complex: nodal admittances of lines and loads", 1, {}}, power_grid}};
  return all;
}

void check_options(const problem_facts& facts, const complex_problem_options& o) {
  const std::pair<const char*, bool> given[] = {{"wavelength", o.wavelength.has_value()},
                                                {"damping", o.damping.has_value()},
                                                {"flux", o.flux.has_value()}};
  for (const auto& [option, is_given] : given)
    if (is_given && std::find(facts.options.begin(), facts.options.end(), option) == facts.options.end())
      throw value_error(std::string(facts.name) + " takes no " + option);
}

}  // namespace

std::span<const problem_facts> complex_problems() {
  static const std::vector<problem_facts> facts = [] {
    std::vector<problem_facts> all;
    for (const entry& e : registry()) all.push_back(e.facts);
    return all;
  }();
  return facts;
}

csr<complex> generate_complex(const device& cpu, std::string_view name,
                              const complex_problem_options& options) {
  const ieee_environment here;
  for (const entry& e : registry())
    if (e.facts.name == name) {
      check_options(e.facts, options);
      return e.build(cpu, options);
    }
  throw value_error("unknown complex problem '" + std::string(name) + "'");
}

array<complex> right_hand_side(const device& cpu, csr_view<const complex> A, view<const complex> x) {
  const ieee_environment here;
  const valid_csr valid("right_hand_side", cpu, A);
  if (x.size() != A.cols)
    throw shape_error("right_hand_side: a matrix of " + std::to_string(A.cols) + " columns times " +
                      std::to_string(x.size()) + " elements");
  array<complex> b(cpu, A.rows);
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(cpu, A.nonzeros)) schedule(static)
  for (std::int64_t i = 0; i < A.rows; ++i) {
    double_double<double> re, im;
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
      const complex a = A.val[k], v = x[A.col[k]];
      re = add_product(add_product(re, a.real(), v.real()), -a.imag(), v.imag());
      im = add_product(add_product(im, a.real(), v.imag()), a.imag(), v.real());
    }
    b[i] = {re.hi, im.hi};
  }
  return b;
}

}  // namespace vouch
