// Admissions and batchers.
#include "executor/batching/c_api/batcher.h"

#include <limits>
#include <system_error>
#include <thread>

namespace sardonyx::c_api {
namespace {

using serving::QueuePolicy;
using serving::SchedulingPolicy;

constexpr int64_t kLongestMicroseconds = 1000 * kLongestDeadline;

std::chrono::microseconds microseconds(const char* name, int64_t value) {
  check_range<int64_t>(name, value, 0, kLongestMicroseconds);
  return std::chrono::microseconds(value);
}

std::vector<ValueInfo> all_inputs(const Session& session) {
  std::vector<ValueInfo> all(session.inputs().begin(), session.inputs().end());
  all.insert(all.end(), session.optional_inputs().begin(), session.optional_inputs().end());
  return all;
}

std::vector<std::string> names_of(std::span<const ValueInfo> values) {
  std::vector<std::string> names;
  for (const ValueInfo& value : values)
    names.push_back(value.name);
  return names;
}

// Dynamic batching needs a first dim that counts requests' items everywhere.
void check_batch_dim(std::span<const ValueInfo> values, const char* kind) {
  for (const ValueInfo& value : values) {
    const bool is_open =
        value.type.kind == Type::Kind::kTensor &&
        (!value.type.has_rank() || (value.type.rank() > 0 && !(*value.type.shape)[0].is_known()));
    if (is_open) continue;
    fail(ErrorCode::kInvalidArgument, "max_batch_size: the first dim of ", kind, " '", value.name,
         "' has to be open for dynamic batching, but it is ", value.type, "; 0 asks for none");
  }
}

QueuePolicy queue_policy(const sx_batcher_options& given) {
  QueuePolicy queue;
  queue.max_size = static_cast<size_t>(given.max_queue_size);
  queue.default_timeout = microseconds("default_timeout_us", given.default_timeout_us);
  queue.allows_timeout_override = flag("allow_timeout_override", given.allow_timeout_override);
  queue.delays_after_timeout = flag("delay_after_timeout", given.delay_after_timeout);
  return queue;
}

void set_batches(const sx_batcher_options& given, const Session& session,
                 SchedulingPolicy& policy) {
  check_range<int64_t>("max_batch_size", given.max_batch_size, 0,
                       std::numeric_limits<int32_t>::max());
  if (given.preferred_count > 0) require(given.preferred_sizes, "preferred_sizes");
  for (size_t i = 0; i < given.preferred_count; ++i) {
    check_range<int64_t>("preferred_sizes", given.preferred_sizes[i], 1, given.max_batch_size);
    policy.preferred.push_back(given.preferred_sizes[i]);
  }
  if (given.max_batch_size == 0) {
    if (given.padding) fail(ErrorCode::kInvalidArgument, "padding: needs max_batch_size, got 0");
    return;
  }
  const std::vector<ValueInfo> inputs = all_inputs(session);
  check_batch_dim(inputs, "input");
  check_batch_dim(session.outputs(), "output");
  policy.has_batch_dim = policy.batches = true;
  policy.max_batch = given.max_batch_size;
  if (given.padding)
    policy.padding = std::make_shared<serving::Padding>(given.padding, inputs, session.outputs());
}

SchedulingPolicy policy_of(const sx_batcher_options& given, const Session& session) {
  SchedulingPolicy policy;
  set_batches(given, session, policy);
  policy.delay = microseconds("max_delay_us", given.max_delay_us);
  policy.waits_for_delay = flag("wait_for_delay", given.wait_for_delay);
  policy.preserves_order = flag("preserve_order", given.preserve_order);
  policy.deterministic = flag("deterministic", given.deterministic);
  check_range<int32_t>("instances", given.instances, 0, kMaxThreads);
  policy.instances = given.instances == 0 ? 1 : given.instances;
  policy.default_queue = queue_policy(given);
  policy.priority_levels = given.priority_levels;
  check_range<uint32_t>("default_priority", given.default_priority, 0, given.priority_levels);
  policy.default_priority =
      given.default_priority == 0 ? given.priority_levels : given.default_priority;
  check_range<int64_t>("inline_below_us", given.inline_below_us, -1, kLongestMicroseconds);
  if (given.inline_below_us != 0)
    policy.inline_below = std::chrono::microseconds(std::max<int64_t>(given.inline_below_us, 0));
  return policy;
}

thread_local const AnswerScope* t_answers = nullptr;

}  // namespace

AnswerScope::AnswerScope(const sx_batcher& batcher) : batcher_(batcher), outer_(t_answers) {
  t_answers = this;
}

AnswerScope::~AnswerScope() {
  t_answers = outer_;
}

bool AnswerScope::is_in(const sx_batcher* batcher) {
  for (const AnswerScope* scope = t_answers; scope; scope = scope->outer_) {
    if (!batcher || &scope->batcher_ == batcher) return true;
  }
  return false;
}

Error error_of(const serving::ServingError& error) {
  using serving::Status;
  const auto code = [&] {
    switch (error.status()) {
      case Status::kInvalidArgument:
      case Status::kNotFound:
        return ErrorCode::kInvalidArgument;
      case Status::kResourceExhausted:
      case Status::kTooLarge:
        return ErrorCode::kResourceExhausted;
      case Status::kUnsupported:
        return ErrorCode::kUnsupported;
      case Status::kCancelled:
      case Status::kUnavailable:
        return ErrorCode::kCancelled;
      case Status::kDeadlineExceeded:
        return ErrorCode::kDeadlineExceeded;
      case Status::kOk:
      case Status::kInternal:
        break;
    }
    return ErrorCode::kInternal;
  };
  return Error(code(), error.message());
}

}  // namespace sardonyx::c_api

using namespace sardonyx;         // NOLINT: the functions below are outside of every namespace
using namespace sardonyx::c_api;  // NOLINT

sx_batcher::sx_batcher(std::shared_ptr<SharedSession> session,
                       std::shared_ptr<serving::MemoryGate> gate, serving::SchedulingPolicy policy)
    : shared(std::move(session)),
      statistics(std::make_shared<serving::Statistics>()),
      runner(shared->session, std::move(gate)),
      scheduler(std::make_shared<serving::Scheduler>(
          std::move(policy), names_of(all_inputs(shared->session)),
          names_of(shared->session.outputs()),
          [this](std::span<const Datum> inputs, const RunOptions& options) {
            return runner.run(inputs, options);
          },
          threads, statistics)) {}

extern "C" {

sx_status sx_admission_create(uint64_t memory_limit, sx_admission** admission) {
  return guarded([&] {
    sx_admission*& place = require_place(admission, "admission");
    const uint64_t limit = memory_limit > 0 ? memory_limit : serving::machine_memory() / 10 * 9;
    place = new sx_admission{std::make_shared<serving::MemoryGate>(limit)};
  });
}

void sx_admission_destroy(sx_admission* admission) {
  delete admission;
}

sx_status sx_batcher_options_init(sx_batcher_options* options, size_t struct_size) {
  return guarded([&] {
    write_struct(require(options, "options"), struct_size, sx_batcher_options{}, "options");
  });
}

sx_status sx_batcher_create(sx_session* session, const sx_batcher_options* options,
                            sx_batcher** batcher) {
  return guarded_serving(static_cast<const sx_request_options*>(nullptr), [&] {
    sx_batcher*& place = require_place(batcher, "batcher");
    const auto& shared = require(session, "session").shared;
    const auto given = read_struct(options, sx_batcher_options{}, "options");
    auto gate = given.admission ? given.admission->gate : std::make_shared<serving::MemoryGate>(0);
    place = new sx_batcher(shared, std::move(gate), policy_of(given, shared->session));
  });
}

void sx_batcher_destroy(sx_batcher* batcher) {
  if (!batcher || !AnswerScope::is_in(nullptr)) return delete batcher;
  // To wait for what runs is to wait for its callbacks, of which this may be one, or may be waited
  // for by one.
  batcher->scheduler->stop();
  try {
    std::thread([batcher] { delete batcher; }).detach();
  } catch (const std::system_error&) {
    // No thread is to be had. To leak it is better than to wait for ever.
  }
}

sx_status sx_batcher_get_stats(const sx_batcher* batcher, sx_batcher_stats* stats) {
  return guarded([&] {
    const sx_batcher& from = require(batcher, "batcher");
    const serving::StatisticsSnapshot counts = from.statistics->snapshot();
    const auto failures = [&](serving::Failure kind) {
      return counts.failures[static_cast<size_t>(kind)];
    };
    sx_batcher_stats known{};
    known.succeeded = counts.success.count;
    known.rejected = failures(serving::Failure::kRejected);
    known.cancelled = failures(serving::Failure::kCancelled);
    known.failed = failures(serving::Failure::kBackend) + failures(serving::Failure::kOther);
    known.pending = static_cast<uint64_t>(std::max<int64_t>(counts.pending, 0));
    known.waiting = from.scheduler->waiting();
    known.items = counts.inference_count;
    known.runs = counts.execution_count;
    known.request_ns = counts.success.ns;
    known.queue_ns = counts.queue.ns;
    known.run_ns = counts.compute_infer.ns;
    fill_struct(stats, known, "stats");
  });
}

}  // extern "C"
