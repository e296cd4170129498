// The manual page and completions say what -h says.
#include <filesystem>
#include <regex>
#include <set>

#include "run_tool.hpp"

namespace vouch {
namespace {

class tool_manual : public testing::tool_test {
 protected:
  std::string generated(const std::string& kind) const {
    const testing::tool_result r = run("--generate " + kind);
    EXPECT_EQ(r.code, 0) << r.err;
    EXPECT_EQ(r.err, "");
    return r.out;
  }
  // Options on the left of -h.
  std::set<std::string> options(const std::string& command) const {
    std::set<std::string> names;
    std::istringstream help(run(command + " -h").out);
    for (std::string line; std::getline(help, line);) {
      if (!line.starts_with("  -")) continue;
      const std::string left = line.substr(0, std::max<std::size_t>(line.find("   ", 2), 28));
      const std::regex name("(^| )(--?[a-z][a-z-]*)");
      for (auto at = std::sregex_iterator(left.begin(), left.end(), name); at != std::sregex_iterator(); ++at)
        names.insert((*at)[2]);
    }
    return names;
  }
  // What bash offers behind these words.
  std::string offered(const std::string& words, int at) const {
    write("complete", generated("complete-bash"));
    shell("bash -c 'source complete; COMP_WORDS=(" + words + "); COMP_CWORD=" + std::to_string(at) +
          "; _vouch; echo ${COMPREPLY[@]}' > .out 2>&1");
    return content(".out");
  }
  const std::vector<std::string> commands{"solve",  "verify",         "price",           "info",
                                          "gen",    "gen matrix-set", "gen fingerprint", "convert",
                                          "reduce", "classify",       "classify train",  "devices"};
};

TEST_F(tool_manual, every_option_of_every_command_is_in_all_of_them) {
  const std::string page = generated("man"), bash = generated("complete-bash"), zsh = generated("complete-zsh"),
                    fish = generated("complete-fish");
  for (const std::string& command : commands) {
    const std::set<std::string> names = options(command);
    EXPECT_GT(names.size(), command == "devices" ? 1u : 3u) << command;
    const std::size_t start = page.find(".SH VOUCH " + command + "\n");
    ASSERT_NE(start, std::string::npos) << command;
    const std::string section = page.substr(start, page.find("\n.SH ", start + 1) - start);
    const std::size_t case_of = bash.rfind("    '" + command + "') words=");
    ASSERT_NE(case_of, std::string::npos) << command;
    const std::string words = bash.substr(case_of, bash.find('\n', case_of) - case_of);
    for (const std::string& name : names) {
      EXPECT_NE(section.find(std::regex_replace(name, std::regex("-"), "\\-")), std::string::npos)
          << command << " " << name;
      EXPECT_TRUE(std::regex_search(words, std::regex("[' ]" + name + "[' ]"))) << command << " " << name;
      if (command.find(' ') != std::string::npos) continue;
      EXPECT_NE(zsh.find("'" + name), std::string::npos) << command << " " << name;
      const std::string in_fish = name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      EXPECT_NE(fish.find(in_fish + " "), std::string::npos) << command << " " << name;
    }
  }
}

TEST_F(tool_manual, bash_completes) {
  EXPECT_NE(offered("vouch s", 1).find("solve"), std::string::npos);
  EXPECT_EQ(offered("vouch solve --precis", 2), "--precision\n");
  EXPECT_EQ(offered("vouch solve --precision m", 3), "mixed\n");
  EXPECT_EQ(offered("vouch solve --precision = s", 4), "single\n");
  EXPECT_EQ(offered("vouch gen matrix-set --ran", 3), "--range\n");
  EXPECT_EQ(offered("vouch gen plate --stret", 3), "--stretch\n");
  EXPECT_EQ(offered("vouch solve A", 2), "\n");  // the shell offers files
  EXPECT_EQ(offered("vouch solve --color al", 3), "always\n");
}

TEST_F(tool_manual, the_page_is_one_that_man_takes) {
  if (shell("command -v man > /dev/null && command -v groff > /dev/null") != 0) GTEST_SKIP() << "no man here";
  write("vouch.1", generated("man"));
  EXPECT_EQ(shell("MANWIDTH=100 man --warnings -l ./vouch.1 > page 2> warnings"), 0);
  EXPECT_EQ(content("warnings"), "");
  EXPECT_NE(content("page").find("--fixed-iterations"), std::string::npos);
}

TEST_F(tool_manual, mistakes) {
  EXPECT_EQ(run("--generate").code, 2);
  EXPECT_EQ(run("--generate text").code, 2);
  EXPECT_EQ(run("devices --color sometimes").code, 2);
}

TEST_F(tool_manual, colours) {
  write("A.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n");
  EXPECT_EQ(run("solve -q A.mtx").out.find("converged"), 0u);
  EXPECT_EQ(run("solve -q A.mtx --color never").out.find("converged"), 0u);
  EXPECT_EQ(run("solve -q A.mtx --color=always").out.find("\033[1;32mconverged\033[0m: "), 0u);
  EXPECT_EQ(run("solve --color always none.mtx").err.find("vouch: \033[1;31merror:\033[0m "), 0u);
}

}  // namespace
}  // namespace vouch
