# Certificates made with openssl, each made once. Sourced. Keys are EC P-256; files are DIR/NAME.{key,crt}.

# several starts may want the same authority at the same moment
pki_locked() {
  mkdir -p "$1"
  (
    exec 8> "$1/.lock"
    flock 8
    [ -s "$1/openssl.cnf" ] || printf '[req]\ndistinguished_name=dn\n[dn]\n' > "$1/openssl.cnf"
    [ -s "$1/$2.crt" ] || "${@:3}"
  )
}

pki_request() {
  openssl req -config "$1/openssl.cnf" -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -sha256 \
    -keyout "$1/$2.key" -out "$1/$2.new" "${@:3}" 2> "$1/openssl.log" || die "openssl failed; see $1/openssl.log"
  mv "$1/$2.new" "$1/$2.crt"
}

# pki_authority DIR NAME COMMON_NAME
pki_authority() {
  pki_locked "$1" "$2" pki_request "$1" "$2" -days 3650 -subj "/CN=$3" -addext basicConstraints=critical,CA:TRUE \
    -addext keyUsage=critical,keyCertSign,cRLSign,digitalSignature
}

# pki_leaf DIR NAME AUTHORITY SUBJECT USAGE [SUBJECT_ALTERNATIVE_NAMES]; USAGE: serverAuth, clientAuth or both with a comma
pki_leaf() {
  pki_locked "$1" "$2" pki_request "$1" "$2" -days 800 -subj "$4" -CA "$1/$3.crt" -CAkey "$1/$3.key" \
    -addext basicConstraints=critical,CA:FALSE -addext keyUsage=critical,digitalSignature \
    -addext "extendedKeyUsage=$5" ${6:+-addext "subjectAltName=$6"}
}
