// For tests of what is refused: the error's kind and what it says.
#pragma once

#include <gtest/gtest.h>

#include <string_view>

#include "ir/error.h"

namespace sardonyx {

// `call` must throw an Error of this kind whose message holds `fragment`.
template <typename Call>
void expect_refusal(ErrorCode code, std::string_view fragment, const Call& call) {
  try {
    call();
    ADD_FAILURE() << "nothing was refused, expected \"" << fragment << '"';
  } catch (const Error& error) {
    const std::string_view message = error.what();
    EXPECT_EQ(name_of(error.code()), name_of(code)) << message;
    EXPECT_NE(message.find(fragment), message.npos)
        << "expected \"" << fragment << "\" in \"" << message << '"';
  }
}

}  // namespace sardonyx
