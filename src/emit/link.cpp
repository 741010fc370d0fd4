// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "base/diagnostic.h"
#include "emit/emit.h"
#include "emit/process.h"

namespace onepass::emit {

namespace {

/// Removes a file that is not wanted after all.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string path) : path_(std::move(path)) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { std::remove(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

Error cannot_write(const std::string& path) {
  return Error(Diagnostic{.code = "cannot_write", .message = "cannot write '" + path + "'"});
}

void write_version_script(const std::string& path, const std::vector<std::string>& exported) {
  std::ofstream file(path);
  file << "{\n";
  if (!exported.empty()) file << "global:\n";
  for (const std::string& symbol : exported) file << "  " << symbol << ";\n";
  file << "local:\n  *;\n};\n";
  file.close();
  if (!file) throw cannot_write(path);
}

/// Where Debian (native and cross) and others keep the C library of a target.
std::vector<std::string> library_folders(std::string_view triple) {
  const std::string arch(triple.substr(0, triple.find('-')));
  const std::string multiarch = arch + "-linux-gnu";
  std::vector<std::string> folders;
  for (const std::string& folder :
       {"/lib/" + multiarch, "/usr/lib/" + multiarch, "/usr/" + multiarch + "/lib", std::string("/lib64"),
        std::string("/usr/lib64")})
    if (std::filesystem::exists(folder)) folders.push_back("-L" + folder);
  return folders;
}

std::vector<std::string> linker_arguments(const LinkInput& input, const targets::Target& target,
                                          const std::string& version_script, const std::string& output) {
  std::vector<std::string> arguments = {"ld.lld-19",
                                        "-shared",
                                        "-o",
                                        output,
                                        "--version-script=" + version_script,
                                        "-z",
                                        "noexecstack",
                                        "-z",
                                        "defs",
                                        "--build-id=none",
                                        "--gc-sections",
                                        "-Bsymbolic",
                                        "--hash-style=gnu",
                                        "--threads=1"};
  if (!input.soname.empty()) arguments.push_back("-soname=" + input.soname);
  for (const std::string& symbol : input.exported) arguments.push_back("--undefined=" + symbol);
  for (const std::string& path : input.object_paths) arguments.push_back(path);
  for (const std::string& folder : library_folders(target.triple)) arguments.push_back(folder);
  // By their runtime names: the development links of the C library need not be installed.
  for (const char* library : {"--as-needed", "-l:libm.so.6", "-l:libc.so.6"}) arguments.emplace_back(library);
  return arguments;
}

ProcessResult run_linker(std::vector<std::string> arguments) {
  for (const char* name : {"ld.lld-19", "ld.lld"}) {
    arguments.front() = name;
    if (auto result = run_process(arguments)) return *result;
  }
  throw Error({.code = "linker_missing",
               .message = "the linker ld.lld is not on PATH",
               .accepted = "ld.lld of LLVM 19",
               .hint = "install the package lld-19"});
}

}  // namespace

void link_shared(const LinkInput& input, const targets::Target& target, const std::string& output_path) {
  const std::string stem = fmt::format("{}.{}", output_path, getpid());
  const TemporaryFile version_script(stem + ".version");
  const TemporaryFile linked(stem + ".tmp");
  write_version_script(version_script.path(), input.exported);
  const ProcessResult result =
      run_linker(linker_arguments(input, target, version_script.path(), linked.path()));
  if (result.exit_code != 0)
    throw InternalError(fmt::format("linking {} failed: {}", output_path, result.messages));
  std::error_code failure;
  std::filesystem::rename(linked.path(), output_path, failure);
  if (failure) throw cannot_write(output_path);
}

}  // namespace onepass::emit
