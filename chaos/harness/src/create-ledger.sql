-- Name: create-ledger
-- Where the handlers of a chaos run write what they did, in the transaction of their effect. It has no key and no unique
-- index on purpose: one would make "nothing fired twice" true by construction (faults.md).
-- Safe under concurrency: it is run once, before any service starts.
CREATE SCHEMA chaos;
CREATE TABLE chaos.ledger (
  job_id uuid NOT NULL,
  attempt integer NOT NULL,
  firing uuid NOT NULL,
  fired_at timestamptz(3) NOT NULL DEFAULT clock_timestamp()
);
