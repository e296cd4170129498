// vouch classify and vouch gen fingerprint as a user meets them, with a model of random numbers.
#include <gtest/gtest.h>

#include <bit>
#include <nlohmann/json.hpp>

#include <vouch/core/random.hpp>
#include <vouch/fingerprint/big_endian.hpp>

#include "run_tool.hpp"

namespace vouch {
namespace {

using nlohmann::json;
using testing::tool_result;

using fingerprint::big_endian_bytes;

class tool_classify : public testing::tool_test {
 protected:
  void write_model() const {
    std::string transform = "random\nm b\n" + big_endian_bytes(8) + big_endian_bytes(1680);
    for (std::uint64_t i = 0; i < 8 * 1680; ++i)
      transform +=
          big_endian_bytes(std::bit_cast<std::uint32_t>(static_cast<float>(0.1 * random_unit(1, i) - 0.05)));
    std::string weights =
        "network_type mlp\npurpose classifier\nninps 8\nnhids 4\nnouts 6\nacfunc_hids sinusoid\nacfunc_outs "
        "sinusoid\n";
    for (std::uint64_t i = 0; i < 4 * 8 + 4 + 6 * 4 + 6; ++i)
      weights += std::to_string(random_unit(2, i)) + "\n";
    std::filesystem::create_directory(path("model"));
    write("model/mlp_tmat.bin", transform);
    write("model/mlp_wts.bin", weights);
  }
  void draw(const std::string& name, const std::string& options) const {
    const tool_result r = run("gen fingerprint -q -o " + name + " " + options);
    ASSERT_EQ(r.code, 0) << r.err;
  }
};

TEST_F(tool_classify, what_is_read_is_never_overwritten) {
  write_model();
  draw("w.pgm", "--class W --seed 3");
  const std::string weights = content("model/mlp_wts.bin");
  for (const std::string output : {"-o model/mlp_wts.bin", "--orientation ./model/../model/mlp_wts.bin"})
    EXPECT_EQ(run("classify w.pgm --model model -q " + output).code, 2) << output;
  EXPECT_TRUE(content("model/mlp_wts.bin") == weights);
  std::filesystem::create_directory(path("trained"));
  for (const std::string name : {"procls.asc", "osf.txt"}) {
    const std::string labels = "w.pgm W\n", file = "trained/" + name;
    write(file, labels);
    for (const std::string& role : {"--labels " + file, "--list " + file + " --labels l.txt"}) {
      write("l.txt", labels);
      EXPECT_EQ(run("classify train w.pgm -q -o trained " + role).code, 2) << role;
      EXPECT_EQ(content(file), labels) << role;
    }
  }
}

TEST_F(tool_classify, a_line_for_each_print_whatever_is_wrong_with_others) {
  write_model();
  draw("w.pgm", "--class W --seed 3");
  write("empty.pgm", "");
  write("flat.pgm", "P5 600 500 255\n" + std::string(600 * 500, 'a'));
  write("list.txt", "none.pgm\n\nflat.pgm\r\n");
  const tool_result r = run("classify w.pgm empty.pgm --list list.txt --model model -q");
  EXPECT_EQ(r.code, 1) << r.err;
  std::istringstream lines(r.out);
  std::vector<std::string> all;
  for (std::string line; std::getline(lines, line);) all.push_back(line);
  ASSERT_EQ(all.size(), 5U) << r.out;
  EXPECT_EQ(all[0], "file,class,confidence,whorl,core_x,core_y,network_class,A,L,R,S,T,W,proved,reason");
  EXPECT_EQ(all[1].substr(0, 8), "w.pgm,W,") << all[1];
  EXPECT_EQ(all[2].substr(0, 18), "empty.pgm,unknown,") << all[2];
  EXPECT_NE(all[2].find("the file is empty"), std::string::npos);
  EXPECT_EQ(all[3].substr(0, 17), "none.pgm,unknown,");
  EXPECT_NE(all[4].find("all pixels have the same grey level"), std::string::npos) << all[4];
  EXPECT_EQ(run("classify w.pgm --model model -q").code, 0);
}

TEST_F(tool_classify, json_lines_labels_and_orientations) {
  write_model();
  draw("w.pgm", "--class W --seed 3");
  draw("a,b.pgm", "--class A --seed 4 --rotated --blank-paper");
  write("labels.txt", "w.pgm W\na,b.pgm A\n");
  const tool_result r =
      run("classify w.pgm a,b.pgm --model model --json --labels labels.txt --orientation o.npy -o c.csv");
  ASSERT_EQ(r.code, 0) << r.err;
  const json all = json::parse(r.out);
  EXPECT_EQ(all["schema"], "vouch.classify/1");
  EXPECT_EQ(all["network"], "mlp");
  ASSERT_EQ(all["prints"].size(), 2U);
  EXPECT_EQ(all["prints"][0]["class"], "W");
  EXPECT_EQ(all["prints"][0]["whorl"], true);
  EXPECT_TRUE(all["prints"][1]["confidence"].is_number());
  EXPECT_TRUE(all["prints"][1]["reason"].is_null());
  EXPECT_EQ(all["score"]["scored"], 2);
  EXPECT_EQ(all["score"]["confusion"][5][5], 1);
  EXPECT_EQ(all["score"]["rejections"].size(), 6U);
  EXPECT_EQ(std::filesystem::file_size(path("o.npy")), 128U + 2 * 1680 * 8);
  EXPECT_NE(content("c.csv").find("\"a,b.pgm\","), std::string::npos);
  EXPECT_EQ(run("classify w.pgm --model model -q --plot w.svg").code, 0);
  EXPECT_EQ(content("w.svg").substr(0, 4), "<svg");
  EXPECT_NE(content("w.svg").find("stroke=\"#008000\""), std::string::npos);
  EXPECT_EQ(run("classify w.pgm --model model -q --plot w.png").code, 0);
  EXPECT_EQ(content("w.png").substr(1, 3), "PNG");
  EXPECT_EQ(run("classify w.pgm a,b.pgm --model model -q --plot w.svg").code, 2);
  write("flat.pgm", "P5 600 500 255\n" + std::string(600 * 500, 'a'));
  const tool_result nothing = run("classify flat.pgm --model model --plot flat.svg");
  EXPECT_EQ(nothing.code, 1);
  EXPECT_NE(nothing.err.find("flat.svg is not written"), std::string::npos) << nothing.err;
  EXPECT_FALSE(exists("flat.svg"));
  const tool_result lines = run("classify w.pgm a,b.pgm --model model --json-lines -q --threads 2");
  std::istringstream text(lines.out);
  std::size_t count = 0;
  for (std::string line; std::getline(text, line); ++count) EXPECT_EQ(json::parse(line), all["prints"][count]);
  EXPECT_EQ(count, 2U);
}

TEST_F(tool_classify, a_model_of_ones_own) {
  std::string labels;
  for (int seed = 1; seed <= 2; ++seed)
    for (const std::string pattern : {"L", "W"}) {
      const std::string name = pattern + std::to_string(seed) + ".png";
      draw(name, "--class " + pattern + " --seed " + std::to_string(seed));
      labels += name + " " + pattern + "\n";
    }
  write("labels.txt", labels);
  const tool_result r =
      run("classify train L1.png L2.png W1.png W2.png none.png --labels labels.txt -o own --features 4 --json");
  if (r.code == 2 && r.err.find("LAPACK") != std::string::npos) GTEST_SKIP() << "no LAPACK";
  EXPECT_EQ(r.code, 1) << r.err;  // none.png
  const json made = json::parse(r.out);
  EXPECT_EQ(made["prints"], 4);
  EXPECT_EQ(made["prototypes"], 8);
  const tool_result found = run("classify L1.png W2.png --model own --json");
  EXPECT_EQ(found.code, 0) << found.err;
  const json answers = json::parse(found.out);
  EXPECT_EQ(answers["network"], "pnn");
  EXPECT_EQ(answers["prints"][0]["class"], "L");
  EXPECT_EQ(answers["prints"][1]["class"], "W");
  EXPECT_EQ(run("classify train L1.png -o own").code, 2);
  // Where the model could not be written is said before a print is read.
  write("file", "");
  EXPECT_EQ(run("classify train none.png --labels labels.txt -o file").code, 3);
  EXPECT_EQ(run("classify train none.png --labels labels.txt -o file/own").code, 3);
}

TEST_F(tool_classify, what_is_missing_is_said) {
  write_model();
  write("x.pgm", "P5 1 1 255\na");
  EXPECT_EQ(run("classify x.pgm").code, 2);
  EXPECT_EQ(run("classify --model model").code, 2);
  EXPECT_EQ(run("classify x.pgm --model nowhere").code, 3);
  EXPECT_EQ(run("classify x.pgm --model model --network pnn").code, 2);
  EXPECT_EQ(run("classify x.pgm --model model --raw 3").code, 2);
  EXPECT_EQ(run("classify x.pgm --model model --labels none.txt").code, 3);
  EXPECT_EQ(run("classify x.pgm --model model -o x.pgm").code, 2);
  write("model/mlp_tmat.bin", "short\nm b\n");
  const tool_result r = run("classify x.pgm --model model");
  EXPECT_EQ(r.code, 2);
  EXPECT_NE(r.err.find("mlp_tmat.bin"), std::string::npos) << r.err;
  EXPECT_EQ(run("gen fingerprint --class S -o s.pgm").code, 2);
  EXPECT_EQ(run("gen fingerprint").code, 2);
}

}  // namespace
}  // namespace vouch
