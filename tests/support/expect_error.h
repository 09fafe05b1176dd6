// For tests of what is refused: the error's kind and what it says.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string_view>
#include <vector>

#include "ir/core/error.h"

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

// A call with arguments that do not fit, and what its error mentions.
struct Refusal {
  const char* mention;
  std::function<void()> call;
};

inline void expect_refusals(const std::vector<Refusal>& refusals) {
  for (const Refusal& refusal : refusals) {
    SCOPED_TRACE(refusal.mention);
    expect_refusal(ErrorCode::kInvalidArgument, refusal.mention, refusal.call);
  }
}

}  // namespace sardonyx
