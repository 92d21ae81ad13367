-- coffer: the complete current schema. New files are created from it. From the first release on,
-- older files are upgraded through src/store/upgrades. A test checks that both ways lead to the same
-- schema.
--
-- Conventions: tables are STRICT. Amounts are INTEGER in units of 10^-7. Times are INTEGER
-- milliseconds UTC. Public IDs are 16-byte BLOBs (UUIDv7). Rows refer to each other by small
-- integer keys named like the table. Enumerations are the integers of the C++ enums, limited by
-- CHECKs. Rows of one (association, environment) have its `tenant`; no query mixes tenants.

CREATE TABLE meta (
  name  TEXT PRIMARY KEY,
  value BLOB NOT NULL
) STRICT;

-- Keyed digests of rows that grant access or direct money (store/rows/guarded_rows.h), by table and rowid;
-- and of events that are not about a payment, by the key of their bodies.
CREATE TABLE row_macs (
  source TEXT NOT NULL CHECK (source <> ''),
  row    INTEGER NOT NULL,
  mac    BLOB NOT NULL CHECK (length(mac) = 32),
  PRIMARY KEY (source, row)
) STRICT, WITHOUT ROWID;

-- Sealed totals (store/rows/sealed_totals.h). For a guarded table: the number of its digests in row_macs
-- and their multiset hash. For the audit log: the number of its entries and the last link. For the
-- ledger: the number of entry sets and the last link, the number of payments and their versions.
CREATE TABLE sealed_totals (
  source TEXT PRIMARY KEY,
  rows   INTEGER NOT NULL,
  sum    BLOB NOT NULL,
  seal   BLOB NOT NULL CHECK (length(seal) = 32)
) STRICT, WITHOUT ROWID;

-- Associations and applications ----------------------------------------------------------------

CREATE TABLE associations (
  association INTEGER PRIMARY KEY,
  id          BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
  name        TEXT NOT NULL CHECK (name <> ''),
  status      INTEGER NOT NULL CHECK (status BETWEEN 0 AND 2),     -- pending, active, suspended
  created_at  INTEGER NOT NULL,
  updated_at  INTEGER NOT NULL,
  entity_type INTEGER NOT NULL DEFAULT 1 CHECK (entity_type IN (0, 1))  -- Person, Business
) STRICT;

-- Each association has two tenants. The tenants of the operator have no association: 1 is sandbox,
-- 2 is production.
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
  key_version        INTEGER NOT NULL DEFAULT 1,  -- tokens of an older version are rejected
  client_id          TEXT NOT NULL UNIQUE,
  client_secret_hash BLOB NOT NULL CHECK (length(client_secret_hash) = 32),
  api_key_hash       BLOB NOT NULL UNIQUE CHECK (length(api_key_hash) = 32),
  connect_hash       BLOB NOT NULL UNIQUE CHECK (length(connect_hash) = 32),
  sign_in_hash       BLOB NOT NULL CHECK (length(sign_in_hash) = 32),
  public_key         TEXT NOT NULL UNIQUE,
  created_at         INTEGER NOT NULL,
  updated_at         INTEGER NOT NULL,
  networks           TEXT NOT NULL DEFAULT '',  -- CIDRs separated by commas; empty: any address
  certificates           TEXT NOT NULL DEFAULT '',  -- SHA-256 fingerprints of TLS clients, separated by commas; empty: none required
  -- Secrets that a rotation has replaced. They are accepted until the overlap ends.
  old_client_secret_hash BLOB CHECK (length(old_client_secret_hash) = 32),
  old_api_key_hash       BLOB CHECK (length(old_api_key_hash) = 32),
  old_connect_hash       BLOB CHECK (length(old_connect_hash) = 32),
  old_sign_in_hash       BLOB CHECK (length(old_sign_in_hash) = 32),
  old_key_version        INTEGER,
  old_until              INTEGER,
  rotated_at             INTEGER,  -- last rotation of the secrets
  CHECK ((old_until IS NULL) = (old_key_version IS NULL)),
  CHECK ((old_until IS NULL) = (old_client_secret_hash IS NULL)),
  CHECK ((old_until IS NULL) = (old_api_key_hash IS NULL)),
  CHECK ((old_until IS NULL) = (old_connect_hash IS NULL)),
  CHECK ((old_until IS NULL) = (old_sign_in_hash IS NULL))
) STRICT;
CREATE UNIQUE INDEX applications_by_old_api_key ON applications (old_api_key_hash)
  WHERE old_api_key_hash IS NOT NULL;
CREATE INDEX applications_rotated ON applications (rotated_at) WHERE rotated_at IS NOT NULL;
CREATE UNIQUE INDEX applications_by_old_connect ON applications (old_connect_hash)
  WHERE old_connect_hash IS NOT NULL;

-- The last use of an API key or a connect secret, by the hash of the secret. Written in batches, at
-- most once a minute, so a crash can lose the uses of the last minute.
CREATE TABLE secret_uses (
  hash        BLOB NOT NULL PRIMARY KEY CHECK (length(hash) = 32),
  application INTEGER NOT NULL REFERENCES applications,
  at          INTEGER NOT NULL,
  address     TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX secret_uses_of_application ON secret_uses (application);

-- Operators ------------------------------------------------------------------------------------

-- Operators sign in to the admin page. Commands that a viewer may not run are recorded in
-- `audit_log`.
CREATE TABLE operators (
  operator      INTEGER PRIMARY KEY,
  id            BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
  name          TEXT NOT NULL UNIQUE CHECK (name <> ''),      -- lower case
  role          INTEGER NOT NULL CHECK (role BETWEEN 0 AND 2),  -- viewer, operator, administrator
  password_hash TEXT,                         -- scrypt; NULL until the one-time link was used
  sealed_otp    BLOB,                         -- NULL until an authenticator was enrolled
  otp_step      INTEGER NOT NULL DEFAULT 0,   -- step of the last accepted code
  otp_required  INTEGER NOT NULL DEFAULT 1 CHECK (otp_required IN (0, 1)),
  suspended     INTEGER NOT NULL DEFAULT 0 CHECK (suspended IN (0, 1)),
  version       INTEGER NOT NULL DEFAULT 1,       -- a change ends the sessions of older versions
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL
) STRICT;

-- Tokens of operators' programs. Such an operator has no password and cannot sign in.
CREATE TABLE operator_tokens (
  operator   INTEGER PRIMARY KEY REFERENCES operators,
  hash       BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
  commands   TEXT NOT NULL,   -- names of commands and groups, separated by commas
  networks   TEXT NOT NULL,   -- separated by commas; empty: any
  created_by INTEGER REFERENCES operators,  -- NULL: the command line of the server
  expires_at INTEGER NOT NULL,
  used_at    INTEGER,         -- about the time of the last use, and the address
  used_from  TEXT
) STRICT;

-- Recovery codes of an operator who has no access to the authenticator; each works once.
CREATE TABLE operator_recovery_codes (
  operator INTEGER NOT NULL REFERENCES operators,
  hash     BLOB NOT NULL CHECK (length(hash) = 32),
  PRIMARY KEY (operator, hash)
) STRICT;

-- Passkeys of operators (WebAuthn), as a second factor or alone.
CREATE TABLE operator_passkeys (
  passkey    INTEGER PRIMARY KEY,
  operator   INTEGER NOT NULL REFERENCES operators,
  credential BLOB NOT NULL UNIQUE CHECK (length(credential) BETWEEN 16 AND 1023),
  site       TEXT NOT NULL CHECK (site <> ''),        -- the host name for which it was created
  public_key BLOB NOT NULL CHECK (length(public_key) > 0),  -- COSE
  sign_count INTEGER NOT NULL CHECK (sign_count BETWEEN 0 AND 4294967295),
  name       TEXT NOT NULL CHECK (name <> ''),        -- given by the operator
  created_at INTEGER NOT NULL,
  used_at    INTEGER                                  -- NULL until the first sign-in with it
) STRICT;
CREATE INDEX operator_passkeys_of_operator ON operator_passkeys (operator);

-- The identity provider account with which an operator signs in. An administrator links it.
CREATE TABLE operator_subjects (
  operator INTEGER PRIMARY KEY REFERENCES operators,
  issuer   TEXT NOT NULL CHECK (issuer <> ''),
  subject  TEXT NOT NULL CHECK (subject <> ''),
  UNIQUE (issuer, subject)
) STRICT;

-- One-time links with which operators set their passwords. A link without an operator creates a new
-- administrator.
CREATE TABLE operator_links (
  hash       BLOB NOT NULL PRIMARY KEY CHECK (length(hash) = 32),
  operator   INTEGER REFERENCES operators,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX operator_links_of_operator ON operator_links (operator);

-- The audit log. A command is recorded before it runs, and its result afterwards. The link of each
-- row is a keyed digest of the previous link and the row's canonical text (store/identity/audit_log.h).
CREATE TABLE audit_log (
  entry      INTEGER PRIMARY KEY,
  at         INTEGER NOT NULL,
  actor      TEXT NOT NULL CHECK (actor <> ''),
  command    TEXT NOT NULL CHECK (command <> ''),
  detail     TEXT NOT NULL,                          -- arguments, or the output of a result
  outcome_of INTEGER UNIQUE REFERENCES audit_log,
  outcome    TEXT,                                   -- done, or the name of the problem
  link       BLOB NOT NULL CHECK (length(link) = 32),
  CHECK ((outcome_of IS NULL) = (outcome IS NULL))
) STRICT;
CREATE TRIGGER audit_entries_are_not_changed BEFORE UPDATE ON audit_log
BEGIN SELECT RAISE(ABORT, 'audit entries are never changed'); END;
CREATE TRIGGER audit_entries_are_not_deleted BEFORE DELETE ON audit_log
BEGIN SELECT RAISE(ABORT, 'audit entries are never deleted'); END;

-- Commands that wait for a second operator. The commit that stores a command's first change also
-- ends the state `waiting`, so an approved command runs at most once.
CREATE TABLE approvals (
  approval         INTEGER PRIMARY KEY,
  id               BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
  operator         INTEGER NOT NULL REFERENCES operators,  -- requested the command
  version          INTEGER NOT NULL,  -- of this operator; the request is valid only for this version
  command          TEXT NOT NULL CHECK (command <> ''),
  detail           TEXT NOT NULL,     -- arguments as in the audit log
  sealed_arguments BLOB,              -- NULL once decided
  state            INTEGER NOT NULL CHECK (state BETWEEN 0 AND 4),  -- waiting, started, done, failed, rejected
  requested_at     INTEGER NOT NULL,
  expires_at       INTEGER NOT NULL,
  decided_by       TEXT,
  decided_at       INTEGER,
  outcome          TEXT,              -- name of the problem of a failed command
  CHECK ((state = 0) = (decided_at IS NULL)),
  CHECK ((decided_by IS NULL) = (decided_at IS NULL)),
  CHECK (state = 0 OR sealed_arguments IS NULL)
) STRICT;
CREATE INDEX approvals_waiting ON approvals (expires_at) WHERE state = 0;

-- Logins -----------------------------------------------------------------------------------------

-- Users of an association, who log in with a password and a one-time code.
CREATE TABLE users (
  user          INTEGER PRIMARY KEY,
  id            BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
  association   INTEGER NOT NULL REFERENCES associations,
  username      TEXT NOT NULL UNIQUE CHECK (username <> ''),  -- lower case
  password_hash TEXT NOT NULL,                -- scrypt, with its cost and salt
  sealed_otp    BLOB NOT NULL,
  otp_step      INTEGER NOT NULL DEFAULT 0,   -- step of the last accepted code
  suspended     INTEGER NOT NULL DEFAULT 0 CHECK (suspended IN (0, 1)),
  key_version   INTEGER NOT NULL DEFAULT 1,   -- tokens of an older version are rejected
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL
) STRICT;

-- Networks from which people have signed in, by the ID of an operator or a user: an IPv4 address or
-- an IPv6 /64.
CREATE TABLE sign_in_sources (
  person  BLOB NOT NULL CHECK (length(person) = 16),
  network BLOB NOT NULL,
  at      INTEGER NOT NULL,
  PRIMARY KEY (person, network)
) STRICT, WITHOUT ROWID;

-- Accepted challenges, until they expire.
CREATE TABLE used_challenges (
  hash       BLOB NOT NULL PRIMARY KEY CHECK (length(hash) = 32),
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX used_challenges_by_expiry ON used_challenges (expires_at);

-- A login and the tokens refreshed from it form a family. If a used token is presented again, the
-- whole family is revoked.
CREATE TABLE refresh_tokens (
  hash        BLOB NOT NULL PRIMARY KEY CHECK (length(hash) = 32),
  family      BLOB NOT NULL CHECK (length(family) = 16),
  application INTEGER NOT NULL REFERENCES applications,
  key_version INTEGER NOT NULL,  -- of the application at the login
  spent       INTEGER NOT NULL DEFAULT 0 CHECK (spent IN (0, 1)),
  expires_at  INTEGER NOT NULL
) STRICT;
CREATE INDEX refresh_tokens_of_family ON refresh_tokens (family);
CREATE INDEX refresh_tokens_by_expiry ON refresh_tokens (expires_at);

-- Assets and wallets ---------------------------------------------------------------------------

CREATE TABLE assets (
  asset      INTEGER PRIMARY KEY,
  code       TEXT NOT NULL UNIQUE,
  issuer     TEXT NOT NULL,
  name       TEXT NOT NULL,
  decimals   INTEGER NOT NULL CHECK (decimals BETWEEN 0 AND 7),
  created_at INTEGER NOT NULL
) STRICT;

-- One unit of `sell` is converted to numerator/denominator units of `buy`; set by the operator.
CREATE TABLE rates (
  environment INTEGER NOT NULL CHECK (environment IN (0, 1)),
  sell        INTEGER NOT NULL REFERENCES assets,
  buy         INTEGER NOT NULL REFERENCES assets,
  numerator   INTEGER NOT NULL CHECK (numerator > 0),
  denominator INTEGER NOT NULL CHECK (denominator > 0),
  updated_at  INTEGER NOT NULL,
  PRIMARY KEY (environment, sell, buy),
  CHECK (sell <> buy)
) STRICT;

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
CREATE INDEX wallets_not_verified ON wallets (status) WHERE status <> 1;

-- Compliance details of a third-party wallet. entity_type determines which columns have values.
CREATE TABLE wallet_metadata (
  wallet              INTEGER PRIMARY KEY REFERENCES wallets,
  entity_type         INTEGER NOT NULL CHECK (entity_type IN (0, 1)),   -- Person, Business
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

-- Ledger ---------------------------------------------------------------------------------------

-- A wallet's account in an asset is its trustline. The operator's accounts (kind > 0) belong to the
-- operator's tenant. Of those, issuance and the clearing account of a provider may be negative.
CREATE TABLE accounts (
  account    INTEGER PRIMARY KEY,
  tenant     INTEGER NOT NULL REFERENCES tenants,
  kind       INTEGER NOT NULL CHECK (kind BETWEEN 0 AND 4),  -- wallet, issuance, liquidity, fee, clearing
  wallet     INTEGER REFERENCES wallets,
  asset      INTEGER NOT NULL REFERENCES assets,
  connector  INTEGER REFERENCES connectors,  -- of a clearing account
  balance    INTEGER NOT NULL DEFAULT 0,
  held       INTEGER NOT NULL DEFAULT 0 CHECK (held >= 0),
  created_at INTEGER NOT NULL,
  CHECK ((kind = 0) = (wallet IS NOT NULL)),
  CHECK ((kind = 4) = (connector IS NOT NULL)),
  CHECK (kind IN (1, 4) OR balance >= held)
) STRICT;
CREATE UNIQUE INDEX accounts_of_wallet ON accounts (wallet, asset) WHERE wallet IS NOT NULL;
-- Finds the wallets of a tenant that have an asset. Does not contain balances.
CREATE INDEX accounts_by_asset ON accounts (tenant, asset, wallet) WHERE wallet IS NOT NULL;
CREATE UNIQUE INDEX accounts_of_operator ON accounts (tenant, kind, asset, ifnull(connector, 0))
WHERE wallet IS NULL;

-- Entry sets: the postings of one business operation each. `link` chains all sets. It is a keyed
-- digest of the previous link and the canonical set with its payment, so a later edit breaks the
-- chain.
CREATE TABLE journal (
  journal INTEGER PRIMARY KEY,
  tenant  INTEGER NOT NULL REFERENCES tenants,
  kind    INTEGER NOT NULL CHECK (kind BETWEEN 0 AND 3),  -- payment, funding, liquidity, refund
  payment INTEGER REFERENCES payments,
  at      INTEGER NOT NULL,
  link    BLOB NOT NULL CHECK (length(link) = 32)
) STRICT;
CREATE INDEX journal_of_payment ON journal (payment) WHERE payment IS NOT NULL;

-- entry = journal * 1024 + line, so the entries of a set are adjacent without a second index.
CREATE TABLE entries (
  entry         INTEGER PRIMARY KEY,
  account       INTEGER NOT NULL REFERENCES accounts,
  amount        INTEGER NOT NULL CHECK (amount <> 0),  -- negative: debited
  balance_after INTEGER NOT NULL,
  counterparty  INTEGER NOT NULL REFERENCES accounts,
  leg           INTEGER NOT NULL DEFAULT 0  -- leg of the payment, for references and description
) STRICT;
CREATE INDEX entries_of_account ON entries (account);

-- Fundings for which the operator gave a transaction ID or a description. With a transaction ID, a
-- repeated command does not credit the wallet again.
CREATE TABLE fundings (
  journal        INTEGER PRIMARY KEY REFERENCES journal,
  transaction_id TEXT UNIQUE CHECK (transaction_id <> ''),
  description    TEXT,  -- shown on the statement of the wallet
  CHECK (transaction_id IS NOT NULL OR description IS NOT NULL)
) STRICT;
CREATE TRIGGER fundings_are_final BEFORE UPDATE ON fundings
BEGIN SELECT RAISE(ABORT, 'fundings are final'); END;
CREATE TRIGGER fundings_are_kept BEFORE DELETE ON fundings
BEGIN SELECT RAISE(ABORT, 'fundings are kept'); END;

CREATE TRIGGER journal_is_final BEFORE UPDATE ON journal
BEGIN SELECT RAISE(ABORT, 'journal rows are final'); END;
CREATE TRIGGER journal_is_kept BEFORE DELETE ON journal
BEGIN SELECT RAISE(ABORT, 'journal rows are kept'); END;
CREATE TRIGGER entries_are_final BEFORE UPDATE ON entries
BEGIN SELECT RAISE(ABORT, 'entries are final'); END;
CREATE TRIGGER entries_are_kept BEFORE DELETE ON entries
BEGIN SELECT RAISE(ABORT, 'entries are kept'); END;

-- Beneficiaries ----------------------------------------------------------------------------------

CREATE TABLE beneficiaries (
  beneficiary          INTEGER PRIMARY KEY,
  tenant               INTEGER NOT NULL REFERENCES tenants,
  id                   BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
  entity_type          INTEGER NOT NULL CHECK (entity_type IN (0, 1)),  -- individual, business
  first_name           TEXT,
  last_name            TEXT,
  date_of_birth        TEXT,
  nationality          TEXT,
  company_name         TEXT,
  registration_number  TEXT,
  registration_country TEXT,
  email                TEXT,
  phone                TEXT,
  client_reference     TEXT,
  created_at           INTEGER NOT NULL,
  updated_at           INTEGER NOT NULL,
  archived_at          INTEGER,
  CHECK (CASE entity_type
    WHEN 0 THEN first_name IS NOT NULL AND last_name IS NOT NULL AND company_name IS NULL
    ELSE company_name IS NOT NULL AND first_name IS NULL AND last_name IS NULL END)
) STRICT;
CREATE INDEX beneficiaries_by_tenant ON beneficiaries (tenant) WHERE archived_at IS NULL;
CREATE TRIGGER beneficiaries_are_kept BEFORE DELETE ON beneficiaries
BEGIN SELECT RAISE(ABORT, 'beneficiaries are archived'); END;

CREATE TABLE beneficiary_addresses (
  beneficiary INTEGER NOT NULL REFERENCES beneficiaries,
  position    INTEGER NOT NULL,
  type        TEXT,
  line1       TEXT NOT NULL,
  line2       TEXT,
  city        TEXT NOT NULL,
  state       TEXT,
  postal_code TEXT,
  country     TEXT NOT NULL CHECK (length(country) = 2),
  PRIMARY KEY (beneficiary, position)
) STRICT;

CREATE TABLE beneficiary_tags (
  beneficiary INTEGER NOT NULL REFERENCES beneficiaries,
  position    INTEGER NOT NULL,
  tag         TEXT NOT NULL CHECK (tag <> ''),
  PRIMARY KEY (beneficiary, position),
  UNIQUE (beneficiary, tag)
) STRICT, WITHOUT ROWID;

-- Search terms of beneficiaries that are not archived: each word of name, e-mail and reference in
-- folded form, and each tag as `#tag`, which is never a word. Words with the same beginning are
-- adjacent. `meta.search_folding` is the version of the folding.
CREATE TABLE beneficiary_terms (
  tenant      INTEGER NOT NULL REFERENCES tenants,
  term        TEXT NOT NULL CHECK (term <> ''),
  beneficiary INTEGER NOT NULL REFERENCES beneficiaries,
  PRIMARY KEY (tenant, term, beneficiary)
) STRICT, WITHOUT ROWID;

-- The method determines which columns have values. A change archives the row and inserts another
-- one with the same ID, so the row to which a payment refers never changes.
CREATE TABLE destinations (
  destination    INTEGER PRIMARY KEY,
  beneficiary    INTEGER NOT NULL REFERENCES beneficiaries,
  tenant         INTEGER NOT NULL REFERENCES tenants,
  id             BLOB NOT NULL CHECK (length(id) = 16),
  method         INTEGER NOT NULL CHECK (method BETWEEN 0 AND 2),  -- BANK, MOBILE_MONEY, CRYPTO
  country        TEXT CHECK (length(country) = 2),
  currency       TEXT CHECK (length(currency) = 3),
  label          TEXT,
  account_name   TEXT,
  account_number TEXT,
  iban           TEXT,
  bank_name      TEXT,
  bank_code      TEXT,
  branch_code    TEXT,
  swift_bic      TEXT,
  provider       TEXT,
  phone_number   TEXT,
  network_name   TEXT,
  asset_symbol   TEXT,
  wallet_address TEXT,
  memo           TEXT,
  created_at     INTEGER NOT NULL,
  archived_at    INTEGER,
  CHECK (method = 2 OR (country IS NOT NULL AND currency IS NOT NULL)),
  CHECK (CASE method
    WHEN 0 THEN account_name IS NOT NULL AND (account_number IS NULL) <> (iban IS NULL)
    WHEN 1 THEN provider IS NOT NULL AND phone_number IS NOT NULL
    ELSE network_name IS NOT NULL AND asset_symbol IS NOT NULL AND wallet_address IS NOT NULL END)
) STRICT;
CREATE UNIQUE INDEX destinations_live ON destinations (id) WHERE archived_at IS NULL;
CREATE INDEX destinations_by_id ON destinations (id);
CREATE INDEX destinations_of_beneficiary ON destinations (beneficiary) WHERE archived_at IS NULL;
CREATE TRIGGER destinations_are_final BEFORE UPDATE ON destinations
WHEN OLD.archived_at IS NOT NULL OR NEW.archived_at IS NULL
BEGIN SELECT RAISE(ABORT, 'a destination is archived once and otherwise final'); END;
CREATE TRIGGER destinations_are_kept BEFORE DELETE ON destinations
BEGIN SELECT RAISE(ABORT, 'destinations are archived'); END;

-- Connectors and quotes --------------------------------------------------------------------------

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
  -- Received per unit sent. NULL if the provider alone sets the price: http, quoted, no tolerance.
  rate_numerator    INTEGER CHECK (rate_numerator > 0),
  rate_denominator  INTEGER CHECK (rate_denominator > 0),
  fee_fixed         INTEGER NOT NULL DEFAULT 0 CHECK (fee_fixed >= 0),  -- in the sending currency
  fee_basis_points  INTEGER NOT NULL DEFAULT 0 CHECK (fee_basis_points BETWEEN 0 AND 10000),
  tolerance_bps     INTEGER CHECK (tolerance_bps BETWEEN 0 AND 10000),  -- of a provider's price
  min_amount        INTEGER NOT NULL CHECK (min_amount > 0),
  max_amount        INTEGER NOT NULL CHECK (max_amount >= min_amount),
  day_limit         INTEGER CHECK (day_limit > 0),    -- per destination, rolling 24 h
  month_limit       INTEGER CHECK (month_limit > 0),  -- per destination, rolling 30 d
  transaction_types INTEGER NOT NULL CHECK (transaction_types BETWEEN 1 AND 15),
  issues_references INTEGER NOT NULL DEFAULT 0 CHECK (issues_references IN (0, 1)),
  -- Increases with every change of its requirements.
  requirements_version INTEGER NOT NULL DEFAULT 1,
  status            INTEGER NOT NULL DEFAULT 0 CHECK (status IN (0, 1)),  -- active, paused
  created_at        INTEGER NOT NULL,
  updated_at        INTEGER NOT NULL,
  CHECK (tolerance_bps IS NULL OR (driver = 1 AND flow = 0)),
  CHECK ((rate_numerator IS NULL) = (driver = 1 AND flow = 0 AND tolerance_bps IS NULL)),
  CHECK ((rate_numerator IS NULL) = (rate_denominator IS NULL)),
  CHECK (rate_numerator IS NOT NULL OR (fee_fixed = 0 AND fee_basis_points = 0))
) STRICT;
CREATE INDEX connectors_by_environment ON connectors (environment);

-- Provider addresses of an http connector: the current one and retired ones. Payments that were
-- first sent to a retired address continue there, so its secret is kept.
CREATE TABLE connector_endpoints (
  connector_endpoint INTEGER PRIMARY KEY,
  id                 BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
  connector          INTEGER NOT NULL REFERENCES connectors,
  base_url           TEXT NOT NULL CHECK (base_url <> ''),
  sealed_secret      BLOB NOT NULL,
  timeout_ms         INTEGER NOT NULL CHECK (timeout_ms > 0),
  created_at         INTEGER NOT NULL,
  retired_at         INTEGER,  -- NULL: the current address
  UNIQUE (connector, base_url)
) STRICT;
CREATE UNIQUE INDEX connector_endpoints_present ON connector_endpoints (connector)
WHERE retired_at IS NULL;

-- Fields that a connector requires in addition to the common ones, in form order.
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
) STRICT;
CREATE TABLE connector_choices (
  connector INTEGER NOT NULL,
  position  INTEGER NOT NULL,
  choice    INTEGER NOT NULL,
  code      TEXT NOT NULL,
  label     TEXT NOT NULL,
  PRIMARY KEY (connector, position, choice),
  FOREIGN KEY (connector, position) REFERENCES connector_requirements ON DELETE CASCADE
) STRICT;

-- A fee for exactly this association, connector and type replaces the connector's fee, even if it is
-- zero.
CREATE TABLE fee_rows (
  association      INTEGER NOT NULL REFERENCES associations,
  connector        INTEGER NOT NULL REFERENCES connectors,
  transaction_type INTEGER NOT NULL CHECK (transaction_type BETWEEN 0 AND 3),
  fixed            INTEGER NOT NULL CHECK (fixed >= 0),
  basis_points     INTEGER NOT NULL CHECK (basis_points BETWEEN 0 AND 10000),
  updated_at       INTEGER NOT NULL,
  PRIMARY KEY (association, connector, transaction_type)
) STRICT;

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
  payment            INTEGER UNIQUE REFERENCES payments  -- the payment that used the quote
) STRICT;

-- References on which customers pay. Related references were issued together for the same customer.
CREATE TABLE onramp_references (
  onramp_reference INTEGER PRIMARY KEY,
  tenant           INTEGER NOT NULL REFERENCES tenants,
  application      INTEGER NOT NULL REFERENCES applications,
  connector        INTEGER NOT NULL REFERENCES connectors,
  wallet           INTEGER NOT NULL REFERENCES wallets,
  customer_id      TEXT NOT NULL CHECK (customer_id <> ''),
  reference        TEXT NOT NULL CHECK (reference <> ''),
  related_to       INTEGER REFERENCES onramp_references,
  has_metadata     INTEGER NOT NULL CHECK (has_metadata IN (0, 1)),  -- false on a rebind
  created_at       INTEGER NOT NULL,
  UNIQUE (connector, reference)
) STRICT;
CREATE UNIQUE INDEX onramp_references_of_customer ON onramp_references (tenant, connector, customer_id)
WHERE related_to IS NULL;
-- The references of a tenant by connector; a list of all of them merges the connectors.
CREATE INDEX onramp_references_by_connector ON onramp_references (tenant, connector)
WHERE related_to IS NULL;
CREATE INDEX onramp_references_related ON onramp_references (related_to) WHERE related_to IS NOT NULL;
CREATE TABLE onramp_reference_metadata (
  onramp_reference INTEGER NOT NULL REFERENCES onramp_references,
  name             TEXT NOT NULL,
  value            TEXT NOT NULL,
  PRIMARY KEY (onramp_reference, name)
) STRICT;

-- Payments -------------------------------------------------------------------------------------

CREATE TABLE payments (
  -- Increases with each accepted payment. Lists have this order.
  payment            INTEGER PRIMARY KEY,
  tenant             INTEGER NOT NULL REFERENCES tenants,
  id                 BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
  transaction_id     TEXT NOT NULL,
  application        INTEGER NOT NULL REFERENCES applications,
  request_id         TEXT NOT NULL,
  type               INTEGER NOT NULL CHECK (type BETWEEN 0 AND 7),
  status             INTEGER NOT NULL CHECK (status BETWEEN 0 AND 7),
  version            INTEGER NOT NULL DEFAULT 1,  -- increases with every change of status
  source_wallet      INTEGER REFERENCES wallets,      -- NULL for a multi-transfer: see its legs
  destination_wallet INTEGER REFERENCES wallets,
  -- NULL if the legs of a multi-transfer have different assets.
  sending_asset      INTEGER REFERENCES assets,
  -- For a multi-transfer: the sum of its legs.
  sending_amount     INTEGER CHECK (sending_amount > 0),
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
  -- Stored as milliseconds after created_at: most payments settle within seconds, so settling does
  -- not make the row larger, which would split full pages.
  processing_after   INTEGER CHECK (processing_after >= 0),
  completed_after    INTEGER CHECK (completed_after >= 0),
  updated_after      INTEGER NOT NULL DEFAULT 0 CHECK (updated_after >= 0),
  processing_at      INTEGER AS (created_at + processing_after),
  completed_at       INTEGER AS (created_at + completed_after),  -- succeeded, failed or expired
  refund_pending_at  INTEGER,
  refund_closed_at   INTEGER,
  updated_at         INTEGER AS (created_at + updated_after),
  beneficiary        INTEGER REFERENCES beneficiaries,
  destination        INTEGER REFERENCES destinations,
  connector          INTEGER REFERENCES connectors,
  quote              INTEGER REFERENCES quotes,
  refund_failure     INTEGER CHECK (refund_failure IS NULL OR status IN (5, 6)),  -- FailureCode
  -- When an operator corrected the final status, after the provider had contradicted it.
  -- completed_at keeps the time of the first final status.
  corrected_at       INTEGER,
  corrected_from     INTEGER CHECK (corrected_from BETWEEN 0 AND 7),  -- the status before
  -- What was given back after the payment had succeeded: the sum of its rows in `refunds`.
  refunded_amount    INTEGER CHECK (refunded_amount > 0),
  -- The settlement job: when the ledger settles the payment. NULL once it is settled, and for a
  -- payment that waits for its provider (provider_jobs).
  settle_at          INTEGER,
  settle_attempts    INTEGER NOT NULL DEFAULT 0,  -- attempts that failed
  mac                BLOB NOT NULL DEFAULT x'',   -- keyed digest (store/payments/payment_seal.h)
  metadata           TEXT,     -- a JSON object of texts; last, because it can be long
  UNIQUE (tenant, transaction_id),
  CHECK ((failure IS NOT NULL) = (status BETWEEN 3 AND 6)
         OR (status = 2 AND corrected_at IS NOT NULL) OR refunded_amount IS NOT NULL
         OR (status IN (4, 6) AND type IN (6, 7))),
  CHECK (refunded_amount IS NULL OR status IN (4, 5, 6)),
  CHECK ((corrected_at IS NULL) = (corrected_from IS NULL)),
  CHECK (settle_at IS NULL OR status IN (0, 1))
) STRICT;
CREATE INDEX payments_to_settle ON payments (settle_at) WHERE settle_at IS NOT NULL;
-- The payments of a tenant in the groups by which lists filter; a list of all payments merges the
-- groups. The asset is the one on the ledger, or 0 for a multi-transfer with several, whose legs
-- contain them.
CREATE INDEX payments_by_kind ON payments (tenant, type, coalesce(sending_asset, receiving_asset, 0));
CREATE INDEX payments_swapped_to ON payments (tenant, receiving_asset)
WHERE sending_asset IS NOT NULL AND receiving_asset IS NOT NULL;
CREATE INDEX payments_from ON payments (source_wallet) WHERE source_wallet IS NOT NULL;
CREATE INDEX payments_to ON payments (destination_wallet) WHERE destination_wallet IS NOT NULL;
CREATE INDEX payments_not_succeeded ON payments (tenant, status) WHERE status <> 2;
CREATE INDEX payments_of_beneficiary ON payments (beneficiary) WHERE beneficiary IS NOT NULL;
CREATE INDEX payments_of_connector ON payments (connector) WHERE connector IS NOT NULL;
CREATE INDEX payments_from_ref ON payments (tenant, from_ref) WHERE from_ref IS NOT NULL;
CREATE INDEX payments_to_ref ON payments (tenant, to_ref) WHERE to_ref IS NOT NULL;
CREATE INDEX payments_of_destination ON payments (destination, connector, created_at)
WHERE destination IS NOT NULL;

-- Search terms of payments with metadata, one for each key with its text: the first eight bytes of
-- SHA-256 of `KEY=TEXT`. A search compares the text of each payment that it finds.
CREATE TABLE metadata_terms (
  tenant  INTEGER NOT NULL REFERENCES tenants,
  term    INTEGER NOT NULL,
  payment INTEGER NOT NULL REFERENCES payments,
  PRIMARY KEY (tenant, term, payment)
) STRICT, WITHOUT ROWID;

-- Sums of the amounts that off-ramps of a connector have sent to a destination, without failed and
-- expired payments, for the limits per destination. A row of level n sums about 64^n payments, from
-- `first_at` up to the next row of its level. A row starts only where a row of the level below
-- starts, and all payments of one instant are in one row.
CREATE TABLE destination_sums (
  connector   INTEGER NOT NULL REFERENCES connectors,
  -- The ID, so that the sums continue after a change of the destination.
  destination BLOB NOT NULL CHECK (length(destination) = 16),
  level       INTEGER NOT NULL CHECK (level BETWEEN 1 AND 3),
  first_at    INTEGER NOT NULL,
  last_at     INTEGER NOT NULL CHECK (last_at >= first_at),
  payments    INTEGER NOT NULL CHECK (payments > 0),  -- including those that failed later
  amount      INTEGER NOT NULL CHECK (amount >= 0),
  PRIMARY KEY (connector, destination, level, first_at)
) STRICT, WITHOUT ROWID;

-- Legs of a multi-transfer, in the order of application.
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
CREATE INDEX payment_legs_from_ref ON payment_legs (from_ref) WHERE from_ref IS NOT NULL;
CREATE INDEX payment_legs_to_ref ON payment_legs (to_ref) WHERE to_ref IS NOT NULL;

-- Holds of multi-transfers. The view payment_holds contains those of all payments.
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

-- Money that is given back after its payment has succeeded: what a bank returned of a payout, and
-- reversals. A return waits while its payout is in progress. One that contradicts its payout is
-- disputed, until an operator has decided. The reversal of an on-ramp waits until the provider has
-- given the money back, or failed to.
CREATE TABLE refunds (
  refund         INTEGER PRIMARY KEY,
  payment        INTEGER NOT NULL REFERENCES payments,
  tenant         INTEGER NOT NULL REFERENCES tenants,
  state          INTEGER NOT NULL CHECK (state BETWEEN 0 AND 4),  -- waiting, booked, disputed, closed, failed
  amount         INTEGER NOT NULL DEFAULT 0 CHECK (amount >= 0),  -- booked, in the sending asset
  fee            INTEGER NOT NULL DEFAULT 0 CHECK (fee >= 0),     -- booked in addition
  reason         TEXT NOT NULL,
  at             INTEGER NOT NULL,
  booked_at      INTEGER,
  journal        INTEGER UNIQUE,  -- the entry set; NULL: nothing was booked
  -- Of a return, as the provider reported it:
  connector      INTEGER REFERENCES connectors,
  return_id      TEXT CHECK (return_id <> ''),
  report         TEXT,
  returned       INTEGER CHECK (returned > 0),  -- in the currency of the payout; NULL: not in it
  with_fee       INTEGER NOT NULL DEFAULT 0 CHECK (with_fee IN (0, 1)),
  -- Of a reversal, as it was submitted:
  transaction_id TEXT,
  wanted         INTEGER CHECK (wanted > 0),  -- NULL: all that was left
  -- Of the reversal of an on-ramp:
  id             BLOB UNIQUE CHECK (length(id) = 16),  -- at the provider
  asked          INTEGER CHECK (asked > 0),            -- what the payer gets, in the sending asset
  held           INTEGER CHECK (held > 0),             -- what the wallet gives, in the receiving asset
  failed_at      INTEGER,
  failure        INTEGER,                              -- FailureCode
  CHECK ((return_id IS NULL) = (connector IS NULL)),
  CHECK ((return_id IS NULL) = (report IS NULL)),
  CHECK ((return_id IS NULL) = (transaction_id IS NOT NULL)),
  CHECK ((booked_at IS NOT NULL) = (state = 1)),
  CHECK ((journal IS NOT NULL) = (amount + fee > 0)),
  CHECK (state = 1 OR journal IS NULL),
  CHECK ((id IS NULL) = (asked IS NULL) AND (id IS NULL) = (held IS NULL)),
  CHECK (id IS NULL OR (transaction_id IS NOT NULL AND amount = iif(state = 1, asked, 0))),
  CHECK ((state = 4) = (failed_at IS NOT NULL) AND (state = 4) = (failure IS NOT NULL)),
  CHECK (state <> 4 OR id IS NOT NULL)
) STRICT;
CREATE INDEX refunds_of_payment ON refunds (payment);
CREATE UNIQUE INDEX refunds_waiting ON refunds (payment) WHERE state = 0 AND id IS NOT NULL;
CREATE UNIQUE INDEX refunds_by_return ON refunds (connector, return_id) WHERE return_id IS NOT NULL;
CREATE UNIQUE INDEX refunds_by_transaction_id ON refunds (tenant, transaction_id)
WHERE transaction_id IS NOT NULL;
CREATE TRIGGER refunds_are_booked_once BEFORE UPDATE ON refunds WHEN OLD.state IN (1, 3, 4)
BEGIN SELECT RAISE(ABORT, 'a refund is booked, closed or failed once'); END;
CREATE TRIGGER refunds_are_kept BEFORE DELETE ON refunds
BEGIN SELECT RAISE(ABORT, 'refunds are kept'); END;

-- Additional columns of a payment through a provider.
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
  provider_reference TEXT,
  connector_endpoint INTEGER REFERENCES connector_endpoints,     -- of the first submission, permanent
  collected_amount   INTEGER CHECK (collected_amount > 0),       -- paid by the payer of an on-ramp
  -- Of a payment on a reference in another currency than the connector's.
  arrived_currency   TEXT CHECK (arrived_currency <> ''),
  open_item          INTEGER NOT NULL DEFAULT 0 CHECK (open_item BETWEEN 0 AND 6),  -- none, unbooked, checking, contradicted, closed, checking_unbooked, checking_closed
  revision           INTEGER NOT NULL DEFAULT 0,  -- increases with each change
  mac                BLOB NOT NULL DEFAULT x''    -- keyed digest (store/payments/payment_seal.h)
) STRICT;
CREATE INDEX provider_payments_open ON provider_payments (open_item) WHERE open_item <> 0;

-- All holds. A payment with one leg has no row in `holds`. Its amount including the fee is held on
-- the account of its source wallet from acceptance until the payment ends or, if it is an off-ramp,
-- is debited. The wallet of an on-ramp holds what a reversal takes while it waits for the provider.
-- The CAST lets joins with `account` build an index.
CREATE VIEW payment_holds (payment, account, amount, state) AS
SELECT p.payment, CAST(coalesce(h.account, a.account) AS INTEGER),
  coalesce(h.amount, r.held, p.sending_amount + ifnull(q.fee, 0)),
  coalesce(h.state, CASE WHEN r.held IS NOT NULL THEN 0 WHEN p.status = 1 AND p.type = 5 AND q.state = 2 THEN 1
    WHEN p.status IN (0, 1) THEN 0 WHEN p.status IN (2, 4, 5, 6) THEN 1 ELSE 2 END)
FROM payments p NOT INDEXED LEFT JOIN holds h ON h.payment = p.payment
LEFT JOIN refunds r ON r.payment = p.payment AND r.state = 0 AND r.id IS NOT NULL
LEFT JOIN accounts a ON a.wallet = iif(r.held IS NULL, p.source_wallet, p.destination_wallet)
  AND a.asset = iif(r.held IS NULL, p.sending_asset, p.receiving_asset)
LEFT JOIN provider_payments q ON q.payment = p.payment
WHERE h.payment IS NOT NULL OR p.source_wallet IS NOT NULL OR r.held IS NOT NULL;

-- additionalFields of the submission, and the instructions for the payer of an on-ramp.
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

-- Every call to a provider. A row is committed before the call is made. While a row is open, the
-- provider's action is unknown, and coffer requests the status first.
CREATE TABLE provider_attempts (
  payment   INTEGER NOT NULL REFERENCES payments,
  attempt   INTEGER NOT NULL,
  call      INTEGER NOT NULL CHECK (call BETWEEN 0 AND 7),  -- submit, status, cancel, collect, collection status, expire, refund, refund status
  opened_at INTEGER NOT NULL,
  closed_at INTEGER,
  outcome   TEXT,
  PRIMARY KEY (payment, attempt)
) STRICT, WITHOUT ROWID;

-- The next step of a payment at its provider. Lane 0 contains all drivers that respond immediately.
-- Other providers have the lane of their connector, so that a slow provider does not delay others.
CREATE TABLE provider_jobs (
  lane     INTEGER NOT NULL,
  due_at   INTEGER NOT NULL,
  payment  INTEGER NOT NULL REFERENCES payments,
  attempts INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (lane, due_at, payment)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX provider_jobs_of_payment ON provider_jobs (payment);

-- Customer payments on references, by the provider's payment ID. Each is credited once.
CREATE TABLE reference_payments (
  connector           INTEGER NOT NULL REFERENCES connectors,
  provider_payment_id TEXT NOT NULL CHECK (provider_payment_id <> ''),
  onramp_reference    INTEGER NOT NULL REFERENCES onramp_references,
  payment             INTEGER NOT NULL UNIQUE REFERENCES payments,
  PRIMARY KEY (connector, provider_payment_id)
) STRICT, WITHOUT ROWID;

-- Customer payments that cannot be assigned to a tenant, or whose amount the ledger cannot hold, as
-- the provider reported them. An operator assigns each to a reference, or records its return.
CREATE TABLE unassigned_arrivals (
  arrival             INTEGER PRIMARY KEY,
  id                  BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
  connector           INTEGER NOT NULL REFERENCES connectors,
  provider_payment_id TEXT NOT NULL CHECK (provider_payment_id <> ''),
  reference           TEXT NOT NULL,
  amount              TEXT NOT NULL,
  currency            TEXT NOT NULL,
  payer_name          TEXT NOT NULL,
  payer_account       TEXT,
  payer_phone         TEXT,
  arrived_at          INTEGER NOT NULL,
  returned_at         INTEGER,
  payment             INTEGER UNIQUE REFERENCES payments,  -- that it became once it was assigned
  CHECK (payment IS NULL OR returned_at IS NULL)
) STRICT;
-- Several, if the provider reported the same payment with different content.
CREATE INDEX unassigned_arrivals_of_payment ON unassigned_arrivals (connector, provider_payment_id);
CREATE INDEX unassigned_arrivals_open ON unassigned_arrivals (arrival)
WHERE payment IS NULL AND returned_at IS NULL;

-- Alerts to the operator. Each row covers one period in which a condition holds.
CREATE TABLE alerts (
  alert     INTEGER PRIMARY KEY,
  id        BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
  condition INTEGER NOT NULL CHECK (condition BETWEEN 0 AND 25),
  count     INTEGER NOT NULL,  -- of affected payments, webhooks, ..., at the last message
  began_at  INTEGER NOT NULL,
  opens_at  INTEGER NOT NULL,  -- if the condition lasts until then
  told_at   INTEGER,           -- the last message `began` or `continues`; NULL: not open yet
  gone_at   INTEGER,           -- when the condition ended; NULL: it holds
  closed_at INTEGER            -- the message `ended`
) STRICT;
CREATE UNIQUE INDEX alerts_unclosed ON alerts (condition) WHERE closed_at IS NULL;
CREATE INDEX alerts_of_condition ON alerts (condition);
CREATE INDEX alerts_closed ON alerts (closed_at) WHERE closed_at IS NOT NULL;

-- Messages: about an alert, one for each target of the operator; and notifications of a succeeded payment to its
-- recipient, if the submission requested one.
CREATE TABLE messages (
  message   INTEGER PRIMARY KEY,
  alert     INTEGER REFERENCES alerts ON DELETE CASCADE,
  payment   INTEGER REFERENCES payments,
  id        BLOB UNIQUE CHECK (length(id) = 16),                  -- of a message about an alert
  kind      INTEGER CHECK (kind BETWEEN 0 AND 2),                 -- of an alert: began, continues, ended
  channel   INTEGER NOT NULL CHECK (channel BETWEEN 0 AND 2),     -- webhook, e-mail, messaging app
  recipient TEXT NOT NULL,                                        -- an address; of a webhook, its host
  count     INTEGER,                                              -- of an alert
  oldest_at INTEGER,                                              -- of the affected records, if known
  at        INTEGER NOT NULL,
  state     INTEGER NOT NULL DEFAULT 0 CHECK (state BETWEEN 0 AND 3),  -- waiting, sent, failed, recorded only
  attempts  INTEGER NOT NULL DEFAULT 0,
  due_at    INTEGER NOT NULL,
  closed_at INTEGER,
  result    TEXT,                                                 -- of the last attempt
  CHECK ((alert IS NULL) <> (payment IS NULL)),
  CHECK (payment IS NOT NULL OR (id IS NOT NULL AND kind IS NOT NULL AND count IS NOT NULL))
) STRICT;
CREATE INDEX messages_of_alert ON messages (alert, channel) WHERE alert IS NOT NULL;
CREATE INDEX alert_messages_waiting ON messages (due_at) WHERE state = 0 AND alert IS NOT NULL;
CREATE INDEX notifications ON messages (message) WHERE payment IS NOT NULL;
CREATE INDEX notifications_waiting ON messages (due_at) WHERE state = 0 AND payment IS NOT NULL;
CREATE INDEX notifications_failed ON messages (state) WHERE state = 2 AND payment IS NOT NULL;

-- Reconciliation -------------------------------------------------------------------------------

-- Saved mappings of the columns of CSV files (domain/reconciliation/bank_statement.h).
CREATE TABLE csv_mappings (
  name       TEXT PRIMARY KEY CHECK (name <> ''),
  columns    TEXT NOT NULL,  -- MEMBER=COLUMN, separated by commas
  separator  TEXT NOT NULL,
  decimal    TEXT NOT NULL,
  date       TEXT NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

-- Imported files of banks and providers. An environment has each file once. The lines are stored in several commits.
-- `connector` has the lines that no match gives to another one; a later import of the same file may change it.
CREATE TABLE statement_files (
  statement_file INTEGER PRIMARY KEY,
  environment    INTEGER NOT NULL CHECK (environment IN (0, 1)),
  connector      INTEGER NOT NULL REFERENCES connectors,
  digest         BLOB NOT NULL CHECK (length(digest) = 32),       -- SHA-256
  format         INTEGER NOT NULL CHECK (format BETWEEN 0 AND 2),  -- camt, mt940, csv
  lines          INTEGER NOT NULL,  -- in the file
  imported_at    INTEGER NOT NULL,
  completed_at   INTEGER,           -- NULL until all lines are stored
  UNIQUE (environment, digest)
) STRICT;

-- The statements of a file. Their balances, or number and page, tell their entries from equal ones of other statements.
CREATE TABLE bank_statements (
  bank_statement INTEGER PRIMARY KEY,
  statement_file INTEGER NOT NULL REFERENCES statement_files,
  position       INTEGER NOT NULL,  -- in the file
  number         TEXT NOT NULL,     -- which its pages share
  page           TEXT NOT NULL,
  currency       TEXT NOT NULL,
  opening        INTEGER,           -- balances
  closing        INTEGER,
  first_day      INTEGER,           -- of its lines
  last_day       INTEGER,
  UNIQUE (statement_file, position)
) STRICT;

-- Booked entries of statements. `mark` is a digest of what identifies an entry in every file that contains it
-- (store/reconciliation/bank_lines.h). `state` follows from the matches and offers. A line that others tell more exactly
-- does not count: they have it in `replaces`.
CREATE TABLE bank_lines (
  bank_line         INTEGER PRIMARY KEY,
  id                BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
  statement_file    INTEGER NOT NULL REFERENCES statement_files,
  environment       INTEGER NOT NULL CHECK (environment IN (0, 1)),
  connector         INTEGER NOT NULL REFERENCES connectors,  -- of the import
  bank_statement    INTEGER NOT NULL REFERENCES bank_statements,
  replaces          INTEGER REFERENCES bank_lines,
  mark              BLOB NOT NULL CHECK (length(mark) = 16),
  account           TEXT NOT NULL CHECK (account <> ''),
  booked_on         INTEGER NOT NULL,
  value_on          INTEGER,
  amount            INTEGER NOT NULL CHECK (amount <> 0),  -- negative: debited
  charges           INTEGER NOT NULL CHECK (charges >= 0),
  currency          TEXT NOT NULL CHECK (length(currency) = 3),
  original_amount   INTEGER,  -- before the bank converted it
  original_currency TEXT,
  bank_reference    TEXT NOT NULL,
  reference         TEXT NOT NULL,
  text              TEXT NOT NULL,
  party_name        TEXT NOT NULL,
  party_account     TEXT NOT NULL,
  code              TEXT NOT NULL,
  imported_at       INTEGER NOT NULL,
  state             INTEGER NOT NULL DEFAULT 0 CHECK (state BETWEEN 0 AND 3),  -- unmatched, offered, matched, replaced
  UNIQUE (environment, mark),
  CHECK ((original_amount IS NULL) = (original_currency IS NULL))
) STRICT;
CREATE INDEX bank_lines_by_state ON bank_lines (state);
CREATE INDEX bank_lines_open ON bank_lines (imported_at) WHERE state < 2;
CREATE INDEX bank_lines_by_day ON bank_lines (environment, booked_on);
CREATE INDEX bank_lines_replacing ON bank_lines (replaces) WHERE replaces IS NOT NULL;
CREATE TRIGGER bank_lines_are_kept BEFORE DELETE ON bank_lines
BEGIN SELECT RAISE(ABORT, 'bank lines are kept'); END;

-- Payments that an operator may match with a line.
CREATE TABLE bank_offers (
  bank_line INTEGER NOT NULL REFERENCES bank_lines,
  position  INTEGER NOT NULL,
  kind      INTEGER NOT NULL CHECK (kind BETWEEN 0 AND 3),  -- payment, fee, return, refund
  payment   INTEGER NOT NULL REFERENCES payments,
  refund    INTEGER REFERENCES refunds,
  rule      INTEGER NOT NULL CHECK (rule BETWEEN 0 AND 16),
  PRIMARY KEY (bank_line, position)
) STRICT, WITHOUT ROWID;

-- Lines and the payments that they belong to. A match is undone by another row, never deleted.
CREATE TABLE bank_matches (
  bank_match INTEGER PRIMARY KEY,
  bank_line  INTEGER NOT NULL REFERENCES bank_lines,
  kind       INTEGER NOT NULL CHECK (kind BETWEEN 0 AND 3),   -- payment, fee, return, refund
  payment    INTEGER NOT NULL REFERENCES payments,
  refund     INTEGER REFERENCES refunds,
  rule       INTEGER NOT NULL CHECK (rule BETWEEN 0 AND 16),  -- by hand, and those of the matching
  undoes     INTEGER UNIQUE REFERENCES bank_matches,
  reason     TEXT,
  actor      TEXT NOT NULL CHECK (actor <> ''),
  at         INTEGER NOT NULL,
  CHECK ((rule = 0) = (reason IS NOT NULL)),
  -- A payout that failed comes back as a whole, without a refund of its own.
  CHECK (kind = 2 OR (kind = 3) = (refund IS NOT NULL))
) STRICT;
CREATE INDEX bank_matches_of_line ON bank_matches (bank_line);
CREATE INDEX bank_matches_of_payment ON bank_matches (payment);
CREATE TRIGGER bank_matches_are_final BEFORE UPDATE ON bank_matches
BEGIN SELECT RAISE(ABORT, 'matches are final'); END;
CREATE TRIGGER bank_matches_are_kept BEFORE DELETE ON bank_matches
BEGIN SELECT RAISE(ABORT, 'matches are undone by another row'); END;

-- Settlement and events ------------------------------------------------------------------------

-- All events, in the order on which consumers may rely: the sequence of a tenant increases by one.
-- Their IDs are computed with the key `event_id_key` of `meta` (store/webhooks/event_id.h).
CREATE TABLE events (
  tenant        INTEGER NOT NULL REFERENCES tenants,
  sequence      INTEGER NOT NULL,
  type          INTEGER NOT NULL,
  payment       INTEGER REFERENCES payments,
  wallet        INTEGER REFERENCES wallets,
  webhook       INTEGER REFERENCES webhooks,  -- disabled webhook; for a test: the only receiver
  application   INTEGER REFERENCES applications,
  wallet_status INTEGER CHECK (wallet_status BETWEEN 0 AND 2),  -- after the change
  version       INTEGER NOT NULL,  -- of the record after the change
  test          INTEGER NOT NULL DEFAULT 0 CHECK (test IN (0, 1)),  -- sample event
  at            INTEGER NOT NULL,
  PRIMARY KEY (tenant, sequence),
  CHECK ((payment IS NOT NULL) + (wallet IS NOT NULL) + (webhook IS NOT NULL)
         + (application IS NOT NULL) = 1
         OR (test = 1 AND payment IS NULL AND wallet IS NULL AND webhook IS NULL
             AND application IS NULL))
) STRICT, WITHOUT ROWID;
-- Event types that do not occur with every payment. The others are frequent enough to be found by
-- reading the list.
CREATE INDEX events_of_rare_type ON events (tenant, type) WHERE type NOT BETWEEN 0 AND 2;

-- Webhooks ---------------------------------------------------------------------------------------

-- Endpoints for events. Disabling is permanent.
CREATE TABLE webhooks (
  webhook          INTEGER PRIMARY KEY,
  tenant           INTEGER NOT NULL REFERENCES tenants,
  application      INTEGER NOT NULL REFERENCES applications,  -- registered the webhook
  id               BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
  url              TEXT NOT NULL CHECK (url <> ''),
  description      TEXT,
  event_types      INTEGER NOT NULL CHECK (event_types > 0),  -- one bit per EventType
  sealed_secret    BLOB NOT NULL,
  old_secret       BLOB,     -- sealed; also signs for some time after a rotation
  old_secret_until INTEGER,
  cursor           INTEGER NOT NULL,  -- sequence of the last processed event
  quiet_until      INTEGER NOT NULL DEFAULT 0,  -- the endpoint requested a pause
  failures         INTEGER NOT NULL DEFAULT 0,  -- consecutive failed attempts
  last_attempt_at  INTEGER,
  last_status      INTEGER,  -- of the last response; NULL: no response
  created_at       INTEGER NOT NULL,
  updated_at       INTEGER NOT NULL,
  disabled_at      INTEGER,
  disable_reason   INTEGER CHECK (disable_reason IN (0, 1)),  -- by its owner, endpoint gone
  CHECK ((old_secret IS NULL) = (old_secret_until IS NULL)),
  CHECK ((disabled_at IS NULL) = (disable_reason IS NULL))
) STRICT;
CREATE INDEX webhooks_by_tenant ON webhooks (tenant);
CREATE INDEX webhooks_active ON webhooks (webhook) WHERE disabled_at IS NULL;
CREATE INDEX webhooks_disabled ON webhooks (disable_reason) WHERE disable_reason IS NOT NULL;
CREATE TRIGGER webhooks_stay_disabled BEFORE UPDATE OF disabled_at, disable_reason ON webhooks
WHEN OLD.disabled_at IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'a disabled webhook stays disabled'); END;
CREATE TRIGGER webhooks_are_kept BEFORE DELETE ON webhooks
BEGIN SELECT RAISE(ABORT, 'webhooks are disabled'); END;

-- The active webhook of an event type: one per association, environment and type.
CREATE TABLE webhook_types (
  tenant  INTEGER NOT NULL REFERENCES tenants,
  type    INTEGER NOT NULL,
  webhook INTEGER NOT NULL REFERENCES webhooks,
  PRIMARY KEY (tenant, type)
) STRICT, WITHOUT ROWID;
CREATE INDEX webhook_types_of_webhook ON webhook_types (webhook);

-- The rendered bodies of events. event_body = tenant << 40 | sequence, so the bodies of a tenant are
-- adjacent without a second index.
CREATE TABLE event_bodies (
  event_body INTEGER PRIMARY KEY,
  body       BLOB NOT NULL,
  mac        BLOB NOT NULL  -- keyed digest of the key and the body, checked before it is signed
) STRICT;

-- Deliveries of events to endpoints.
CREATE TABLE deliveries (
  webhook    INTEGER NOT NULL REFERENCES webhooks,
  sequence   INTEGER NOT NULL,  -- of the event
  state      INTEGER NOT NULL CHECK (state BETWEEN 0 AND 3),  -- pending, delivered, dead, oversize
  attempts   INTEGER NOT NULL DEFAULT 0,  -- of the current series
  tries      INTEGER NOT NULL DEFAULT 0,  -- of all series
  due_at     INTEGER,  -- of the next attempt
  created_at INTEGER NOT NULL,
  closed_at  INTEGER,
  PRIMARY KEY (webhook, sequence),
  CHECK ((state = 0) = (due_at IS NOT NULL)),
  CHECK ((state = 0) = (closed_at IS NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX deliveries_undelivered ON deliveries (webhook, state, due_at) WHERE state <> 1;

CREATE TABLE delivery_attempts (
  webhook     INTEGER NOT NULL,
  sequence    INTEGER NOT NULL,
  attempt     INTEGER NOT NULL,  -- from 1, over all series
  at          INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL,
  status      INTEGER,  -- of the response; NULL: no response
  fault       TEXT,     -- why the attempt failed, if the status does not show it
  response    BLOB,     -- the first 4 KiB
  signed_at   INTEGER,  -- the time in the request headers; NULL: nothing was sent
  signatures  TEXT,     -- webhook-signature; the other request headers follow from the delivery
  headers     BLOB,     -- of the response, at most 2 KiB, without secrets
  PRIMARY KEY (webhook, sequence, attempt),
  FOREIGN KEY (webhook, sequence) REFERENCES deliveries ON DELETE CASCADE,
  CHECK ((signed_at IS NULL) = (signatures IS NULL))
) STRICT, WITHOUT ROWID;

-- Recoveries: ranges of sequences to redeliver to an endpoint, processed in parts. Those of one
-- endpoint neither overlap nor adjoin.
CREATE TABLE webhook_recoveries (
  recovery INTEGER PRIMARY KEY,
  webhook  INTEGER NOT NULL REFERENCES webhooks,
  next     INTEGER NOT NULL,
  last     INTEGER NOT NULL,
  asked_at INTEGER NOT NULL,  -- time of the last request for a part of it
  CHECK (next <= last)
) STRICT;
CREATE INDEX recoveries_of_webhook ON webhook_recoveries (webhook, next);

-- Quotas ---------------------------------------------------------------------------------------

-- Usage of each quota by a tenant (domain/identity/quota.h), counted in the commits that store and
-- free rows.
CREATE TABLE quota_use (
  tenant INTEGER NOT NULL REFERENCES tenants,
  quota  INTEGER NOT NULL CHECK (quota BETWEEN 0 AND 5),
  until  INTEGER NOT NULL,  -- for open quotes: expiry of all quotes of this row; otherwise 0
  used   INTEGER NOT NULL CHECK (used >= 0),
  PRIMARY KEY (tenant, quota, until),
  CHECK ((quota = 3) = (until > 0))
) STRICT, WITHOUT ROWID;
-- Limits that the operator has set for one tenant; the defaults are settings.
CREATE TABLE quota_limits (
  tenant     INTEGER NOT NULL REFERENCES tenants,
  quota      INTEGER NOT NULL CHECK (quota BETWEEN 0 AND 5),
  maximum    INTEGER NOT NULL CHECK (maximum >= 0),
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, quota)
) STRICT;

-- Payment limits -------------------------------------------------------------------------------

-- Limits of the payments of an association, of one of its applications or of a wallet, in one asset.
CREATE TABLE payment_limits (
  payment_limit   INTEGER PRIMARY KEY,
  tenant          INTEGER NOT NULL REFERENCES tenants,
  application     INTEGER REFERENCES applications,
  wallet          INTEGER REFERENCES wallets,
  asset           INTEGER NOT NULL REFERENCES assets,
  per_payment     INTEGER CHECK (per_payment > 0),
  per_day         INTEGER CHECK (per_day > 0),
  per_month       INTEGER CHECK (per_month > 0),
  count_per_day   INTEGER CHECK (count_per_day >= 0),
  count_per_month INTEGER CHECK (count_per_month >= 0),
  since           INTEGER NOT NULL,  -- the last payment that is not counted
  created_at      INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL,
  CHECK (application IS NULL OR wallet IS NULL)
) STRICT;
CREATE UNIQUE INDEX payment_limits_of_holder
ON payment_limits (tenant, ifnull(application, 0), ifnull(wallet, 0), asset);

-- What was paid under a limit since the start of the last day and month with a payment, without
-- failed and expired payments and without what was given back. Counts payments accepted after the
-- limit was set.
CREATE TABLE limit_use (
  payment_limit  INTEGER PRIMARY KEY REFERENCES payment_limits,
  day            INTEGER NOT NULL,
  day_amount     INTEGER NOT NULL CHECK (day_amount >= 0),
  day_payments   INTEGER NOT NULL CHECK (day_payments >= 0),
  month          INTEGER NOT NULL,
  month_amount   INTEGER NOT NULL CHECK (month_amount >= 0),
  month_payments INTEGER NOT NULL CHECK (month_payments >= 0)
) STRICT;

-- Closed months ----------------------------------------------------------------------------------

-- The balances of all accounts at the end of a month, as a digest that continues the one of the
-- month before (store/ledger/periods.h).
CREATE TABLE closed_periods (
  period    INTEGER PRIMARY KEY,  -- year * 12 + month - 1
  journal   INTEGER NOT NULL,     -- the last entry set of the month; 0: the ledger had none
  link      BLOB NOT NULL CHECK (length(link) = 32),  -- of that entry set
  accounts  INTEGER NOT NULL CHECK (accounts >= 0),   -- that had entries
  digest    BLOB NOT NULL CHECK (length(digest) = 32),
  closed_at INTEGER NOT NULL
) STRICT;
CREATE TRIGGER closed_periods_are_final BEFORE UPDATE ON closed_periods
BEGIN SELECT RAISE(ABORT, 'closed periods are final'); END;
CREATE TRIGGER closed_periods_are_kept BEFORE DELETE ON closed_periods
BEGIN SELECT RAISE(ABORT, 'closed periods are kept'); END;
