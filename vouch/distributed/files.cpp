#include <vouch/distributed/files.hpp>

#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/distributed/communicator.hpp>
#include <vouch/io/matrix_market_parts.hpp>
#include <vouch/io/npy.hpp>
#include <vouch/io/vectors.hpp>
#include <vouch/text/file.hpp>
#include <vouch/text/number.hpp>

namespace vouch {
namespace {

// Entries first to behind `last` of a list as the matrix has them.
std::vector<matrix_entry> entries_of(const coo& A, std::int64_t first, std::int64_t last) {
  const bool mirrored = A.stored_as != symmetry::general;
  const double sign = A.stored_as == symmetry::skew_symmetric ? -1 : 1;
  std::vector<matrix_entry> entries;
  entries.reserve(static_cast<std::size_t>((mirrored ? 2 : 1) * (last - first)));
  for (std::int64_t k = first; k < last; ++k) {
    entries.push_back({A.row[k], A.col[k], A.val[k]});
    if (mirrored && A.row[k] != A.col[k]) entries.push_back({A.col[k], A.row[k], sign * A.val[k]});
  }
  return entries;
}

// One rank's reading of its part of the blocks.
class part_reader {
 public:
  part_reader(communicator& ranks, const device& cpu, const std::string& path)
      : ranks_(ranks), cpu_(cpu), reader_(input_file(path)), header_(take_matrix_market_header(reader_)) {}

  const matrix_market_header& header() const { return header_; }

  std::vector<matrix_entry> read() {
    const std::int64_t header_lines = reader_.lines();
    struct state {
      bool failed = false;
      std::int64_t lines = 0, items = 0;
    } mine;
    coordinate_part part;
    // Where a rank's lines stand in the file is known when all have counted theirs: then what is wrong is said.
    agree(ranks_, [&] {
      try {
        part = read_part(0, 0);
        mine = {false, part.lines, part.items};
      } catch (const parse_error&) {
        mine.failed = true;
      }
    });
    const std::vector<state> all = gather(ranks_, mine);
    std::int64_t lines = header_lines, items = 0;
    for (int rank = 0; rank < ranks_.size(); ++rank) {
      const state& s = all[static_cast<std::size_t>(rank)];
      if (s.failed || items + s.items > header_.entries) complain(rank, lines, items);
      lines += s.lines;
      items += s.items;
    }
    require_all_entries(header_, items, lines);
    return entries_of(part.entries, 0, part.items);
  }

 private:
  coordinate_part read_part(std::int64_t lines_before, std::int64_t items_before) {
    line_reader reader{input_file(header_.file)};
    take_matrix_market_header(reader);
    const std::int64_t blocks = reader.blocks(), first = blocks * ranks_.rank() / ranks_.size(),
                       last = blocks * (ranks_.rank() + 1) / ranks_.size();
    reader.take_part(first, last, lines_before, items_before);
    constexpr std::int64_t shortest_line = 4;  // "1 1" of a pattern
    const auto bytes = (last - first + 1) * static_cast<std::int64_t>(line_reader::block_bytes);
    return read_coordinate_part(cpu_, reader, header_, items_before, bytes / shortest_line + 1);
  }

  void complain(int rank, std::int64_t lines, std::int64_t items) {
    std::string what, hint;
    if (ranks_.rank() == rank) {
      try {
        read_part(lines, items);
        what = header_.file + ": it was read with errors, and without any when read again";
      } catch (const error& e) {
        what = e.what();
        hint = e.hint();
      } catch (const std::exception& e) {  // the others wait to hear of it
        what = e.what();
      }
    }
    share(ranks_, what, rank);
    share(ranks_, hint, rank);
    throw value_error(what, hint);
  }

  communicator& ranks_;
  device cpu_;
  line_reader reader_;
  matrix_market_header header_;
};

// Whether the file is one that ranks read in parts. Of a pipe even a look would take what it holds.
bool is_divisible(const std::string& path) {
  struct stat facts {};
  if (stat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode)) return false;
  input_file file(path);
  if (!file.random_access() || !file.peek(14).starts_with("%%MatrixMarket")) return false;
  line_reader reader(std::move(file));
  const matrix_market_header header = take_matrix_market_header(reader);
  if (header.field == matrix_field::complex)
    throw value_error(path + " has complex numbers, ranks solve real systems",
                      "vouch solve without --engine takes it");
  return header.format == matrix_format::coordinate;
}

void require_square(const matrix_market_header& header) {
  if (header.rows != header.cols)
    throw shape_error(header.file + ": the matrix is " + std::to_string(header.rows) + " by " +
                      std::to_string(header.cols) + ", not square");
}

struct shape_of_file {
  std::int64_t rows, cols, entries;
};

// What differs where files do, nearly always: the size and the check sum of pieces from all over the file.
struct file_sample {
  std::int64_t bytes, sum;
};

file_sample sample_of(const std::string& path) {
  constexpr std::int64_t pieces = 64;
  std::array<char, 4096> piece{};
  const input_file file(path);
  file_sample found{file.most_bytes(), 0};
  uLong sum = 0;
  for (std::int64_t k = 0; k < pieces; ++k) {
    const std::size_t read = file.read_at(found.bytes / pieces * k, piece.data(), piece.size());
    sum = crc32_z(sum, reinterpret_cast<const Bytef*>(piece.data()), read);
  }
  found.sum = static_cast<std::int64_t>(sum);
  return found;
}

}  // namespace

row_matrix read_rows(communicator& ranks, const device& cpu, const std::string& path,
                     matrix_market_header* header) {
  const ieee_environment here;
  std::optional<part_reader> parts;
  std::int64_t divisible[1] = {0};
  agree(ranks, [&] { divisible[0] = is_divisible(path) ? 1 : 0; });
  ranks.sum(divisible);
  matrix_market_header facts;
  std::vector<matrix_entry> entries;
  if (divisible[0] == ranks.size()) {
    agree(ranks, [&] { parts.emplace(ranks, cpu, path); });
    facts = parts->header();
    const shape_of_file shape{facts.rows, facts.cols, facts.entries};
    require_same(ranks, &shape, sizeof shape, "a file", "all ranks must see the same one");
    file_sample sample{};
    agree(ranks, [&] { sample = sample_of(path); });
    require_same(ranks, &sample, sizeof sample, "bytes in the file", "all ranks must see the same one");
    require_square(facts);
    entries = parts->read();
  } else {
    agree(ranks, [&] {
      if (ranks.rank() > 0) return;
      const coo A = read_coo(cpu, path, &facts);
      require_square(facts);
      entries = entries_of(A, 0, A.val.size());
    });
    shape_of_file shape{facts.rows, facts.cols, facts.entries};
    ranks.broadcast(&shape, sizeof shape, 0);
    facts.rows = shape.rows, facts.cols = shape.cols, facts.entries = shape.entries;
  }
  facts.file = path;
  if (header != nullptr) *header = facts;
  return row_matrix::from_entries(ranks, facts.rows, std::move(entries));
}

array<double> read_vector_of_rows(const row_matrix& A, const device& cpu, const std::string& path) {
  const ieee_environment here;
  communicator& ranks = A.ranks();
  std::vector<double> whole;
  std::vector<std::int64_t> count(static_cast<std::size_t>(ranks.size()), 0);
  agree(ranks, [&] {
    if (ranks.rank() > 0) return;
    const vectors read = read_vectors(cpu, path);
    if (read.cols != 1)
      throw shape_error(path + ": ranks solve for one column, the file has " + std::to_string(read.cols));
    if (read.rows != A.all_rows())
      throw shape_error(path + " has " + std::to_string(read.rows) + " elements, the matrix " +
                        std::to_string(A.all_rows()) + " rows");
    whole = read.values.to_vector();
    for (int rank = 0; rank < ranks.size(); ++rank)
      count[static_cast<std::size_t>(rank)] = A.partition().rows_of(rank);
  });
  return array<double>::from(device::cpu(1), distribute<double>(ranks, whole, count));
}

namespace {

// This rank's elements as the file has them.
std::string text_of(const std::string& path, view<const double> x, std::int64_t first_row) {
  std::string text;
  if (path.ends_with(".npy")) {
    text.resize(static_cast<std::size_t>(x.size()) * sizeof(double));
    if (x.size() > 0) std::memcpy(text.data(), x.data(), text.size());
  }
  for (std::int64_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i]))
      throw value_error("element " + std::to_string(first_row + i) + " is " + number_text(x[i]) +
                        ", it cannot be written");
    if (path.ends_with(".npy")) continue;
    char digits[number_width];
    text.append(digits, print_number(digits, x[i]));
    text += '\n';
  }
  return text;
}

// What stands before the elements.
void write_beginning(atomic_file& file, std::int64_t rows) {
  const std::int64_t shape[] = {rows};
  if (file.path().ends_with(".npy")) write_npy(file, view<const double>(nullptr, 0), shape, false);
  if (file.path().ends_with(".mtx"))
    file.write("%%MatrixMarket matrix array real general\n" + std::to_string(rows) + " 1\n");
}

}  // namespace

void write_vector_of_rows(const row_matrix& A, const std::string& path, view<const double> x) {
  const ieee_environment here;
  communicator& ranks = A.ranks();
  std::string text;
  agree(ranks, [&] {
    struct stat facts {};
    if (stat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode))
      throw value_error(path + " is no regular file", "ranks write theirs at several places of it at once");
    if (x.size() != A.rows())
      throw shape_error("x has " + std::to_string(x.size()) + " elements here, the matrix " +
                        std::to_string(A.rows()) + " rows");
    text = text_of(path, x, A.first_row());
  });
  std::int64_t offset = 0;
  const std::vector<std::int64_t> sizes = gather(ranks, static_cast<std::int64_t>(text.size()));
  for (int rank = 0; rank < ranks.rank(); ++rank) offset += sizes[static_cast<std::size_t>(rank)];
  std::optional<atomic_file> file;  // of rank 0
  std::string unfinished;
  std::int64_t beginning = 0;
  agree(ranks, [&] {
    if (ranks.rank() > 0) return;
    file.emplace(path);
    unfinished = file->unfinished_name();
    if (unfinished.empty())
      throw value_error(path + " is no regular file", "ranks write theirs at several places of it at once");
    write_beginning(*file, A.all_rows());
    file->skip(0);
    beginning = static_cast<std::int64_t>(std::filesystem::file_size(unfinished));
  });
  share(ranks, unfinished, 0);
  ranks.broadcast(&beginning, sizeof beginning, 0);
  agree(ranks, [&] {
    file_part part(unfinished);
    part.write_at(beginning + offset, text);
    part.finish();
  });
  agree(ranks, [&] {
    if (file) file->commit();
  });
}

}  // namespace vouch
