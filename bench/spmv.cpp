// bench_spmv [--json FILE] [--small] -- matrix times vector: every layout against its floor and against
// cuSPARSE.
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
#include <vouch/core/error.hpp>
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

class table {
 public:
  void add(const row& r) {
    if (rows_.empty() || rows_.back().name != r.name || rows_.back().device != r.device)
      std::printf("\n%s, %s\n  %-64s %10s %10s %7s %10s %7s %6s\n", r.name.c_str(), r.device.c_str(), "",
                  "measured", "floor", "of it", "peer", "ratio", "bar");
    const auto number = [](double v, const char* format) {
      char text[32] = "-";
      if (v > 0) std::snprintf(text, sizeof text, format, v);
      return std::string(text);
    };
    std::printf("  %-64s %7.1f %-2s %10s %7s %10s %7s %6s %s\n", r.metric.c_str(), r.value, r.unit.c_str(),
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

void on_gpu(const bench_case& c, const csr<double>& A, const std::vector<double>& x,
            const std::vector<double>& y, double bandwidth, table& out) {
  const device gpu = device::cuda(0);
  const std::string where = gpu.name();
  const std::int64_t size = A.nonzeros() * 12;
  const int copies = static_cast<int>(std::clamp<std::int64_t>(400'000'000 / size, 1, 16));
  const measurement peer = time_cusparse(gpu, A, x, copies);
  out.add({c.name, where, peer.what + ", preprocessed", "us", peer.microseconds, 0, 0, 0, 0,
           largest_difference(peer.y, y) < 1e-13});
  std::string chosen;
  for (const layout wanted : {layout::automatic, layout::csr, layout::sell, layout::bsr, layout::dia}) try {
      const measurement m = time_plan(gpu, A, x, copies, wanted);
      if (kind(m) == chosen) continue;
      const bool right = largest_difference(m.y, y) < 1e-13;
      const double ratio = peer.microseconds / m.microseconds;
      const bool automatic = wanted == layout::automatic;
      if (automatic) chosen = kind(m);
      out.add({c.name, where, (automatic ? "chosen: " : "") + m.what + (right ? "" : " WRONG"), "us",
               m.microseconds, static_cast<double>(m.bytes) / bandwidth * 1e6, peer.microseconds, ratio,
               automatic ? c.bar : 0, right && (!automatic || ratio >= c.bar)});
      if (automatic)
        out.add({c.name, where, "setup, in products", "", 1e3 * m.setup_milliseconds / m.microseconds, 0, 0, 0,
                 0, true});
      if (wanted == layout::csr && c.side == 256) {
        const double share = static_cast<double>(m.bytes) / bandwidth * 1e6 / m.microseconds;
        out.add(
            {c.name, where, "csr, percent of copy bandwidth", "%", 100 * share, 0, 0, 0, 92, share >= 0.92});
      }
    } catch (const value_error&) {  // this layout cannot hold this matrix
    }
}

void on_cpu(const bench_case& c, const csr<double>& A, const std::vector<double>& x,
            const std::vector<double>& y, const device& cpu, double bandwidth, table& out) {
  const std::string where =
      "cpu, " + std::to_string(cpu.threads()) + (cpu.threads() == 1 ? " thread" : " threads");
  std::string chosen;
  for (const layout wanted : {layout::automatic, layout::csr, layout::bsr, layout::tile, layout::dia}) try {
      const measurement m = time_on_cpu(cpu, A, x, wanted);
      if (kind(m) == chosen) continue;
      const bool automatic = wanted == layout::automatic;
      if (automatic) chosen = kind(m);
      out.add({c.name, where, (automatic ? "chosen: " : "") + m.what, "us", m.microseconds,
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

void run(bool small, const char* json) {
  table out;
  const device all = device::cpu(), one = device::cpu(1);
  const double cpu_bandwidth = copy_bandwidth_cpu(all), core_bandwidth = copy_bandwidth_cpu(one);
  std::printf("copy: %.1f GB/s with %d threads, %.1f GB/s with one\n", cpu_bandwidth / 1e9, all.threads(),
              core_bandwidth / 1e9);
  [[maybe_unused]] double gpu_bandwidth = 0;
  [[maybe_unused]] const bool gpu = cuda_may_be_present() && !cuda_devices().empty();
  if constexpr (built_with_cuda)
    if (gpu) {
      gpu_bandwidth = copy_bandwidth_gpu(device::cuda(0));
      std::printf("copy: %.2f TB/s on the GPU\n", gpu_bandwidth / 1e12);
    }
  for (const bench_case& c : cases()) {
    if (small && !c.in_small_run) continue;
    const csr<double> A = mesh_matrix(all, c.side, c.unknowns, c.neighbours, c.order);
    std::vector<double> x;
    for (std::int64_t j = 0; j < A.cols; ++j) x.push_back(random_unit(3, static_cast<std::uint64_t>(j)) - 0.5);
    const std::vector<double> y = reference(A, x);
    if constexpr (built_with_cuda)
      if (gpu) on_gpu(c, A, x, y, gpu_bandwidth, out);
    on_cpu(c, A, x, y, all, cpu_bandwidth, out);
    if (c.in_small_run && all.threads() > 1) on_cpu(c, A, x, y, one, core_bandwidth, out);
  }
  if (json != nullptr) out.write_json(json);
}

}  // namespace
}  // namespace vouch::bench

int main(int count, char** words) {
  bool small = false;
  const char* json = nullptr;
  for (int k = 1; k < count; ++k) {
    if (std::strcmp(words[k], "--small") == 0) {
      small = true;
    } else if (std::strcmp(words[k], "--json") == 0 && k + 1 < count) {
      json = words[++k];
    } else {
      std::fprintf(stderr, "usage: bench_spmv [--small] [--json FILE]\n");
      return 2;
    }
  }
  try {
    vouch::bench::run(small, json);
  } catch (const vouch::error& e) {
    std::fprintf(stderr, "bench_spmv: %s\n", e.what());
    return 3;
  }
  return 0;
}
