-- Webhooks: registrations, deliveries and their log; events of webhooks, and events that are only tests.

-- Endpoints that events are sent to. A disabled one stays disabled.
CREATE TABLE webhooks (
  webhook          INTEGER PRIMARY KEY,
  tenant           INTEGER NOT NULL REFERENCES tenants,
  application      INTEGER NOT NULL REFERENCES applications,  -- it was registered for
  id               BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
  url              TEXT NOT NULL CHECK (url <> ''),
  description      TEXT,
  event_types      INTEGER NOT NULL CHECK (event_types > 0),  -- one bit per EventType
  sealed_secret    BLOB NOT NULL,
  old_secret       BLOB,     -- sealed; after a rotation it signs too, for a while
  old_secret_until INTEGER,
  cursor           INTEGER NOT NULL,  -- sequence of the last event that was looked at
  quiet_until      INTEGER NOT NULL DEFAULT 0,  -- the endpoint asked to be left alone
  failures         INTEGER NOT NULL DEFAULT 0,  -- attempts in a row without success
  last_attempt_at  INTEGER,
  last_status      INTEGER,  -- of the last answer; NULL: there was none
  created_at       INTEGER NOT NULL,
  updated_at       INTEGER NOT NULL,
  disabled_at      INTEGER,
  disable_reason   INTEGER CHECK (disable_reason IN (0, 1)),  -- by its owner, endpoint gone
  CHECK ((old_secret IS NULL) = (old_secret_until IS NULL)),
  CHECK ((disabled_at IS NULL) = (disable_reason IS NULL))
) STRICT;
CREATE INDEX webhooks_by_tenant ON webhooks (tenant);
CREATE INDEX webhooks_active ON webhooks (webhook) WHERE disabled_at IS NULL;
CREATE TRIGGER webhooks_stay_disabled BEFORE UPDATE OF disabled_at, disable_reason ON webhooks
WHEN OLD.disabled_at IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'a disabled webhook stays disabled'); END;
CREATE TRIGGER webhooks_are_kept BEFORE DELETE ON webhooks
BEGIN SELECT RAISE(ABORT, 'webhooks are disabled'); END;

-- Which active registration has an event type: one per association, environment and type.
CREATE TABLE webhook_types (
  tenant  INTEGER NOT NULL REFERENCES tenants,
  type    INTEGER NOT NULL,
  webhook INTEGER NOT NULL REFERENCES webhooks,
  PRIMARY KEY (tenant, type)
) STRICT, WITHOUT ROWID;
CREATE INDEX webhook_types_of_webhook ON webhook_types (webhook);

-- The bytes that are sent for an event, made once. event_body = tenant << 40 | sequence: the bodies of
-- a tenant are neighbours without a second index.
CREATE TABLE event_bodies (
  event_body INTEGER PRIMARY KEY,
  body       BLOB NOT NULL
) STRICT;

-- An event on its way to an endpoint.
CREATE TABLE deliveries (
  webhook    INTEGER NOT NULL REFERENCES webhooks,
  sequence   INTEGER NOT NULL,  -- of the event
  state      INTEGER NOT NULL CHECK (state BETWEEN 0 AND 3),  -- pending, delivered, dead, oversize
  attempts   INTEGER NOT NULL DEFAULT 0,  -- of the present series
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
  status      INTEGER,  -- of the answer; NULL: there was none
  fault       TEXT,     -- why it is no success, where the status does not say
  response    BLOB,     -- the first 4 KiB
  PRIMARY KEY (webhook, sequence, attempt),
  FOREIGN KEY (webhook, sequence) REFERENCES deliveries ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- Events that an endpoint is to get again, from and to which sequence; worked off in pieces.
CREATE TABLE webhook_recoveries (
  webhook INTEGER PRIMARY KEY REFERENCES webhooks,
  next    INTEGER NOT NULL,
  last    INTEGER NOT NULL
) STRICT;

-- What an event may be about is in the table's CHECK.
CREATE TEMP TABLE kept_events AS SELECT * FROM events;
DROP TABLE events;
CREATE TABLE events (
  tenant        INTEGER NOT NULL REFERENCES tenants,
  sequence      INTEGER NOT NULL,
  id            BLOB NOT NULL CHECK (length(id) = 16),
  type          INTEGER NOT NULL,
  payment       INTEGER REFERENCES payments,
  wallet        INTEGER REFERENCES wallets,
  webhook       INTEGER REFERENCES webhooks,  -- that was disabled; of a test: the only receiver
  wallet_status INTEGER CHECK (wallet_status BETWEEN 0 AND 2),  -- after the change
  version       INTEGER NOT NULL,  -- of the record after the change
  test          INTEGER NOT NULL DEFAULT 0 CHECK (test IN (0, 1)),  -- nothing happened
  at            INTEGER NOT NULL,
  PRIMARY KEY (tenant, sequence),
  CHECK ((payment IS NOT NULL) + (wallet IS NOT NULL) + (webhook IS NOT NULL) = 1
         OR (test = 1 AND payment IS NULL AND wallet IS NULL AND webhook IS NULL))
) STRICT, WITHOUT ROWID;
INSERT INTO events (tenant, sequence, id, type, payment, wallet, version, at)
SELECT tenant, sequence, id, type, payment, wallet, version, at FROM kept_events;
DROP TABLE kept_events;
CREATE UNIQUE INDEX events_by_id ON events (id);
