// No kernel reads past the end of an input: every row of the op table on its samples, with inputs
// that end where mapped memory does, as they are and each of their dims shorter by one. Sizes that
// do not fit each other may be refused; reading on ends the process, and says which call it was.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>

#include "executor/session.h"
#include "ir/op_samples.h"

namespace sardonyx {
namespace {

// What runs now, for the message of a signal handler.
char running[512];

void set_running(const std::string& what) {
  std::snprintf(running, sizeof running, "%s\n", what.c_str());
}
void say_and_end(int) {
  const char* const line = "an input was read past its end: ";
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, line, std::strlen(line));
  written = write(STDERR_FILENO, running, std::strlen(running));
  _exit(1);
}

// A copy of a tensor's elements, behind which nothing is mapped.
class GuardedTensor {
 public:
  explicit GuardedTensor(const Tensor& tensor) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t pages = tensor.bytes() / page + 1;
    mapped_ = (pages + 1) * page;
    void* made = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED) throw std::bad_alloc();
    memory_ = static_cast<std::byte*>(made);
    mprotect(memory_ + pages * page, page, PROT_NONE);
    std::byte* begin = memory_ + pages * page - tensor.bytes();
    if (tensor.bytes() > 0) std::memcpy(begin, tensor.raw(), tensor.bytes());
    tensor_ =
        Tensor(tensor.dtype(), tensor.shape(), Buffer::borrow(begin, tensor.bytes(), nullptr));
  }
  ~GuardedTensor() { munmap(memory_, mapped_); }
  GuardedTensor(const GuardedTensor&) = delete;
  GuardedTensor& operator=(const GuardedTensor&) = delete;
  const Tensor& tensor() const { return tensor_; }

 private:
  std::byte* memory_ = nullptr;
  size_t mapped_ = 0;
  Tensor tensor_;
};

// The first elements, of a shape one shorter along an axis.
Tensor shortened(const Tensor& tensor, size_t axis) {
  Shape shape = tensor.shape();
  --shape[axis];
  Tensor made = Tensor::allocate(tensor.dtype(), shape);
  if (made.bytes() > 0) std::memcpy(made.raw(), tensor.raw(), made.bytes());
  return made;
}

struct Call {
  const OpDef& op;
  const Sample& sample;
  std::vector<Datum> inputs;

  bool is_argument(size_t i) const {
    const bool decides = i < 32 && (op.shape_inputs >> i & 1u);
    const bool is_plain = inputs[i].defined() && inputs[i].is_tensor() &&
                          inputs[i].tensor().dtype() != DType::kString;
    return is_plain && !decides;
  }
  // A model of the op, whose arguments are inputs of open sizes.
  Model model() const {
    Model model;
    GraphEmitter e(*model.graph);
    std::vector<Val> operands;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i].defined()) {
        operands.emplace_back();
      } else if (!is_argument(i)) {
        operands.push_back(e.constant(inputs[i].tensor()));
      } else {
        Type type = inputs[i].type();
        for (size_t axis = 0; axis < type.shape->size(); ++axis)
          (*type.shape)[axis] = Dim::symbol(text("d", i, "_", axis));
        operands.push_back(GraphEmitter::wrap(model.graph->add_input(text("in", i), type)));
      }
    }
    for (const Val& val :
         e.emit(op, operands, Attrs::parse(*op.attrs, sample.attrs), sample.outputs)) {
      if (val) model.graph->add_output(GraphEmitter::unwrap(val));
    }
    return model;
  }
  // Runs with argument `changed` in place of the sample's; true where that gave results.
  bool runs(const Session& session, size_t changed, const Tensor& given) const {
    std::vector<std::unique_ptr<GuardedTensor>> guarded;
    std::vector<Datum> arguments;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!is_argument(i)) continue;
      guarded.push_back(std::make_unique<GuardedTensor>(i == changed ? given : inputs[i].tensor()));
      arguments.push_back(guarded.back()->tensor());
    }
    try {
      session.run(arguments);
      return true;
    } catch (const Error& error) {
      EXPECT_NE(error.code(), ErrorCode::kInternal) << running << error.what();
      return false;
    }
  }
};

// How many runs gave results.
size_t run_all(const Call& call) {
  std::optional<Session> session;
  try {
    session.emplace(call.model());
  } catch (const Error&) {  // sizes that this op must know ahead
    return 0;
  }
  const std::string name = full_name(call.op);
  set_running(name);
  size_t ran = call.runs(*session, call.inputs.size(), {});
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    if (!call.is_argument(i)) continue;
    const Tensor& whole = call.inputs[i].tensor();
    for (size_t axis = 0; axis < whole.rank(); ++axis) {
      if (whole.shape()[axis] < 1) continue;
      const Tensor given = shortened(whole, axis);
      set_running(text(name, " of ", whole.dtype(), ", input ", i, " ", to_text(given.shape()),
                       " in place of ", to_text(whole.shape())));
      ran += call.runs(*session, i, given);
    }
  }
  return ran;
}

class ShortInputs : public testing::TestWithParam<size_t> {};

TEST_P(ShortInputs, AreNotReadPastTheirEnd) {
  constexpr size_t kShards = 8;
  const auto before = std::signal(SIGSEGV, say_and_end);
  size_t ran = 0, number = 0;
  for (const OpDef* op : all_ops()) {
    if (!op->samples || op->is(kRandom) || number++ % kShards != GetParam()) continue;
    for (const Sample& sample : op->samples()) {
      for (const std::vector<Datum>& inputs : sample_inputs(*op, sample))
        ran += run_all({*op, sample, inputs});
    }
  }
  std::signal(SIGSEGV, before);
  EXPECT_GT(ran, 100u);
}

INSTANTIATE_TEST_SUITE_P(Rows, ShortInputs, testing::Range<size_t>(0, 8));

}  // namespace
}  // namespace sardonyx
