-- The same ledger in PostgreSQL: same tables, same indexes, and one function each to accept and to
-- settle, so that a payment costs two round trips and two durable commits. A thousand wallets, so that
-- row locks do not delay the clients.
CREATE TABLE wallets (wallet int PRIMARY KEY);
CREATE TABLE accounts (
  account int PRIMARY KEY, wallet int NOT NULL REFERENCES wallets,
  balance bigint NOT NULL, held bigint NOT NULL DEFAULT 0, CHECK (held >= 0), CHECK (balance >= held));
INSERT INTO wallets SELECT generate_series(1, 1000);
INSERT INTO accounts SELECT n, n, 1000000000000000, 0 FROM generate_series(1, 1000) n;
CREATE TABLE payments (
  payment bigserial PRIMARY KEY, tenant int NOT NULL, id uuid NOT NULL UNIQUE,
  transaction_id text NOT NULL, application int NOT NULL, request_id text NOT NULL,
  type smallint NOT NULL, status smallint NOT NULL, version int NOT NULL DEFAULT 1,
  source_wallet int REFERENCES wallets, destination_wallet int REFERENCES wallets,
  sending_asset int, sending_amount bigint CHECK (sending_amount > 0),
  created_at timestamptz NOT NULL DEFAULT now(), processing_at timestamptz,
  completed_at timestamptz, updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (tenant, transaction_id));
CREATE INDEX ON payments (tenant, payment);
CREATE INDEX ON payments (source_wallet, payment);
CREATE INDEX ON payments (destination_wallet, payment);
CREATE INDEX ON payments (tenant, status) WHERE status <> 2;
CREATE TABLE holds (
  payment bigint NOT NULL REFERENCES payments, account int NOT NULL REFERENCES accounts,
  amount bigint NOT NULL, state smallint NOT NULL DEFAULT 0, PRIMARY KEY (payment, account));
CREATE TABLE events (
  sequence bigserial PRIMARY KEY, id uuid NOT NULL UNIQUE, type smallint NOT NULL,
  payment bigint REFERENCES payments, version int NOT NULL, at timestamptz NOT NULL DEFAULT now());
CREATE TABLE settlement_jobs (due_at timestamptz, payment bigint REFERENCES payments, PRIMARY KEY (due_at, payment));
CREATE TABLE journal (
  journal bigserial PRIMARY KEY, payment bigint REFERENCES payments,
  at timestamptz NOT NULL DEFAULT now(), link bytea NOT NULL);
CREATE INDEX ON journal (payment);
CREATE TABLE entries (
  journal bigint NOT NULL REFERENCES journal, line smallint NOT NULL,
  account int NOT NULL REFERENCES accounts, amount bigint NOT NULL, balance_after bigint NOT NULL,
  counterparty int NOT NULL, PRIMARY KEY (journal, line));
CREATE INDEX ON entries (account, journal);

CREATE FUNCTION accept(tid text, source int, destination int, units bigint) RETURNS bigint AS $$
DECLARE p bigint; d timestamptz := now();
BEGIN
  PERFORM 1 FROM payments WHERE tenant = 3 AND transaction_id = tid;
  UPDATE accounts SET held = held + units WHERE account = source;
  INSERT INTO payments (tenant, id, transaction_id, application, request_id, type, status,
    source_wallet, destination_wallet, sending_asset, sending_amount)
    VALUES (3, gen_random_uuid(), tid, 1, '01a1fca7-9dff-72b1-8d9a-7a7fbb246b0d', 0, 0, source,
      destination, 1, units) RETURNING payment INTO p;
  INSERT INTO holds (payment, account, amount) VALUES (p, source, units);
  INSERT INTO events (id, type, payment, version) VALUES (gen_random_uuid(), 0, p, 1);
  INSERT INTO settlement_jobs VALUES (d, p);
  RETURN p;
END $$ LANGUAGE plpgsql;

CREATE FUNCTION settle(p bigint, source int, destination int, units bigint) RETURNS void AS $$
DECLARE j bigint; a bigint; b bigint;
BEGIN
  DELETE FROM settlement_jobs WHERE payment = p AND due_at = (SELECT created_at FROM payments WHERE payment = p);
  INSERT INTO events (id, type, payment, version) VALUES (gen_random_uuid(), 1, p, 2);
  UPDATE holds SET state = 1 WHERE payment = p AND account = source;
  -- All clients use the same order, to avoid deadlocks.
  IF source < destination THEN
    UPDATE accounts SET balance = balance - units, held = held - units WHERE account = source RETURNING balance INTO a;
    UPDATE accounts SET balance = balance + units WHERE account = destination RETURNING balance INTO b;
  ELSE
    UPDATE accounts SET balance = balance + units WHERE account = destination RETURNING balance INTO b;
    UPDATE accounts SET balance = balance - units, held = held - units WHERE account = source RETURNING balance INTO a;
  END IF;
  INSERT INTO journal (payment, link) VALUES (p, sha256(p::text::bytea)) RETURNING journal INTO j;
  INSERT INTO entries VALUES (j, 0, source, -units, a, destination), (j, 1, destination, units, b, source);
  UPDATE payments SET status = 2, version = 3, processing_at = now(), completed_at = now(),
    updated_at = now() WHERE payment = p;
  INSERT INTO events (id, type, payment, version) VALUES (gen_random_uuid(), 2, p, 3);
END $$ LANGUAGE plpgsql;
