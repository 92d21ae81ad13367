// The options of the simulated provider, shared by its program and by `coffer provider-sim`, which
// runs it.
#pragma once

#include <array>
#include <string_view>

namespace coffer::provider_sim {

/// The program, installed next to coffer.
inline constexpr const char* kProgram = "coffer-provider-sim";
/// Milliseconds, the unit of options with the placeholder `MS`.
inline constexpr int kMsMax = 600'000;

struct Option {
  std::string_view name;
  std::string_view placeholder;
  std::string_view help;
  std::string_view fallback = {};
  bool is_path = false;  // of a file on this machine
  bool is_url = false;
};

inline constexpr auto kOptions = std::to_array<Option>({
    {"listen", "HOST:PORT", "Address to listen on; port 0 selects a free one", "127.0.0.1:8090"},
    {"secret", "TEXT", "Secret shared with coffer; by default COFFER_PROVIDER_SECRET"},
    {"tls-cert", "FILE", "TLS certificate chain (PEM)", {}, true},
    {"tls-key", "FILE", "TLS private key (PEM)", {}, true},
    {"callback",
     "URL",
     "Base URL of coffer for callbacks; without it, no callbacks are sent",
     {},
     false,
     true},
    {"faults", "LIST", "Faults: late, reject, duplicate, reorder, lose-response, garbage, hang"},
    {"seed", "NUMBER", "Seed that makes the faults repeatable"},
    {"rates", "LIST", "Exchange rates, such as USDC:NGN=1540.25; 1 by default"},
    {"delay-ms", "MS", "Time that a payout stays pending", "0"},
    {"hang-ms", "MS", "Delay for an account ending in 1401", "30000"},
    {"db", "FILE", "File for the state, or memory", "memory", true},
});

}  // namespace coffer::provider_sim
