// SPDX-License-Identifier: Apache-2.0
#include "converter/files/folder_names.hpp"

#include <dirent.h>

#include <memory>

namespace embert::convert {

std::vector<std::string> folder_names(const std::filesystem::path& folder) {
  struct CloseFolder {
    void operator()(DIR* open) const { ::closedir(open); }
  };
  const std::unique_ptr<DIR, CloseFolder> open(::opendir(folder.c_str()));
  std::vector<std::string> names;
  if (open == nullptr) return names;
  while (const dirent* entry = ::readdir(open.get())) {
    std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(std::move(name));
  }
  return names;
}

}  // namespace embert::convert
