# Random secrets of a stack. Sourced.

# without the characters that need quoting anywhere
random_secret() { openssl rand -base64 24 | tr -d '/+=\n' | cut -c1-20; }

keep_secret() { [ -s "$1" ] || random_secret > "$1"; }
