// tests/cli/solve_fixture.hpp -- runs of vouch solve that print JSON.
#pragma once
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "run_tool.hpp"

namespace vouch::testing {

class solve_test : public tool_test {
 protected:
  // The object printed is checked to be one.
  nlohmann::json solve(const std::string& arguments, int code = 0) const {
    const tool_result r = run("solve " + arguments + " --json");
    EXPECT_EQ(r.code, code) << r.err;
    nlohmann::json object = nlohmann::json::parse(r.out, nullptr, false);
    EXPECT_TRUE(object.is_object()) << r.out;
    return object;
  }
  // Wrong usage, which prints nothing on standard output.
  tool_result refused(const std::string& arguments) const {
    const tool_result r = run("solve " + arguments);
    EXPECT_EQ(r.code, 2) << arguments;
    EXPECT_EQ(r.out, "");
    return r;
  }
};

// By conjugate gradients.
class tool_solve : public solve_test {
 protected:
  nlohmann::json solve(const std::string& arguments, int code = 0) const {
    return solve_test::solve(arguments + " --method cg", code);
  }
};

}  // namespace vouch::testing
