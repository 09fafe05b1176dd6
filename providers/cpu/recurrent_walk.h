// How the kernels of recurrent layers go over directions, sequences and steps. What one step
// computes is up to those who derive from this.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "ir/kernel.h"
#include "providers/cpu/tasks.h"

namespace sardonyx::cpu {

struct RecurrentSizes {
  size_t steps, batch, in, hidden, directions, gates;
  bool first_backward;
  size_t lanes;           // hidden units of a panel
  size_t panels_at_once;  // panels that are computed together
  size_t panels() const {
    const size_t units = lanes * panels_at_once;
    return (hidden + units - 1) / units * panels_at_once;
  }
  size_t padded() const { return panels() * lanes; }
  size_t block() const { return gates * lanes; }
  size_t row() const { return panels() * block(); }  // all gates of one position
};
// Of the general inputs: X [steps, batch, in], and a direction's last dims.
RecurrentSizes recurrent_sizes(const KernelRequest& request, size_t hidden, size_t gates,
                               const std::string& direction, size_t panels_at_once = 1);

// Whether the activations are the default ones.
bool are_usual(const std::optional<std::vector<std::string>>& activations, bool is_lstm);

// Inputs 4 to 6 are sequence_lens, initial_h and, `has_cell`, initial_c; the outputs Y, Y_h, Y_c.
class RecurrentWalk : public Kernel {
 public:
  RecurrentWalk(const RecurrentSizes& sizes, const KernelRequest& request, bool has_cell);
  size_t scratch_bytes() const final;
  void run(const KernelArgs& args) const final;

 protected:
  struct Rows {
    size_t first, count;
  };
  // One thread's panels, whole groups of those that go at once. Every other step goes through them
  // from the last to the first: it begins with the weights that the step before has left in the
  // nearest cache.
  struct Share {
    size_t begin, end, parts;
    bool is_first;  // of all shares
    const StopSign& sign;
    bool from_end = false;
    // The first panel of the group that comes `index` panels after the share's first.
    size_t panel(size_t index, size_t at_once) const {
      return from_end ? end - index - at_once : begin + index;
    }
  };
  struct Scratch {
    float* x;                           // the input's part of all gates, [steps * batch, row()]
    float *h, *h_next, *c, *z, *reset;  // [batch, padded()]
    std::byte* own;
  };

  static void wait_for_all(const Share& share);
  // How many of the steps a sequence has, or the longest one.
  size_t length(const KernelArgs& args, size_t row) const;
  size_t longest(const KernelArgs& args) const;

  const RecurrentSizes s_;

  // Bytes of Scratch::own.
  virtual size_t own_bytes() const { return 0; }
  // Before any direction, by one thread.
  virtual void read_input(const KernelArgs&, const Scratch&) const {}
  // Fills Scratch::x for the panels of a share; may leave early where its sign is up.
  virtual void input_part(const KernelArgs& args, size_t direction, const Scratch& scratch,
                          const Share& share) const = 0;
  // Before the step number `index`, by all threads; Scratch::h is the state of all rows.
  virtual void read_state(const KernelArgs& args, size_t direction, size_t index,
                          const Scratch& scratch, const Share& share) const {
    (void)args, (void)direction, (void)index, (void)scratch, (void)share;
  }
  // h_next and c of some rows, for the panels of a share. `step` tells where in x they are.
  virtual void run_step(size_t direction, const Scratch& scratch, size_t step, Rows rows,
                        const Share& share) const = 0;

 private:
  void run_direction(const KernelArgs& args, size_t index) const;
  void run_part(const KernelArgs& args, size_t index, Scratch scratch, size_t part, size_t parts,
                const StopSign& sign, std::atomic<size_t>& end) const;
  // Rows up to `end` that are at one place of their sequences, or past the end.
  struct Run {
    size_t end, step;
    bool is_over;
  };
  Run run_at(const KernelArgs& args, size_t first, size_t i, bool backward) const;
  void keep_state(const Scratch& scratch, Rows rows, const Share& share) const;
  const float* zeros(const Scratch& scratch, Rows rows, const Share& share) const;
  void check_lengths(const int32_t* lengths) const;
  void load_state(const void* initial, size_t index, float* state) const;
  void store_step(void* y, size_t index, size_t step, Rows rows, const float* h,
                  const Share& share) const;
  void store_last(const KernelArgs& args, size_t index, const Scratch& scratch) const;
  size_t walk_floats() const;
  Scratch scratch_of(std::byte* begin) const;

  int threads_;
  bool wants_[3];
  bool has_lengths_, has_hidden_, has_cell_;
};

}  // namespace sardonyx::cpu
