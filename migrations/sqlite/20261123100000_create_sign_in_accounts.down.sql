DROP TABLE sign_in_accounts;
