-- Acme's own table, in the database that Deadman keeps its jobs in, and a schema of its own there.
CREATE SCHEMA acme;
CREATE TABLE acme.accounts (
  owner text NOT NULL,
  cents bigint NOT NULL,
  CONSTRAINT accounts_pkey PRIMARY KEY (owner),
  CONSTRAINT accounts_are_not_overdrawn CHECK (cents >= 0)
);
INSERT INTO acme.accounts (owner, cents) VALUES ('ada', 10000), ('bob', 0);
