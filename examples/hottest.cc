// SPDX-License-Identifier: BSD-2-Clause
// A C++ program that profiles one of its functions while it runs, and says which part of it is the
// hottest:
//     g++ hottest.cc -o hottest $(pkg-config --cflags --libs dwell)
#include <sys/profil.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace
{

// A tick for every 16 bytes of text.
class Profile
{
      public:
	Profile(const void *text, std::size_t bytes) : counts_(bytes / 16)
	{
		prof_.pr_base = counts_.data();
		prof_.pr_size = counts_.size() * sizeof(counts_[0]);
		prof_.pr_off = reinterpret_cast<std::size_t>(text);
		prof_.pr_scale = 65536 / 16 * sizeof(counts_[0]);
		on_ = sprofil(&prof_, 1, &tick_, PROF_UINT) == 0;
	}
	Profile(const Profile &) = delete;
	Profile &operator=(const Profile &) = delete;
	~Profile()
	{
		stop();
	}

	bool on() const
	{
		return on_;
	}
	void stop()
	{
		if (on_)
			sprofil(nullptr, 0, nullptr, PROF_UINT);
		on_ = false;
	}
	const std::vector<std::uint32_t> &counts() const
	{
		return counts_;
	}
	double tick_ms() const
	{
		return tick_.tv_sec * 1e3 + tick_.tv_usec / 1e3;
	}

      private:
	std::vector<std::uint32_t> counts_;
	struct prof prof_ = {};
	struct timeval tick_ = {};
	bool on_ = false;
};

[[gnu::noinline, gnu::noclone]] std::uint64_t work(unsigned n)
{
	std::uint64_t sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += (sum ^ i) % 7;
	for (unsigned i = 0; i < n / 10; i++)
		sum ^= i;
	return sum;
}

} // namespace

int main()
{
	Profile profile(reinterpret_cast<const void *>(&work), 512);
	std::uint64_t sum = 0;

	if (!profile.on()) {
		std::perror("sprofil");
		return 1;
	}
	for (int i = 0; i < 40; i++)
		sum += work(2000000 + i);
	profile.stop();

	const auto &counts = profile.counts();
	const auto most = std::max_element(counts.begin(), counts.end());

	std::printf("sum %llu\n", static_cast<unsigned long long>(sum));
	std::printf("hottest: work+%td..%td, %.0f ms\n", (most - counts.begin()) * 16,
		    (most - counts.begin()) * 16 + 15, *most * profile.tick_ms());
	return *most ? 0 : 1;
}
