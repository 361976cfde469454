DROP TABLE refresh_tokens;
DROP TABLE access_tokens;
DROP TABLE authorization_codes;
DROP TABLE device_codes;
