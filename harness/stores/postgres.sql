CREATE TABLE IF NOT EXISTS session_rows (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    session text NOT NULL, message text NOT NULL, inbound text NOT NULL DEFAULT '');
CREATE INDEX IF NOT EXISTS session_rows_of_session ON session_rows (session, id);
CREATE TABLE IF NOT EXISTS session_inbounds (
    n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, session text NOT NULL, id text NOT NULL,
    inbound text NOT NULL, attempts integer NOT NULL DEFAULT 1, reply text,
    status text NOT NULL DEFAULT '', kind text NOT NULL DEFAULT '',
    delivered boolean NOT NULL DEFAULT false, UNIQUE (session, id));
CREATE TABLE IF NOT EXISTS session_summaries (
    n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, session text NOT NULL,
    message text NOT NULL, first bigint NOT NULL);
