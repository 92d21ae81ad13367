-- Like tests/bench/pay.lua, but at a given rate: each request has a time slot, and is sent immediately if its
-- slot has passed. Arguments: API key, token, wallet, wallet, name of the run, payments per second.
local ffi = require("ffi")
ffi.cdef [[
  typedef struct { long s; long ns; } coffer_time;
  int clock_gettime(int clock, coffer_time *at);
]]
local kMonotonic = 1
local at = ffi.new("coffer_time")

local function now_ms()
  ffi.C.clock_gettime(kMonotonic, at)
  return tonumber(at.s) * 1e3 + tonumber(at.ns) / 1e6
end

function init(args)
  counter, slot = 0, now_ms()
  from, to, run, step_ms = args[3], args[4], args[5], 1e3 / tonumber(args[6])
  headers = {
    ["x-svc-auth"] = args[1],
    ["Authorization"] = "Bearer " .. args[2],
    ["Content-Type"] = "application/json",
  }
end

function delay()
  slot = slot + step_ms
  return math.max(0, math.floor(slot - now_ms()))
end

function request()
  counter = counter + 1
  from, to = to, from
  return wrk.format("POST", "/v1/payments/p2p/own", headers, string.format(
    '{"transactionId":"%s-%d","sourceWalletId":"%s","destinationWalletId":"%s",'
      .. '"sendingAssetCode":"USDC","amount":"1.25"}', run, counter, from, to))
end

function done(summary, latency)
  io.write(string.format("RESULT %.1f %.3f %.3f %d %d\n",
    summary.requests / (summary.duration / 1e6), latency:percentile(50) / 1e3,
    latency:percentile(99) / 1e3, summary.requests,
    summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.status
      + summary.errors.timeout))
end
