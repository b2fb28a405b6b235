-- ping: answers when the database does. Concurrency: touches nothing.
SELECT 1 AS pong;
