-- Quotes, and payouts on them: the next free connection executes each returned quote once. With the
-- last argument `quote`, only quotes.
-- Arguments: API key, token, wallet, connector, beneficiary, purpose, funds, relationship, run, mode.
local threads = 0
function setup(thread)
  thread:set("id", threads)
  threads = threads + 1
end

function init(args)
  counter, quoted, accepted, other = 0, 0, 0, 0
  wallet, connector, beneficiary = args[3], args[4], args[5]
  purpose, funds, relationship, run, only_quotes = args[6], args[7], args[8], args[9], args[10] == "quote"
  ready = {}
  headers = {
    ["x-svc-auth"] = args[1],
    ["Authorization"] = "Bearer " .. args[2],
    ["Content-Type"] = "application/json",
  }
end

function request()
  local quote = table.remove(ready)
  if quote then
    counter = counter + 1
    return wrk.format("POST", "/v1/payments/offramp", headers, string.format(
      '{"transactionId":"%s-%d-%d","quoteId":"%s","sourceWalletId":"%s","beneficiaryId":"%s",'
        .. '"purposeOfPayment":"%s","sourceOfFunds":"%s","relationship":"%s"}',
      run, id, counter, quote, wallet, beneficiary, purpose, funds, relationship))
  end
  return wrk.format("POST", "/v1/quotes", headers, string.format(
    '{"amount":"1.25","connectorId":"%s","beneficiaryId":"%s"}', connector, beneficiary))
end

function response(status, _, body)
  if status == 201 then
    quoted = quoted + 1
    if not only_quotes then table.insert(ready, body:match('"quoteId":"([^"]+)"')) end
  elseif status == 202 then
    accepted = accepted + 1
  else
    other = other + 1
  end
end

local all = {}
local setup_one = setup
function setup(thread)
  setup_one(thread)
  table.insert(all, thread)
end

function done(summary, latency)
  local quotes, payments, errors = 0, 0, 0
  for _, thread in ipairs(all) do
    quotes = quotes + thread:get("quoted")
    payments = payments + thread:get("accepted")
    errors = errors + thread:get("other")
  end
  io.write(string.format("RESULT %.0f %.0f %.2f %.2f %d\n", quotes / (summary.duration / 1e6),
    payments / (summary.duration / 1e6), latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    errors + summary.errors.read + summary.errors.timeout))
end
