// Protocol messages as JSON.
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <charconv>
#include <cmath>

#include "executor/serving/json_text.h"
#include "executor/serving/model_config_proto.h"

namespace sardonyx::serving {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

void write_message(const Message& message, std::string& out);

// Element `index` of a repeated field; -1: the field itself.
void write_value(const Message& message, const FieldDescriptor* field, int index,
                 std::string& out) {
  const Reflection& reflection = *message.GetReflection();
  const bool is_one = index < 0;
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return append_number(out, is_one ? reflection.GetInt32(message, field)
                                       : reflection.GetRepeatedInt32(message, field, index));
    case FieldDescriptor::CPPTYPE_INT64:
      return append_number(out, is_one ? reflection.GetInt64(message, field)
                                       : reflection.GetRepeatedInt64(message, field, index));
    case FieldDescriptor::CPPTYPE_UINT32:
      return append_number(out, is_one ? reflection.GetUInt32(message, field)
                                       : reflection.GetRepeatedUInt32(message, field, index));
    case FieldDescriptor::CPPTYPE_UINT64:
      return append_number(out, is_one ? reflection.GetUInt64(message, field)
                                       : reflection.GetRepeatedUInt64(message, field, index));
    case FieldDescriptor::CPPTYPE_FLOAT:
      return append_number(out, is_one ? reflection.GetFloat(message, field)
                                       : reflection.GetRepeatedFloat(message, field, index));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return append_number(out, is_one ? reflection.GetDouble(message, field)
                                       : reflection.GetRepeatedDouble(message, field, index));
    case FieldDescriptor::CPPTYPE_BOOL:
      out += (is_one ? reflection.GetBool(message, field)
                     : reflection.GetRepeatedBool(message, field, index))
                 ? "true"
                 : "false";
      return;
    case FieldDescriptor::CPPTYPE_ENUM: {
      const auto* value = is_one ? reflection.GetEnum(message, field)
                                 : reflection.GetRepeatedEnum(message, field, index);
      return append_json_string(out, value->name());
    }
    case FieldDescriptor::CPPTYPE_STRING:
      return append_json_string(out, is_one ? reflection.GetString(message, field)
                                            : reflection.GetRepeatedString(message, field, index));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return write_message(is_one ? reflection.GetMessage(message, field)
                                  : reflection.GetRepeatedMessage(message, field, index),
                           out);
  }
}

void write_map(const Message& message, const FieldDescriptor* field, int count, std::string& out) {
  const Reflection& reflection = *message.GetReflection();
  const FieldDescriptor* key = field->message_type()->map_key();
  out += '{';
  for (int i = 0; i < count; ++i) {
    const Message& entry = reflection.GetRepeatedMessage(message, field, i);
    std::string name;
    write_value(entry, key, -1, name);
    if (i > 0) out += ',';
    out += name.starts_with('"') ? name : '"' + name + '"';
    out += ':';
    write_value(entry, field->message_type()->map_value(), -1, out);
  }
  out += '}';
}

void write_message(const Message& message, std::string& out) {
  const Reflection& reflection = *message.GetReflection();
  bool is_first = true;
  out += '{';
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const FieldDescriptor* field = message.GetDescriptor()->field(i);
    const bool has_presence = field->has_presence();
    if (has_presence && !reflection.HasField(message, field)) continue;
    if (!is_first) out += ',';
    is_first = false;
    append_json_string(out, field->name());
    out += ':';
    if (!field->is_repeated()) {
      write_value(message, field, -1, out);
      continue;
    }
    const int count = reflection.FieldSize(message, field);
    if (field->is_map()) {
      write_map(message, field, count, out);
      continue;
    }
    out += '[';
    for (int item = 0; item < count; ++item) {
      if (item > 0) out += ',';
      write_value(message, field, item, out);
    }
    out += ']';
  }
  out += '}';
}

}  // namespace

std::string message_as_json(const Message& message) {
  std::string out;
  write_message(message, out);
  return out;
}

}  // namespace sardonyx::serving
