-- A schema upgrade that no release has, for coffer_next, the version that upgrade tests use.
CREATE TABLE next_version (
    next_version INTEGER PRIMARY KEY,
    made_at      INTEGER NOT NULL
) STRICT;
