#include "providers/cpu/recurrent/rnn_time_loop.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "providers/cpu/recurrent/rnn_cell_kernel.h"

namespace sardonyx::cpu {
namespace {

// The least products of a thread: below this a second thread does not pay.
constexpr size_t kMinProductsOfThread = size_t{1} << 18;
// The least sequences of a thread: fewer take as long.
constexpr size_t kMinRowsOfThread = 4;

}  // namespace

RecurrentSizes recurrent_sizes(const KernelRequest& request, size_t hidden, size_t gates,
                               const std::string& direction, size_t panels_at_once,
                               bool batch_first) {
  const Shape& x = request.inputs[0].shape;
  return {static_cast<size_t>(x[batch_first ? 1 : 0]),
          static_cast<size_t>(x[batch_first ? 0 : 1]),
          static_cast<size_t>(x[2]),
          hidden,
          direction == "bidirectional" ? size_t{2} : size_t{1},
          gates,
          direction == "reverse",
          recurrent_lanes(),
          panels_at_once,
          batch_first};
}

bool are_usual(const std::optional<std::vector<std::string>>& activations, bool is_lstm) {
  const std::vector<std::string> usual = is_lstm
                                             ? std::vector<std::string>{"Sigmoid", "Tanh", "Tanh"}
                                             : std::vector<std::string>{"Sigmoid", "Tanh"};
  for (size_t i = 0; activations && i < activations->size(); ++i) {
    if ((*activations)[i] != usual[i % usual.size()]) return false;
  }
  return true;
}

RnnTimeLoop::RnnTimeLoop(const RecurrentSizes& sizes, const KernelRequest& request, bool has_cell)
    : s_(sizes),
      threads_(request.threads),
      wants_{request.wants(0), request.wants(1), request.wants(2)},
      has_lengths_(request.has(4)),
      has_hidden_(request.has(5)),
      has_cell_(has_cell && request.has(6)) {}

// The scratch bytes of one direction, without RnnScratch::own.
size_t RnnTimeLoop::walk_bytes() const {
  return s_.batch * ((5 * s_.padded() + s_.steps * s_.row()) * sizeof(float) + sizeof(int64_t) +
                     sizeof(uint32_t)) +
         sizeof(int64_t);  // alignment of the last two
}

// walk_bytes() rounded up to whole cache lines, so that two directions that run at once share none.
size_t RnnTimeLoop::direction_bytes() const {
  constexpr size_t kLine = 64;
  return (walk_bytes() + kLine - 1) / kLine * kLine;
}

RnnTimeLoop::RnnScratch RnnTimeLoop::scratch_of(std::byte* begin) const {
  const size_t state = s_.batch * s_.padded();
  auto* at = reinterpret_cast<float*>(begin);
  float* x = at + 5 * state;
  const size_t used = (5 * state + s_.steps * s_.batch * s_.row()) * sizeof(float);
  auto* places = reinterpret_cast<int64_t*>(begin + (used + sizeof(int64_t) - 1) / sizeof(int64_t) *
                                                        sizeof(int64_t));
  return {x,
          at,
          at + state,
          at + 2 * state,
          at + 3 * state,
          at + 4 * state,
          places,
          reinterpret_cast<uint32_t*>(places + s_.batch),
          begin + walk_bytes(),
          s_.batch};
}

size_t RnnTimeLoop::scratch_bytes() const {
  return runs_both_at_once() ? 2 * direction_bytes() : walk_bytes() + own_bytes();
}

RnnTimeLoop::Sharing RnnTimeLoop::sharing() const {
  if (s_.hidden * s_.row() >= size_t{1} << 16) return Sharing::kPanels;
  const bool has_state_of_all = own_bytes() > 0;
  return s_.batch >= 2 * kMinRowsOfThread && !has_state_of_all ? Sharing::kSequences
                                                               : Sharing::kNone;
}

bool RnnTimeLoop::is_much_work() const {
  return s_.steps * s_.batch * s_.hidden * s_.row() >= kMinProductsOfThread;
}

bool RnnTimeLoop::runs_both_at_once() const {
  return s_.directions == 2 && threads_ > 1 && own_bytes() == 0 && sharing() == Sharing::kNone &&
         is_much_work();
}

void RnnTimeLoop::run(const KernelArgs& args) const {
  if (has_lengths_) check_lengths(static_cast<const int32_t*>(args.inputs[4]));
  if (runs_both_at_once()) {
    parallel_run(2, [&](int64_t part, int64_t parts, const CancelFlag& sign) {
      for (auto direction = static_cast<size_t>(part); direction < 2;
           direction += static_cast<size_t>(parts))
        run_direction(args, direction, args.scratch + direction * direction_bytes(), sign);
    });
    return;
  }
  read_input(args, scratch_of(args.scratch));
  for (size_t direction = 0; direction < s_.directions; ++direction) {
    const CancelFlag sign;
    run_direction(args, direction, args.scratch, sign);
    sign.check();
  }
}

size_t RnnTimeLoop::length(const KernelArgs& args, size_t sequence) const {
  if (!has_lengths_) return s_.steps;
  return static_cast<size_t>(static_cast<const int32_t*>(args.inputs[4])[sequence]);
}

void RnnTimeLoop::order_rows(const KernelArgs& args, const RnnScratch& scratch) const {
  uint32_t* end = scratch.sequences + s_.batch;
  std::iota(scratch.sequences, end, 0);
  if (!has_lengths_) return;
  std::sort(scratch.sequences, end, [&](uint32_t a, uint32_t b) {
    const size_t of_a = length(args, a), of_b = length(args, b);
    return of_a != of_b ? of_a > of_b : a < b;
  });
}

void RnnTimeLoop::set_places(const KernelArgs& args, size_t index,
                             const RnnScratch& scratch) const {
  for (size_t row = 0; row < s_.batch; ++row) {
    const size_t sequence = scratch.sequences[row], steps = length(args, sequence);
    const size_t first = is_backward(index) && steps > 0 ? steps - 1 : 0;
    scratch.places[row] = static_cast<int64_t>(place_of(first, sequence));
  }
}

size_t RnnTimeLoop::longest(const KernelArgs& args) const {
  size_t longest = 0;
  for (size_t row = 0; row < s_.batch; ++row)
    longest = std::max(longest, length(args, row));
  return longest;
}

// body(share) for each of `parts` shares of the panels, all sequences of which it computes.
template <typename Body>
void RnnTimeLoop::for_each_panel_share(int parts, const CancelFlag& sign, const Body& body) const {
  const auto groups = static_cast<int64_t>(s_.panels() / s_.panels_at_once);
  const auto panel = [&](int64_t part) {
    return static_cast<size_t>(groups * part / parts) * s_.panels_at_once;
  };
  if (parts == 1) {  // a step may take less than a microsecond
    PanelRange all{0, s_.panels(), sign};
    return body(all);
  }
  parallel_for_each(parts, parts, [&](int64_t part) {
    PanelRange share{panel(part), panel(part + 1), sign};
    body(share);
  });
}

// The scratch restricted to the sequences of one part.
RnnTimeLoop::RnnScratch RnnTimeLoop::rows_of(const RnnScratch& scratch, int part, int parts) const {
  const auto row = [&](int at) {
    return s_.batch * static_cast<size_t>(at) / static_cast<size_t>(parts);
  };
  const size_t begin = row(part), end = row(part + 1);
  const size_t at = begin * s_.padded();
  return {scratch.x,      scratch.h + at,     scratch.h_next + at,    scratch.c + at,
          scratch.z + at, scratch.reset + at, scratch.places + begin, scratch.sequences + begin,
          scratch.own,    end - begin};
}

// The number of threads that share a direction.
int RnnTimeLoop::participants() const {
  const Sharing sharing = this->sharing();
  if (sharing == Sharing::kNone) return 1;
  const size_t most = sharing == Sharing::kPanels ? s_.panels() / s_.panels_at_once
                      : is_much_work()            ? s_.batch / kMinRowsOfThread
                                                  : 1;
  return static_cast<int>(std::clamp<size_t>(most, 1, static_cast<size_t>(threads_)));
}

void RnnTimeLoop::run_direction(const KernelArgs& args, size_t index, std::byte* begin,
                                const CancelFlag& sign) const {
  const RnnScratch scratch = scratch_of(begin);
  std::memset(begin, 0, 5 * s_.batch * s_.padded() * sizeof(float));
  order_rows(args, scratch);
  set_places(args, index, scratch);
  if (has_hidden_) load_state(args.inputs[5], index, scratch, scratch.h);
  if (has_cell_) load_state(args.inputs[6], index, scratch, scratch.c);
  const int parts = participants();
  begin_direction(index, scratch);
  for_each_panel_share(parts, sign,
                       [&](const PanelRange& share) { input_part(args, index, scratch, share); });
  if (parts == 1 || sharing() == Sharing::kPanels)
    return run_steps(args, index, scratch, parts, sign);
  parallel_for_each(parts, parts, [&](int64_t part) {
    run_steps(args, index, rows_of(scratch, static_cast<int>(part), parts), 1, sign);
  });
}

// Runs all steps of the rows of `scratch`, with the panels split into `parts` shares.
void RnnTimeLoop::run_steps(const KernelArgs& args, size_t index, RnnScratch scratch, int parts,
                            const CancelFlag& sign) const {
  const auto stride = static_cast<int64_t>(s_.batch_first ? 1 : s_.batch);
  const size_t work = scratch.rows * s_.hidden * s_.row();
  const auto mask = static_cast<size_t>(poll_mask(static_cast<int64_t>(work)));
  const int last = phases() - 1;
  TimeStep step{scratch.rows, 0};
  for (size_t i = 0; i < s_.steps; ++i) {
    if ((i & mask) == mask ? sign.ask() : sign.is_up()) return;
    read_state(args, index, i, scratch);
    while (step.rows > 0 && length(args, scratch.sequences[step.rows - 1]) <= i)
      --step.rows;
    for (int phase = 0; phase <= last; ++phase) {
      for_each_panel_share(parts, sign, [&](PanelRange& share) {
        share.from_end = i % 2 == 1;
        run_step(index, scratch, step, share, phase);
        if (phase < last) return;
        keep_state(scratch, step.rows, share);
        store_step(args, index, i, scratch, step, share);
      });
    }
    step.shift += is_backward(index) ? -stride : stride;
    std::swap(scratch.h, scratch.h_next);
  }
  store_last(args, index, scratch);
}

// Copies the state of the sequences that have ended from h to h_next.
void RnnTimeLoop::keep_state(const RnnScratch& scratch, size_t first,
                             const PanelRange& share) const {
  for (size_t row = first; row < scratch.rows; ++row) {
    const size_t at = row * s_.padded() + share.begin * s_.lanes;
    std::memcpy(scratch.h_next + at, scratch.h + at,
                (share.end - share.begin) * s_.lanes * sizeof(float));
  }
}

void RnnTimeLoop::check_lengths(const int32_t* lengths) const {
  for (size_t row = 0; row < s_.batch; ++row) {
    if (lengths[row] >= 0 && static_cast<size_t>(lengths[row]) <= s_.steps) continue;
    fail(ErrorCode::kInvalidArgument, "input sequence_lens: element ", row, " is ", lengths[row],
         ", expected 0 to ", s_.steps);
  }
}

size_t RnnTimeLoop::state_at(size_t index, size_t sequence) const {
  return (s_.batch_first ? sequence * s_.directions + index : index * s_.batch + sequence) *
         s_.hidden;
}

void RnnTimeLoop::load_state(const void* initial, size_t index, const RnnScratch& scratch,
                             float* state) const {
  const auto* from = static_cast<const float*>(initial);
  for (size_t row = 0; row < s_.batch; ++row) {
    std::memcpy(state + row * s_.padded(), from + state_at(index, scratch.sequences[row]),
                s_.hidden * sizeof(float));
  }
}

// Stores this share's units of one step into Y [steps, directions, batch, hidden] or [batch, steps,
// directions, hidden]. Past its end a sequence gives zeros.
void RnnTimeLoop::store_step(const KernelArgs& args, size_t index, size_t i,
                             const RnnScratch& scratch, const TimeStep& step,
                             const PanelRange& share) const {
  const size_t first = share.begin * s_.lanes, last = std::min(share.end * s_.lanes, s_.hidden);
  if (!wants_[0] || first >= last) return;
  auto* y = static_cast<float*>(args.outputs[0]);
  for (size_t row = 0; row < scratch.rows; ++row) {
    const size_t sequence = scratch.sequences[row];
    const bool is_over = row >= step.rows;
    const size_t at =
        is_backward(index) && !is_over ? length(args, sequence) - 1 - i : i;  // in time
    float* to = y + first +
                (s_.batch_first ? (sequence * s_.steps + at) * s_.directions + index
                                : (at * s_.directions + index) * s_.batch + sequence) *
                    s_.hidden;
    if (is_over)
      std::fill_n(to, last - first, 0.0f);
    else
      std::memcpy(to, scratch.h_next + row * s_.padded() + first, (last - first) * sizeof(float));
  }
}

void RnnTimeLoop::store_last(const KernelArgs& args, size_t index,
                             const RnnScratch& scratch) const {
  const float* states[] = {scratch.h, scratch.c};
  for (size_t i = 0; i < 2; ++i) {
    if (!wants_[i + 1]) continue;
    auto* to = static_cast<float*>(args.outputs[i + 1]);
    for (size_t row = 0; row < scratch.rows; ++row) {
      std::memcpy(to + state_at(index, scratch.sequences[row]), states[i] + row * s_.padded(),
                  s_.hidden * sizeof(float));
    }
  }
}

}  // namespace sardonyx::cpu
