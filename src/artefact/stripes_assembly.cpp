// SPDX-License-Identifier: Apache-2.0
#include <cstddef>

#include "artefact/assembly_text.h"
#include "base/diagnostic.h"

namespace onepass::artefact {

namespace {

// The text below writes fields in the order of format.h with these sizes.
static_assert(sizeof(HeldMapRecord) == 32 && sizeof(StripeMemberRecord) == 112 &&
              offsetof(StripeMemberRecord, since) == 80 && sizeof(StripesRecord) == 24);

/// ".L<stem><launch>_<member>"
std::string label_of(const char* stem, size_t launch, size_t member) {
  return numbered(stem, launch) + "_" + std::to_string(member);
}

void check(const Launch& launch) {
  const size_t count = launch.stripes.members.size();
  require(count <= k_most_stripe_members, "stripes have no more members than a run has room for");
  for (size_t m = 0; m < count; ++m) {
    const StripeMember& member = launch.stripes.members[m];
    require(member.operands.size() <= k_most_stripe_operands, "a member's operands have room");
    for (const std::vector<int32_t>* table :
         {&member.since, &member.until, &member.first_row, &member.end_row})
      require(static_cast<int64_t>(table->size()) == launch.slices, "tables have an entry for each stripe");
    for (const StripeOperand& operand : member.operands)
      require(operand.index >= 0 &&
                  static_cast<size_t>(operand.index) < (operand.held ? count : launch.operands.size()),
              "an operand is one of the launch or a held map");
  }
}

void add_words(Text& text, const std::string& label, const std::vector<int32_t>& words) {
  text.label(label);
  for (const int32_t word : words) text.word(word);
}

void add_tables(Text& text, const StripeMember& member, size_t launch, size_t m) {
  text.label(label_of("stripe_operands", launch, m));
  for (const StripeOperand& operand : member.operands)
    text.word(operand.held ? ~operand.index : operand.index);
  add_words(text, label_of("stripe_since", launch, m), member.since);
  add_words(text, label_of("stripe_until", launch, m), member.until);
  add_words(text, label_of("stripe_first_row", launch, m), member.first_row);
  add_words(text, label_of("stripe_end_row", launch, m), member.end_row);
}

void add_member(Text& text, const StripeMember& member, size_t launch, size_t m) {
  text.quad(member.symbol);
  text.quad(label_of("stripe_operands", launch, m));
  text.quad(static_cast<int64_t>(member.operands.size()));
  const HeldMap& held = member.held;
  for (const int64_t value : {member.outer, member.groups, member.repeat, held.offset_bytes, held.row_bytes,
                              held.plane_bytes, held.planes})
    text.quad(value);
  for (const char* stem : {"stripe_since", "stripe_until", "stripe_first_row", "stripe_end_row"})
    text.quad(label_of(stem, launch, m));
}

}  // namespace

void add_stripe_tables(Text& text, const Description& description) {
  text.line(" .section .rodata.onepass_stripes,\"a\"");
  text.line(" .p2align 2");
  for (size_t l = 0; l < description.launches.size(); ++l) {
    const std::vector<StripeMember>& members = description.launches[l].stripes.members;
    check(description.launches[l]);
    for (size_t m = 0; m < members.size(); ++m) add_tables(text, members[m], l, m);
  }
}

void add_stripes(Text& text, const Description& description) {
  for (size_t l = 0; l < description.launches.size(); ++l) {
    const Stripes& stripes = description.launches[l].stripes;
    if (stripes.members.empty()) continue;
    text.label(numbered("stripe_members", l));
    for (size_t m = 0; m < stripes.members.size(); ++m) add_member(text, stripes.members[m], l, m);
    text.label(numbered("stripes", l));
    text.quad(static_cast<int64_t>(stripes.members.size()));
    text.quad(stripes.held_bytes);
    text.quad(numbered("stripe_members", l));
  }
}

}  // namespace onepass::artefact
