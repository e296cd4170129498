// What --json prints keeps to docs/schema.
#include <nlohmann/json.hpp>

#include <data.hpp>

#include <vouch/core/config.hpp>

#include "run_tool.hpp"

namespace vouch {
namespace {

using json = nlohmann::json;

// JSON Schema as far as docs/schema uses it; a keyword beyond that is an error.
class schema_checker {
 public:
  // Where and why the value does not keep to the schema; "" where it does.
  std::string complaint(const json& schema, const json& value, const std::string& at = "") const {
    for (const auto& [keyword, what] : schema.items()) {
      const std::string found = check(keyword, what, schema, value, at);
      if (!found.empty()) return found;
    }
    return "";
  }
  static json read(const std::string& name) {
    std::ifstream file(std::string(VOUCH_SCHEMAS "/") + name);
    return json::parse(file);
  }

 private:
  static bool has_type(const json& value, const std::string& type) {
    if (type == "number") return value.is_number();
    if (type == "integer") return value.is_number_integer();
    return type == value.type_name();
  }
  std::string any_of(const json& schemas, const json& value, const std::string& at, bool one) const {
    std::string reasons;
    int met = 0;
    for (const json& schema : schemas) {
      const std::string found = complaint(schema, value, at);
      met += found.empty() ? 1 : 0;
      reasons += "\n  " + found;
    }
    return met == 1 || (met > 1 && !one) ? "" : at + ": none or several fit:" + reasons;
  }
  std::string members(const json& schema, const json& value, const std::string& at) const {
    if (!value.is_object()) return "";
    const json known = schema.value("properties", json::object());
    for (const auto& [key, member] : value.items()) {
      const json& more =
          schema.contains("additionalProperties") ? schema.at("additionalProperties") : json(true);
      if (!known.contains(key) && more == false) return at + ": unexpected " + key;
      const json& own = known.contains(key) ? known.at(key) : more;
      if (!own.is_object()) continue;
      const std::string found = complaint(own, member, at + "/" + key);
      if (!found.empty()) return found;
    }
    return "";
  }
  std::string check(const std::string& keyword, const json& what, const json& schema, const json& value,
                    const std::string& at) const {
    if (keyword == "$schema" || keyword == "title" || keyword == "$defs") return "";
    if (keyword == "$ref") {
      const std::string text = what.get<std::string>();
      return complaint(
          read(text.substr(0, text.find('#'))).at(json::json_pointer(text.substr(text.find('#') + 1))), value,
          at);
    }
    if (keyword == "type") {
      const json types = what.is_array() ? what : json::array({what});
      for (const json& type : types)
        if (has_type(value, type.get<std::string>())) return "";
      return at + ": " + value.dump() + " is no " + what.dump();
    }
    if (keyword == "const") return value == what ? "" : at + ": is not " + what.dump();
    if (keyword == "enum")
      return std::find(what.begin(), what.end(), value) != what.end()
                 ? ""
                 : at + ": " + value.dump() + " is not among them";
    if (keyword == "minimum") return !value.is_number() || value >= what ? "" : at + ": below " + what.dump();
    if (keyword == "anyOf" || keyword == "oneOf") return any_of(what, value, at, keyword == "oneOf");
    if (keyword == "properties" || keyword == "additionalProperties") return members(schema, value, at);
    if (keyword == "required") {
      for (const json& key : what)
        if (value.is_object() && !value.contains(key.get<std::string>()))
          return at + ": " + key.dump() + " is missing";
      return "";
    }
    if (keyword == "items") {
      for (std::size_t k = 0; value.is_array() && k < value.size(); ++k) {
        const std::string found = complaint(what, value[k], at + "/" + std::to_string(k));
        if (!found.empty()) return found;
      }
      return "";
    }
    return "the keyword " + keyword + " is not known here";
  }
};

class tool_schema : public testing::tool_test {
 protected:
  // Runs the command, whose object must be there and keep to the schema of its name.
  void keeps(const std::string& arguments, int code = 0) const {
    const testing::tool_result r = run(arguments + " --json");
    EXPECT_EQ(r.code, code) << arguments << "\n" << r.err;
    const json object = json::parse(r.out, nullptr, false);
    ASSERT_TRUE(object.is_object()) << arguments << "\n" << r.out;
    const std::string schema = object.at("schema");  // "vouch.solve/1"
    ASSERT_TRUE(schema.starts_with("vouch.") && schema.ends_with("/1")) << schema;
    const std::string name = schema.substr(6, schema.size() - 8);
    EXPECT_EQ(schema_checker().complaint(schema_checker::read(name + ".json"), object), "") << arguments;
  }
};

TEST_F(tool_schema, solve_and_verify) {
  ASSERT_EQ(run("gen poisson-2d -n 8 -o A.mtx --rhs b.txt -q").code, 0);
  ASSERT_EQ(run("gen dense-dominant -n 8 -o D.mtx -q").code, 0);
  write("S.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 2\n");
  write("T.txt", "0 2 1 3\n1 2 0 3\n\n0 0 0 1\n");
  keeps("solve A.mtx -o x.txt");
  keeps("solve A.mtx --rhs b.txt --verify --precond ic0 --repeat 2");
  keeps("solve A.mtx --method gauss-seidel --fixed-iterations 3");
  keeps("solve A.mtx --method cg --max-iterations 2", 1);
  keeps("solve A.mtx --method sparse-lu");
  keeps("solve D.mtx --method jacobi");
  keeps("solve D.mtx --precision single");
  keeps("solve S.mtx", 1);
  keeps("solve T.txt --batch", 1);
  keeps("solve T.txt --batch --verify", 1);
  keeps("verify A.mtx x.txt");
  keeps("verify A.mtx b.txt -b b.txt --digits 15", 1);
}

TEST_F(tool_schema, matrices) {
  keeps("gen poisson-3d -n 8 -o A.mtx");
  keeps("gen dense-dominant -n 5 -o D.npy --rhs b.npy --exact x.npy");
  keeps("gen matrix-set --count 4 -o set.txt");
  keeps("gen fingerprint -o print.pgm");
  write("R.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 2\n1 1 2\n2 3 1e300\n");
  write("U.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 2\n2 2 1\n");
  for (const char* name : {"A.mtx", "D.npy", "R.mtx", "U.mtx"}) keeps(std::string("info ") + name);
  keeps("info A.mtx --amg");
  keeps("convert A.mtx B.mtx --order rcm");
  keeps("convert D.npy D.txt");
  keeps("reduce set.txt --op min,max,sum,mean,variance,argmin,count");
  keeps("reduce set.txt --op sum,mean --rigorous");
}

TEST_F(tool_schema, prices) {
  const std::string option = "price --type put --spot 100 --strike 95 --rate 0.03 --volatility 0.2 --expiry 1";
  keeps(option);
  keeps(option + " --exercise american");
  write(
      "book.csv",
      "type,exercise,spot,strike,rate,volatility,expiry\nput,european,100,95,0.03,0.2,1\nput,european,100,95,0."
      "03,x,1\n");
  const testing::tool_result book = run("price --book book.csv -o out.csv --json");
  ASSERT_FALSE(book.out.empty()) << book.err;
  keeps("price --book book.csv -o out.csv", book.code);
  if (!built_with_mpfr) GTEST_SKIP() << "this build has no MPFR, which proofs of prices need";
  keeps(option + " --scheme rannacher --verify");
  keeps(option + " --verify");
}

TEST_F(tool_schema, fingerprints) {
  const std::string model = testing::data_file("fingerprints/model");
  VOUCH_NEEDS_DATA(model);
  ASSERT_EQ(run("gen fingerprint -o a.pgm -q").code, 0);
  write("classes.txt", "a.pgm W\n");
  keeps("classify a.pgm --model '" + model + "'");
  if (!built_with_mpfr) GTEST_SKIP() << "no MPFR";
  keeps("classify a.pgm --verify --labels classes.txt --model '" + model + "'");
}

TEST_F(tool_schema, the_tool_itself) {
  keeps("devices");
  keeps("--version");
}

}  // namespace
}  // namespace vouch
