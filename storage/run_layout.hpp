#pragma once

/// Bytes of a derived run. For `run_writer` and `run_reader` only.

#include "storage/run_format.hpp"

#include <optional>
#include <span>
#include <string>

namespace handfast::storage::run_layout {

constexpr std::uint64_t magic = 0x4e55525245444648; // "HFDERRUN"
constexpr std::size_t from_at = 24;
constexpr std::size_t to_at = 32;
constexpr std::size_t created_at = 40;
constexpr std::size_t sections_at = 48; ///< u64 offset, u64 count for each
/// Trailer of a block.
constexpr std::size_t block_items_at = run_block_bytes - run_block_trailer_bytes; ///< u32
constexpr std::size_t block_crc_at = block_items_at + 4; ///< u32 over all before it

constexpr std::string_view suffix = ".run";

/// What block CRCs of this run start from.
std::uint32_t seed_of(const run_info& info);
/// CRC of a block that stands at `offset` of its file.
std::uint32_t block_crc(std::span<const std::byte> block, std::uint64_t offset, std::uint32_t seed);

/// File name of the run of [from, to), and back.
std::string name_of(position from, position to);
std::optional<std::pair<position, position>> parse_name(const std::string& name);

void put_entry(std::byte* at, const queue_entry& entry);
queue_entry get_entry(const std::byte* at);
void put_extent(std::byte* at, const queue_extent& extent);
queue_extent get_extent(const std::byte* at);
void put_outcome(std::byte* at, const stored_outcome& outcome);
stored_outcome get_outcome(const std::byte* at);
void put_sample(std::byte* at, const view_sample& sample);
view_sample get_sample(const std::byte* at);

} // namespace handfast::storage::run_layout
