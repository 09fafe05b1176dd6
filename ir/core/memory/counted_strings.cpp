#include "ir/core/memory/counted_strings.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <mutex>

namespace sardonyx {

// The count of one buffer's strings.
struct CountedStrings::Entry {
  const std::string *begin, *end;
  std::shared_ptr<MemoryBudget> budget;
  std::atomic<size_t> taken = 0;

  bool holds(const std::string& string) const {
    return !std::less<>()(&string, begin) && std::less<>()(&string, end);
  }
};

namespace {

// All buffers that are counted, by where they end. The generation tells threads that what they
// found last may be gone.
template <typename Entry>
class Registry {
 public:
  // Never destroyed: tensors of static lifetime may go after everything else.
  static Registry& all() {
    static auto* registry = new Registry;
    return *registry;
  }

  void add(std::shared_ptr<Entry> entry) {
    const std::lock_guard lock(mutex_);
    by_end_[entry->end] = std::move(entry);
  }
  void remove(const Entry& entry) {
    ++generation_;
    const std::lock_guard lock(mutex_);
    by_end_.erase(entry.end);
  }
  // The entry lives as long as the buffer of `string`, which the caller uses.
  Entry* find(const std::string& string) {
    struct Last {
      const std::string *begin = nullptr, *end = nullptr;
      Entry* entry = nullptr;
    };
    thread_local Last last;
    thread_local uint64_t seen = 0;
    // No buffer has gone since: that of the string is still the one that was found there.
    const std::less<> before;
    if (seen == generation_ && !before(&string, last.begin) && before(&string, last.end))
      return last.entry;
    seen = generation_;
    last = {};
    const std::lock_guard lock(mutex_);
    const auto after = by_end_.upper_bound(&string);
    if (after == by_end_.end() || !after->second->holds(string)) return nullptr;
    Entry& found = *after->second;
    last = {found.begin, found.end, &found};
    return &found;
  }

 private:
  std::mutex mutex_;
  std::map<const std::string*, std::shared_ptr<Entry>, std::less<>> by_end_;
  std::atomic<uint64_t> generation_ = 1;
};

}  // namespace

CountedStrings::CountedStrings(const std::string* strings, int64_t count) {
  const RunControl* control = current_control();
  if (!control || !control->budget || count == 0) return;
  entry_ = std::make_shared<Entry>();
  entry_->begin = strings;
  entry_->end = strings + count;
  entry_->budget = control->budget;
  Registry<Entry>::all().add(entry_);
}

CountedStrings::~CountedStrings() {
  if (!entry_) return;
  Registry<Entry>::all().remove(*entry_);
  entry_->budget->give_back(entry_->taken);
}

void count_characters(const std::string& string, size_t before, size_t after) {
  if (before == after) return;
  CountedStrings::Entry* const entry = Registry<CountedStrings::Entry>::all().find(string);
  if (!entry) return;
  if (after > before) {
    entry->budget->take(after - before);
    entry->taken += after - before;
    return;
  }
  // Characters that were written past this file were never counted.
  size_t taken = entry->taken, less = 0;
  do {
    less = std::min(taken, before - after);
  } while (!entry->taken.compare_exchange_weak(taken, taken - less));
  entry->budget->give_back(less);
}

void note_copied(size_t bytes) {
  constexpr size_t kBetweenChecks = 1 << 20;
  thread_local size_t since = 0;
  since += bytes + sizeof(std::string);
  if (since < kBetweenChecks) return;
  since = 0;
  check_interrupted();
}

void assign_string(std::string& to, std::string_view from) {
  note_copied(from.size());
  assign_noted_string(to, from);
}

void assign_string(std::string& to, const std::string& from) {
  note_copied(from.size());
  assign_noted_string(to, from);
}

void move_string(std::string& to, std::string&& from) {
  const size_t before = outside_bytes(to.capacity()), after = outside_bytes(from.capacity());
  count_characters(to, before, std::max(before, after));
  count_characters(from, after, 0);
  to = std::move(from);
}

}  // namespace sardonyx
