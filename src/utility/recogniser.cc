#include "utility/recogniser.h"

#include <fmt/format.h>

#include "base/error.h"
#include "utility/moonshine.h"

namespace sotto {

const std::vector<std::string>& RecogniserNames() {
  static const std::vector<std::string> names = {"moonshine", "pocketsphinx"};
  return names;
}

std::unique_ptr<Recogniser> OpenRecogniser(const std::string& name, const ModelFolders& models) {
  if (name == "moonshine") {
    return std::make_unique<MoonshineRecogniser>(OnnxRuntime::Open(models), models);
  }
  if (name == "pocketsphinx") return OpenPocketSphinx();
  throw Error(fmt::format("recogniser '{}' is not one of moonshine, pocketsphinx", name));
}

}  // namespace sotto
