// What a handle to a session holds.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "executor/session.h"
#include "sardonyx/sardonyx.h"

namespace sardonyx::c_api {

// A value of the model in the form of sx_value_info, which points into it.
struct Described {
  std::string name, type;
  std::vector<int64_t> dims;
  std::vector<std::string> dim_texts;
  std::vector<const char*> dim_names;
  sx_value_info info{};
};

// What a session and its bindings share.
struct SharedSession {
  Session session;
  ModelMetadata metadata;
  std::deque<Described> inputs, outputs;

  explicit SharedSession(Session made);
};

}  // namespace sardonyx::c_api

struct sx_session {
  std::shared_ptr<sardonyx::c_api::SharedSession> shared;
};
