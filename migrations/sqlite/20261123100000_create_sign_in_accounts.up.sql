-- Accounts that have signed in, and how many attempts failed since. Times are epoch seconds.
CREATE TABLE sign_in_accounts (
    -- HMAC of the account's name and domain
    account_hash TEXT PRIMARY KEY,
    signed_in_at INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    -- of them, those from browsers in which the account had signed in before
    known_failures INTEGER NOT NULL,
    last_failed_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
);
