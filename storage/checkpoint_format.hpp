#pragma once

/// Layout of a checkpoint; `docs/format-checkpoint.md` explains it.

#include "storage/checkpoint_file.hpp"

namespace handfast::storage::checkpoint_format {

constexpr std::uint64_t magic = 0x504b434548434648;     // "HFCHECKP"
constexpr std::uint64_t end_magic = 0x444e45504b434648; // "HFCKPEND"

/// Head: the fields common to all files, then these.
constexpr std::size_t head_bytes = 64;
constexpr std::size_t generation_at = 24;
constexpr std::size_t start_at = 32;
constexpr std::size_t durable_at = 40;
constexpr std::size_t created_at = 48;

/// Slice: u32 CRC (seeded with the store's id, over the rest of the slice's head, name and bytes),
/// u16 length of the name, u16 zero, u64 bytes; name; bytes; zeros to 8.
constexpr std::size_t slice_head_bytes = 16;
constexpr std::size_t slice_name_size_at = 4;
constexpr std::size_t slice_size_at = 8;
constexpr std::size_t name_bytes_max = 255;

/// End: u64 magic, u32 number of slices, u32 CRC over the CRCs of the slices (seeded with the
/// head's CRC).
constexpr std::size_t end_bytes = 16;

constexpr std::string_view suffix = ".ckpt";
constexpr const char* temporary_name = "/next.tmp";

/// The generation in a file's name; nothing if it is not that of a checkpoint.
std::optional<std::uint64_t> parse_name(const std::string& name);
std::string name_of(std::uint64_t generation);
/// Generations in `directory`, ascending; empty if it does not exist.
result<std::vector<std::uint64_t>> list_generations(file_system& disk,
                                                    const std::string& directory);

} // namespace handfast::storage::checkpoint_format
