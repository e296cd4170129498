// vouch/reduce/matrix_set.hpp -- sets of small matrices in text files, reduced element by element.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <vouch/core/device_group.hpp>
#include <vouch/core/int128.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/interval/interval.hpp>

namespace VOUCH_PUBLIC vouch {

/// What can be asked of each element over all matrices of a set.
enum class reduction {
  count,     // of matrices
  min,       // smallest value
  max,       // largest value
  sum,       // of the values
  mean,      // sum / count
  range,     // max - min
  variance,  // mean square distance from the mean
  stddev,    // its root
  argmin,    // number of the first matrix, from 0, that holds the smallest value
  argmax,    // and the largest
  product,   // of the values
  norm1,     // sum of magnitudes
  norm2,     // root of the sum of squares
  norm_inf   // largest magnitude
};

/// All reductions, in the order of the enumeration.
std::span<const reduction> reductions();
/// "count", "min", "norm-inf", ...
std::string_view name(reduction operation);

struct set_shape {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
};

/// What parses on a CPU: the strict parser alone, or vector instructions besides.
enum class parser_instructions { portable, avx512 };

/// "portable", "avx512"
const char* name(parser_instructions instructions);

struct reduce_options {
  std::vector<reduction> operations{reduction::min};
  std::optional<set_shape> shape{};  // none: that of the first matrix
  bool sample = false;               // variance and stddev divide by count - 1
  bool rigorous = false;             // sum and mean also as enclosures
  // The best that the processor has up to these; less than all is for comparison.
  parser_instructions instructions = parser_instructions::avx512;
  std::int64_t unit_bytes = 1 << 18;  // of text that a thread takes at a time
};

/// One result for each element, row by row; a single one for reduction::count.
struct reduced {
  reduction operation{};
  bool integral = false;
  std::vector<int128> integers;              // where integral
  std::vector<double> reals;                 // else
  std::vector<interval<double>> enclosures;  // of sum and mean, where options.rigorous asks
  std::string failure;                       // why there are no numbers; "" where there are
};

struct reduce_result {
  std::int64_t count = 0;  // matrices in all files
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  bool integers = true;     // no token had a point or an exponent
  std::int64_t bytes = 0;   // of text
  const char* method = "";  // of parsing: "cuda" or the name of instructions
  std::vector<reduced> results;
};

/// Reduces the matrices of all files, taken one after the other as one set, without storing them.
///
/// A file holds the number of its matrices on the first line that is not blank, then each matrix behind a line
/// of three asterisks: a line for each row, numbers separated by blanks or tabs. Blank lines may stand
/// anywhere, lines may end in CR LF, one more separator may end the file. A number without point and exponent
/// is an integer of 64 bits, any other the nearest double. Files may be compressed by gzip; pipes are read as
/// they come.
///
/// A GPU parses what is common and takes memory, not time: integers of up to 8 digits for counts, extremes,
/// sums and means, decimals of up to 18 digits for counts and extremes, matrices of up to 45 to 180 elements,
/// in regular files that are not compressed. The CPU parses the rest, and what the bus to the GPU leaves over
/// for its other threads; the results are the same.
///
/// An operation has no result where an element is beyond double, a product of integers beyond int64, or for the
/// variance of a sample of one; `failure` names the element, and the others have theirs.
///
/// Memory  Regular files are mapped and must not shrink meanwhile. Beside that a few megabytes a thread, and
///         for sums of reals about 100 bytes an element, a thread and a sum. At most 64 MB pinned a GPU.
/// Result  The same bits for any number of threads. Of integers everything but mean, variance, stddev and norm2
///         is exact. Sums are formed exactly in any case: sum, mean, range, variance and norm1 are the exact
///         values for the numbers read, rounded once; stddev and norm2 err by one unit in the last place at
///         most; a product of reals by count * 2^-104, relative, before it is rounded. Negative zero counts as
///         zero. Enclosures hold the sum or mean of the decimal numbers as they are written, which few doubles
///         equal: for integers the smallest ones, for reals about sum |x| 2^-52 wide.
/// Cost    One pass over the text.
/// Throws  parse_error  the text breaks the rules above; names the first place where it does
///         shape_error  options.shape is not positive
///         value_error  no operations; none of them has a result
///         file_error   what input_file throws
reduce_result reduce_matrix_sets(const device_group& devices, std::span<const std::string> files,
                                 const reduce_options& options);

class text_chunk;

/// The same again and again: the pinned memory that feeds a GPU is kept.
class matrix_set_reducer {
 public:
  /// host_threads read and parse; 0 takes those of CPUs, else device::cpu()'s.
  explicit matrix_set_reducer(const device_group& devices, int host_threads = 0);
  /// Chunks of one's own in place of a GPU's.
  matrix_set_reducer(int host_threads, std::vector<std::shared_ptr<text_chunk>> ring)
      : threads_(host_threads), gpus_(1), ring_(std::move(ring)) {}
  reduce_result operator()(std::span<const std::string> files, const reduce_options& options);

 private:
  int threads_;
  int gpus_;
  std::vector<std::shared_ptr<text_chunk>> ring_;  // of the GPUs in turns; empty on the CPU
};

}  // namespace vouch
