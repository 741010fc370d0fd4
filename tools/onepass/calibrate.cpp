// SPDX-License-Identifier: Apache-2.0
#include "driver/calibrate.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "base/files.h"
#include "driver/machine_file.h"
#include "verbs.h"

namespace onepass::tool {

namespace {

int calibrate(std::string output) {
  if (output.empty()) {
    output = driver::calibrated_machine_path();
    std::filesystem::create_directories(std::filesystem::path(output).parent_path());
  }
  const targets::Machine machine = driver::calibrate();
  write_file(output, driver::machine_text(machine));
  fmt::print("{}, {} core{}\n", machine.cpu, machine.cores, machine.cores == 1 ? "" : "s");
  fmt::print("{:<16}{:>9}{:>8}{:>10}{:>9}{:>9}{:>9}{:>9}{:>11}{:>9}{:>11}\n", "class", "GF/s", "GHz",
             "tiles/ns", "L1 GB/s", "L2 GB/s", "L3 GB/s", "memory", "all cores", "launch", "barrier ns");
  for (const targets::Figures& f : machine.classes)
    fmt::print("{:<16}{:>9.1f}{:>8.2f}{:>10.3f}{:>9.0f}{:>9.0f}{:>9.1f}{:>9.1f}{:>11.1f}{:>9.0f}{:>11.0f}\n",
               f.target, f.fma_gflops, f.clock_ghz, f.tile_products_per_ns, f.l1_bytes_per_ns,
               f.l2_bytes_per_ns, f.l3_bytes_per_ns, f.memory_bytes_per_ns, f.all_cores_memory_bytes_per_ns,
               f.launch_ns, f.barrier_ns);
  fmt::print("written to {}\n", output);
  return k_ok;
}

}  // namespace

void add_calibrate(CLI::App& app, int& exit_code) {
  auto output = std::make_shared<std::string>();
  CLI::App* verb = app.add_subcommand(
      "calibrate", "measure this machine for the cost model; `--machine` names the file to the other verbs");
  verb->add_option("-o,--output", *output, "file to write; default: the user's own for this CPU");
  verb->callback([output, &exit_code] { exit_code = calibrate(*output); });
}

}  // namespace onepass::tool
