# Virtual environments with packages from PyPI. They are made by uv, which takes a tenth of pip's processor time; pip installs
# only uv. The interpreter is Debian's: it is compiled with profile-guided optimisation, and services are a third faster with it
# than with one that pyenv has compiled. As pip, uv asks the index of PIP_INDEX_URL and PIP_FIND_LINKS; it does not read pip's
# configuration files. Sourced, after `cache` is set.

uv_version=0.13.9
python=/usr/bin/python3

# the path of uv, which is installed when it is missing
uv_program() {
  local venv=$cache/uv/$uv_version lock
  mkdir -p "$cache/uv"
  exec {lock}> "$cache/uv/lock"
  flock "$lock"
  if [ ! -x "$venv/bin/uv" ]; then
    rm -rf "$venv"
    "$python" -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check "uv==$uv_version"
  fi
  exec {lock}>&-
  echo "$venv/bin/uv"
}

# python_environment DIR ARGUMENT...: a new environment in DIR; the arguments are packages or those of `uv pip install`
python_environment() {
  local directory=$1 uv
  shift
  uv=$(uv_program)
  rm -rf "$directory"
  (
    export UV_CACHE_DIR=$cache/uv/cache UV_NO_CONFIG=1 UV_PYTHON_DOWNLOADS=never
    # the authorities that this machine trusts, and the patience of a slow index
    export UV_SYSTEM_CERTS=1 UV_HTTP_TIMEOUT=180
    [ -z "${PIP_INDEX_URL:-}" ] || export UV_DEFAULT_INDEX=$PIP_INDEX_URL
    [ -z "${PIP_FIND_LINKS:-}" ] || export UV_FIND_LINKS=$PIP_FIND_LINKS
    "$uv" venv --quiet --python "$python" "$directory"
    "$uv" pip install --quiet --python "$directory/bin/python" "$@"
  )
}
