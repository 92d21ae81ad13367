-- Connectors, quotes, payments through providers, and on-ramp references.

ALTER TABLE associations ADD COLUMN
  entity_type INTEGER NOT NULL DEFAULT 1 CHECK (entity_type IN (0, 1));

CREATE TABLE connectors (
  connector         INTEGER PRIMARY KEY,
  id                BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
  environment       INTEGER NOT NULL CHECK (environment IN (0, 1)),
  name              TEXT NOT NULL CHECK (name <> ''),
  provider          TEXT NOT NULL CHECK (provider <> ''),
  driver            INTEGER NOT NULL CHECK (driver IN (0, 1)),          -- sandbox, http
  flow              INTEGER NOT NULL CHECK (flow IN (0, 1)),            -- quoted, bespoke
  direction         INTEGER NOT NULL CHECK (direction IN (0, 1)),       -- off-ramp, on-ramp
  method            INTEGER NOT NULL CHECK (method BETWEEN 0 AND 7),
  country           TEXT NOT NULL CHECK (length(country) = 2),
  currency          TEXT NOT NULL CHECK (length(currency) = 3),
  currency_decimals INTEGER NOT NULL CHECK (currency_decimals BETWEEN 0 AND 7),
  asset             INTEGER NOT NULL REFERENCES assets,
  rate_numerator    INTEGER NOT NULL CHECK (rate_numerator > 0),        -- received per unit sent
  rate_denominator  INTEGER NOT NULL CHECK (rate_denominator > 0),
  fee_fixed         INTEGER NOT NULL DEFAULT 0 CHECK (fee_fixed >= 0),  -- in the sending currency
  fee_basis_points  INTEGER NOT NULL DEFAULT 0 CHECK (fee_basis_points BETWEEN 0 AND 10000),
  min_amount        INTEGER NOT NULL CHECK (min_amount > 0),
  max_amount        INTEGER NOT NULL CHECK (max_amount >= min_amount),
  day_limit         INTEGER CHECK (day_limit > 0),    -- per destination, rolling 24 h
  month_limit       INTEGER CHECK (month_limit > 0),  -- per destination, rolling 30 d
  transaction_types INTEGER NOT NULL CHECK (transaction_types BETWEEN 1 AND 15),
  issues_references INTEGER NOT NULL DEFAULT 0 CHECK (issues_references IN (0, 1)),
  status            INTEGER NOT NULL DEFAULT 0 CHECK (status IN (0, 1)),  -- active, paused
  base_url          TEXT,
  sealed_secret     BLOB,
  timeout_ms        INTEGER CHECK (timeout_ms > 0),
  created_at        INTEGER NOT NULL,
  updated_at        INTEGER NOT NULL,
  CHECK ((driver = 1) = (base_url IS NOT NULL)),
  CHECK ((driver = 1) = (sealed_secret IS NOT NULL)),
  CHECK ((driver = 1) = (timeout_ms IS NOT NULL))
) STRICT;
CREATE INDEX connectors_by_environment ON connectors (environment);

-- What a connector wants to know beyond the common fields, in the order a form shows it.
CREATE TABLE connector_requirements (
  connector         INTEGER NOT NULL REFERENCES connectors,
  position          INTEGER NOT NULL,
  name              TEXT NOT NULL CHECK (name <> ''),
  type              INTEGER NOT NULL CHECK (type BETWEEN 0 AND 2),  -- text, number, boolean
  required          INTEGER NOT NULL CHECK (required IN (0, 1)),
  label             TEXT NOT NULL,
  description       TEXT NOT NULL,
  pattern           TEXT,
  min_length        INTEGER,
  max_length        INTEGER,
  transaction_types INTEGER NOT NULL CHECK (transaction_types BETWEEN 1 AND 15),
  PRIMARY KEY (connector, position),
  UNIQUE (connector, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE connector_choices (
  connector INTEGER NOT NULL,
  position  INTEGER NOT NULL,
  choice    INTEGER NOT NULL,
  code      TEXT NOT NULL,
  label     TEXT NOT NULL,
  PRIMARY KEY (connector, position, choice),
  FOREIGN KEY (connector, position) REFERENCES connector_requirements ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- An exact row wins over the connector's own fee, also when it is zero.
CREATE TABLE fee_rows (
  association      INTEGER NOT NULL REFERENCES associations,
  connector        INTEGER NOT NULL REFERENCES connectors,
  transaction_type INTEGER NOT NULL CHECK (transaction_type BETWEEN 0 AND 3),
  fixed            INTEGER NOT NULL CHECK (fixed >= 0),
  basis_points     INTEGER NOT NULL CHECK (basis_points BETWEEN 0 AND 10000),
  updated_at       INTEGER NOT NULL,
  PRIMARY KEY (association, connector, transaction_type)
) STRICT, WITHOUT ROWID;

CREATE TABLE quotes (
  quote              INTEGER PRIMARY KEY,
  tenant             INTEGER NOT NULL REFERENCES tenants,
  id                 BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
  connector          INTEGER NOT NULL REFERENCES connectors,
  beneficiary        INTEGER REFERENCES beneficiaries,
  destination        INTEGER REFERENCES destinations,
  transaction_type   INTEGER CHECK (transaction_type BETWEEN 0 AND 3),
  send_amount        INTEGER NOT NULL CHECK (send_amount > 0),
  receive_amount     INTEGER NOT NULL CHECK (receive_amount > 0),
  fee                INTEGER NOT NULL CHECK (fee >= 0),
  total              INTEGER NOT NULL CHECK (total >= send_amount),
  rate_numerator     INTEGER NOT NULL CHECK (rate_numerator > 0),
  rate_denominator   INTEGER NOT NULL CHECK (rate_denominator > 0),
  provider_reference TEXT,
  created_at         INTEGER NOT NULL,
  expires_at         INTEGER NOT NULL,
  payment            INTEGER UNIQUE REFERENCES payments  -- that used it up
) STRICT;

-- References that customers pay against; related ones were issued with another for the same customer.
CREATE TABLE onramp_references (
  onramp_reference INTEGER PRIMARY KEY,
  tenant           INTEGER NOT NULL REFERENCES tenants,
  application      INTEGER NOT NULL REFERENCES applications,
  connector        INTEGER NOT NULL REFERENCES connectors,
  wallet           INTEGER NOT NULL REFERENCES wallets,
  customer_id      TEXT NOT NULL CHECK (customer_id <> ''),
  reference        TEXT NOT NULL CHECK (reference <> ''),
  related_to       INTEGER REFERENCES onramp_references,
  has_metadata     INTEGER NOT NULL CHECK (has_metadata IN (0, 1)),  -- not on a rebind
  created_at       INTEGER NOT NULL,
  UNIQUE (connector, reference)
) STRICT;
CREATE UNIQUE INDEX onramp_references_of_customer ON onramp_references (tenant, connector, customer_id)
WHERE related_to IS NULL;
CREATE INDEX onramp_references_related ON onramp_references (related_to) WHERE related_to IS NOT NULL;
CREATE TABLE onramp_reference_metadata (
  onramp_reference INTEGER NOT NULL REFERENCES onramp_references,
  name             TEXT NOT NULL,
  value            TEXT NOT NULL,
  PRIMARY KEY (onramp_reference, name)
) STRICT, WITHOUT ROWID;

ALTER TABLE payments ADD COLUMN beneficiary INTEGER REFERENCES beneficiaries;
ALTER TABLE payments ADD COLUMN destination INTEGER REFERENCES destinations;
ALTER TABLE payments ADD COLUMN connector INTEGER REFERENCES connectors;
ALTER TABLE payments ADD COLUMN quote INTEGER REFERENCES quotes;
CREATE INDEX payments_of_beneficiary ON payments (beneficiary) WHERE beneficiary IS NOT NULL;
CREATE INDEX payments_of_connector ON payments (connector) WHERE connector IS NOT NULL;
CREATE INDEX payments_of_destination ON payments (destination, connector, created_at)
WHERE destination IS NOT NULL;

-- A kind of account more, and whose clearing account one is: both are in the table's CHECKs.
CREATE TEMP TABLE kept_accounts AS SELECT * FROM accounts;
DROP TABLE accounts;
CREATE TABLE accounts (
  account    INTEGER PRIMARY KEY,
  tenant     INTEGER NOT NULL REFERENCES tenants,
  kind       INTEGER NOT NULL CHECK (kind BETWEEN 0 AND 4),  -- wallet, issuance, liquidity, fee, clearing
  wallet     INTEGER REFERENCES wallets,
  asset      INTEGER NOT NULL REFERENCES assets,
  connector  INTEGER REFERENCES connectors,  -- whose clearing account it is
  balance    INTEGER NOT NULL DEFAULT 0,
  held       INTEGER NOT NULL DEFAULT 0 CHECK (held >= 0),
  created_at INTEGER NOT NULL,
  CHECK ((kind = 0) = (wallet IS NOT NULL)),
  CHECK ((kind = 4) = (connector IS NOT NULL)),
  CHECK (kind IN (1, 4) OR balance >= held)
) STRICT;
INSERT INTO accounts (account, tenant, kind, wallet, asset, balance, held, created_at)
SELECT account, tenant, kind, wallet, asset, balance, held, created_at FROM kept_accounts;
DROP TABLE kept_accounts;
CREATE UNIQUE INDEX accounts_of_wallet ON accounts (wallet, asset) WHERE wallet IS NOT NULL;
CREATE UNIQUE INDEX accounts_of_operator ON accounts (tenant, kind, asset, ifnull(connector, 0))
WHERE wallet IS NULL;

-- What a payment through a provider has beside its record.
CREATE TABLE provider_payments (
  payment            INTEGER PRIMARY KEY REFERENCES payments,
  fee                INTEGER NOT NULL CHECK (fee >= 0),
  total              INTEGER NOT NULL CHECK (total > 0),
  transaction_type   INTEGER CHECK (transaction_type BETWEEN 0 AND 3),
  purpose_of_payment TEXT,
  source_of_funds    TEXT,
  relationship       TEXT,
  payer_name         TEXT,
  payer_account      TEXT,
  payer_phone        TEXT,
  state              INTEGER NOT NULL DEFAULT 0 CHECK (state BETWEEN 0 AND 3),  -- new, sent, accepted, over
  in_review          INTEGER NOT NULL DEFAULT 0 CHECK (in_review IN (0, 1)),
  attempts           INTEGER NOT NULL DEFAULT 0,  -- submissions so far
  first_sent_at      INTEGER,
  expires_at         INTEGER,                     -- of an on-ramp's instructions
  provider_reference TEXT
) STRICT;

-- additionalFields of the submission, and what the payer of an on-ramp has to do.
CREATE TABLE payment_fields (
  payment INTEGER NOT NULL REFERENCES payments,
  name    TEXT NOT NULL,
  value   TEXT NOT NULL,
  PRIMARY KEY (payment, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE payment_instructions (
  payment INTEGER NOT NULL REFERENCES payments,
  name    TEXT NOT NULL,
  value   TEXT NOT NULL,
  PRIMARY KEY (payment, name)
) STRICT, WITHOUT ROWID;

-- Every call to a provider. Opened in a commit before the call: an open row means that nobody knows
-- what the provider did, so it is asked before anything else.
CREATE TABLE provider_attempts (
  payment   INTEGER NOT NULL REFERENCES payments,
  attempt   INTEGER NOT NULL,
  call      INTEGER NOT NULL CHECK (call BETWEEN 0 AND 5),  -- submit, status, cancel, collect, collection status, expire
  opened_at INTEGER NOT NULL,
  closed_at INTEGER,
  outcome   TEXT,
  PRIMARY KEY (payment, attempt)
) STRICT, WITHOUT ROWID;

-- What has to be done with a provider, and when. Lane 0 takes all drivers that answer at once; any
-- other provider has the lane of its connector, so that a slow one delays nobody else.
CREATE TABLE provider_jobs (
  lane     INTEGER NOT NULL,
  due_at   INTEGER NOT NULL,
  payment  INTEGER NOT NULL REFERENCES payments,
  attempts INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (lane, due_at, payment)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX provider_jobs_of_payment ON provider_jobs (payment);

-- Customer payments that arrived on a reference, by the provider's own id: each counts once.
CREATE TABLE reference_payments (
  connector           INTEGER NOT NULL REFERENCES connectors,
  provider_payment_id TEXT NOT NULL CHECK (provider_payment_id <> ''),
  onramp_reference    INTEGER NOT NULL REFERENCES onramp_references,
  payment             INTEGER NOT NULL UNIQUE REFERENCES payments,
  PRIMARY KEY (connector, provider_payment_id)
) STRICT, WITHOUT ROWID;

-- Messages to beneficiaries that a submission asked for.
CREATE TABLE notifications (
  notification INTEGER PRIMARY KEY,
  payment      INTEGER NOT NULL REFERENCES payments,
  channel      INTEGER NOT NULL CHECK (channel IN (1, 2)),           -- e-mail, messaging app
  recipient    TEXT NOT NULL,
  state        INTEGER NOT NULL DEFAULT 0 CHECK (state BETWEEN 0 AND 3),  -- waiting, sent, failed, recorded only
  attempts     INTEGER NOT NULL DEFAULT 0,
  due_at       INTEGER NOT NULL,
  closed_at    INTEGER
) STRICT;
CREATE INDEX notifications_waiting ON notifications (due_at) WHERE state = 0;
