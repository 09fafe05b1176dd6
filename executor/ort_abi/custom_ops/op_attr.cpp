#include "executor/ort_abi/custom_ops/op_attr.h"

#include <cstring>

#include "executor/ort_abi/status.h"
#include "executor/ort_abi/table/functions.h"
#include "executor/ort_abi/values/value.h"

namespace sardonyx::ort_abi {
namespace {

OrtOpAttrType type_of(const AttrValue& value) {
  if (std::holds_alternative<int64_t>(value)) return ORT_OP_ATTR_INT;
  if (std::holds_alternative<std::vector<int64_t>>(value)) return ORT_OP_ATTR_INTS;
  if (std::holds_alternative<float>(value)) return ORT_OP_ATTR_FLOAT;
  if (std::holds_alternative<std::vector<float>>(value)) return ORT_OP_ATTR_FLOATS;
  if (std::holds_alternative<std::string>(value)) return ORT_OP_ATTR_STRING;
  if (std::holds_alternative<std::vector<std::string>>(value)) return ORT_OP_ATTR_STRINGS;
  if (std::holds_alternative<GraphPtr>(value)) return ORT_OP_ATTR_GRAPH;
  if (std::holds_alternative<Tensor>(value)) return ORT_OP_ATTR_TENSOR;
  return ORT_OP_ATTR_UNDEFINED;
}

template <typename T>
std::vector<T> listed(const void* data, size_t count) {
  const auto* first = static_cast<const T*>(data);
  return {first, first + count};
}

AttrValue made_value(const void* data, size_t count, OrtOpAttrType type) {
  switch (type) {
    case ORT_OP_ATTR_INT:
      return *static_cast<const int64_t*>(data);
    case ORT_OP_ATTR_INTS:
      return listed<int64_t>(data, count);
    case ORT_OP_ATTR_FLOAT:
      return *static_cast<const float*>(data);
    case ORT_OP_ATTR_FLOATS:
      return listed<float>(data, count);
    case ORT_OP_ATTR_STRING:
      return std::string(static_cast<const char*>(data), count);
    case ORT_OP_ATTR_STRINGS: {
      const auto* strings = static_cast<const char* const*>(data);
      std::vector<std::string> copies;
      for (size_t i = 0; i < count; ++i)
        copies.emplace_back(&require(strings[i], "data"));
      return copies;
    }
    default:
      refuse(ORT_FAIL, "Attribute type not supported yet: ", static_cast<int>(type),
             " is not supported");
  }
}

// What ReadOpAttr gives: the bytes of numbers, and of strings with a NUL behind each.
template <typename T>
std::string bytes_of(const T* first, size_t count) {
  return {reinterpret_cast<const char*>(first), count * sizeof(T)};
}
std::string value_bytes(const AttrValue& value, OrtOpAttrType type) {
  switch (type) {
    case ORT_OP_ATTR_INT:
      return bytes_of(&std::get<int64_t>(value), 1);
    case ORT_OP_ATTR_INTS: {
      const auto& list = std::get<std::vector<int64_t>>(value);
      return bytes_of(list.data(), list.size());
    }
    case ORT_OP_ATTR_FLOAT:
      return bytes_of(&std::get<float>(value), 1);
    case ORT_OP_ATTR_FLOATS: {
      const auto& list = std::get<std::vector<float>>(value);
      return bytes_of(list.data(), list.size());
    }
    case ORT_OP_ATTR_STRING:
      return std::get<std::string>(value);
    case ORT_OP_ATTR_STRINGS: {
      std::string all;
      for (const std::string& string : std::get<std::vector<std::string>>(value))
        all += string + '\0';
      return all;
    }
    default:
      refuse(ORT_INVALID_ARGUMENT, "Attribute type ", static_cast<int>(type), " is not supported");
  }
}

}  // namespace

OrtStatus* Functions::CreateOpAttr(const char* name, const void* data, int len, OrtOpAttrType type,
                                   OrtOpAttr** op_attr) {
  return guarded([&] {
    OrtOpAttr*& place = require_place(op_attr, "op_attr");
    if (len < 0) refuse(ORT_INVALID_ARGUMENT, "len: expected at least 0, got ", len);
    if (len > 0 ||
        (type != ORT_OP_ATTR_INTS && type != ORT_OP_ATTR_FLOATS && type != ORT_OP_ATTR_STRINGS))
      require(static_cast<const char*>(data), "data");
    const size_t count = static_cast<size_t>(len);
    place = new OrtOpAttr{&require(name, "name"), made_value(data, count, type)};
  });
}

void Functions::ReleaseOpAttr(OrtOpAttr* input) {
  delete input;
}

OrtStatus* Functions::ReadOpAttr(const OrtOpAttr* op_attr, OrtOpAttrType type, void* data,
                                 size_t len, size_t* out) {
  return guarded([&] {
    const OrtOpAttr& attribute = require(op_attr, "op_attr");
    if (type_of(attribute.value) != type) {
      refuse(ORT_INVALID_ARGUMENT, "Unexpected attribute type: ", attribute.name, " is of kind ",
             kind_name(attribute.value));
    }
    const std::string bytes = value_bytes(attribute.value, type);
    require(out, "out") = bytes.size();
    if (len < bytes.size())
      refuse(ORT_INVALID_ARGUMENT, "Size of data not large enough to hold attribute ",
             attribute.name, ": expected ", bytes.size(), " bytes, got ", len);
    if (!bytes.empty())
      std::memcpy(&require(static_cast<char*>(data), "data"), bytes.data(), bytes.size());
  });
}

OrtStatus* Functions::OpAttr_GetType(const OrtOpAttr* attribute, OrtOpAttrType* type) {
  return guarded([&] { require(type, "type") = type_of(require(attribute, "attribute").value); });
}

OrtStatus* Functions::OpAttr_GetName(const OrtOpAttr* attribute, const char** name) {
  return guarded([&] {
    const char*& place = require_place(name, "name");
    place = require(attribute, "attribute").name.c_str();
  });
}

OrtStatus* Functions::OpAttr_GetTensorAttributeAsOrtValue(const OrtOpAttr* attribute,
                                                          OrtValue** attr_tensor) {
  return guarded([&] {
    OrtValue*& place = require_place(attr_tensor, "attr_tensor");
    const Tensor* tensor = std::get_if<Tensor>(&require(attribute, "attribute").value);
    if (!tensor) refuse(ORT_INVALID_ARGUMENT, "Attribute ", attribute->name, " is no tensor");
    place = new OrtValue(Datum(tensor->clone()));
  });
}

}  // namespace sardonyx::ort_abi
