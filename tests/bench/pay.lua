-- One transfer per request, each with an id of its own, between two wallets and back.
-- Arguments: api key, token, wallet, wallet, name of the run.
local threads = 0
function setup(thread)
  thread:set("id", threads)
  threads = threads + 1
end

function init(args)
  counter, refused = 0, 0
  from, to, run = args[3], args[4], args[5]
  headers = {
    ["x-svc-auth"] = args[1],
    ["Authorization"] = "Bearer " .. args[2],
    ["Content-Type"] = "application/json",
  }
end

function request()
  counter = counter + 1
  from, to = to, from
  return wrk.format("POST", nil, headers, string.format(
    '{"transactionId":"%s-%d-%d","sourceWalletId":"%s","destinationWalletId":"%s",'
      .. '"sendingAssetCode":"USDC","amount":"1.25"}', run, id, counter, from, to))
end

function done(summary, latency)
  io.write(string.format("RESULT %.0f %.2f %.2f %.2f %d %d\n",
    summary.requests / (summary.duration / 1e6), latency:percentile(50) / 1e3,
    latency:percentile(95) / 1e3, latency:percentile(99) / 1e3, summary.requests,
    summary.errors.status + summary.errors.read + summary.errors.timeout))
end
