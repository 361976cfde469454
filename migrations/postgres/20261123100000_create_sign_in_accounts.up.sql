-- Accounts that have signed in, and how many attempts failed since. Times are epoch seconds.
CREATE TABLE sign_in_accounts (
    -- HMAC of the account's name and domain
    account_hash TEXT PRIMARY KEY,
    signed_in_at BIGINT NOT NULL,
    failures BIGINT NOT NULL,
    -- of them, those from browsers in which the account had signed in before
    known_failures BIGINT NOT NULL,
    last_failed_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
