#include "cg_cases.hpp"

#include <algorithm>
#include <filesystem>

#include <vouch/core/error.hpp>
#include <vouch/generate/elasticity.hpp>
#include <vouch/generate/poisson.hpp>
#include <vouch/io/matrix_market.hpp>

namespace vouch::bench {
namespace {

namespace fs = std::filesystem;

constexpr const char* stand_in = "elasticity 3d";

// In the order of the published table; "of" is the name there.
struct published_matrix {
  const char* file;
  const char* of;
  const char* remark;
  bool quick;
};
constexpr published_matrix published_table[] = {
    {"bcsstk11", "bcsstk11", "", true},
    {"bcsstk13", "bcsstk13", "", false},
    {"bcsstk14", "bcsstk14", "", true},
    {"bcsstk15", "bcsstk15", "", false},
    {"bcsstk16", "", "", true},
    {"bcsstk17", "bcsstk17", "", false},
    {"bcsstm25", "bcsstm25", "", false},
    {"nos2", "nos2", "", false},
    {"nos2_reconstructed", "nos2", "rebuilt from its formula", false},
};

const published_matrix* find(const std::string& name) {
  const auto* end = std::end(published_table);
  const auto* found =
      std::find_if(std::begin(published_table), end, [&](const published_matrix& m) { return name == m.file; });
  return found == end ? nullptr : found;
}

// The folder itself, or its subfolder matrices/.
fs::path matrix_folder(const std::string& data) {
  const fs::path folder = data;
  return fs::is_directory(folder / "matrices") ? folder / "matrices" : folder;
}

// bcsstk17 has 10,974 rows and 428,650 entries; this beam of tetrahedra, held at one end and made of stiff and
// soft elements, has 10,800 and 428,958.
csr<double> stand_in_matrix(const device& cpu) {
  const mesh beam =
      box_mesh(cpu, element::tetrahedron, {.nx = 36, .ny = 9, .nz = 9, .lx = 36, .ly = 9, .lz = 9});
  return elasticity(cpu, beam, {.contrast = 1e3});
}

}  // namespace

std::optional<published_figures> published(const std::string& name) {
  struct entry {
    const char* name;
    published_figures figures;
  };
  static const entry all[] = {
      {"bcsstk11", {5.0, 32367, 6.5, 36652}},
      {"bcsstk13", {175.1, 491123, 169.4, 599151}},
      {"bcsstk14", {6.1, 22393, 5.6, 23152}},
      {"bcsstk15", {17.4, 32800, 11.8, 34188}},
      {"bcsstk17", {78.4, 40231, 44.8, 46741}},
      {"bcsstm25", {31.6, 119285, 33.6, 169838}},
      {"nos2", {4.1, 98434, std::nullopt, std::nullopt}},
  };
  const published_matrix* known = find(name);
  for (const entry& e : all)
    if (known != nullptr && known->of == std::string_view(e.name)) return e.figures;
  return std::nullopt;
}

std::vector<cg_case_source> published_cases(const suite_options& options) {
  std::vector<cg_case_source> sources;
  for (const std::string& file : options.matrices) sources.push_back({fs::path(file).stem().string(), file});
  if (!sources.empty()) return sources;
  if (!options.data.empty()) {
    if (!fs::is_directory(options.data)) throw file_error(options.data + ": no such folder");
    for (const published_matrix& m : published_table) {
      const fs::path file = matrix_folder(options.data) / (std::string(m.file) + ".mtx");
      if ((!options.quick || m.quick) && fs::exists(file)) sources.push_back({m.file, file.string()});
    }
  }
  const bool has_17 =
      std::any_of(sources.begin(), sources.end(), [](const cg_case_source& s) { return s.name == "bcsstk17"; });
  if (!has_17) sources.push_back({stand_in, ""});
  return sources;
}

cg_case load(const device& cpu, const cg_case_source& source) {
  if (source.file.empty()) return {source.name, stand_in_matrix(cpu), std::nullopt, "stands in for bcsstk17"};
  const published_matrix* known = find(source.name);
  return {source.name, read_csr(cpu, source.file), published(source.name),
          known != nullptr ? known->remark : ""};
}

std::string poisson_size::name() const {
  return "poisson " + std::to_string(dimensions) + "d " + std::to_string(side);
}

std::vector<poisson_size> poisson_sizes(int dimensions, bool quick) {
  std::vector<std::int64_t> sides = dimensions == 2
                                        ? std::vector<std::int64_t>{32, 64, 128, 256, 512, 1024, 2048, 4096}
                                        : std::vector<std::int64_t>{10, 16, 25, 40, 64, 100, 160, 256};
  if (quick)
    sides =
        dimensions == 2 ? std::vector<std::int64_t>{32, 128, 512} : std::vector<std::int64_t>{10, 25, 64, 128};
  std::vector<poisson_size> sizes;
  for (const std::int64_t side : sides) sizes.push_back({dimensions, side});
  return sizes;
}

csr<double> poisson_matrix(const device& cpu, const poisson_size& size) {
  return size.dimensions == 2 ? poisson_2d(cpu, size.side, size.side)
                              : poisson_3d(cpu, size.side, size.side, size.side);
}

template <real T>
std::vector<T> row_sums(csr_view<const T> A) {
  std::vector<T> sums(static_cast<std::size_t>(A.rows));
  for (std::int64_t i = 0; i < A.rows; ++i) {
    long double sum = 0;
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) sum += A.val[k];
    sums[static_cast<std::size_t>(i)] = static_cast<T>(sum);
  }
  return sums;
}

template std::vector<float> row_sums(csr_view<const float>);
template std::vector<double> row_sums(csr_view<const double>);

}  // namespace vouch::bench
