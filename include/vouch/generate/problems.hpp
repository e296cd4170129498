// vouch/generate/problems.hpp -- all model problems by name.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/sparse/csr.hpp>

namespace VOUCH_PUBLIC vouch {

/// Parameters of a problem; what is not set takes the problem's own default. Sizes: ny defaults to nx and
/// nz to ny once nx is set.
struct problem_options {
  std::optional<std::int64_t> nx{}, ny{}, nz{};  // points, cells or elements in each direction
  std::optional<std::string> boundary{};         // dirichlet|neumann; plate: supported|clamped;
                                                 // elasticity: clamped|free
  std::optional<std::string> coefficient{};      // smooth|jump|random
  std::optional<std::string> element{};          // triangle|quadrilateral, tetrahedron|hexahedron
  std::optional<double> epsilon{};               // anisotropy: the weak direction's coefficient
  std::optional<double> contrast{};              // largest over smallest coefficient or stiffness
  std::optional<double> young{};
  std::optional<double> poisson_ratio{};
  std::optional<double> stretch{};    // length of a cell in x over its other edges
  std::optional<double> perturb{};    // part of a cell by which inner nodes move at random
  std::optional<double> peclet{};     // of the fastest flow through a cell
  std::optional<std::string> flow{};  // constant|recirculating
  std::string order = "natural";      // natural|random|rcm; elasticity moves whole nodes
  std::uint64_t seed = 1;             // of everything random
};

/// One entry of the list.
struct problem_facts {
  std::string_view name;
  std::string_view summary;
  int dimension = 0;                      // how many of nx, ny, nz it takes: 0 for a fixed problem
  std::vector<std::string_view> options;  // names of the options it takes besides, as in the command line
  bool symmetric = true;                  // whether the matrix is
};

/// All problems, in the order in which help lists them.
std::span<const problem_facts> problems();

/// The matrix of a problem.
///
/// Memory  Built on dev, which is a CPU, by all its threads.
/// Result  The same bits on every run and for any number of threads.
/// Throws  value_error  an unknown name, an option that the problem does not take, or a value that it refuses
csr<double> generate_problem(const device& dev, std::string_view name, const problem_options& options = {});

/// Where nodes are: all their first coordinates, then all their second ones, and so on; on the CPU.
struct node_coordinates {
  std::int64_t nodes = 0;
  int dimension = 0;
  array<double> values;
};

/// The places of the nodes that have unknowns, in the order of the matrix that generate_problem() makes: elasticity.
///
/// Memory, Throws  As generate_problem(); value_error  another problem than elasticity
node_coordinates problem_coordinates(const device& dev, std::string_view name,
                                     const problem_options& options = {});

}  // namespace vouch
