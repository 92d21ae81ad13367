-- Requests of one kind at full speed. Arguments: name of the run, legs of each payment, then for every
-- caller API key, token, wallet, wallet; callers take turns. Each payment has a unique ID; they alternate
-- between the two directions. Without legs: GET of the given address.
-- Prints RESULT: requests/s, ms at 50, 95, 99 %, requests, errors.
local threads = 0
function setup(thread)
  thread:set("id", threads)
  threads = threads + 1
end

function init(args)
  run, legs = args[1], tonumber(args[2])
  counter, callers = 0, {}
  for i = 3, #args, 4 do
    table.insert(callers, {
      from = args[i + 2],
      to = args[i + 3],
      headers = {
        ["x-svc-auth"] = args[i],
        ["Authorization"] = "Bearer " .. args[i + 1],
        ["Content-Type"] = "application/json",
      },
    })
  end
end

local function leg(caller, amount)
  return string.format(
    '"sourceWalletId":"%s","destinationWalletId":"%s","sendingAssetCode":"USDC","amount":"%s"',
    caller.from, caller.to, amount)
end

local function transfers(caller)
  if legs == 1 then return leg(caller, "1.25") end
  local one = "{" .. leg(caller, "0.01") .. "}"
  return '"transfers":[' .. one .. string.rep("," .. one, legs - 1) .. "]"
end

function request()
  local caller = callers[counter % #callers + 1]
  if legs == 0 then return wrk.format("GET", nil, caller.headers) end
  counter = counter + 1
  caller.from, caller.to = caller.to, caller.from
  return wrk.format("POST", nil, caller.headers, string.format('{"transactionId":"%s-%d-%d",%s}', run, id,
    counter, transfers(caller)))
end

function done(summary, latency)
  io.write(string.format("RESULT %.0f %.2f %.2f %.2f %d %d\n",
    summary.requests / (summary.duration / 1e6), latency:percentile(50) / 1e3,
    latency:percentile(95) / 1e3, latency:percentile(99) / 1e3, summary.requests,
    summary.errors.connect + summary.errors.status + summary.errors.read + summary.errors.timeout))
end
