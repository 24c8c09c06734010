// What a file's metadata says of a net's sizes. Each net names them once, in a function that reads
// and writes them by turns.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "nn/convnext.h"
#include "nn/safetensors.h"

namespace sotto {

class NetJson {
 public:
  using Json = nlohmann::ordered_json;

  // Reads from `json` or writes into it. `where` names the file.
  NetJson(Json& json, bool reads, std::string where)
      : json_(json), reads_(reads), where_(std::move(where)) {}

  // Reading throws Error unless least ≤ value ≤ most, nlohmann's exceptions when there is none or
  // one of another type.
  void Size(const char* name, std::int64_t& value, std::int64_t least, std::int64_t most);
  // Up to a hundred.
  void Sizes(const char* name, std::vector<std::int64_t>& values, std::int64_t least,
             std::int64_t most);
  template <class T>
  void Value(const char* name, T& value) {
    if (reads_) {
      json_.at(name).get_to(value);
    } else {
      json_[name] = value;
    }
  }
  bool Reads() const { return reads_; }
  bool Has(const char* name) const { return json_.contains(name); }
  // An object inside, to be used before anything else is.
  NetJson Part(const char* name) {
    return {reads_ ? json_.at(name) : json_[name] = Json::object(), reads_, where_};
  }
  void Body(const char* name, ConvNextOptions& body);

 private:
  void Check(const std::string& name, std::int64_t value, std::int64_t least, std::int64_t most);

  Json& json_;
  const bool reads_;
  const std::string where_;
};

// Of the metadata sotto.options. Throws Error that names the file unless its sotto.kind is `kind`.
void ReadNetJson(const TensorFile& file, const std::string& kind,
                 const std::function<void(NetJson&)>& read);
// Sets sotto.kind and sotto.options.
void WriteNetJson(TensorFile& file, const std::string& kind,
                  const std::function<void(NetJson&)>& write);

template <class Options>
Options ReadNetOptions(const TensorFile& file, const char* kind,
                       void (*describe)(Options&, NetJson&)) {
  Options options;
  ReadNetJson(file, kind, [&](NetJson& json) { describe(options, json); });
  return options;
}

template <class Options>
void WriteNetOptions(Options options, const char* kind, void (*describe)(Options&, NetJson&),
                     TensorFile& file) {
  WriteNetJson(file, kind, [&](NetJson& json) { describe(options, json); });
}

}  // namespace sotto
