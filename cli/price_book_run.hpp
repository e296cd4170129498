// cli/price_book_run.hpp -- vouch price --book.
#pragma once
#include "price_request.hpp"

namespace vouch::cli {

/// Prices the book and reports; returns the exit code: 1 where a line could not be priced.
int run_book(const price_request& request);

}  // namespace vouch::cli
