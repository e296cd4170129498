#include <vouch/solve/driver/options.hpp>

namespace vouch {

const char* name(working_precision precision) {
  switch (precision) {
    case working_precision::single:
      return "single";
    case working_precision::mixed:
      return "mixed";
    case working_precision::double_:
      return "double";
  }
  return "";
}

}  // namespace vouch
