#include "tests/sim/sim_slow_disk.hpp"

namespace handfast::sim {

class sim_slow_disk::slow_file final : public storage::file {
public:
  slow_file(std::unique_ptr<storage::file> inner, const waiting& wait)
      : inner_{std::move(inner)}, wait_{wait} {}

  result<std::size_t> read(std::span<std::byte> into, std::uint64_t offset) const override {
    wait_();
    return inner_->read(into, offset);
  }
  result<std::optional<std::size_t>> try_read(std::span<std::byte> into,
                                              std::uint64_t offset) const override {
    return inner_->try_read(into, offset);
  }
  result<void> write(std::span<const iovec> pieces, std::uint64_t offset) override {
    wait_();
    return inner_->write(pieces, offset);
  }
  result<void> sync() override {
    wait_();
    return inner_->sync();
  }
  result<std::uint64_t> size() const override { return inner_->size(); }
  result<void> truncate(std::uint64_t size) override {
    wait_();
    return inner_->truncate(size);
  }
  result<void> reserve(std::uint64_t from, std::uint64_t to) override {
    wait_();
    return inner_->reserve(from, to);
  }

private:
  std::unique_ptr<storage::file> inner_;
  const waiting& wait_;
};

result<std::unique_ptr<storage::file>> sim_slow_disk::open(const std::string& path,
                                                           storage::open_mode mode) {
  auto opened = after_wait().open(path, mode);
  if (!opened)
    return opened;
  return std::make_unique<slow_file>(std::move(*opened), wait_);
}

} // namespace handfast::sim
