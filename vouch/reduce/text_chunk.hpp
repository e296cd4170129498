// vouch/reduce/text_chunk.hpp -- a piece of text on its way through a GPU; private, defined in CUDA builds.
#pragma once
#include <cstdint>
#include <memory>

#include <vouch/core/device.hpp>
#include <vouch/reduce/accumulator.hpp>

namespace vouch {

/// What to do with the text of a chunk.
struct chunk_task {
  set_shape shape;
  reduce_needs needs;      // simple() ones
  bool decimals = false;   // extremes of decimals; else integers
  std::int64_t begin = 0;  // in the chunk's text: whole matrices
  std::int64_t end = 0;
  bool end_of_file = false;
};

/// What came back. One element's sums are below 2^63: a chunk has few enough values.
struct chunk_answer {
  bool regular = false;   // else the strict parser must look; nothing else is then known
  bool points = false;    // some number had one
  bool decimals = false;  // what the task said
  std::int64_t matrices = 0;
  // By element, where task.needs asks.
  const std::int64_t* least = nullptr;  // of integers
  const std::int64_t* most = nullptr;
  const std::int64_t* sums = nullptr;
  const std::int64_t* magnitudes = nullptr;
  const double* least_real = nullptr;  // of decimals
  const double* most_real = nullptr;
};

/// A slot of the ring: pinned memory, its copy on the GPU and a stream.
class text_chunk {
 public:
  /// Bytes of text that fit: each copy to the GPU costs some 8 us besides its bytes, as much as 0.4 MB.
  static constexpr std::int64_t text_bytes = 4 * (std::int64_t{1} << 20) + 4096;
  /// So many are 63 MB of pinned memory.
  static constexpr int most_chunks = 15;
  /// More threads fill chunks no faster: docs/decisions/text_to_gpu.md.
  static constexpr int most_threads = 8;
  static constexpr std::int64_t most_elements = 192;

  /// Whether matrices of this shape can be reduced so: a block keeps what is needed of each element for all its
  /// threads. Else they stay on the CPU.
  static bool fits(set_shape shape, const reduce_needs& needs) {
    constexpr std::int64_t parts_of_a_block = 180;
    const std::int64_t elements = shape.rows * shape.cols;
    return needs.simple() && elements <= most_elements &&
           elements * (needs.min + needs.max + needs.sum + needs.magnitudes) <= parts_of_a_block;
  }

  virtual ~text_chunk() = default;
  virtual char* text() = 0;
  /// Sends the text, has it parsed and reduced and its answer sent back, all in stream order.
  virtual void start(const chunk_task& task) = 0;
  /// Waits for that.
  virtual chunk_answer wait() = 0;
};

/// Throws  device_error   no pinned memory
///         out_of_memory  none on the GPU
std::shared_ptr<text_chunk> make_text_chunk(const device& gpu);

}  // namespace vouch
