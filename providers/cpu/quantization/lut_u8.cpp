#include "providers/cpu/quantization/lut_u8.h"

// The AVX3_DL target has VBMI, which looks up bytes in two vectors with one instruction.
#define HWY_WANT_AVX3_DL 1

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/quantization/lut_u8.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
using D = hn::ScalableTag<uint8_t>;
using V = hn::Vec<D>;
using DSigned = hn::RebindToSigned<D>;

#if HWY_TARGET <= HWY_AVX3_DL
class Table {
 public:
  static constexpr size_t kMinCount = 1;

  HWY_INLINE explicit Table(const uint8_t* table)
      : quarters_{hn::LoadU(D(), table), hn::LoadU(D(), table + 64), hn::LoadU(D(), table + 128),
                  hn::LoadU(D(), table + 192)} {}

  HWY_INLINE V of(V index) const {
    const V low{_mm512_permutex2var_epi8(quarters_[0].raw, index.raw, quarters_[1].raw)};
    const V high{_mm512_permutex2var_epi8(quarters_[2].raw, index.raw, quarters_[3].raw)};
    const auto is_high = hn::MaskFromVec(hn::BitCast(DSigned(), index));
    return hn::IfThenElse(hn::RebindMask(D(), is_high), high, low);
  }

 private:
  V quarters_[4];
};
#else
// A shuffle looks up 16 entries, and gives zero for an index with its uppermost bit set. Indices
// become smaller by 16 from one shuffle to the next, and stay negative once they are. So an index
// gets the entries of all shuffles up to its own, which are such that their sum (without carry) is
// the table's entry.
class Table {
 public:
  static constexpr size_t kMinCount = 512;  // below which making it takes longer than it saves

  HWY_INLINE explicit Table(const uint8_t* table) {
    for (size_t i = 0; i < 256; ++i)
      entries_[i] = i % 128 < 16 ? table[i] : table[i] ^ table[i - 16];
  }

  HWY_INLINE V of(V index) const {
    const auto low = hn::BitCast(DSigned(), index);
    return hn::Xor(half_of(low, entries_),
                   half_of(hn::Xor(low, hn::Set(DSigned(), -128)), entries_ + 128));
  }

 private:
  // Zero for a negative index.
  static HWY_INLINE V half_of(hn::Vec<DSigned> index, const uint8_t* entries) {
    V result = hn::Zero(D());
    for (size_t i = 0; i < 128; i += 16) {
      const V found =
          hn::TableLookupBytesOr0(hn::LoadDup128(D(), entries + i), hn::BitCast(D(), index));
      result = hn::Xor(result, found);
      index = hn::SaturatedSub(index, hn::Set(DSigned(), 16));
    }
    return result;
  }

  HWY_ALIGN uint8_t entries_[256];
};
#endif

void ByteTableRow(const uint8_t* table, const uint8_t* in, uint8_t* out, size_t count) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  if (count >= Table::kMinCount) {
    const Table entries(table);
    for (; i + lanes <= count; i += lanes)
      hn::StoreU(entries.of(hn::LoadU(d, in + i)), d, out + i);
#if HWY_TARGET <= HWY_AVX3_DL
    const auto rest = hn::FirstN(d, count - i);
    hn::BlendedStore(entries.of(hn::MaskedLoad(rest, d, in + i)), rest, d, out + i);
    return;
#endif
  }
  for (; i < count; ++i)
    out[i] = table[in[i]];
}
#else
void ByteTableRow(const uint8_t* table, const uint8_t* in, uint8_t* out, size_t count) {
  for (size_t i = 0; i < count; ++i)
    out[i] = table[in[i]];
}
#endif

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::cpu {

HWY_EXPORT(ByteTableRow);

void byte_table_row(const uint8_t* table, const uint8_t* in, uint8_t* out, size_t count) {
  HWY_DYNAMIC_DISPATCH(ByteTableRow)(table, in, out, count);
}

}  // namespace sardonyx::cpu
#endif  // HWY_ONCE
