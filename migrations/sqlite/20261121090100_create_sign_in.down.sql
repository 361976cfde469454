DROP TABLE sign_in_throttles;
DROP TABLE totp_marks;
DROP TABLE handover_codes;
DROP TABLE sign_in_flows;
