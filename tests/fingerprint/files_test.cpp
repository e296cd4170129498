// Images and models: what is legal, and what is said of what is not.
#include <gtest/gtest.h>

#include <bit>

#include <vouch/core/error.hpp>
#include <vouch/fingerprint/big_endian.hpp>
#include <vouch/fingerprint/model.hpp>
#include <vouch/fingerprint/stages.hpp>

#include "temporary.hpp"

namespace vouch::fingerprint {
namespace {

using namespace std::string_literals;

std::string matrix_file(std::uint32_t rows, std::uint32_t columns, const std::vector<float>& values) {
  std::string bytes = "made here\nm b\n" + big_endian_bytes(rows) + big_endian_bytes(columns);
  for (const float v : values) bytes += big_endian_bytes(std::bit_cast<std::uint32_t>(v));
  return bytes;
}

template <class Read>
std::string complaint(const Read& read) {
  try {
    read();
    return "";
  } catch (const parse_error& e) {
    return e.what();
  }
}

TEST(grey_images, pgm_in_both_forms_and_raw) {
  const grey_image a = parse_grey_image("a", "P5\n# made here\n3 2\n255\n\x01\x02\x03\x04\x05\xff"s);
  EXPECT_EQ(a.width, 3);
  EXPECT_EQ(a.height, 2);
  EXPECT_EQ(a.pixels, (std::vector<std::uint8_t>{1, 2, 3, 4, 5, 255}));
  EXPECT_EQ(parse_grey_image("b", "P2 2 2 3\n0 1\n2 3\n").pixels, (std::vector<std::uint8_t>{0, 85, 170, 255}));
  const grey_image raw = parse_grey_image("c", "abcdef", {2, 3});
  EXPECT_EQ(raw.width, 2);
  EXPECT_EQ(raw.pixels[5], 'f');
}

TEST(grey_images, every_cut_and_every_surplus_is_refused) {
  const std::string whole = "P5 3 2 255\n\x01\x02\x03\x04\x05\x06"s;
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_NE(complaint([&] { parse_grey_image("x", whole.substr(0, length)); }), "") << length;
  EXPECT_NE(complaint([&] { parse_grey_image("x", whole + "7"); }), "");
  for (const char* wrong :
       {"P5 0 2 255\n", "P5 3 2 65535\n", "P5 3 2 0\n", "P5 99999999999 2 255\n", "P6 1 1 255\nabc",
        "P2 1 1 255\n256\n", "P2 1 1 255\n1 2\n", "P5 -1 2 255\n", "P5 # no end"})
    EXPECT_NE(complaint([&] { parse_grey_image("x", wrong); }), "") << wrong;
}

TEST(grey_images, what_is_written_reads_back) {
  const testing::temporary_folder folder;
  const grey_image a{3, 2, {0, 1, 2, 253, 254, 255}};
  for (const char* name : {"a.pgm", "a.png"}) {
    write_grey_image(folder.path(name), a);
    EXPECT_EQ(read_grey_image(folder.path(name)).pixels, a.pixels) << name;
  }
  EXPECT_EQ(testing::content_of(folder.path("a.png")).substr(1, 3), "PNG");
  EXPECT_THROW(write_grey_image(folder.path("b.pgm"), {3, 3, {1}}), shape_error);
  EXPECT_THROW(read_grey_image(folder.path("none.pgm")), file_error);
}

TEST(matrices, binary_and_text) {
  const feature_matrix a = parse_feature_matrix("a", matrix_file(2, 2, {1, -2.5F, 3, 1e-30F}));
  EXPECT_EQ(a.rows, 2);
  EXPECT_EQ(a.values, (std::vector<float>{1, -2.5F, 3, 1e-30F}));
  EXPECT_EQ(parse_feature_matrix("b", "text\nm a\n2 2\n1 -2.5\n3 1e-30\n").values, a.values);
}

TEST(matrices, sizes_byte_order_and_numbers_are_checked) {
  const std::string good = matrix_file(2, 2, {1, 2, 3, 4});
  for (std::size_t length = 0; length < good.size(); ++length)
    EXPECT_NE(complaint([&] { parse_feature_matrix("x", good.substr(0, length)); }), "") << length;
  EXPECT_NE(complaint([&] { parse_feature_matrix("x", good + "a"); }), "");
  EXPECT_NE(complaint([&] {
              parse_feature_matrix("x", matrix_file(0x02000000, 0x02000000, {1, 2, 3, 4}));
            }).find("big-endian"),
            std::string::npos);
  EXPECT_NE(
      complaint([&] { parse_feature_matrix("x", matrix_file(1, 1, {std::bit_cast<float>(0x7fc00000U)})); }),
      "");
  EXPECT_NE(complaint([&] { parse_feature_matrix("x", "text\nm a\n2 2\n1 2 3"); }), "");
  EXPECT_NE(complaint([&] { parse_feature_matrix("x", "text\nm a\n2 2\n1 2 3 4 5"); }), "");
  EXPECT_NE(complaint([&] { parse_feature_matrix("x", "text\nm c\n"); }), "");
}

const std::string weights =
    "network_type mlp\npurpose classifier\nninps 1\nnhids 2\nnouts 6\nacfunc_hids sinusoid\nacfunc_outs "
    "sinusoid\n\n"
    "1 2\n3 4\n1 2\n3 4\n5 6\n7 8\n9 10\n11 12\n1 2 3 4 5 6\n";

TEST(weights_of_a_perceptron, in_their_order) {
  const mlp network = parse_mlp_weights("w", weights);
  EXPECT_EQ(network.hidden.values, (std::vector<float>{1, 2}));
  EXPECT_EQ(network.hidden_bias, (std::vector<float>{3, 4}));
  EXPECT_EQ(network.output.values.back(), 12);
  EXPECT_EQ(network.output_bias.back(), 6);
  for (std::size_t length = 0; length + 2 < weights.size(); ++length)
    EXPECT_NE(complaint([&] { parse_mlp_weights("x", weights.substr(0, length)); }), "") << length;
  EXPECT_NE(complaint([&] { parse_mlp_weights("x", weights + "7\n"); }), "");
}

TEST(models, folders) {
  const testing::temporary_folder folder;
  EXPECT_THROW(read_model(folder.path("")), file_error);
  folder.file("mlp_wts.bin", weights);
  EXPECT_THROW(read_model(folder.path("")), file_error);
  folder.file("mlp_tmat.bin", matrix_file(1, 3, {1, 2, 3}));
  EXPECT_NE(complaint([&] { read_model(folder.path("")); }).find("1680"), std::string::npos);
  folder.file("mlp_tmat.bin", matrix_file(3, orientation_size, std::vector<float>(3 * orientation_size, 1)));
  const model m = read_model(folder.path(""));
  EXPECT_EQ(m.perceptron->transform.rows, 1);  // as many as the network has inputs
  folder.file("pnn_tmat.bin", matrix_file(1, orientation_size, std::vector<float>(orientation_size, 1)));
  folder.file("profvs.bin", matrix_file(2, 1, {1, 2}));
  folder.file("procls.asc", "classes\nc a\n2\n1\n2\nW\nA\n0\n1\n");
  EXPECT_EQ(read_model(folder.path("")).probabilistic->classes, (std::vector<std::uint8_t>{5, 0}));
  folder.file("osf.txt", "0.5\n");
  EXPECT_EQ(read_model(folder.path("")).probabilistic->smoothing, 0.5F);
  folder.file("procls.asc", "classes\nc a\n1\n1\n2\nW\nA\n0\n");
  EXPECT_NE(complaint([&] { read_model(folder.path("")); }).find("prototypes"), std::string::npos);
  folder.file("procls.asc", "classes\nc a\n2\n1\n2\nW\nX\n0\n1\n");
  EXPECT_NE(complaint([&] { read_model(folder.path("")); }), "");
}

}  // namespace
}  // namespace vouch::fingerprint
