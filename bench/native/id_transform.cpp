// Rows for ids: ours beside TorchRec's cache line algorithm, written plainly from its
// description.  SPDX-License-Identifier: Apache-2.0
//
//     id_transform [ROWS]
//
// Slots of 16 bytes, groups of 32; an id's slot is looked for from hash mod 32 on, around
// its group; a record is 5 bits of frequency over 27 of time, and a frequency f rises when
// the next f random bits are zero, of mt19937_64's.
#include <ingot/store.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <random>
#include <vector>

namespace {

class bits {
  public:
    bool are_zero(unsigned count) {
        if (left_ < count) {
            if (at_ == words_.size()) {
                for (auto &word : words_) {
                    word = engine_();
                }
                at_ = 0;
            }
            word_ = words_[at_++];
            left_ = 64;
        }
        bool zero = (word_ & ((std::uint64_t(1) << count) - 1)) == 0;
        word_ >>= count;
        left_ -= count;
        return zero;
    }

  private:
    std::mt19937_64 engine_{ 1 };
    std::vector<std::uint64_t> words_ = std::vector<std::uint64_t>(8);
    std::size_t at_ = 8;
    std::uint64_t word_ = 0;
    unsigned left_ = 0;
};

class plain {
  public:
    explicit plain(std::size_t rows)
        : groups_((2 * rows + 31) / 32), slots_(groups_ * 32),
          free_((rows + 63) / 64, ~0ull) {
    }

    template <class Fetch>
    bool transform(const std::int64_t *ids, std::size_t count, std::uint32_t time,
                   std::int64_t *rows, Fetch &&fetch) {
        for (std::size_t i = 0; i < count; i++) {
            std::size_t hash = std::hash<std::int64_t>{}(ids[i]);
            slot *group = &slots_[hash / 32 % groups_ * 32];
            std::size_t start = hash % 32, k = 0;
            for (; k < 32; k++) {
                slot &s = group[(start + k) % 32];
                if (s.key == ~ids[i]) {
                    unsigned f = s.record >> 27;
                    f += f < 31 && random_.are_zero(f);
                    s.record = f << 27 | time;
                    rows[i] = s.row;
                    break;
                }
                if (s.key >= 0) {
                    std::int64_t row = take();
                    if (row < 0) {
                        return false;
                    }
                    s = { ~ids[i], std::uint32_t(row), 5u << 27 | time };
                    rows[i] = row;
                    fetch(ids[i], row);
                    break;
                }
            }
            if (k == 32) {
                return false;
            }
        }
        return true;
    }

  private:
    struct slot {
        std::int64_t key = 0; // of an id: below 0
        std::uint32_t row = 0, record = 0;
    };

    std::int64_t take() {
        for (; word_ < free_.size(); word_++) {
            if (free_[word_]) {
                int bit = __builtin_ctzll(free_[word_]);
                free_[word_] &= free_[word_] - 1;
                return std::int64_t(word_ * 64) + bit;
            }
        }
        return -1;
    }

    std::size_t groups_;
    std::vector<slot> slots_;
    std::vector<std::uint64_t> free_;
    std::size_t word_ = 0;
    bits random_;
};

// Of this thread: other programs take none of it.
double now() {
    timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

} // namespace

int main(int argc, char **argv) {
    const std::size_t rows = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 8192;
    constexpr std::size_t batch = 4096;
    constexpr int rounds = 101, calls = 16;
    std::mt19937_64 engine(7);
    std::vector<std::int64_t> known(rows / 2), ids(batch), out(batch), other(batch);
    for (auto &id : known) {
        id = std::int64_t(engine() >> 1);
    }
    std::vector<ig_id_row> fresh(batch);
    ig_id_map *map = nullptr;
    if (ig_id_map_create(IG_ID_MAP_CACHELINE, std::int64_t(rows), 5, nullptr, &map) !=
        IG_OK) {
        return 1;
    }
    plain peer(rows);
    std::uint32_t time = 0;
    std::vector<double> ratios, rates;
    std::vector<std::pair<std::int64_t, std::int64_t>> fetched;
    auto fetch = [&](std::int64_t id, std::int64_t row) {
        fetched.emplace_back(id, row);
    };
    for (int r = -8; r < rounds; r++) {
        double took[2] = { 0, 0 };
        for (int c = 0; c < calls; c++) {
            for (auto &id : ids) {
                id = known[engine() % known.size()];
            }
            ig_id_batch b{};
            b.size = sizeof b;
            b.ids = ids.data();
            b.count = batch;
            b.time = ++time;
            b.rows = out.data();
            b.fresh = fresh.data();
            double begin = now();
            if (ig_id_map_transform(map, &b) != IG_OK) {
                return 1;
            }
            double middle = now();
            if (!peer.transform(ids.data(), batch, time, other.data(), fetch)) {
                return 1;
            }
            took[0] += middle - begin;
            took[1] += now() - middle;
            if (out != other) {
                std::fprintf(stderr, "the two give other rows\n");
                return 1;
            }
        }
        if (r >= 0) {
            ratios.push_back(took[1] / took[0]);
            rates.push_back(double(batch) * calls / took[0]);
        }
    }
    std::sort(ratios.begin(), ratios.end());
    std::sort(rates.begin(), rates.end());
    std::printf("{\"rows\": %zu, \"ids_per_second\": %.0f, \"of_plain\": %.3f}\n", rows,
                rates[rounds / 2], ratios[rounds / 2]);
    ig_id_map_destroy(map);
}
