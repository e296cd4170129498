// vouch/core/visibility.hpp -- what the shared library exports: all that public headers declare, nothing else.
#pragma once

// Between `namespace` and the name where a public header opens it. The library is compiled with hidden visibility.
#define VOUCH_PUBLIC [[gnu::visibility("default")]]
