// vouch/solve/loop/device_memory_check.hpp -- whether a system fits a device, said before the matrix is sent there.
#pragma once
#include <cstdint>
#include <string>

namespace vouch {

/// Where `free` bytes are free: a dense matrix of so many rows, each entry taking bytes_an_entry with all the
/// copies that a solve makes.
///
/// Throws  out_of_memory  it does not fit; the text says how much is needed and how many rows fit
void check_dense_memory(const std::string& where, std::int64_t free, std::int64_t rows,
                        std::int64_t bytes_an_entry);

/// The same for a sparse matrix; the text says how many nonzeros fit.
void check_sparse_memory(const std::string& where, std::int64_t free, std::int64_t rows, std::int64_t nonzeros,
                         std::int64_t bytes_an_entry, std::int64_t bytes_a_row);

}  // namespace vouch
