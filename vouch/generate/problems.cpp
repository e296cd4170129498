#include <vouch/generate/problems.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <numbers>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <vouch/core/double_double.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/loop_threads.hpp>
#include <vouch/core/random.hpp>
#include <vouch/generate/diffusion.hpp>
#include <vouch/generate/elasticity.hpp>
#include <vouch/generate/finite_elements.hpp>
#include <vouch/generate/plate.hpp>
#include <vouch/generate/poisson.hpp>
#include <vouch/generate/solution.hpp>
#include <vouch/sparse/ordering.hpp>
#include <vouch/sparse/valid_csr.hpp>

namespace vouch {
namespace {

using sizes = std::array<std::int64_t, 3>;

struct entry {
  problem_facts facts;
  sizes standard;  // sizes where none is given
  int unknowns;    // of a node, numbered side by side
  csr<double> (*build)(const device&, const sizes&, const problem_options&);
};

// The value that goes with a word, the first of the list where none was given.
template <class Value>
Value choose(const char* option, const std::optional<std::string>& word,
             std::initializer_list<std::pair<const char*, Value>> values) {
  if (!word) return values.begin()->second;
  std::string names;
  for (const auto& [name, value] : values) {
    if (*word == name) return value;
    names += (names.empty() ? "" : " or ") + std::string(name);
  }
  throw value_error("unknown " + std::string(option) + " '" + *word + "'", "give " + names);
}

boundary edge_of(const problem_options& o) {
  return choose<boundary>("boundary", o.boundary,
                          {{"dirichlet", boundary::dirichlet}, {"neumann", boundary::neumann}});
}

csr<double> build_diffusion(const device& dev, const sizes& n, const problem_options& o) {
  diffusion_options options{.seed = o.seed, .edge = edge_of(o)};
  options.kind = choose<coefficient>(
      "coefficient", o.coefficient,
      {{"smooth", coefficient::smooth}, {"jump", coefficient::jump}, {"random", coefficient::random}});
  options.contrast = o.contrast.value_or(options.contrast);
  return diffusion(dev, n[0], n[1], n[2], options);
}

csr<double> build_convection_diffusion(const device& dev, const sizes& n, const problem_options& o) {
  convection_options options;
  options.peclet = o.peclet.value_or(options.peclet);
  options.kind =
      choose<flow>("flow", o.flow, {{"constant", flow::constant}, {"recirculating", flow::recirculating}});
  return convection_diffusion(dev, n[0], n[1], n[2], options);
}

element element_of(int dim, const problem_options& o) {
  if (dim == 2)
    return choose<element>("element", o.element,
                           {{"quadrilateral", element::quadrilateral}, {"triangle", element::triangle}});
  return choose<element>("element", o.element,
                         {{"hexahedron", element::hexahedron}, {"tetrahedron", element::tetrahedron}});
}

// Cells of edge 1, stretched in x.
mesh build_mesh(const device& dev, element kind, const sizes& n, const problem_options& o) {
  return box_mesh(dev, kind,
                  {.nx = n[0],
                   .ny = n[1],
                   .nz = n[2],
                   .lx = o.stretch.value_or(1) * static_cast<double>(n[0]),
                   .ly = static_cast<double>(n[1]),
                   .lz = static_cast<double>(n[2]),
                   .perturb = o.perturb.value_or(0),
                   .seed = o.seed});
}

bool is_clamped(const problem_options& o) {
  return choose<bool>("boundary", o.boundary, {{"clamped", true}, {"free", false}});
}

template <int D>
csr<double> build_elasticity(const device& dev, const sizes& n, const problem_options& o) {
  elasticity_options options{.seed = o.seed};
  options.young = o.young.value_or(options.young);
  options.poisson_ratio = o.poisson_ratio.value_or(options.poisson_ratio);
  options.contrast = o.contrast.value_or(options.contrast);
  options.clamped = is_clamped(o);
  return elasticity(dev, build_mesh(dev, element_of(D, o), n, o), options);
}

template <element Kind>
csr<double> build_elements(const device& dev, const sizes& n, const problem_options& o) {
  problem_options all = o;
  all.perturb = o.perturb.value_or(0.15);
  return finite_elements(dev, build_mesh(dev, Kind, n, all), edge_of(all));
}

problem_options with_tetrahedra(problem_options o) {
  o.element = "tetrahedron";
  o.contrast = 1e4;
  return o;
}

csr<double> build_elasticity_11k(const device& dev, const sizes& n, const problem_options& o) {
  return build_elasticity<3>(dev, n, with_tetrahedra(o));
}

node_coordinates coordinates_of(const mesh& m, bool clamped) {
  constexpr unsigned face_x0 = 1;
  const int d = dimension(m.kind);
  std::vector<std::int64_t> free;
  for (std::int64_t i = 0; i < m.node_count(); ++i)
    if (!clamped || (m.faces[i] & face_x0) == 0) free.push_back(i);
  node_coordinates found{std::ssize(free), d, array<double>(m.points.where(), std::ssize(free) * d)};
  for (std::int64_t k = 0; k < found.nodes; ++k)
    for (int c = 0; c < d; ++c)
      found.values[c * found.nodes + k] = m.points[free[static_cast<std::size_t>(k)] * d + c];
  return found;
}

const std::vector<entry>& registry() {
  using options = const problem_options&;
  using dev_t = const device&;
  static const std::vector<entry> list = {
      {{"poisson-1d", "Laplace operator on a line, 3 points", 1, {"boundary"}},
       {1000, 1, 1},
       1,
       [](dev_t dev, const sizes& n, options o) { return poisson_1d(dev, n[0], edge_of(o)); }},
      {{"poisson-2d", "on a rectangle, 5 points", 2, {"boundary"}},
       {100, 100, 1},
       1,
       [](dev_t dev, const sizes& n, options o) { return poisson_2d(dev, n[0], n[1], 5, edge_of(o)); }},
      {{"poisson-2d-9", "on a rectangle, 9 points", 2, {"boundary"}},
       {100, 100, 1},
       1,
       [](dev_t dev, const sizes& n, options o) { return poisson_2d(dev, n[0], n[1], 9, edge_of(o)); }},
      {{"poisson-3d", "on a box, 7 points", 3, {"boundary"}},
       {50, 50, 50},
       1,
       [](dev_t dev, const sizes& n, options o) { return poisson_3d(dev, n[0], n[1], n[2], 7, edge_of(o)); }},
      {{"poisson-3d-27", "on a box, 27 points", 3, {"boundary"}},
       {50, 50, 50},
       1,
       [](dev_t dev, const sizes& n, options o) { return poisson_3d(dev, n[0], n[1], n[2], 27, edge_of(o)); }},
      {{"anisotropic-2d", "weak coupling in y, 5 points", 2, {"boundary", "epsilon"}},
       {100, 100, 1},
       1,
       [](dev_t dev, const sizes& n, options o) {
         return anisotropic_2d(dev, n[0], n[1], o.epsilon.value_or(0.01), edge_of(o));
       }},
      {{"anisotropic-3d", "weak coupling in z, 7 points", 3, {"boundary", "epsilon"}},
       {50, 50, 50},
       1,
       [](dev_t dev, const sizes& n, options o) {
         return anisotropic_3d(dev, n[0], n[1], n[2], o.epsilon.value_or(0.01), edge_of(o));
       }},
      {{"diffusion-2d", "a coefficient that varies, 5 points", 2, {"boundary", "coefficient", "contrast"}},
       {100, 100, 1},
       1,
       build_diffusion},
      {{"diffusion-3d", "a coefficient that varies, 7 points", 3, {"boundary", "coefficient", "contrast"}},
       {50, 50, 50},
       1,
       build_diffusion},
      {{"convection-diffusion-2d", "upwind differences, 5 points, not symmetric", 2, {"peclet", "flow"}, false},
       {100, 100, 1},
       1,
       build_convection_diffusion},
      {{"convection-diffusion-3d", "upwind differences, 7 points, not symmetric", 3, {"peclet", "flow"}, false},
       {50, 50, 50},
       1,
       build_convection_diffusion},
      {{"plate", "bending of a thin plate, 13 points", 2, {"boundary"}},
       {100, 100, 1},
       1,
       [](dev_t dev, const sizes& n, options o) {
         return plate(
             dev, n[0], n[1],
             choose<plate_edge>("boundary", o.boundary,
                                {{"supported", plate_edge::supported}, {"clamped", plate_edge::clamped}}));
       }},
      {{"elasticity-2d",
        "an elastic sheet held at x = 0, finite elements",
        2,
        {"boundary", "element", "young", "poisson-ratio", "contrast", "stretch", "perturb"}},
       {60, 60, 1},
       2,
       build_elasticity<2>},
      {{"elasticity-3d",
        "an elastic body held at x = 0, finite elements",
        3,
        {"boundary", "element", "young", "poisson-ratio", "contrast", "stretch", "perturb"}},
       {20, 20, 20},
       3,
       build_elasticity<3>},
      {{"elements-2d", "Laplace operator on perturbed triangles", 2, {"boundary", "perturb", "stretch"}},
       {100, 100, 1},
       1,
       build_elements<element::triangle>},
      {{"elements-3d", "Laplace operator on perturbed tetrahedra", 3, {"boundary", "perturb", "stretch"}},
       {30, 30, 30},
       1,
       build_elements<element::tetrahedron>},
      {{"elasticity-11k", "10,944 unknowns, 428,706 entries: tetrahedra of stiffness 1 to 10^4", 0, {}},
       {32, 18, 5},
       3,
       build_elasticity_11k},
      {{"elasticity-100k", "98,304 unknowns: elasticity-3d of 32 by 31 by 31 hexahedra", 0, {}},
       {32, 31, 31},
       3,
       build_elasticity<3>}};
  return list;
}

const entry& find_problem(std::string_view name) {
  for (const entry& e : registry())
    if (e.facts.name == name) return e;
  throw value_error("unknown problem '" + std::string(name) + "'");
}

void check_options(const problem_facts& facts, const problem_options& o) {
  const auto refuse = [&](std::string_view option) {
    std::string taken;
    for (const std::string_view other : facts.options)
      taken += (taken.empty() ? "" : ", ") + std::string(other);
    throw value_error(std::string(facts.name) + " takes no " + std::string(option),
                      taken.empty() ? "its size and kind are fixed" : "besides its size it takes " + taken);
  };
  const std::pair<const char*, bool> given[] = {{"boundary", o.boundary.has_value()},
                                                {"coefficient", o.coefficient.has_value()},
                                                {"element", o.element.has_value()},
                                                {"epsilon", o.epsilon.has_value()},
                                                {"contrast", o.contrast.has_value()},
                                                {"young", o.young.has_value()},
                                                {"poisson-ratio", o.poisson_ratio.has_value()},
                                                {"stretch", o.stretch.has_value()},
                                                {"perturb", o.perturb.has_value()},
                                                {"peclet", o.peclet.has_value()},
                                                {"flow", o.flow.has_value()}};
  for (const auto& [option, is_given] : given)
    if (is_given && std::find(facts.options.begin(), facts.options.end(), option) == facts.options.end())
      refuse(option);
  const std::pair<const char*, bool> lengths[] = {
      {"nx", o.nx.has_value()}, {"ny", o.ny.has_value()}, {"nz", o.nz.has_value()}};
  for (int d = facts.dimension; d < 3; ++d)
    if (lengths[d].second) refuse(lengths[d].first);
}

sizes sizes_of(const entry& e, const problem_options& o) {
  sizes n = e.standard;
  const std::optional<std::int64_t> given[] = {o.nx, o.ny, o.nz};
  for (std::size_t d = 0; d < static_cast<std::size_t>(e.facts.dimension); ++d)
    n[d] = given[d] ? *given[d] : d > 0 && o.nx ? n[d - 1] : n[d];
  return n;
}

// Nothing where it is the natural one.
std::optional<array<std::int32_t>> order_of(const device& dev, const csr<double>& A, const entry& e,
                                            const problem_options& o) {
  enum class ordering { natural, random, rcm };
  switch (choose<ordering>(
      "order", o.order,
      {{"natural", ordering::natural}, {"random", ordering::random}, {"rcm", ordering::rcm}})) {
    case ordering::random:
      return random_order(dev, A.rows, o.seed, e.unknowns);
    case ordering::rcm:
      return reverse_cuthill_mckee<double>(dev, A, e.unknowns);
    case ordering::natural:
      break;
  }
  return {};
}

}  // namespace

std::span<const problem_facts> problems() {
  static const std::vector<problem_facts> facts = [] {
    std::vector<problem_facts> all;
    for (const entry& e : registry()) all.push_back(e.facts);
    return all;
  }();
  return facts;
}

csr<double> generate_problem(const device& dev, std::string_view name, const problem_options& options) {
  const ieee_environment here;
  const entry& e = find_problem(name);
  check_options(e.facts, options);
  csr<double> A = e.build(dev, sizes_of(e, options), options);
  const std::optional<array<std::int32_t>> order = order_of(dev, A, e, options);
  return order ? permute<double>(dev, A, *order) : std::move(A);
}

node_coordinates problem_coordinates(const device& dev, std::string_view name, const problem_options& options) {
  const ieee_environment here;
  const entry& e = find_problem(name);
  check_options(e.facts, options);
  if (e.unknowns == 1)
    throw value_error(std::string(name) + " comes without coordinates: it has one unknown a node",
                      "elasticity has several");
  const sizes n = sizes_of(e, options);
  const problem_options o = e.build == build_elasticity_11k ? with_tetrahedra(options) : options;
  const mesh m = build_mesh(dev, element_of(e.unknowns, o), n, o);
  node_coordinates natural = coordinates_of(m, is_clamped(o));
  if (o.order == "natural") return natural;
  const std::optional<array<std::int32_t>> order = order_of(dev, e.build(dev, n, options), e, options);
  node_coordinates moved{natural.nodes, natural.dimension, array<double>(dev, natural.values.size())};
  for (std::int64_t k = 0; k < moved.nodes; ++k)
    for (int c = 0; c < moved.dimension; ++c)
      moved.values[c * moved.nodes + k] =
          natural.values[c * moved.nodes + (*order)[k * moved.dimension] / moved.dimension];
  return moved;
}

namespace {

double element_of(known_solution kind, std::int64_t i, std::int64_t n, std::uint64_t seed) {
  switch (kind) {
    case known_solution::random:
      return 2 * random_unit(seed, static_cast<std::uint64_t>(i)) - 1;
    case known_solution::integers:
      return static_cast<double>(random_bits(seed, static_cast<std::uint64_t>(i)) % 50);
    case known_solution::smooth: {
      const double place = (static_cast<double>(i) + 0.5) / static_cast<double>(n);
      return 1 + 0.5 * std::sin(2 * std::numbers::pi * place);
    }
    case known_solution::ones:
      break;
  }
  return 1;
}

}  // namespace

array<double> make_solution(const device& dev, known_solution kind, std::int64_t n, std::uint64_t seed) {
  const ieee_environment here;
  array<double> x(dev, n);
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, n)) schedule(static)
  for (std::int64_t i = 0; i < n; ++i) x[i] = element_of(kind, i, n, seed);
  return x;
}

array<double> right_hand_side(const device& dev, csr_view<const double> A, view<const double> x) {
  const ieee_environment here;
  const valid_csr valid("right_hand_side", dev, A);
  if (x.size() != A.cols)
    throw shape_error("right_hand_side: a matrix of " + std::to_string(A.cols) + " columns times " +
                      std::to_string(x.size()) + " elements");
  array<double> b(dev, A.rows);
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, A.nonzeros)) schedule(static)
  for (std::int64_t i = 0; i < A.rows; ++i) {
    double_double<double> sum;
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      sum = add_product(sum, A.val[k], x[A.col[k]]);
    b[i] = sum.hi;
  }
  return b;
}

}  // namespace vouch
