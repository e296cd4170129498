// vouch/reduce/reduce_results.hpp -- from what was gathered to what was asked for; private.
#pragma once
#include <vector>

#include <vouch/reduce/accumulator.hpp>
#include <vouch/reduce/matrix_set.hpp>

namespace vouch {

/// What all threads together know.
struct gathered {
  const accumulator& values;  // settled
  const std::vector<scaled_product>& products;
  const std::vector<std::int64_t>& counts;  // matrices, by unit of the text
  std::int64_t count = 0;                   // in all
  bool integers = true;
};

/// Throws  value_error  what reduce_matrix_sets says
std::vector<reduced> finished_reductions(const reduce_options& options, set_shape shape, const gathered& from);

}  // namespace vouch
