// tests/cli/solve_fixture.hpp -- runs of vouch solve by conjugate gradients.
#pragma once
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "run_tool.hpp"

namespace vouch::testing {

class tool_solve : public tool_test {
 protected:
  // Runs conjugate gradients with --json; the object is checked to be one.
  nlohmann::json solve(const std::string& arguments, int code = 0) {
    const tool_result r = run("solve " + arguments + " --method cg --json");
    EXPECT_EQ(r.code, code) << r.err;
    nlohmann::json object = nlohmann::json::parse(r.out, nullptr, false);
    EXPECT_TRUE(object.is_object()) << r.out;
    return object;
  }
};

}  // namespace vouch::testing
