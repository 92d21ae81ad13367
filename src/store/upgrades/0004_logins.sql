-- Challenge login, refresh tokens and the users of an association.

-- People of an association, who log in with a password and a one-time code.
CREATE TABLE users (
  user          INTEGER PRIMARY KEY,
  id            BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
  association   INTEGER NOT NULL REFERENCES associations,
  username      TEXT NOT NULL UNIQUE CHECK (username <> ''),  -- lower case
  password_hash TEXT NOT NULL,                -- scrypt, with its cost and salt
  sealed_otp    BLOB NOT NULL,
  otp_step      INTEGER NOT NULL DEFAULT 0,   -- of the last code that was accepted
  suspended     INTEGER NOT NULL DEFAULT 0 CHECK (suspended IN (0, 1)),
  key_version   INTEGER NOT NULL DEFAULT 1,   -- tokens of an older version are refused
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL
) STRICT;

-- Challenges that were accepted, until their time bounds are over.
CREATE TABLE used_challenges (
  hash       BLOB NOT NULL PRIMARY KEY CHECK (length(hash) = 32),
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX used_challenges_by_expiry ON used_challenges (expires_at);

-- One login and what was refreshed from it is a family: a spent token that comes back ends all of it.
CREATE TABLE refresh_tokens (
  hash        BLOB NOT NULL PRIMARY KEY CHECK (length(hash) = 32),
  family      BLOB NOT NULL CHECK (length(family) = 16),
  application INTEGER NOT NULL REFERENCES applications,
  key_version INTEGER NOT NULL,  -- of the application at the login
  spent       INTEGER NOT NULL DEFAULT 0 CHECK (spent IN (0, 1)),
  expires_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX refresh_tokens_of_family ON refresh_tokens (family);
CREATE INDEX refresh_tokens_by_expiry ON refresh_tokens (expires_at);
