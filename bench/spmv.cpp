// bench_spmv [--json FILE] [--small | MATRIX.mtx...] -- matrix times vector: every layout against its floor and
// against cuSPARSE.
//
// Floor: the bytes that the layout must move at the bandwidth of a large copy, measured in the same run. Times
// are medians; small matrices are rotated through several copies, so that they come from memory, not from the
// cache.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include <spmv_cases.hpp>
#include <vouch/core/config.hpp>
#include <vouch/core/cuda_devices.hpp>
#include <vouch/core/error.hpp>
#include <vouch/io/matrix_market.hpp>
#include <vouch/sparse/spmv_plan.hpp>

#include <spmv_gpu.hpp>

namespace vouch::bench {
namespace {

struct row {
  std::string name, device, metric, unit;
  double value = 0, floor = 0, peer = 0, ratio = 0, bar = 0;
  bool pass = true;
};

struct bench_case {
  std::string name;
  std::int64_t side;
  int unknowns;
  offsets neighbours;
  numbering order;
  double bar;  // of the layout chosen, against cuSPARSE
  bool in_small_run;
};

std::vector<bench_case> cases() {
  return {
      {"7-point 100^3", 100, 1, face_neighbours(), numbering::lines, 1.4, true},
      {"7-point 256^3", 256, 1, face_neighbours(), numbering::lines, 1.4, false},
      {"elasticity, 64^3 nodes, random order", 64, 3, tetrahedron_neighbours(), numbering::shuffled, 1.25,
       false},
      {"elasticity, 32^3 nodes, random order", 32, 3, tetrahedron_neighbours(), numbering::shuffled, 1.25,
       true},
      {"P1 elements, 128^3 nodes, local order", 128, 1, tetrahedron_neighbours(), numbering::windowed, 1.1,
       false},
      {"P1 elements, 128^3 nodes, random order", 128, 1, tetrahedron_neighbours(), numbering::shuffled, 1.1,
       false},
      {"P1 elements, 64^3 nodes, local order", 64, 1, tetrahedron_neighbours(), numbering::windowed, 1.1, true},
  };
}

// One matrix to measure.
struct subject {
  std::string name;
  csr<double> A;
  double bar;     // of the layout chosen, against cuSPARSE; 0 for none
  bool one_core;  // also with one thread
  bool headline;  // plain csr must come near the bandwidth
};

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Bytes read and written a second by a copy of 512 MB with this many threads; the best of several.
double copy_bandwidth_cpu(const device& cpu) {
  constexpr std::int64_t size = std::int64_t{1} << 26;
  auto from = array<double>::zeros(cpu, size), to = array<double>::zeros(cpu, size);
  double best = 0;
  for (int k = 0; k < 8; ++k) {
    const auto begin = std::chrono::steady_clock::now();
#pragma omp parallel for num_threads(cpu.threads()) schedule(static)
    for (std::int64_t piece = 0; piece < 1024; ++piece)
      std::copy_n(from.data() + piece * (size / 1024), size / 1024, to.data() + piece * (size / 1024));
    best = std::max(best, 16.0 * static_cast<double>(size) / seconds_since(begin));
  }
  return best;
}

measurement time_on_cpu(const device& cpu, const csr<double>& A, const std::vector<double>& x, layout wanted) {
  measurement m;
  auto begin = std::chrono::steady_clock::now();
  const auto plan = spmv_plan<double>::make(cpu, A, false, wanted);
  m.setup_milliseconds = 1e3 * seconds_since(begin);
  const auto on_x = array<double>::from(cpu, x);
  auto y = array<double>::zeros(cpu, A.rows);
  std::vector<double> times;
  begin = std::chrono::steady_clock::now();
  for (int k = 0; k < 7 || (seconds_since(begin) < 0.3 && k < 1000); ++k) {
    const auto start = std::chrono::steady_clock::now();
    plan.multiply(1.0, on_x, 0.0, y);
    times.push_back(1e6 * seconds_since(start));
  }
  std::sort(times.begin(), times.end());
  m.microseconds = times[times.size() / 2];
  m.what = plan.format();
  m.bytes = plan.bytes();
  m.y = y.to_vector();
  return m;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double difference = 0, scale = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference = std::max(difference, std::isnan(a[i]) ? INFINITY : std::abs(a[i] - b[i]));
    scale = std::max(scale, std::abs(b[i]));
  }
  return difference / scale;
}

// The layout alone: "dia" of "dia (7 diagonals, ...)".
std::string kind(const measurement& m) { return m.what.substr(0, m.what.find(' ')); }

std::string with_rate(const measurement& m, const csr<double>& A) {
  char rate[32];
  std::snprintf(rate, sizeof rate, ", %.1f GFLOP/s", 2e-3 * static_cast<double>(A.nonzeros()) / m.microseconds);
  return m.what + rate;
}

class table {
 public:
  void add(const row& r) {
    if (rows_.empty() || rows_.back().name != r.name || rows_.back().device != r.device)
      std::printf("\n%s, %s\n  %-78s %10s %10s %7s %10s %7s %6s\n", r.name.c_str(), r.device.c_str(), "",
                  "measured", "floor", "of it", "peer", "ratio", "bar");
    const auto number = [](double v, const char* format) {
      char text[32] = "-";
      if (v > 0) std::snprintf(text, sizeof text, format, v);
      return std::string(text);
    };
    std::printf("  %-78s %7.1f %-2s %10s %7s %10s %7s %6s %s\n", r.metric.c_str(), r.value, r.unit.c_str(),
                number(r.floor, "%.1f").c_str(), number(r.value > 0 ? r.floor / r.value : 0, "%.2f").c_str(),
                number(r.peer, "%.1f").c_str(), number(r.ratio, "%.2f").c_str(), number(r.bar, "%.2f").c_str(),
                r.pass ? "" : "MISSED");
    std::fflush(stdout);
    rows_.push_back(r);
  }

  void write_json(const char* path) const {
    std::FILE* file = std::fopen(path, "w");
    if (file == nullptr) throw file_error(std::string("cannot write ") + path);
    std::fprintf(file, "{\"schema\": \"vouch.bench/1\", \"suite\": \"spmv\", \"rows\": [");
    for (std::size_t k = 0; k < rows_.size(); ++k) {
      const row& r = rows_[k];
      const auto number = [](double v) { return v > 0 ? std::to_string(v) : std::string("null"); };
      std::fprintf(file,
                   "%s\n{\"case\": \"%s\", \"device\": \"%s\", \"precision\": \"double\", \"metric\": \"%s\", "
                   "\"value\": %s, \"unit\": \"%s\", \"floor\": %s, \"peer\": %s, \"ratio\": %s, \"bar\": %s, "
                   "\"pass\": %s}",
                   k ? "," : "", r.name.c_str(), r.device.c_str(), r.metric.c_str(), number(r.value).c_str(),
                   r.unit.c_str(), number(r.floor).c_str(), number(r.peer).c_str(), number(r.ratio).c_str(),
                   number(r.bar).c_str(), r.pass ? "true" : "false");
    }
    std::fprintf(file, "\n]}\n");
    std::fclose(file);
  }

 private:
  std::vector<row> rows_;
};

void on_gpu(const subject& c, const std::vector<double>& x, const std::vector<double>& y, double bandwidth,
            table& out) {
  const device gpu = device::cuda(0);
  const std::string where = gpu.name();
  const csr<double>& A = c.A;
  const std::int64_t size = A.nonzeros() * 12;
  const int copies = static_cast<int>(std::clamp<std::int64_t>(400'000'000 / size, 1, 16));
  const measurement peer = time_cusparse(gpu, A, x, copies);
  out.add({c.name, where, with_rate(peer, A) + ", preprocessed", "us", peer.microseconds, 0, 0, 0, 0,
           largest_difference(peer.y, y) < 1e-13});
  std::string chosen;
  for (const layout wanted : {layout::automatic, layout::csr, layout::sell, layout::bsr, layout::dia}) try {
      const measurement m = time_plan(gpu, A, x, copies, wanted);
      if (kind(m) == chosen) continue;
      const bool right = largest_difference(m.y, y) < 1e-13;
      const double ratio = peer.microseconds / m.microseconds;
      const bool automatic = wanted == layout::automatic;
      if (automatic) chosen = kind(m);
      out.add({c.name, where, (automatic ? "chosen: " : "") + with_rate(m, c.A) + (right ? "" : " WRONG"), "us",
               m.microseconds, static_cast<double>(m.bytes) / bandwidth * 1e6, peer.microseconds, ratio,
               automatic ? c.bar : 0, right && (!automatic || ratio >= c.bar)});
      if (automatic)
        out.add({c.name, where, "setup, in products", "", 1e3 * m.setup_milliseconds / m.microseconds, 0, 0, 0,
                 0, true});
      if (wanted == layout::csr && c.headline) {
        const double share = static_cast<double>(m.bytes) / bandwidth * 1e6 / m.microseconds;
        out.add(
            {c.name, where, "csr, percent of copy bandwidth", "%", 100 * share, 0, 0, 0, 92, share >= 0.92});
      }
    } catch (const value_error&) {  // this layout cannot hold this matrix
    }
}

void on_cpu(const subject& c, const std::vector<double>& x, const std::vector<double>& y, const device& cpu,
            double bandwidth, table& out) {
  const std::string where =
      "cpu, " + std::to_string(cpu.threads()) + (cpu.threads() == 1 ? " thread" : " threads");
  std::string chosen;
  for (const layout wanted : {layout::automatic, layout::csr, layout::bsr, layout::tile, layout::dia}) try {
      const measurement m = time_on_cpu(cpu, c.A, x, wanted);
      if (kind(m) == chosen) continue;
      const bool automatic = wanted == layout::automatic;
      if (automatic) chosen = kind(m);
      out.add({c.name, where, (automatic ? "chosen: " : "") + with_rate(m, c.A), "us", m.microseconds,
               static_cast<double>(m.bytes) / bandwidth * 1e6, 0, 0, 0, largest_difference(m.y, y) < 1e-13});
    } catch (const value_error&) {
    }
}

std::vector<double> reference(const csr<double>& A, const std::vector<double>& x) {
  std::vector<double> y(static_cast<std::size_t>(A.rows));
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < A.rows; ++i) {
    long double sum = 0;
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      sum += static_cast<long double>(A.val[k]) * x[static_cast<std::size_t>(A.col[k])];
    y[static_cast<std::size_t>(i)] = static_cast<double>(sum);
  }
  return y;
}

struct bandwidths {
  double all = 0, one = 0, gpu = 0;  // bytes a second
};

bandwidths measure_bandwidths() {
  bandwidths found;
  found.all = copy_bandwidth_cpu(device::cpu());
  found.one = copy_bandwidth_cpu(device::cpu(1));
  std::printf("copy: %.1f GB/s with %d threads, %.1f GB/s with one\n", found.all / 1e9, device::cpu().threads(),
              found.one / 1e9);
  if constexpr (built_with_cuda)
    if (cuda_may_be_present() && !cuda_devices().empty()) {
      found.gpu = copy_bandwidth_gpu(device::cuda(0));
      std::printf("copy: %.2f TB/s on the GPU\n", found.gpu / 1e12);
    }
  return found;
}

void measure(const subject& c, const bandwidths& copy, table& out) {
  std::vector<double> x;
  for (std::int64_t j = 0; j < c.A.cols; ++j) x.push_back(random_unit(3, static_cast<std::uint64_t>(j)) - 0.5);
  const std::vector<double> y = reference(c.A, x);
  if constexpr (built_with_cuda)
    if (copy.gpu > 0) on_gpu(c, x, y, copy.gpu, out);
  on_cpu(c, x, y, device::cpu(), copy.all, out);
  if (c.one_core && device::cpu().threads() > 1) on_cpu(c, x, y, device::cpu(1), copy.one, out);
}

void run(bool small, const std::vector<std::string>& files, const char* json) {
  const device cpu = device::cpu();
  const bandwidths copy = measure_bandwidths();
  table out;
  for (const std::string& file : files)
    measure({file.substr(file.rfind('/') + 1), read_csr(cpu, file), 0, true, false}, copy, out);
  for (const bench_case& c : cases()) {
    if (!files.empty() || (small && !c.in_small_run)) continue;
    measure({c.name, mesh_matrix(cpu, c.side, c.unknowns, c.neighbours, c.order), c.bar, c.in_small_run,
             c.side == 256},
            copy, out);
  }
  if (json != nullptr) out.write_json(json);
}

}  // namespace
}  // namespace vouch::bench

int main(int count, char** words) {
  bool small = false;
  const char* json = nullptr;
  std::vector<std::string> files;
  for (int k = 1; k < count; ++k) {
    if (std::strcmp(words[k], "--small") == 0) {
      small = true;
    } else if (std::strcmp(words[k], "--json") == 0 && k + 1 < count) {
      json = words[++k];
    } else if (words[k][0] != '-') {
      files.emplace_back(words[k]);
    } else {
      std::fprintf(stderr, "usage: bench_spmv [--json FILE] [--small | MATRIX.mtx...]\n");
      return 2;
    }
  }
  try {
    vouch::bench::run(small, files, json);
  } catch (const vouch::error& e) {
    std::fprintf(stderr, "bench_spmv: %s\n", e.what());
    return 3;
  }
  return 0;
}
