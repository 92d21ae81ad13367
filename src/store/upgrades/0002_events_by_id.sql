-- An event is found by the id its receiver knows it by (to send it again, to look it up), and no two
-- events have the same.
CREATE UNIQUE INDEX events_by_id ON events (id);
