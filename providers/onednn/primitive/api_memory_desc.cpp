// The part of api.h that describes memory layouts: the internals of oneDNN 2's memory
// descriptors.
#include <algorithm>
#include <numeric>

#include "providers/onednn/primitive/api.h"

namespace sardonyx::onednn {
namespace {

// The offset of index `index` along `dim`, in elements.
int64_t offset_along(const dnnl_memory_desc_t& md, int dim, int64_t index) {
  const dnnl_blocking_desc_t& blocking = md.format_desc.blocking;
  int64_t offset = 0, inner_stride = 1;
  for (int block = blocking.inner_nblks - 1; block >= 0; --block) {
    const int64_t size = blocking.inner_blks[block];
    if (blocking.inner_idxs[block] == dim) {
      offset += index % size * inner_stride;
      index /= size;
    }
    inner_stride *= size;
  }
  return offset + index * blocking.strides[dim];
}

}  // namespace

memory::data_type data_type_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat:
      return memory::data_type::f32;
    case DType::kFloat16:
      return memory::data_type::f16;
    case DType::kBFloat16:
      return memory::data_type::bf16;
    case DType::kInt32:
      return memory::data_type::s32;
    case DType::kInt8:
      return memory::data_type::s8;
    case DType::kUInt8:
      return memory::data_type::u8;
    default:
      return memory::data_type::undef;
  }
}

DType dtype_of(memory::data_type type) {
  for (const DType dtype : {DType::kFloat, DType::kFloat16, DType::kBFloat16, DType::kInt32,
                            DType::kInt8, DType::kUInt8}) {
    if (data_type_of(dtype) == type) return dtype;
  }
  return DType::kUndefined;
}

Desc plain_desc(memory::data_type type, const Extents& dims) {
  Extents strides(dims.size());
  int64_t stride = 1;
  for (size_t dim = dims.size(); dim-- > 0;) {
    strides[dim] = stride;
    stride *= dims[dim];
  }
  return Desc(dims, type, strides);
}

Desc plain_desc(DType dtype, const Shape& shape) {
  return plain_desc(data_type_of(dtype), shape);
}

Desc transposed_desc(memory::data_type type, const Extents& dims) {
  Extents stored = dims;
  std::swap(stored[dims.size() - 2], stored[dims.size() - 1]);
  std::vector<int> exchanged(dims.size());
  std::iota(exchanged.begin(), exchanged.end(), 0);
  std::swap(exchanged[dims.size() - 2], exchanged[dims.size() - 1]);
  return plain_desc(type, stored).permute_axes(exchanged);
}

Desc strided_desc(memory::data_type type, const Extents& dims, const Extents& strides) {
  return Desc(dims, type, strides);
}

Desc blocked_desc(memory::data_type type, const Extents& dims) {
  using Tag = memory::format_tag;
  static constexpr Tag kTags[] = {Tag::aBc16b, Tag::aBcd16b, Tag::aBcde16b};
  return Desc(dims, type, kTags[dims.size() - 3]);
}

Desc channels_last_desc(memory::data_type type, const Extents& dims) {
  using Tag = memory::format_tag;
  static constexpr Tag kTags[] = {Tag::acb, Tag::acdb, Tag::acdeb};
  return Desc(dims, type, kTags[dims.size() - 3]);
}

Desc any_desc(memory::data_type type, const Extents& dims) {
  return Desc(dims, type, memory::format_tag::any);
}

Desc any_desc(DType dtype, const Shape& shape) {
  return any_desc(data_type_of(dtype), shape);
}

bool is_blocked(const Desc& desc) {
  return desc.data.format_kind == dnnl_blocked;
}

bool is_row_major(const Desc& desc) {
  const dnnl_memory_desc_t& md = desc.data;
  if (!is_blocked(desc) || md.extra.flags != dnnl_memory_extra_flag_none || md.offset0 != 0) {
    return false;
  }
  int64_t stride = 1;
  for (int dim = md.ndims - 1; dim >= 0; --dim) {
    if (md.dims[dim] != md.padded_dims[dim]) return false;
    for (int64_t index = 1; index < md.dims[dim]; ++index) {
      if (offset_along(md, dim, index) != index * stride) return false;
      if (md.format_desc.blocking.inner_nblks == 0) break;  // linear: one index tells all
    }
    stride *= md.dims[dim];
  }
  return true;
}

std::optional<Extents> plain_strides(const Desc& desc) {
  const dnnl_memory_desc_t& md = desc.data;
  if (!is_blocked(desc) || md.extra.flags != dnnl_memory_extra_flag_none || md.offset0 != 0 ||
      md.format_desc.blocking.inner_nblks != 0 ||
      !std::equal(md.dims, md.dims + md.ndims, md.padded_dims)) {
    return std::nullopt;
  }
  const auto& strides = md.format_desc.blocking.strides;
  return Extents(strides, strides + md.ndims);
}

std::optional<BlockedForm> blocked_form(const Desc& desc) {
  const dnnl_memory_desc_t& md = desc.data;
  if (!is_blocked(desc) || md.extra.flags != dnnl_memory_extra_flag_none || md.offset0 != 0 ||
      std::any_of(md.padded_offsets, md.padded_offsets + md.ndims, [](auto at) { return at != 0; }))
    return std::nullopt;
  const dnnl_blocking_desc_t& blocking = md.format_desc.blocking;
  BlockedForm form{Extents(md.dims, md.dims + md.ndims),
                   Extents(md.padded_dims, md.padded_dims + md.ndims),
                   Extents(blocking.strides, blocking.strides + md.ndims),
                   {}};
  for (int i = 0; i < blocking.inner_nblks; ++i)
    form.inner.push_back({static_cast<size_t>(blocking.inner_idxs[i]), blocking.inner_blks[i]});
  return form;
}

int64_t block_of(const Desc& desc, size_t dim) {
  if (!is_blocked(desc)) return 1;
  const dnnl_blocking_desc_t& blocking = desc.data.format_desc.blocking;
  int64_t size = 1;
  for (int block = 0; block < blocking.inner_nblks; ++block) {
    if (blocking.inner_idxs[block] == static_cast<dnnl_dim_t>(dim))
      size *= blocking.inner_blks[block];
  }
  return size;
}

namespace {

// oneDNN recognises a layout by its strides, so a contiguous part gets the strides that a tensor of
// its size has.
void close_gaps(Desc& part) {
  dnnl_memory_desc_t& md = part.data;
  dnnl_blocking_desc_t& blocking = md.format_desc.blocking;
  std::vector<int> order(static_cast<size_t>(md.ndims));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return blocking.strides[a] < blocking.strides[b]; });
  dnnl_dims_t strides;
  int64_t stride = 1;
  for (int block = 0; block < blocking.inner_nblks; ++block)
    stride *= blocking.inner_blks[block];
  for (const int dim : order) {
    const int64_t blocks = md.padded_dims[dim] / block_of(part, static_cast<size_t>(dim));
    if (blocks > 1 && blocking.strides[dim] != stride) return;
    strides[dim] = std::min(blocking.strides[dim], stride);
    stride *= blocks;
  }
  std::copy_n(strides, md.ndims, blocking.strides);
}

}  // namespace

std::optional<DescSlice> slice(const Desc& whole, size_t dim, int64_t begin, int64_t count) {
  if (!blocked_form(whole)) return std::nullopt;
  const dnnl_memory_desc_t& md = whole.data;
  const int64_t block = block_of(whole, dim), end = begin + count;
  const bool is_last = end == md.dims[dim];
  if (begin % block != 0 || (end % block != 0 && !is_last)) return std::nullopt;
  DescSlice part{whole, static_cast<size_t>(begin / block * md.format_desc.blocking.strides[dim]) *
                            memory::data_type_size(whole.data_type())};
  part.desc.data.dims[dim] = count;
  part.desc.data.padded_dims[dim] = is_last ? md.padded_dims[dim] - begin : count;
  close_gaps(part.desc);
  return part;
}

std::string layout_text(const Desc& desc) {
  const dnnl_memory_desc_t& md = desc.data;
  if (!is_blocked(desc)) return "opaque";
  const dnnl_blocking_desc_t& blocking = md.format_desc.blocking;
  std::vector<int> order(static_cast<size_t>(md.ndims));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return blocking.strides[a] > blocking.strides[b]; });
  std::string text;
  for (const int dim : order) {
    bool is_split = false;
    for (int block = 0; block < blocking.inner_nblks; ++block) {
      is_split |= blocking.inner_idxs[block] == dim;
    }
    text += static_cast<char>((is_split ? 'A' : 'a') + dim);
  }
  for (int block = 0; block < blocking.inner_nblks; ++block) {
    text += std::to_string(blocking.inner_blks[block]);
    text += static_cast<char>('a' + blocking.inner_idxs[block]);
  }
  return text;
}

std::optional<Desc> without_sums(const Desc& desc) {
  const bool in_blocks = !is_blocked(desc) || desc.data.format_desc.blocking.inner_nblks > 0;
  if (desc.data.extra.flags == 0 || in_blocks) return std::nullopt;
  Desc plain = desc;
  plain.data.extra = {};
  return plain;
}

std::string fingerprint(const Desc& desc) {
  std::string out;
  const dnnl_memory_desc_t& md = desc.data;
  const auto add = [&](const auto* values, int count) {
    out.append(reinterpret_cast<const char*>(values), sizeof(*values) * static_cast<size_t>(count));
  };
  const bool is_blocks = md.format_kind == dnnl_blocked;
  const int blocks = is_blocks ? md.format_desc.blocking.inner_nblks : 0;
  const int heads[] = {md.data_type, md.format_kind, md.ndims, blocks};
  add(heads, 4);
  add(md.dims, md.ndims);
  add(md.padded_dims, md.ndims);
  add(md.padded_offsets, md.ndims);
  add(&md.offset0, 1);
  if (is_blocks) {
    const dnnl_blocking_desc_t& blocking = md.format_desc.blocking;
    add(blocking.strides, md.ndims);
    add(blocking.inner_blks, blocks);
    add(blocking.inner_idxs, blocks);
  } else {  // one of the opaque kinds, whose parameters fill the union from its start
    add(&md.format_desc, 1);
  }
  add(&md.extra, 1);
  return out;
}

Desc with_type(const Desc& desc, memory::data_type type) {
  Desc typed = desc;
  typed.data.data_type = static_cast<dnnl_data_type_t>(type);
  return typed;
}

std::optional<Desc> same_format(const Desc& model, const Extents& dims) {
  if (is_row_major(model)) return plain_desc(model.data_type(), dims);
  using Tag = memory::format_tag;
  static constexpr Tag kTags[] = {Tag::abc,   Tag::acb,   Tag::aBc8b,   Tag::aBc16b,
                                  Tag::abcd,  Tag::acdb,  Tag::aBcd8b,  Tag::aBcd16b,
                                  Tag::abcde, Tag::acdeb, Tag::aBcde8b, Tag::aBcde16b};
  for (const Tag tag : kTags) {
    const Desc tried(model.dims(), model.data_type(), tag, /*allow_empty=*/true);
    if (tried && tried == model) return Desc(dims, model.data_type(), tag);
  }
  return std::nullopt;
}

}  // namespace sardonyx::onednn
