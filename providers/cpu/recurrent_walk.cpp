#include "providers/cpu/recurrent_walk.h"

#include <omp.h>

#include <algorithm>
#include <cstring>

#include "providers/cpu/recurrent_rows.h"

namespace sardonyx::cpu {

RecurrentSizes recurrent_sizes(const KernelRequest& request, size_t hidden, size_t gates,
                               const std::string& direction, size_t panels_at_once) {
  const Shape& x = request.inputs[0].shape;
  return {static_cast<size_t>(x[0]),
          static_cast<size_t>(x[1]),
          static_cast<size_t>(x[2]),
          hidden,
          direction == "bidirectional" ? size_t{2} : size_t{1},
          gates,
          direction == "reverse",
          recurrent_lanes(),
          panels_at_once};
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

RecurrentWalk::RecurrentWalk(const RecurrentSizes& sizes, const KernelRequest& request,
                             bool has_cell)
    : s_(sizes),
      threads_(request.threads),
      wants_{request.wants(0), request.wants(1), request.wants(2)},
      has_lengths_(request.has(4)),
      has_hidden_(request.has(5)),
      has_cell_(has_cell && request.has(6)) {}

// Of all but Scratch::own.
size_t RecurrentWalk::walk_floats() const {
  return s_.batch * (5 * s_.padded() + s_.steps * s_.row());
}

RecurrentWalk::Scratch RecurrentWalk::scratch_of(std::byte* begin) const {
  const size_t state = s_.batch * s_.padded();
  auto* at = reinterpret_cast<float*>(begin);
  return {at + 5 * state,
          at,
          at + state,
          at + 2 * state,
          at + 3 * state,
          at + 4 * state,
          begin + walk_floats() * sizeof(float)};
}

size_t RecurrentWalk::scratch_bytes() const {
  return walk_floats() * sizeof(float) + own_bytes();
}

void RecurrentWalk::run(const KernelArgs& args) const {
  if (has_lengths_) check_lengths(static_cast<const int32_t*>(args.inputs[4]));
  read_input(args, scratch_of(args.scratch));
  for (size_t direction = 0; direction < s_.directions; ++direction)
    run_direction(args, direction);
}

size_t RecurrentWalk::length(const KernelArgs& args, size_t row) const {
  if (!has_lengths_) return s_.steps;
  return static_cast<size_t>(static_cast<const int32_t*>(args.inputs[4])[row]);
}

size_t RecurrentWalk::longest(const KernelArgs& args) const {
  size_t longest = 0;
  for (size_t row = 0; row < s_.batch; ++row)
    longest = std::max(longest, length(args, row));
  return longest;
}

void RecurrentWalk::run_direction(const KernelArgs& args, size_t index) const {
  const Scratch scratch = scratch_of(args.scratch);
  std::memset(args.scratch, 0, 5 * s_.batch * s_.padded() * sizeof(float));
  if (has_hidden_) load_state(args.inputs[5], index, scratch.h);
  if (has_cell_) load_state(args.inputs[6], index, scratch.c);
  // A step is worth sharing when its weights no longer fit one core's nearest caches.
  const bool shares = s_.hidden * s_.row() >= size_t{1} << 16;
  const size_t groups = s_.panels() / s_.panels_at_once;
  const int wanted =
      shares ? static_cast<int>(std::min<size_t>(static_cast<size_t>(threads_), groups)) : 1;
  const StopSign sign;
  std::atomic<size_t> end = s_.steps;
  if (wanted <= 1) {
    run_part(args, index, scratch, 0, 1, sign, end);
  } else {
#pragma omp parallel num_threads(wanted)
    run_part(args, index, scratch, static_cast<size_t>(omp_get_thread_num()),
             static_cast<size_t>(omp_get_num_threads()), sign, end);
  }
  sign.check();
}

void RecurrentWalk::wait_for_all(const Share& share) {
  if (share.parts > 1) {
#pragma omp barrier
  }
}

// One thread's share of the panels, over all steps before `end`. That is moved by the first thread
// alone, to the step behind its own before all meet: so all leave after the same one.
void RecurrentWalk::run_part(const KernelArgs& args, size_t index, Scratch scratch, size_t part,
                             size_t parts, const StopSign& sign, std::atomic<size_t>& end) const {
  const size_t groups = s_.panels() / s_.panels_at_once;
  const bool backward = index == 1 || s_.first_backward;
  Share share{groups * part / parts * s_.panels_at_once,
              groups * (part + 1) / parts * s_.panels_at_once, parts, part == 0, sign};
  input_part(args, index, scratch, share);
  const size_t work = s_.batch * s_.hidden * (share.end - share.begin) * s_.block();
  const auto mask = static_cast<size_t>(mask_of_looks(static_cast<int64_t>(work)));
  for (size_t i = 0; i < end; ++i) {
    const bool is_over = (i & mask) == mask ? sign.ask() : sign.is_up();
    if (part == 0 && is_over) end = i + 1;
    read_state(args, index, i, scratch, share);
    for (size_t first = 0; first < s_.batch;) {
      const Run run = run_at(args, first, i, backward);
      const Rows rows{first, run.end - first};
      if (run.is_over)
        keep_state(scratch, rows, share);
      else
        run_step(index, scratch, run.step, rows, share);
      // Past its end a sequence gives zeros; z is free for them between two steps.
      store_step(args.outputs[0], index, run.step, rows,
                 run.is_over ? zeros(scratch, rows, share) : scratch.h_next, share);
      first = run.end;
    }
    wait_for_all(share);
    std::swap(scratch.h, scratch.h_next);
    share.from_end = !share.from_end;
  }
  if (part == 0) store_last(args, index, scratch);
}

// Sequences of one length are at the same place.
RecurrentWalk::Run RecurrentWalk::run_at(const KernelArgs& args, size_t first, size_t i,
                                         bool backward) const {
  const auto place = [&](size_t row) -> Run {
    const size_t own = length(args, row);
    if (i >= own) return {row, i, true};
    return {row, backward ? own - 1 - i : i, false};
  };
  Run run = place(first);
  if (!has_lengths_) {
    run.end = s_.batch;
    return run;
  }
  for (run.end = first + 1; run.end < s_.batch; ++run.end) {
    const Run next = place(run.end);
    if (next.step != run.step || next.is_over != run.is_over) break;
  }
  return run;
}

void RecurrentWalk::keep_state(const Scratch& scratch, Rows rows, const Share& share) const {
  for (size_t row = rows.first; row < rows.first + rows.count; ++row) {
    const size_t first = row * s_.padded() + share.begin * s_.lanes;
    std::memcpy(scratch.h_next + first, scratch.h + first,
                (share.end - share.begin) * s_.lanes * sizeof(float));
  }
}

const float* RecurrentWalk::zeros(const Scratch& scratch, Rows rows, const Share& share) const {
  for (size_t row = rows.first; row < rows.first + rows.count; ++row) {
    std::fill_n(scratch.z + row * s_.padded() + share.begin * s_.lanes,
                (share.end - share.begin) * s_.lanes, 0.0f);
  }
  return scratch.z;
}

void RecurrentWalk::check_lengths(const int32_t* lengths) const {
  for (size_t row = 0; row < s_.batch; ++row) {
    if (lengths[row] >= 0 && static_cast<size_t>(lengths[row]) <= s_.steps) continue;
    fail(ErrorCode::kInvalidArgument, "input sequence_lens: element ", row, " is ", lengths[row],
         ", expected 0 to ", s_.steps);
  }
}

void RecurrentWalk::load_state(const void* initial, size_t index, float* state) const {
  const auto* from = static_cast<const float*>(initial) + index * s_.batch * s_.hidden;
  for (size_t row = 0; row < s_.batch; ++row) {
    std::memcpy(state + row * s_.padded(), from + row * s_.hidden, s_.hidden * sizeof(float));
  }
}

// This share's units of one step into Y [steps, directions, batch, hidden].
void RecurrentWalk::store_step(void* y, size_t index, size_t step, Rows rows, const float* h,
                               const Share& share) const {
  if (!wants_[0]) return;
  auto* to = static_cast<float*>(y) + (step * s_.directions + index) * s_.batch * s_.hidden;
  const size_t first = share.begin * s_.lanes, last = std::min(share.end * s_.lanes, s_.hidden);
  for (size_t row = rows.first; row < rows.first + rows.count && first < last; ++row) {
    std::memcpy(to + row * s_.hidden + first, h + row * s_.padded() + first,
                (last - first) * sizeof(float));
  }
}

void RecurrentWalk::store_last(const KernelArgs& args, size_t index, const Scratch& scratch) const {
  const float* states[] = {scratch.h, scratch.c};
  for (size_t i = 0; i < 2; ++i) {
    if (!wants_[i + 1]) continue;
    auto* to = static_cast<float*>(args.outputs[i + 1]) + index * s_.batch * s_.hidden;
    for (size_t row = 0; row < s_.batch; ++row) {
      std::memcpy(to + row * s_.hidden, states[i] + row * s_.padded(), s_.hidden * sizeof(float));
    }
  }
}

}  // namespace sardonyx::cpu
