// vouch gen: writes a model problem, and a right-hand side whose solution is known.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <complex>
#include <filesystem>
#include <limits>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/dense/structure.hpp>
#include <vouch/fingerprint/synthetic_print.hpp>
#include <vouch/generate/complex_problems.hpp>
#include <vouch/generate/dense_problems.hpp>
#include <vouch/generate/matrix_set.hpp>
#include <vouch/generate/problems.hpp>
#include <vouch/generate/solution.hpp>
#include <vouch/io/matrix_market.hpp>
#include <vouch/io/vectors.hpp>
#include <vouch/text/tokens.hpp>

#include "command.hpp"
#include "command_line.hpp"
#include "common.hpp"
#include "json.hpp"
#include "usage.hpp"

namespace vouch::cli {
namespace {

constexpr std::array<std::string_view, 3> orders{"natural", "random", "rcm"};
constexpr std::string_view set_name = "matrix-set", print_name = "fingerprint";
constexpr double any = -1.7976931348623157e308;  // the library checks what a problem can take

struct gen_options {
  common_options common;
  std::string name;
  problem_options problem;
  dense_problem_options dense;
  complex_problem_options complex;
  std::string boundary, coefficient, element, flow, signs;
  std::int64_t seed = 1;
  std::string rhs;
  std::string solution;  // empty: the problem's own
  std::string exact;
  std::string coordinates;
  bool general = false;
};

void declare(command_line& line, gen_options& o) {
  line.example("vouch gen poisson-3d -n 64 -o A.mtx", "Laplace operator on 64^3 points");
  line.example("vouch gen elasticity-3d -n 20 -o A.mtx", "an elastic cube");
  line.example("vouch gen plate -n 50 -o A.mtx --rhs b.txt --solution smooth", "with a known solution");
  line.argument("NAME", o.name, "the problem:");
  for (const auto& kind : {problems(), dense_problems(), complex_problems()})
    for (const problem_facts& facts : kind) line.note(facts.name, facts.summary);
  line.note(set_name, "a set for vouch reduce: vouch gen matrix-set -h");
  line.note(print_name, "a page for vouch classify: vouch gen fingerprint -h");
  line.section("Size and kind (each problem takes some of them)");
  line.count("-n,--nx", o.problem.nx, 1, "points, cells or elements in x");
  line.count("--ny", o.problem.ny, 1, "in y [nx] and z [ny]");
  line.count("--nz", o.problem.nz, 1, "");
  line.text("--boundary", "B", o.boundary,
            "dirichlet|neumann; plate: supported|clamped; elastic: clamped|free");
  line.text("--coefficient", "C", o.coefficient, "smooth, jump or random diffusion [smooth]");
  line.real("--contrast", o.problem.contrast, any, "largest over smallest coefficient or stiffness");
  line.real("--epsilon", o.problem.epsilon, any, "coefficient of the weak direction [0.01]");
  line.text("--element", "E", o.element, "quadrilateral|triangle, hexahedron|tetrahedron");
  line.real("--young", o.problem.young, any, "Young's modulus [1]");
  line.real("--poisson-ratio", o.problem.poisson_ratio, any, "towards 0.5 the system gets harder [0.3]");
  line.real("--stretch", o.problem.stretch, any, "length of a cell in x over its other edges [1]");
  line.real("--perturb", o.problem.perturb, any, "inner nodes move by this part of a cell, to 0.15");
  line.real("--peclet", o.problem.peclet, any, "speed times spacing over diffusion, at most [10]");
  line.text("--flow", "F", o.flow, "constant or recirculating [constant]");
  line.real("--dominance", o.dense.dominance, any, "diagonal over the rest of its row [1.05]");
  line.text("--signs", "S", o.signs, "of dense entries: positive or random [positive]");
  line.real("--wavelength", o.complex.wavelength, any, "grid points in a wave [10]");
  line.real("--damping", o.complex.damping, any, "of waves: imaginary over real part of k^2 [0]");
  line.real("--flux", o.complex.flux, any, "of the magnetic field through a cell, in radians [0.5]");
  line.choice("--order", "O", o.problem.order, orders, "natural, random or rcm [natural]");
  line.count("--seed", o.seed, 0, "of everything random [1]");
  line.section("Output");
  line.text("-o,--output", "FILE", o.common.output, "the matrix, as Matrix Market; dense also .npy");
  line.flag("--general", o.general, "write both triangles");
  line.text("--rhs", "FILE", o.rhs, "also b = A x, each element rounded once: .mtx, .npy or text");
  line.choice("--solution", "X", o.solution, known_solution_words,
              "that x: ones, smooth, random or integers (0 to 49) [ones;");
  line.note("", "banded-dominant: integers]");
  line.text("--exact", "FILE", o.exact, "also x itself");
  line.text("--coordinates", "FILE", o.coordinates, "elasticity: the places of the nodes that are not held");
  add_threads_option(line, o.common);
  add_report_options(line, o.common);
}

// Nothing where the name is none of them.
const problem_facts* find(std::span<const problem_facts> all, const std::string& name) {
  for (const problem_facts& facts : all)
    if (facts.name == name) return &facts;
  return nullptr;
}

bool is_dense(const gen_options& o) { return find(dense_problems(), o.name) != nullptr; }
bool is_complex(const gen_options& o) { return find(complex_problems(), o.name) != nullptr; }

// A dense problem takes none of the sparse ones' options, and they none of its.
void check_kind(gen_options& o) {
  const problem_options& p = o.problem;
  if (!is_dense(o) && (o.dense.dominance || o.dense.signs))
    throw value_error(fmt::format("{} takes no dominance and no signs", o.name), "dense-dominant does");
  if (!is_complex(o) && (o.complex.wavelength || o.complex.damping || o.complex.flux))
    throw value_error(fmt::format("{} takes no wavelength, damping or flux", o.name), "helmholtz does");
  if (!is_dense(o) && (o.common.output.ends_with(".npy") || o.common.output.ends_with(".npz")))
    throw value_error(fmt::format("{} is written as Matrix Market, not as {}", o.name, o.common.output),
                      "name a file that ends in .mtx");
  if (!is_dense(o) && !is_complex(o)) return;
  const bool others = p.boundary || p.coefficient || p.element || p.epsilon || p.contrast || p.young ||
                      p.poisson_ratio || p.stretch || p.perturb || p.peclet || p.flow || p.order != "natural" ||
                      o.general || !o.coordinates.empty();
  if (others || (is_dense(o) && (p.ny || p.nz)))
    throw value_error(fmt::format("{} takes none of the sparse problems' options but {} and --seed", o.name,
                                  is_dense(o) ? "-n" : "-n, --ny, --nz"));
  o.dense.n = o.complex.nx = p.nx;
  o.complex.ny = p.ny;
  o.complex.nz = p.nz;
}

void check(gen_options& o) {
  std::vector<std::string_view> names;
  for (const auto& kind : {problems(), dense_problems(), complex_problems()})
    for (const problem_facts& facts : kind) names.push_back(facts.name);
  names.insert(names.end(), {set_name, print_name});
  if (o.name == set_name || o.name == print_name)
    throw usage_error(o.name + " comes first", fmt::format("usage: vouch gen {} [options] -o FILE", o.name));
  if (std::find(names.begin(), names.end(), o.name) == names.end()) {
    const std::string meant = did_you_mean(o.name, names);
    throw usage_error(fmt::format("unknown problem '{}'", o.name),
                      meant.empty() ? "vouch gen -h lists the problems" : meant);
  }
  if (o.common.output.empty())
    throw usage_error("-o FILE is missing", "usage: vouch gen NAME [options] -o FILE");
  check_outputs({o.common.output, o.rhs, o.exact, o.coordinates});
  if (!o.boundary.empty()) o.problem.boundary = o.boundary;
  if (!o.coefficient.empty()) o.problem.coefficient = o.coefficient;
  if (!o.element.empty()) o.problem.element = o.element;
  if (!o.flow.empty()) o.problem.flow = o.flow;
  if (!o.signs.empty()) o.dense.signs = o.signs;
  if (o.solution.empty()) o.solution = o.name == "banded-dominant" ? "integers" : "ones";
  o.problem.seed = o.dense.seed = o.complex.seed = static_cast<std::uint64_t>(o.seed);
  check_kind(o);
}

// What was generated, for the log and the JSON object.
struct generated_matrix {
  std::int64_t n = 0, nonzeros = 0;
  bool symmetric = true;
  double seconds = 0;
  bool complex = false;
};

void print_object(const gen_options& o, const generated_matrix& A, const device& cpu, double total) {
  json object = object_of("gen");
  object["problem"] = o.name;
  object["matrix"] = matrix_json(o.common.output, A.n, A.n, A.nonzeros, A.symmetric, A.complex);
  object["rhs"] = or_null(o.rhs);
  object["solution"] = o.solution;
  object["exact"] = or_null(o.exact);
  object["coordinates"] = or_null(o.coordinates);
  object["device"] = to_json(cpu);
  object["time_s"] = {{"generate", A.seconds}, {"write", total - A.seconds}, {"total", total}};
  print_json(object);
}

void say(const console& log, const gen_options& o, const generated_matrix& A) {
  log.line(fmt::format("{}: {} by {}, {} entries, {:.3f} s", o.name, A.n, A.n, A.nonzeros, A.seconds));
}

void say_written(const console& log, const gen_options& o) {
  log.line(fmt::format("{} written", o.common.output));
  if (!o.rhs.empty() || !o.exact.empty())
    log.line(fmt::format("{} written, x = {}", o.rhs.empty() ? o.exact : o.rhs, o.solution));
}

// Writes x and b = A x where they were asked for.
template <class Matrix>
void write_solution(atomic_files& files, const gen_options& o, const device& cpu, const Matrix& A,
                    std::int64_t n) {
  if (o.rhs.empty() && o.exact.empty()) return;
  const array<double> x =
      make_solution(cpu, *find_word<known_solution>(known_solution_words, o.solution), n, o.problem.seed);
  if (!o.exact.empty()) write_vectors(files.open(o.exact), x, n);
  if (!o.rhs.empty()) write_vectors(files.open(o.rhs), right_hand_side(cpu, A, x), n);
}

generated_matrix generate_dense_files(atomic_files& files, const console& log, const gen_options& o,
                                      const device& cpu) {
  const stopwatch clock;
  const matrix<double> A = generate_dense(cpu, o.name, o.dense);
  generated_matrix made{A.rows(), 0, false, clock.seconds()};
  const structure_facts facts = structure(cpu, A.read());
  made.nonzeros = facts.nonzeros;
  made.symmetric = facts.symmetric;
  say(log, o, made);
  write_vectors(files.open(o.common.output), {A.data(), A.rows() * A.cols()}, A.rows(), A.cols());
  write_solution(files, o, cpu, A.read(), A.rows());
  return made;
}

// The solution is the real one times 1 - i/2.
generated_matrix generate_complex_files(atomic_files& files, const console& log, const gen_options& o,
                                        const device& cpu) {
  using complex = std::complex<double>;
  const stopwatch clock;
  const csr<complex> A = generate_complex(cpu, o.name, o.complex);
  const symmetry stored_as =
      find(complex_problems(), o.name)->symmetric ? symmetry::symmetric : symmetry::hermitian;
  const generated_matrix made{A.rows, A.nonzeros(), stored_as == symmetry::symmetric, clock.seconds(), true};
  say(log, o, made);
  write_matrix_market(files.open(o.common.output), A.all(), stored_as);
  if (o.rhs.empty() && o.exact.empty()) return made;
  const array<double> real =
      make_solution(cpu, *find_word<known_solution>(known_solution_words, o.solution), A.rows, o.problem.seed);
  array<complex> x(cpu, A.rows);
  for (std::int64_t i = 0; i < A.rows; ++i) x[i] = {real[i], -0.5 * real[i]};
  if (!o.exact.empty()) write_vectors(files.open(o.exact), view<const complex>(x), A.rows);
  if (!o.rhs.empty())
    write_vectors(files.open(o.rhs), view<const complex>(right_hand_side(cpu, A.all(), x)), A.rows);
  return made;
}

generated_matrix generate_sparse_files(atomic_files& files, const console& log, const gen_options& o,
                                       const device& cpu) {
  const stopwatch clock;
  const csr<double> A =
      with_sign_of_life(log, "generating", [&] { return generate_problem(cpu, o.name, o.problem); });
  const bool symmetric = find(problems(), o.name)->symmetric;
  const generated_matrix made{A.rows, A.nonzeros(), symmetric, clock.seconds()};
  say(log, o, made);
  with_sign_of_life(log, "writing", [&] {
    write_matrix_market(files.open(o.common.output), A,
                        o.general || !symmetric ? symmetry::general : symmetry::symmetric);
    write_solution(files, o, cpu, A.all(), A.rows);
    if (o.coordinates.empty()) return;
    const node_coordinates nodes = problem_coordinates(cpu, o.name, o.problem);
    write_vectors(files.open(o.coordinates), nodes.values, nodes.nodes, nodes.dimension);
  });
  return made;
}

constexpr std::array<std::string_view, 5> patterns{"A", "L", "R", "T", "W"};

// vouch gen fingerprint.
int gen_fingerprint(std::span<const char* const> arguments) {
  fingerprint::synthetic_options options;
  common_options common;
  std::string pattern = "W";
  std::int64_t seed = 1;
  command_line line("gen fingerprint", "draw a page with a print of nobody, 832 x 768 pixels at 500 dpi");
  line.example("vouch gen fingerprint --class L --seed 7 -o l7.pgm", "a left loop");
  line.choice("--class", "C", pattern, patterns,
              "A arch, L or R left or right loop, T tented arch, W whorl [W]");
  line.count("--seed", seed, 0, "of everything that is drawn [1]");
  line.flag("--rotated", options.rotated, "rotated by 4 to 10 degrees to either side");
  line.flag("--blank-paper", options.blank_paper, "paper without noise around it");
  line.text("-o,--output", "FILE", common.output, "the page: .png, else PGM");
  add_threads_option(line, common);
  add_report_options(line, common);
  if (!line.parse(arguments)) return goal_reached;
  if (common.output.empty())
    throw usage_error("-o FILE is missing", "usage: vouch gen fingerprint [options] -o FILE");
  check_outputs({common.output});
  options.pattern = pattern.front();
  options.seed = static_cast<std::uint64_t>(seed);

  const stopwatch clock;
  const device cpu = open_cpu(common);
  const fingerprint::grey_image page = fingerprint::synthetic_print(cpu, options);
  fingerprint::write_grey_image(common.output, page);
  const double seconds = clock.seconds();
  make_console(common).line(fmt::format("{}: a print of class {}, {:.2f} s", common.output, pattern, seconds));
  if (common.json)
    print_json(object_of("gen", {{"problem", "fingerprint"},
                                 {"file", common.output},
                                 {"class", pattern},
                                 {"seed", seed},
                                 {"width", page.width},
                                 {"height", page.height},
                                 {"device", to_json(cpu)},
                                 {"time_s", {{"total", seconds}}}}));
  return goal_reached;
}

// "lo:hi".
void parse_range(const std::string& text, matrix_set_problem& problem) {
  constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos)
    throw usage_error(fmt::format("option --range: '{}' is no range of integers", text),
                      "LO:HI, like -99999:99999");
  problem.least = parse_count("--range", text.substr(0, colon), lowest);
  problem.most = parse_count("--range", text.substr(colon + 1), lowest);
}

// vouch gen matrix-set.
int gen_matrix_set(std::span<const char* const> arguments) {
  matrix_set_problem problem;
  common_options common;
  std::string shape = "3x3", range = "0:9";
  std::int64_t seed = 1;
  command_line line("gen matrix-set", "write a set of random matrices for vouch reduce");
  line.example("vouch gen matrix-set --count 10000000 -o set.txt", "220 MB of one-digit 3x3 matrices");
  line.example("vouch gen matrix-set --count 1000 --shape 2x5 --range -99:99 -o set.txt", "another kind");
  line.count("--count", problem.count, 1, "matrices [1]");
  line.text("--shape", "RxC", shape, "rows and columns of each [3x3]");
  line.text("--range", "LO:HI", range, "values are whole and uniform from LO to HI [0:9]");
  line.count("--seed", seed, 0, "of the values [1]");
  line.text("-o,--output", "FILE", common.output, "the set");
  add_threads_option(line, common);
  add_report_options(line, common);
  if (!line.parse(arguments)) return goal_reached;
  const set_shape parsed = parse_shape("--shape", shape);
  problem.rows = parsed.rows;
  problem.cols = parsed.cols;
  problem.seed = static_cast<std::uint64_t>(seed);
  parse_range(range, problem);
  if (common.output.empty())
    throw usage_error("-o FILE is missing", "usage: vouch gen matrix-set [options] -o FILE");
  check_outputs({common.output});

  const stopwatch clock;
  const device cpu = open_cpu(common);
  const console log = make_console(common);
  with_sign_of_life(log, "writing", [&] { write_matrix_set(cpu, common.output, problem); });
  const double seconds = clock.seconds();
  std::error_code ignored;
  const auto bytes = std::filesystem::is_regular_file(common.output, ignored)
                         ? static_cast<std::int64_t>(std::filesystem::file_size(common.output, ignored))
                         : 0;
  log.line(fmt::format("{}: {} matrices, {} by {}, {:.3f} GB, {:.3f} s", common.output, problem.count,
                       problem.rows, problem.cols, static_cast<double>(bytes) * 1e-9, seconds));
  if (common.json)
    print_json(object_of("gen", {{"problem", "matrix-set"},
                                 {"file", common.output},
                                 {"count", problem.count},
                                 {"rows", problem.rows},
                                 {"cols", problem.cols},
                                 {"range", json::array({problem.least, problem.most})},
                                 {"seed", seed},
                                 {"bytes", bytes},
                                 {"device", to_json(cpu)},
                                 {"time_s", {{"total", seconds}}}}));
  return goal_reached;
}

}  // namespace

int cmd_gen(std::span<const char* const> arguments) {
  if (!arguments.empty() && arguments.front() == set_name) return gen_matrix_set(arguments.subspan(1));
  if (!arguments.empty() && arguments.front() == print_name) return gen_fingerprint(arguments.subspan(1));
  gen_options o;
  command_line line("gen", "write a model problem: symmetric, convection, complex, or dense and dominant");
  declare(line, o);
  if (!line.parse(arguments)) return goal_reached;
  check(o);

  const stopwatch clock;
  const device cpu = open_cpu(o.common);
  const console log = make_console(o.common);
  atomic_files files;
  const generated_matrix A = is_dense(o)     ? generate_dense_files(files, log, o, cpu)
                             : is_complex(o) ? generate_complex_files(files, log, o, cpu)
                                             : generate_sparse_files(files, log, o, cpu);
  files.commit();
  say_written(log, o);
  if (o.common.json) print_object(o, A, cpu, clock.seconds());
  return goal_reached;
}

}  // namespace vouch::cli
