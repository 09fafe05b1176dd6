// sx_session, and the session that it shares with its bindings.
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

// The session, which lives as long as any handle to it or to one of its bindings.
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
