-- A step that no release has: for coffer_next, the version that tests of upgrades go to.
CREATE TABLE next_version (
    next_version INTEGER PRIMARY KEY,
    made_at      INTEGER NOT NULL
) STRICT;
