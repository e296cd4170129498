// vouch/fingerprint/gpu_networks.hpp -- transforms and networks in the memory of a GPU; private.
#pragma once
#include <cstdint>
#include <span>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/fingerprint/networks.hpp>

namespace vouch::fingerprint::gpu {

/// Rows of this many numbers or a multiple of it, zeros behind their end, are what kernels read.
constexpr int row_unit = 16;
constexpr int padded(int columns) { return (columns + row_unit - 1) / row_unit * row_unit; }

/// A matrix by padded rows.
struct matrix {
  int rows = 0;
  int columns = 0;
  array<float> values;

  matrix() = default;
  matrix(const device& dev, const feature_matrix& m);
};

/// Neighbouring prototypes of one class.
struct prototype_tile {
  std::int32_t first, count;
  std::int32_t its_class;
};

/// Either network, with its transform.
///
/// Memory  Pointers are to the memory of the GPU; work is enqueued there.
class network {
 public:
  network(const device& dev, const mlp& source);
  network(const device& dev, const pnn& source);

  /// Numbers between the features of a print and the next: padded().
  int feature_stride() const { return padded(transform_.rows); }

  /// features := transform * averages, by padded rows.
  void transform(const device& dev, std::int64_t n, const float* averages, float* features) const;
  void evaluate(const device& dev, std::int64_t n, const float* features, class_outputs* outputs) const;

 private:
  void evaluate_mlp(const device& dev, std::int64_t n, const float* features, class_outputs* outputs) const;
  void evaluate_pnn(const device& dev, std::int64_t n, const float* features, class_outputs* outputs) const;

  matrix transform_, hidden_, output_, prototypes_;
  array<float> hidden_bias_, output_bias_;
  array<prototype_tile> tiles_;
  float smoothing_ = 0;  // 0: a perceptron
};

/// The same as those of networks.hpp, on spans in the host's memory.
void transform(const device& dev, const feature_matrix& matrix, std::span<const float> averages,
               std::span<float> features);
void evaluate(const device& dev, const mlp& network, std::span<const float> features,
              std::span<class_outputs> outputs);
void evaluate(const device& dev, const pnn& network, std::span<const float> features,
              std::span<class_outputs> outputs);

}  // namespace vouch::fingerprint::gpu
