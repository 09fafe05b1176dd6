#include "eager/files/pickle.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>
#include <unordered_map>

#include "ir/core/error.h"

namespace sardonyx::eager {
namespace {

// The objects that torch.save writes for tensors and the dicts around them.
constexpr std::string_view kGlobals[] = {
    "collections OrderedDict",
    "torch._utils _rebuild_tensor_v2",
    "torch._utils _rebuild_parameter",
    "torch Size",
    "torch DoubleStorage",
    "torch FloatStorage",
    "torch HalfStorage",
    "torch BFloat16Storage",
    "torch LongStorage",
    "torch IntStorage",
    "torch ShortStorage",
    "torch CharStorage",
    "torch ByteStorage",
    "torch BoolStorage",
    "torch ComplexFloatStorage",
    "torch ComplexDoubleStorage",
};
constexpr size_t kMaxNodes = 2'000'000;

class Interpreter {
 public:
  Interpreter(std::span<const std::byte> bytes, const std::string& where)
      : bytes_(bytes), where_(where) {
    none_ = add({Pickle::Kind::kNone});
    empty_ = add({Pickle::Kind::kTuple});
    for (const int64_t value : {0, 1})
      bools_[value] = add({Pickle::Kind::kBool, value});
  }

  Pickle run(size_t* end) {
    while (!is_done_) {
      const auto code = take<uint8_t>();
      if (!push_number(code) && !push_text(code) && !build(code) && !remember(code) &&
          !frame(code)) {
        refuse(text("opcode ", int{code}, " has no place in a state_dict"));
      }
    }
    if (end) *end = at_;
    return std::move(made_);
  }

 private:
  using Kind = Pickle::Kind;
  using PickleNode = Pickle::PickleNode;

  [[noreturn]] void refuse(const std::string& why) const {
    fail(ErrorCode::kInvalidArgument, where_, ": ", why, " (byte ", at_, ")");
  }
  template <typename T>
  T take() {
    if (bytes_.size() - at_ < sizeof(T)) refuse("the pickle ends early");
    T value;
    std::memcpy(&value, &bytes_[at_], sizeof value);
    at_ += sizeof value;
    return value;
  }
  std::string take_text(uint64_t length) {
    if (bytes_.size() - at_ < length) refuse("the pickle ends early");
    const std::string taken(reinterpret_cast<const char*>(bytes_.data() + at_),
                            static_cast<size_t>(length));
    at_ += static_cast<size_t>(length);
    return taken;
  }
  std::string take_line() {
    const auto rest = bytes_.subspan(at_);
    const auto end = std::ranges::find(rest, std::byte{'\n'});
    if (end == rest.end()) refuse("the pickle ends early");
    const std::string line = take_text(static_cast<uint64_t>(end - rest.begin()));
    ++at_;
    return line;
  }

  uint32_t add(PickleNode node) {
    if (made_.nodes.size() >= kMaxNodes) refuse("it has too many values");
    made_.nodes.push_back(std::move(node));
    return static_cast<uint32_t>(made_.nodes.size() - 1);
  }
  void push(uint32_t node) { stack_.push_back(node); }
  uint32_t pop() {
    // Items below the last mark belong to a value that is not complete.
    if (stack_.size() <= (marks_.empty() ? 0 : marks_.back())) refuse("a value is missing");
    const uint32_t top = stack_.back();
    stack_.pop_back();
    return top;
  }
  PickleNode& top(Kind kind, const char* what) {
    if (stack_.size() <= (marks_.empty() ? 0 : marks_.back()) ||
        made_.nodes[stack_.back()].kind != kind) {
      refuse(text("expected ", what));
    }
    return made_.nodes[stack_.back()];
  }
  std::vector<uint32_t> pop_to_mark() {
    if (marks_.empty()) refuse("a mark is missing");
    const auto first = stack_.begin() + static_cast<ptrdiff_t>(marks_.back());
    std::vector<uint32_t> items(first, stack_.end());
    stack_.erase(first, stack_.end());
    marks_.pop_back();
    return items;
  }
  void push_tuple(size_t count) {
    std::vector<uint32_t> items(count);
    for (size_t i = count; i-- > 0;)
      items[i] = pop();
    push(add({.kind = Kind::kTuple, .items = std::move(items)}));
  }
  void push_integer(int64_t value) { push(add({.kind = Kind::kInteger, .integer = value})); }

  // Little endian two's complement of up to 8 bytes.
  void push_long(uint64_t length) {
    if (length > 8) refuse(text("an integer of ", length, " bytes"));
    const std::string digits = take_text(length);
    uint64_t value = 0;
    for (size_t i = digits.size(); i-- > 0;)
      value = value << 8 | static_cast<uint8_t>(digits[i]);
    const bool is_negative = !digits.empty() && static_cast<int8_t>(digits.back()) < 0;
    if (is_negative && length < 8) value |= ~uint64_t{0} << (8 * length);
    push_integer(static_cast<int64_t>(value));
  }

  bool push_number(uint8_t code) {
    switch (code) {
      case 'N':
        push(none_);
        return true;
      case 0x88:
        push(bools_[1]);
        return true;
      case 0x89:
        push(bools_[0]);
        return true;
      case 'J':
        push_integer(take<int32_t>());
        return true;
      case 'K':
        push_integer(take<uint8_t>());
        return true;
      case 'M':
        push_integer(take<uint16_t>());
        return true;
      case 0x8a:
        push_long(take<uint8_t>());
        return true;
      case 0x8b:
        push_long(take<uint32_t>());
        return true;
      case 'G': {
        uint64_t swapped = 0;
        for (int i = 0; i < 8; ++i)
          swapped = swapped << 8 | take<uint8_t>();
        push(add({.kind = Kind::kReal, .real = std::bit_cast<double>(swapped)}));
        return true;
      }
      default:
        return false;
    }
  }

  void push_string(uint64_t length) { push(add({.kind = Kind::kText, .text = take_text(length)})); }
  void push_global(const std::string& name) {
    if (std::ranges::find(kGlobals, name) == std::end(kGlobals)) {
      refuse("it wants '" + name.substr(0, 200) + "', which is no part of a state_dict; save " +
             "model.state_dict() rather than the model");
    }
    push(add({.kind = Kind::kGlobal, .text = name}));
  }
  bool push_text(uint8_t code) {
    switch (code) {
      case 'X':
        push_string(take<uint32_t>());
        return true;
      case 0x8c:
        push_string(take<uint8_t>());
        return true;
      case 0x8d:
        push_string(take<uint64_t>());
        return true;
      case 'c': {
        const std::string module = take_line();
        push_global(module + " " + take_line());
        return true;
      }
      case 0x93: {
        const uint32_t name = pop(), module = pop();
        if (made_.at(name).kind != Kind::kText || made_.at(module).kind != Kind::kText)
          refuse("expected a global's name");
        push_global(made_.at(module).text + " " + made_.at(name).text);
        return true;
      }
      default:
        return false;
    }
  }

  void set_items(const std::vector<uint32_t>& items) {
    if (items.size() % 2 != 0) refuse("a dict's value is missing");
    PickleNode& dict = made_.nodes[dict_of(stack_.empty() ? none_ : stack_.back())];
    dict.items.insert(dict.items.end(), items.begin(), items.end());
  }
  // An OrderedDict is a call without arguments that items are put into.
  uint32_t dict_of(uint32_t index) {
    if (stack_.size() <= (marks_.empty() ? 0 : marks_.back()) ||
        made_.at(index).kind != Kind::kDict) {
      refuse("expected a dict");
    }
    return index;
  }
  void call() {
    const uint32_t arguments = pop(), callee = pop();
    if (made_.at(callee).kind != Kind::kGlobal || made_.at(arguments).kind != Kind::kTuple)
      refuse("expected a call of a known object");
    if (made_.at(callee).text == "collections OrderedDict") {
      if (!made_.at(arguments).items.empty()) refuse("an OrderedDict with arguments");
      return push(add({.kind = Kind::kDict}));
    }
    push(add({.kind = Kind::kCall, .items = {callee, arguments}}));
  }
  bool build(uint8_t code) {
    switch (code) {
      case '(':
        marks_.push_back(stack_.size());
        return true;
      case ')':
        push(empty_);
        return true;
      case '}':
        push(add({.kind = Kind::kDict}));
        return true;
      case ']':
        push(add({.kind = Kind::kList}));
        return true;
      case 't':
        push(add({.kind = Kind::kTuple, .items = pop_to_mark()}));
        return true;
      case 0x85:
        push_tuple(1);
        return true;
      case 0x86:
        push_tuple(2);
        return true;
      case 0x87:
        push_tuple(3);
        return true;
      case 'a': {
        const uint32_t item = pop();
        top(Kind::kList, "a list").items.push_back(item);
        return true;
      }
      case 'e': {
        const std::vector<uint32_t> items = pop_to_mark();
        PickleNode& list = top(Kind::kList, "a list");
        list.items.insert(list.items.end(), items.begin(), items.end());
        return true;
      }
      case 's': {
        const uint32_t value = pop(), name = pop();
        set_items({name, value});
        return true;
      }
      case 'u':
        set_items(pop_to_mark());
        return true;
      case 'R':
        call();
        return true;
      // The attributes of a state_dict (_metadata): of no use here.
      case 'b': {
        pop();
        top(Kind::kDict, "a dict that attributes are set on");
        return true;
      }
      case 'Q': {
        const uint32_t identity = pop();
        push(add({.kind = Kind::kPersistent, .items = {identity}}));
        return true;
      }
      default:
        return false;
    }
  }

  void store(uint32_t place) {
    if (stack_.empty()) refuse("a value is missing");
    memo_[place] = stack_.back();
  }
  void recall(uint32_t place) {
    const auto at = memo_.find(place);
    if (at == memo_.end()) refuse("it recalls what it did not store");
    push(at->second);
  }
  bool remember(uint8_t code) {
    switch (code) {
      case 'q':
        store(take<uint8_t>());
        return true;
      case 'r':
        store(take<uint32_t>());
        return true;
      case 0x94:
        store(static_cast<uint32_t>(memo_.size()));
        return true;
      case 'h':
        recall(take<uint8_t>());
        return true;
      case 'j':
        recall(take<uint32_t>());
        return true;
      default:
        return false;
    }
  }

  bool frame(uint8_t code) {
    switch (code) {
      case 0x80: {
        const int version = take<uint8_t>();
        if (version < 2 || version > 5) refuse(text("protocol ", version));
        return true;
      }
      case 0x95:
        take<uint64_t>();
        return true;
      case '.':
        made_.root = pop();
        is_done_ = true;
        return true;
      default:
        return false;
    }
  }

  std::span<const std::byte> bytes_;
  const std::string& where_;
  size_t at_ = 0;
  bool is_done_ = false;
  Pickle made_;
  uint32_t none_ = 0, empty_ = 0, bools_[2] = {};
  std::vector<uint32_t> stack_;
  std::vector<size_t> marks_;
  std::unordered_map<uint32_t, uint32_t> memo_;
};

}  // namespace

Pickle read_pickle(std::span<const std::byte> bytes, const std::string& where, size_t* end) {
  return Interpreter(bytes, where).run(end);
}

}  // namespace sardonyx::eager
