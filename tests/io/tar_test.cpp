#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <temporary.hpp>
#include <vouch/core/error.hpp>
#include <vouch/io/vectors.hpp>

namespace vouch {
namespace {

using testing::gzipped;

struct member {
  std::string name, content;
  char kind = '0';
};

std::string octal(std::size_t number, std::size_t width) {
  std::string digits(width - 1, '0');
  for (std::size_t k = width - 1; k-- > 0; number /= 8) digits[k] = static_cast<char>('0' + number % 8);
  return digits + '\0';
}

std::string tar(const std::vector<member>& members) {
  std::string archive;
  for (const member& m : members) {
    std::string header = m.name.substr(0, 100);
    header.resize(100);
    header += octal(0644, 8) + octal(0, 8) + octal(0, 8) + octal(m.content.size(), 12) + octal(0, 12) +
              std::string(8, ' ') + m.kind;
    header.resize(257);
    header += std::string(
        "ustar\0"
        "00",
        8);
    header.resize(512);
    std::size_t sum = 0;
    for (const char c : header) sum += static_cast<unsigned char>(c);
    header.replace(148, 7, octal(sum, 7));
    std::string content = m.content;
    content.resize((content.size() + 511) / 512 * 512);
    archive += header + content;
  }
  return archive + std::string(1024, '\0');
}

std::string matrix(int value) {
  return "%%MatrixMarket matrix coordinate real general\n2 2 1\n2 1 " + std::to_string(value) + "\n";
}
const std::string rhs = "%%MatrixMarket matrix array real general\n2 1\n5\n6\n";

class Tar : public ::testing::Test {
 protected:
  double value(const std::string& content, const std::string& name = "A.tar.gz") const {
    const csr<double> A = read_csr(device::cpu(2), folder.file(name, content));
    EXPECT_EQ(A.rows, 2);
    EXPECT_EQ(A.nonzeros(), 1);
    return A.val[0];
  }
  void refuse(const std::string& content, const std::string& complaint) const {
    try {
      read_csr(device::cpu(2), folder.file("A.tar", content));
      ADD_FAILURE() << "read, expected " << complaint;
    } catch (const parse_error& e) {
      const std::string text = e.what();
      EXPECT_EQ(text.substr(text.find("/A.tar") + 1), complaint);
    }
  }
  const testing::temporary_folder folder;
};

TEST_F(Tar, as_the_suitesparse_collection_packs_it) {
  const std::string archive = tar(
      {{"west/", "", '5'}, {"west/west_b.mtx", rhs}, {"west/west_x.mtx", rhs}, {"west/west.mtx", matrix(3)}});
  for (const std::string& content : {archive, gzipped(archive)}) {
    EXPECT_EQ(value(content), 3);
    const vectors b = read_vectors(device::cpu(2), folder.path("A.tar.gz"));
    EXPECT_EQ(b.values.to_vector(), (std::vector<double>{5, 6}));
  }
}

TEST_F(Tar, other_ways_to_name_members) {
  EXPECT_EQ(value(tar({{"other.mtx", matrix(1)}, {"A.mtx", matrix(2)}})), 2);
  EXPECT_EQ(value(tar({{"./A.mtx", matrix(2)}})), 2);
  EXPECT_EQ(
      value(tar({{"deep/er/er.rb", "t\n3 1 1 1\nrua 2 2 1 0\n(9I3)(9I3)(1F4.1)\n  1  2  2\n  2\n 2.5\n"}})),
      2.5);
  const std::string name = std::string(120, 'n');
  EXPECT_EQ(value(tar({{"././@LongLink", name + "/" + name + ".mtx" + '\0', 'L'}, {name, matrix(4)}})), 4);
  const std::string record = " path=" + name + "/" + name + ".mtx\n";
  EXPECT_EQ(value(tar({{"pax", std::to_string(record.size() + 3) + record, 'x'}, {name, matrix(5)}})), 5);
}

TEST_F(Tar, what_is_wrong_is_named) {
  refuse(tar({{"x/y.mtx", matrix(1)}, {"x/z.mtx", matrix(1)}}), "A.tar: the archive has no file NAME/NAME.mtx");
  refuse(tar({{"A.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1\n"}}),
         "A.tar(A.mtx):3:1: row 3 exceeds 2 rows");
  const std::string good = tar({{"other", std::string(2000, 'x')}, {"A.mtx", matrix(1)}});
  for (const std::size_t cut : {600u, 1000u, 2600u})
    refuse(good.substr(0, cut), "A.tar: the tar archive is broken");
  refuse(good.substr(0, 3072 + 30), "A.tar(A.mtx):1:23: unknown format 'coordina'");
  EXPECT_THROW(read_vectors(device::cpu(), folder.file("B.tar", good)), parse_error);
}

TEST_F(Tar, any_byte_may_be_wrong) {
  const std::string good = tar({{"A_b.mtx", rhs}, {"A.mtx", matrix(1)}});
  for (std::size_t k = 0; k < good.size(); k += k < 600 ? 1 : 7)
    for (const int change : {1, 255}) {
      std::string bytes = good;
      bytes[k] = static_cast<char>(bytes[k] ^ change);
      try {
        read_csr(device::cpu(1), folder.file("A.tar", bytes));
      } catch (const parse_error&) {
      }
    }
}

}  // namespace
}  // namespace vouch
