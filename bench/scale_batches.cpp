#include "suites.hpp"

#include <fmt/format.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <vouch/band/solve.hpp>
#include <vouch/core/block_lanes.hpp>
#include <vouch/core/memory.hpp>
#include <vouch/core/random.hpp>
#include <vouch/price/batch.hpp>
#include <vouch/price/book.hpp>
#include <vouch/price/fd_batch.hpp>
#include <vouch/reduce/batch_reduce.hpp>
#include <vouch/reduce/matrix_set.hpp>
#include <vouch/text/file.hpp>

#include "fastest.hpp"
#include "scratch_folder.hpp"

namespace vouch::bench {
namespace {

constexpr double bar = 1.95;  // times one GPU

// Bytes from the host to a GPU, and back.
struct traffic {
  double there = 0, back = 0;
};

class pair_runner {
 public:
  pair_runner(const suite_options& options, suite_results& results)
      : options_(options), results_(results), one_(device::cuda(0)), two_(device_group::cuda({0, 1})) {
    links_[0] = link_rate(one_);
    links_[1] = link_rate(two_);
    table_.note(fmt::format(
        "bus: what there is to copy to the GPUs over {} to one and {} to both, measured from pinned "
        "memory, 16 MB at a time.",
        rate_text(links_[0]), rate_text(links_[1])));
  }

  // barred: work from memory, which has a bar.
  void run(const std::string& name, const traffic& bytes, bool barred,
           const std::function<void(const device_group&)>& work) {
    if (options_.stop()) return;
    options_.say(name + " on two GPUs");
    const double one = fastest(options_, [&] { work(one_); }), two = fastest(options_, [&] { work(two_); });
    const double floor = bytes.there / links_[0];
    table_.add({name, seconds_text(one), seconds_text(two), ratio_text(one / two),
                bytes.there > 0 ? seconds_text(floor) : "",
                bytes.there > 0 ? seconds_text(bytes.there / links_[1]) : ""});
    const auto add = [&](const char* gpus, const char* metric, double value, const char* unit) -> bench_row& {
      return results_.rows.emplace_back(
          bench_row{name + gpus, "gpu", "double", metric, value, unit, {}, {}, {}, {}, {}});
    };
    bench_row& alone = add(", one GPU", "time", one, "s");
    if (bytes.there > 0) alone.floor = floor;
    bench_row& both = add(", two GPUs", "time", two, "s");
    if (bytes.there > 0) both.floor = bytes.there / links_[1];
    bench_row& faster = add(", two GPUs", "times_one_gpu", one / two, "1");
    if (!barred || options_.quick) return;
    faster.bar = bar;
    faster.pass = one / two >= bar;
  }

  void finish() { results_.sections.push_back({"Batches on GPUs of this machine", {}, {table_}, {}}); }

 private:
  // Bytes a second from pinned memory, to all GPUs of a group at once.
  double link_rate(const device_group& devices) const {
    constexpr std::int64_t bytes = std::int64_t{16} << 20, copies = 16;
    const std::int64_t lanes = devices.size() * 2;
    const double seconds = fastest(options_, [&] {
      detail::for_each_block(devices, lanes, [&](detail::block_lane& lane, std::int64_t) {
        const auto* const from = lane.staging<std::byte>(0, bytes);
        array<std::byte> to(lane.dev(), bytes);
        for (std::int64_t k = 0; k < copies; ++k)
          copy_bytes(to.data(), lane.dev(), from, device::cpu(1), static_cast<std::size_t>(bytes));
      });
    });
    return static_cast<double>(lanes * copies * bytes) / seconds;
  }

  const suite_options& options_;
  suite_results& results_;
  device_group one_, two_;
  double links_[2] = {};
  text_table table_{"Two GPUs beside one, host memory and files",
                    {{"work", true}, {"one"}, {"two"}, {"faster"}, {"bus, one"}, {"bus, two"}}};
};

std::vector<batch_option> some_options(std::int64_t count, exercise_style exercise) {
  std::vector<batch_option> all(static_cast<std::size_t>(count));
#pragma omp parallel for
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto u = [&](std::uint64_t stream) { return random_unit(stream, i); };
    plain_option& o = all[i].option;
    all[i].exercise = exercise;
    o.type = u(0) < 0.5 ? option_type::call : option_type::put;
    o.spot = 80 + 40 * u(1);
    o.strike = 90 + 20 * u(2);
    o.rate = 0.01 + 0.05 * u(3);
    o.dividend = 0.05 * u(4);
    o.volatility = 0.1 + 0.4 * u(5);
    o.expiry = 0.1 + 1.9 * u(6);
  }
  return all;
}

traffic bytes_of(const std::vector<batch_option>& options) {
  const auto count = static_cast<double>(options.size());
  return {count * sizeof(batch_option), count * sizeof(valuation)};
}

void measure_options(pair_runner& pair, std::int64_t scale) {
  const auto price = [&](const char* what, std::int64_t count, exercise_style exercise) {
    const std::vector<batch_option> options = some_options(count, exercise);
    std::vector<valuation> values(options.size());
    pair.run(fmt::format("{} {} options", count, what), bytes_of(options), true,
             [&](const device_group& devices) { price_batch(devices, options, false, values); });
  };
  price("European", scale << 22, exercise_style::european);
  price("American", scale << 20, exercise_style::american);
  const std::vector<batch_option> options = some_options(scale << 17, exercise_style::american);
  std::vector<valuation> values(options.size());
  pair.run(fmt::format("{} American options, 512 nodes x 256 steps", options.size()), bytes_of(options), true,
           [&](const device_group& devices) { finite_difference_batch(devices, options, 512, 256, values); });
}

void measure_book(pair_runner& pair, const scratch_folder& folder, std::int64_t scale) {
  const std::vector<batch_option> options = some_options(scale << 18, exercise_style::american);
  std::string text = "type,exercise,spot,strike,rate,dividend,volatility,expiry\n";
  for (const batch_option& b : options) {
    const plain_option& o = b.option;
    text += fmt::format("{},american,{:.2f},{:.2f},{:.4f},{:.4f},{:.4f},{:.4f}\n",
                        o.type == option_type::call ? "call" : "put", o.spot, o.strike, o.rate, o.dividend,
                        o.volatility, o.expiry);
  }
  const std::string book = folder.file("book.csv"), prices = folder.file("prices.csv");
  atomic_file file(book);
  file.write(text);
  file.commit();
  pair.run(fmt::format("book of {} American options", options.size()), {}, false,
           [&](const device_group& devices) {
             book_options how;
             how.dev = devices;
             price_book(book, prices, how);
           });
}

template <batch_scalar T>
void measure_reduction(pair_runner& pair, std::int64_t matrices, const char* what) {
  std::vector<T> values(static_cast<std::size_t>(9 * matrices));
#pragma omp parallel for
  for (std::size_t k = 0; k < values.size(); ++k)
    values[k] = static_cast<T>(static_cast<std::int64_t>(random_bits(1, k) >> 40));
  const matrix_batch<T> batch{values.data(), matrices, 9};
  pair.run(fmt::format("{} matrices of 9 {}", matrices, what),
           {static_cast<double>(values.size() * sizeof(T)), 0}, true,
           [&](const device_group& devices) { reduce_batch(devices, batch); });
}

void measure_text(pair_runner& pair, const scratch_folder& folder, std::int64_t scale) {
  const std::int64_t matrices = scale << 23;
  const std::string path = folder.file("set.txt");
  {
    atomic_file file(path);
    file.write(fmt::format("{}\n", matrices));
    std::string some;
    for (int k = 0; k < 1 << 14; ++k) some += fmt::format("***\n{} 2 3\n4 {} 6\n7 8 {}\n", k % 9, k % 7, k % 5);
    for (std::int64_t k = 0; k < matrices >> 14; ++k) file.write(some);
    file.commit();
  }
  const std::string files[] = {path};
  for (const char* what : {"min", "sum"}) {
    const reduce_options how{.operations = {what[0] == 'm' ? reduction::min : reduction::sum}};
    std::vector<std::pair<std::int64_t, matrix_set_reducer>> kept;  // with their pinned memory, by GPUs
    pair.run(fmt::format("text of {} matrices of 9 digits, {}", matrices, what),
             {static_cast<double>(matrices) * 22, 0}, false, [&](const device_group& devices) {
               for (auto& [gpus, reduce] : kept)
                 if (gpus == devices.size()) return void(reduce(files, how));
               kept.emplace_back(devices.size(), matrix_set_reducer(devices));
             });
  }
}

void measure_tridiagonal(pair_runner& pair, std::int64_t scale) {
  const std::int64_t n = 1024, systems = scale << 11;
  const batch_shape shape = contiguous(n, systems);
  std::vector<double> dl(static_cast<std::size_t>(n * systems)), d(dl.size()), du(dl.size()), b(dl.size()),
      x(dl.size());
#pragma omp parallel for
  for (std::size_t k = 0; k < d.size(); ++k) {
    dl[k] = random_unit(1, k) - 0.5;
    du[k] = random_unit(2, k) - 0.5;
    d[k] = 1.25 + random_unit(3, k);
    b[k] = random_unit(4, k) - 0.5;
  }
  const double row = sizeof(double) * static_cast<double>(n * systems);
  for (const bool check : {true, false}) {
    tridiagonal_options how;
    how.check = check;
    pair.run(fmt::format("{} tridiagonal systems of {} rows{}", systems, n, check ? "" : ", unchecked"),
             {4 * row, row}, true, [&](const device_group& devices) {
               solve<double>(devices, {dl.data(), d.data(), du.data(), shape}, {b.data(), shape},
                             {x.data(), shape}, how);
             });
  }
}

}  // namespace

void measure_shared_batches(const suite_options& options, suite_results& results) {
  const scratch_folder folder("batches");
  const std::int64_t scale = options.quick ? 1 : 8;
  pair_runner pair(options, results);
  measure_tridiagonal(pair, scale);
  measure_reduction<double>(pair, scale << 21, "doubles");
  measure_reduction<std::int32_t>(pair, scale << 21, "int32");
  measure_options(pair, scale);
  measure_text(pair, folder, scale);
  measure_book(pair, folder, scale);
  pair.finish();
}

}  // namespace vouch::bench
