#include "nn/net_json.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/json.h"

namespace sotto {

void NetJson::Check(const std::string& name, std::int64_t value, std::int64_t least,
                    std::int64_t most) {
  if (!reads_ || (value >= least && value <= most)) return;
  throw Error(
      fmt::format("{}: '{}' is {}, from {} to {} is allowed", where_, name, value, least, most));
}

void NetJson::Size(const char* name, std::int64_t& value, std::int64_t least, std::int64_t most) {
  Value(name, value);
  Check(name, value, least, most);
}

void NetJson::Sizes(const char* name, std::vector<std::int64_t>& values, std::int64_t least,
                    std::int64_t most) {
  Value(name, values);
  Check(fmt::format("number of {}", name), static_cast<std::int64_t>(values.size()), 1, 100);
  for (const std::int64_t value : values) Check(name, value, least, most);
}

void NetJson::Body(const char* name, ConvNextOptions& o) {
  NetJson body = Part(name);
  body.Size("channels", o.channels, 1, 8192);
  body.Size("hidden", o.hidden, 1, 65536);
  body.Size("blocks", o.blocks, 1, 100);
  body.Size("kernel", o.kernel, 1, 99);
  body.Sizes("dilations", o.dilations, 1, 1000);
  body.Sizes("ahead", o.ahead, 0, o.kernel - 1);
}

void ReadNetJson(const TensorFile& file, const std::string& kind,
                 const std::function<void(NetJson&)>& read) {
  if (file.Meta("sotto.kind") != kind) {
    throw Error(fmt::format("{}: a net of kind '{}', expected '{}'", file.where,
                            file.Meta("sotto.kind"), kind));
  }
  try {
    auto json = ParseOrderedJson(file.Meta("sotto.options"));
    NetJson reader(json, true, file.where);
    read(reader);
  } catch (const nlohmann::json::exception& error) {
    throw Error(fmt::format("{}: metadata 'sotto.options': {}", file.where, error.what()));
  }
}

void WriteNetJson(TensorFile& file, const std::string& kind,
                  const std::function<void(NetJson&)>& write) {
  auto json = NetJson::Json::object();
  NetJson writer(json, false, file.where);
  write(writer);
  file.metadata["sotto.kind"] = kind;
  file.metadata["sotto.options"] = DumpJson(json);
}

}  // namespace sotto
