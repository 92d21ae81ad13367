-- Saved recipients and where their money goes.
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
  search               TEXT NOT NULL,  -- name, e-mail and reference with folded case
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
) STRICT, WITHOUT ROWID;

CREATE TABLE beneficiary_tags (
  beneficiary INTEGER NOT NULL REFERENCES beneficiaries,
  position    INTEGER NOT NULL,
  tag         TEXT NOT NULL CHECK (tag <> ''),
  PRIMARY KEY (beneficiary, position),
  UNIQUE (beneficiary, tag)
) STRICT, WITHOUT ROWID;

-- Which columns are set follows the method. A change archives the row and writes another with the same
-- id: a payment refers to the row that it was made for.
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
