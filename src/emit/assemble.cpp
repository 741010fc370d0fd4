// SPDX-License-Identifier: Apache-2.0
#include <llvm/ADT/SmallString.h>
#include <llvm/MC/MCAsmBackend.h>
#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCCodeEmitter.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCObjectFileInfo.h>
#include <llvm/MC/MCObjectWriter.h>
#include <llvm/MC/MCParser/MCAsmParser.h>
#include <llvm/MC/MCParser/MCTargetAsmParser.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCStreamer.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

#include "base/diagnostic.h"
#include "emit/emit.h"
#include "emit/llvm_target.h"

namespace onepass::emit {

namespace {

void collect_message(const llvm::SMDiagnostic& diagnostic, void* messages) {
  llvm::raw_string_ostream stream(*static_cast<std::string*>(messages));
  diagnostic.print("", stream, /*ShowColors=*/false);
}

void assemble_to(llvm::raw_pwrite_stream& stream, std::string_view text, const targets::Target& target) {
  const llvm::Target& description = llvm_target(target);
  const llvm::Triple triple(target.triple);
  const llvm::MCTargetOptions options;
  const std::unique_ptr<llvm::MCRegisterInfo> registers(description.createMCRegInfo(target.triple));
  const std::unique_ptr<llvm::MCAsmInfo> syntax(
      description.createMCAsmInfo(*registers, target.triple, options));
  const std::unique_ptr<llvm::MCInstrInfo> instructions(description.createMCInstrInfo());
  const std::unique_ptr<llvm::MCSubtargetInfo> subtarget(
      description.createMCSubtargetInfo(target.triple, target.cpu, target.features));

  std::string messages;
  llvm::SourceMgr sources;
  sources.setDiagHandler(collect_message, &messages);
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, "data.s"), llvm::SMLoc());

  llvm::MCContext context(triple, syntax.get(), registers.get(), subtarget.get(), &sources, &options);
  const std::unique_ptr<llvm::MCObjectFileInfo> file_info(
      description.createMCObjectFileInfo(context, /*PIC=*/true));
  context.setObjectFileInfo(file_info.get());

  std::unique_ptr<llvm::MCAsmBackend> backend(
      description.createMCAsmBackend(*subtarget, *registers, options));
  std::unique_ptr<llvm::MCObjectWriter> writer = backend->createObjectWriter(stream);
  std::unique_ptr<llvm::MCCodeEmitter> emitter(description.createMCCodeEmitter(*instructions, context));
  const std::unique_ptr<llvm::MCStreamer> streamer(description.createMCObjectStreamer(
      triple, context, std::move(backend), std::move(writer), std::move(emitter), *subtarget));

  const std::unique_ptr<llvm::MCAsmParser> parser(
      llvm::createMCAsmParser(sources, context, *streamer, *syntax));
  const std::unique_ptr<llvm::MCTargetAsmParser> target_parser(
      description.createMCAsmParser(*subtarget, *parser, *instructions, options));
  parser->setTargetParser(*target_parser);
  if (parser->Run(/*NoInitialTextSection=*/true) || context.hadError() || !messages.empty())
    throw InternalError("the assembler refuses a text: " + messages);
}

}  // namespace

Object assemble(std::string_view text, const targets::Target& target) {
  llvm::SmallString<0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  assemble_to(stream, text, target);
  const auto* first = reinterpret_cast<const std::byte*>(bytes.data());
  return Object(first, first + bytes.size());
}

void assemble_to_file(std::string_view text, const targets::Target& target, const std::string& path) {
  std::error_code failure;
  llvm::raw_fd_ostream stream(path, failure);
  if (!failure) {
    assemble_to(stream, text, target);
    stream.close();
    failure = stream.error();
    stream.clear_error();  // its destructor ends the process otherwise
  }
  if (failure) throw Error({.code = "cannot_write", .message = "'" + path + "': " + failure.message()});
}

}  // namespace onepass::emit
