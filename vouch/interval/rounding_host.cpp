// Alone in its file: a program that uses header-only intervals must be able to link it without the rest of the library.
#include <cstdio>
#include <cstdlib>

namespace vouch::rounding {

[[noreturn, gnu::visibility("default")]] void refuse_what_was_not_compiled_as_written();

void refuse_what_was_not_compiled_as_written() {
  std::fputs(
      "vouch: a pragma before an #include of vouch lets the compiler reorder sums (-ffast-math and its "
      "parts): no bound would hold\n"
      "hint: move the pragma behind the #include\n",
      stderr);
  std::abort();
}

}  // namespace vouch::rounding
