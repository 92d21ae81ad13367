-- coffer: the whole present schema. A new file gets exactly this; an older file reaches it through
-- src/store/upgrades, and a test proves that both ways end in the same schema.
--
-- Conventions: tables are STRICT. Amounts are INTEGER in units of 10^-7. Times are INTEGER
-- milliseconds UTC. Public ids are 16-byte BLOBs (UUIDv7); rows refer to each other by small integer
-- keys named like the table. Enumerations are the integers of the C++ enums, bounded by CHECKs.
-- Rows of one (association, environment) carry its `tenant`; no query mixes two.

CREATE TABLE meta (
  name  TEXT PRIMARY KEY,
  value BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- Who ------------------------------------------------------------------------------------------

CREATE TABLE associations (
  association INTEGER PRIMARY KEY,
  id          BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
  name        TEXT NOT NULL CHECK (name <> ''),
  status      INTEGER NOT NULL CHECK (status BETWEEN 0 AND 2),  -- pending, active, suspended
  created_at  INTEGER NOT NULL,
  updated_at  INTEGER NOT NULL
) STRICT;

-- The two books of an association, and (association NULL) the operator's own: 1 sandbox, 2 production.
CREATE TABLE tenants (
  tenant      INTEGER PRIMARY KEY,
  association INTEGER REFERENCES associations,
  environment INTEGER NOT NULL CHECK (environment IN (0, 1)),  -- sandbox, production
  UNIQUE (association, environment)
) STRICT;
INSERT INTO tenants (tenant, association, environment) VALUES (1, NULL, 0), (2, NULL, 1);

CREATE TABLE applications (
  application        INTEGER PRIMARY KEY,
  id                 BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
  tenant             INTEGER REFERENCES tenants,  -- NULL: registered, no association yet (403)
  environment        INTEGER NOT NULL CHECK (environment IN (0, 1)),
  name               TEXT NOT NULL CHECK (name <> ''),
  suspended          INTEGER NOT NULL DEFAULT 0 CHECK (suspended IN (0, 1)),
  scopes             TEXT NOT NULL,     -- names separated by spaces
  key_version        INTEGER NOT NULL DEFAULT 1,  -- tokens of an older version are refused
  client_id          TEXT NOT NULL UNIQUE,
  client_secret_hash BLOB NOT NULL CHECK (length(client_secret_hash) = 32),
  api_key_hash       BLOB NOT NULL UNIQUE CHECK (length(api_key_hash) = 32),
  connect_hash       BLOB NOT NULL UNIQUE CHECK (length(connect_hash) = 32),
  sign_in_hash       BLOB NOT NULL CHECK (length(sign_in_hash) = 32),
  public_key         TEXT NOT NULL UNIQUE,
  created_at         INTEGER NOT NULL,
  updated_at         INTEGER NOT NULL
) STRICT;

-- What -----------------------------------------------------------------------------------------

CREATE TABLE assets (
  asset      INTEGER PRIMARY KEY,
  code       TEXT NOT NULL UNIQUE,
  issuer     TEXT NOT NULL,
  name       TEXT NOT NULL,
  decimals   INTEGER NOT NULL CHECK (decimals BETWEEN 0 AND 7),
  created_at INTEGER NOT NULL
) STRICT;

-- One unit of `sell` gives numerator/denominator units of `buy`, set by the operator.
CREATE TABLE rates (
  environment INTEGER NOT NULL CHECK (environment IN (0, 1)),
  sell        INTEGER NOT NULL REFERENCES assets,
  buy         INTEGER NOT NULL REFERENCES assets,
  numerator   INTEGER NOT NULL CHECK (numerator > 0),
  denominator INTEGER NOT NULL CHECK (denominator > 0),
  updated_at  INTEGER NOT NULL,
  PRIMARY KEY (environment, sell, buy),
  CHECK (sell <> buy)
) STRICT, WITHOUT ROWID;

CREATE TABLE wallets (
  wallet         INTEGER PRIMARY KEY,
  tenant         INTEGER NOT NULL REFERENCES tenants,
  id             BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
  name           TEXT NOT NULL CHECK (name <> ''),
  account_number TEXT NOT NULL UNIQUE,
  public_key     TEXT NOT NULL UNIQUE,
  sealed_seed    BLOB NOT NULL,
  asset          INTEGER NOT NULL REFERENCES assets,  -- of the first trustline
  own_account    INTEGER NOT NULL CHECK (own_account IN (0, 1)),
  status         INTEGER NOT NULL CHECK (status BETWEEN 0 AND 2),  -- Pending, Verified, Rejected
  status_code    TEXT,
  status_message TEXT,
  created_at     INTEGER NOT NULL,
  updated_at     INTEGER NOT NULL
) STRICT;
CREATE INDEX wallets_by_tenant ON wallets (tenant);

-- Compliance details of a third-party wallet; which columns are set follows entity_type.
CREATE TABLE wallet_metadata (
  wallet              INTEGER PRIMARY KEY REFERENCES wallets,
  entity_type         INTEGER NOT NULL CHECK (entity_type IN (0, 1)),  -- Person, Business
  first_name          TEXT,
  last_name           TEXT,
  date_of_birth       TEXT,
  nationality         TEXT,
  id_type             TEXT,
  id_number           TEXT,
  company_name        TEXT,
  registration_number TEXT,
  registration_country TEXT,
  tax_id              TEXT,
  address             TEXT,
  email               TEXT,
  phone               TEXT,
  CHECK (CASE entity_type
    WHEN 0 THEN first_name IS NOT NULL AND last_name IS NOT NULL AND date_of_birth IS NOT NULL
                AND nationality IS NOT NULL
    ELSE company_name IS NOT NULL AND registration_number IS NOT NULL
         AND registration_country IS NOT NULL END)
) STRICT;

-- Where value is -------------------------------------------------------------------------------

-- A wallet's account in an asset is its trustline. The operator's accounts (kind > 0) belong to the
-- operator's tenant; only those may be negative.
CREATE TABLE accounts (
  account    INTEGER PRIMARY KEY,
  tenant     INTEGER NOT NULL REFERENCES tenants,
  kind       INTEGER NOT NULL CHECK (kind BETWEEN 0 AND 3),  -- wallet, issuance, liquidity, fee
  wallet     INTEGER REFERENCES wallets,
  asset      INTEGER NOT NULL REFERENCES assets,
  balance    INTEGER NOT NULL DEFAULT 0,
  held       INTEGER NOT NULL DEFAULT 0 CHECK (held >= 0),
  created_at INTEGER NOT NULL,
  CHECK ((kind = 0) = (wallet IS NOT NULL)),
  CHECK (kind = 1 OR balance >= held)
) STRICT;
CREATE UNIQUE INDEX accounts_of_wallet ON accounts (wallet, asset) WHERE wallet IS NOT NULL;
CREATE UNIQUE INDEX accounts_of_operator ON accounts (tenant, kind, asset) WHERE wallet IS NULL;

-- One entry set: the postings of one business act. `link` chains all sets: SHA-256 over the previous
-- link and the canonical set, so that any later edit breaks every link after it.
CREATE TABLE journal (
  journal INTEGER PRIMARY KEY,
  tenant  INTEGER NOT NULL REFERENCES tenants,
  kind    INTEGER NOT NULL CHECK (kind BETWEEN 0 AND 3),  -- payment, funding, liquidity, refund
  payment INTEGER REFERENCES payments,
  at      INTEGER NOT NULL,
  link    BLOB NOT NULL CHECK (length(link) = 32)
) STRICT;
CREATE INDEX journal_of_payment ON journal (payment) WHERE payment IS NOT NULL;

-- entry = journal * 1024 + line: the entries of a set are neighbours without a second index.
CREATE TABLE entries (
  entry         INTEGER PRIMARY KEY,
  account       INTEGER NOT NULL REFERENCES accounts,
  amount        INTEGER NOT NULL CHECK (amount <> 0),  -- negative: debited
  balance_after INTEGER NOT NULL,
  counterparty  INTEGER NOT NULL REFERENCES accounts,
  leg           INTEGER NOT NULL DEFAULT 0  -- of the payment; its references and description
) STRICT;
CREATE INDEX entries_of_account ON entries (account);

CREATE TRIGGER journal_is_final BEFORE UPDATE ON journal
BEGIN SELECT RAISE(ABORT, 'journal rows are final'); END;
CREATE TRIGGER journal_is_kept BEFORE DELETE ON journal
BEGIN SELECT RAISE(ABORT, 'journal rows are kept'); END;
CREATE TRIGGER entries_are_final BEFORE UPDATE ON entries
BEGIN SELECT RAISE(ABORT, 'entries are final'); END;
CREATE TRIGGER entries_are_kept BEFORE DELETE ON entries
BEGIN SELECT RAISE(ABORT, 'entries are kept'); END;

-- Payments -------------------------------------------------------------------------------------

CREATE TABLE payments (
  payment            INTEGER PRIMARY KEY,  -- rises with every acceptance: the order of lists
  tenant             INTEGER NOT NULL REFERENCES tenants,
  id                 BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
  transaction_id     TEXT NOT NULL,
  application        INTEGER NOT NULL REFERENCES applications,
  request_id         TEXT NOT NULL,
  type               INTEGER NOT NULL CHECK (type BETWEEN 0 AND 7),
  status             INTEGER NOT NULL CHECK (status BETWEEN 0 AND 7),
  version            INTEGER NOT NULL DEFAULT 1,  -- rises with every change of status
  source_wallet      INTEGER REFERENCES wallets,      -- NULL on a multi-transfer: see its legs
  destination_wallet INTEGER REFERENCES wallets,
  sending_asset      INTEGER REFERENCES assets,  -- NULL when the legs of a multi-transfer differ in it
  sending_amount     INTEGER CHECK (sending_amount > 0),  -- of a multi-transfer: the sum of its legs
  receiving_asset    INTEGER REFERENCES assets,
  receiving_amount   INTEGER CHECK (receiving_amount > 0),
  min_receiving      INTEGER CHECK (min_receiving > 0),
  path               TEXT,     -- asset codes of the market path that settled a swap
  from_ref           TEXT,
  to_ref             TEXT,
  description        TEXT,
  memo               TEXT,
  notify             INTEGER NOT NULL DEFAULT 0 CHECK (notify BETWEEN 0 AND 2),  -- none, e-mail, messaging app
  failure            INTEGER,  -- FailureCode
  created_at         INTEGER NOT NULL,
  processing_at      INTEGER,
  completed_at       INTEGER,  -- succeeded, failed or expired
  refund_pending_at  INTEGER,
  refund_closed_at   INTEGER,
  updated_at         INTEGER NOT NULL,
  UNIQUE (tenant, transaction_id),
  CHECK ((failure IS NOT NULL) = (status IN (3, 4, 5, 6)))
) STRICT;
CREATE INDEX payments_by_tenant ON payments (tenant);
CREATE INDEX payments_from ON payments (source_wallet) WHERE source_wallet IS NOT NULL;
CREATE INDEX payments_to ON payments (destination_wallet) WHERE destination_wallet IS NOT NULL;
CREATE INDEX payments_not_succeeded ON payments (tenant, status) WHERE status <> 2;

-- Legs of a multi-transfer, in the order they are applied.
CREATE TABLE payment_legs (
  payment            INTEGER NOT NULL REFERENCES payments,
  leg                INTEGER NOT NULL,
  source_wallet      INTEGER NOT NULL REFERENCES wallets,
  destination_wallet INTEGER NOT NULL REFERENCES wallets,
  asset              INTEGER NOT NULL REFERENCES assets,
  amount             INTEGER NOT NULL CHECK (amount > 0),
  from_ref           TEXT,
  to_ref             TEXT,
  description        TEXT,
  PRIMARY KEY (payment, leg)
) STRICT, WITHOUT ROWID;
CREATE INDEX payment_legs_from ON payment_legs (source_wallet);
CREATE INDEX payment_legs_to ON payment_legs (destination_wallet);

CREATE TABLE holds (
  payment INTEGER NOT NULL REFERENCES payments,
  account INTEGER NOT NULL REFERENCES accounts,
  amount  INTEGER NOT NULL CHECK (amount > 0),
  state   INTEGER NOT NULL DEFAULT 0 CHECK (state BETWEEN 0 AND 2),  -- open, posted, voided
  PRIMARY KEY (payment, account)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER holds_close_once BEFORE UPDATE ON holds
WHEN OLD.state <> 0 OR NEW.state = 0 OR NEW.amount <> OLD.amount OR NEW.account <> OLD.account
BEGIN SELECT RAISE(ABORT, 'a hold is closed once and otherwise final'); END;
CREATE TRIGGER holds_are_kept BEFORE DELETE ON holds
BEGIN SELECT RAISE(ABORT, 'holds are kept'); END;

-- Work -----------------------------------------------------------------------------------------

-- What settlement has to do next, and when. Written in the commit that causes it, deleted in the
-- commit that does it: a crash anywhere resumes here.
CREATE TABLE settlement_jobs (
  due_at   INTEGER NOT NULL,
  payment  INTEGER NOT NULL REFERENCES payments,
  attempts INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (due_at, payment)
) STRICT, WITHOUT ROWID;

-- Everything that happened, in the order consumers may rely on: sequence rises by one per tenant.
CREATE TABLE events (
  tenant   INTEGER NOT NULL REFERENCES tenants,
  sequence INTEGER NOT NULL,
  id       BLOB NOT NULL CHECK (length(id) = 16),
  type     INTEGER NOT NULL,
  payment  INTEGER REFERENCES payments,
  wallet   INTEGER REFERENCES wallets,
  version  INTEGER NOT NULL,  -- of the record after the change
  at       INTEGER NOT NULL,
  PRIMARY KEY (tenant, sequence),
  CHECK ((payment IS NULL) <> (wallet IS NULL))
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX events_by_id ON events (id);
