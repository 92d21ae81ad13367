-- Operators of the box: who may use the admin page, and what was done from it or from the command line.

-- Who signs in to the admin page. What a viewer may not do is recorded in `acts`.
CREATE TABLE operators (
  operator      INTEGER PRIMARY KEY,
  id            BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
  name          TEXT NOT NULL UNIQUE CHECK (name <> ''),      -- lower case
  role          INTEGER NOT NULL CHECK (role BETWEEN 0 AND 2),  -- viewer, operator, administrator
  password_hash TEXT,                         -- scrypt; NULL until the one-time link was used
  sealed_otp    BLOB,                         -- NULL until an authenticator was enrolled
  otp_step      INTEGER NOT NULL DEFAULT 0,   -- of the last code that was accepted
  otp_required  INTEGER NOT NULL DEFAULT 1 CHECK (otp_required IN (0, 1)),
  suspended     INTEGER NOT NULL DEFAULT 0 CHECK (suspended IN (0, 1)),
  version       INTEGER NOT NULL DEFAULT 1,   -- sessions opened under an older one are over
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL
) STRICT;

-- One-time links: who has one sets a password. Without an operator it makes a new administrator.
CREATE TABLE operator_links (
  hash       BLOB NOT NULL PRIMARY KEY CHECK (length(hash) = 32),
  operator   INTEGER REFERENCES operators,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX operator_links_of_operator ON operator_links (operator);

-- The audit log. An act is recorded before it is carried out, what came of it after; each row's link
-- is SHA-256 over the link before and the row's canonical text (store/identity/acts.h).
CREATE TABLE acts (
  act        INTEGER PRIMARY KEY,
  at         INTEGER NOT NULL,
  actor      TEXT NOT NULL CHECK (actor <> ''),
  command    TEXT NOT NULL CHECK (command <> ''),
  detail     TEXT NOT NULL,                          -- its arguments; of an outcome, what was answered
  outcome_of INTEGER UNIQUE REFERENCES acts,
  outcome    TEXT,                                   -- done, or the name of the problem
  link       BLOB NOT NULL CHECK (length(link) = 32),
  CHECK ((outcome_of IS NULL) = (outcome IS NULL))
) STRICT;
CREATE TRIGGER acts_are_not_changed BEFORE UPDATE ON acts
BEGIN SELECT RAISE(ABORT, 'acts are never changed'); END;
CREATE TRIGGER acts_are_not_deleted BEFORE DELETE ON acts
BEGIN SELECT RAISE(ABORT, 'acts are never deleted'); END;

-- What an operator looks for among many: wallets under review or turned down, messages that failed.
CREATE INDEX wallets_not_verified ON wallets (status) WHERE status <> 1;
CREATE INDEX notifications_failed ON notifications (state) WHERE state = 2;
