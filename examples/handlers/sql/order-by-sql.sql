-- How a program that knows only SQL hands in a job together with its own change: both happen, or neither does.
BEGIN;
UPDATE acme.accounts SET cents = cents - 500 WHERE owner = 'ada';
SELECT deadman.submit(
  'email.send',
  json_build_object('to', 'ada@example.com', 'subject', 'You have spent 5.00'),
  tags => '{tenant:acme}',
  idempotency_key => 'spent-5-by-ada'
);
COMMIT;
