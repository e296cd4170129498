// tests/reduce/host_chunk.hpp -- a GPU's chunk played by the host: the same automaton, strip after strip.
#pragma once
#include <algorithm>
#include <limits>
#include <vector>

#include <vouch/reduce/text_automaton.hpp>
#include <vouch/reduce/text_chunk.hpp>

namespace vouch::testing {

template <class T>
struct host_parts {
  std::vector<T>* least;
  std::vector<T>* most;
  std::vector<std::int64_t>* sums;
  std::vector<std::int64_t>* magnitudes;

  void take(const parse_task&, int element, T value) const {
    const auto e = static_cast<std::size_t>(element);
    (*least)[e] = std::min((*least)[e], value);
    (*most)[e] = std::max((*most)[e], value);
    (*sums)[e] += static_cast<std::int64_t>(value);
    (*magnitudes)[e] += static_cast<std::int64_t>(value < 0 ? -value : value);
  }
};

class host_chunk final : public text_chunk {
 public:
  char* text() override { return reinterpret_cast<char*>(text_.data()); }
  void start(const chunk_task& task) override {
    task_ = task;
    const auto n = static_cast<std::size_t>(task.shape.rows * task.shape.cols);
    const parse_task parse{text(),
                           task.begin,
                           task.end,
                           task.end_of_file,
                           static_cast<int>(task.shape.cols),
                           static_cast<int>(n),
                           true,
                           true,
                           true,
                           true};
    sums_.assign(n, 0);
    magnitudes_.assign(n, 0);
    answer_ = {.regular = true, .decimals = task.decimals};
    if (task.decimals)
      run<true>(parse, least_real_, most_real_, std::numeric_limits<double>::infinity());
    else
      run<false>(parse, least_, most_, std::numeric_limits<std::int64_t>::max());
    ++started;
  }
  chunk_answer wait() override {
    regular += answer_.regular;
    answer_.least = least_.data();
    answer_.most = most_.data();
    answer_.sums = sums_.data();
    answer_.magnitudes = magnitudes_.data();
    answer_.least_real = least_real_.data();
    answer_.most_real = most_real_.data();
    return answer_;
  }

  int started = 0, regular = 0;

 private:
  template <bool Decimals, class T>
  void run(const parse_task& parse, std::vector<T>& least, std::vector<T>& most, T none) {
    least.assign(sums_.size(), none);
    most.assign(sums_.size(), -none);
    const host_parts<T> parts{&least, &most, &sums_, &magnitudes_};
    for (std::int64_t strip = 0; strip * strip_bytes < parse.end - parse.begin; ++strip) {
      const strip_result one = read_strip<Decimals>(parse, parts, strip);
      answer_.regular &= !one.irregular;
      answer_.points |= one.points;
      answer_.matrices += one.matrices;
    }
  }

  std::vector<unsigned long long> text_ = std::vector<unsigned long long>(text_bytes / 8 + 1);
  chunk_task task_{{}, reduce_needs({})};
  chunk_answer answer_;
  std::vector<std::int64_t> least_, most_, sums_, magnitudes_;
  std::vector<double> least_real_, most_real_;
};

}  // namespace vouch::testing
