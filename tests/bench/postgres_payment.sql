\set source random(1, 1000)
\set step random(1, 999)
\set destination (:source + :step - 1) % 1000 + 1
SELECT accept(gen_random_uuid()::text, :source, :destination, 12500000) AS payment \gset
SELECT settle(:payment, :source, :destination, 12500000);
