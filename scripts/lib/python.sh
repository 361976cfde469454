# Virtual environments with packages from PyPI. They are made by uv, which takes a tenth of pip's processor time; pip installs
# only uv. Where Debian's interpreter is new enough it is used: it is compiled with profile-guided optimisation, and services are a
# third faster with it than with one that pyenv has compiled. Of pip's settings, uv gets the environment variables below; it does
# not read pip's configuration files. Sourced, after `cache` is set.

uv_version=0.13.9

# the interpreter of new environments
python_interpreter() {
  local candidate
  for candidate in /usr/bin/python3 python3; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2> /dev/null; then
      command -v "$candidate"
      return
    fi
  done
  return 1
}

# the path of uv, which is installed when it is missing
uv_program() {
  local venv=$cache/uv/$uv_version lock
  mkdir -p "$cache/uv"
  exec {lock}> "$cache/uv/lock"
  flock "$lock"
  if [ ! -x "$venv/bin/uv" ]; then
    rm -rf "$venv"
    # any interpreter will do; errors end a command substitution only if they are looked at
    python3 -m venv "$venv" || return
    "$venv/bin/pip" install --quiet --disable-pip-version-check "uv==$uv_version" || return
  fi
  exec {lock}>&-
  echo "$venv/bin/uv"
}

# python_environment DIR ARGUMENT...: a new environment in DIR; the arguments are packages or those of `uv pip install`
python_environment() {
  local directory=$1 uv interpreter
  shift
  uv=$(uv_program)
  interpreter=$(python_interpreter)
  rm -rf "$directory"
  (
    export UV_CACHE_DIR=$cache/uv/cache UV_NO_CONFIG=1 UV_PYTHON_DOWNLOADS=never
    # the authorities that this machine trusts, and the patience of a slow index
    export UV_SYSTEM_CERTS=1 UV_HTTP_TIMEOUT=180
    [ -z "${PIP_INDEX_URL:-}" ] || export UV_DEFAULT_INDEX=$PIP_INDEX_URL
    [ -z "${PIP_EXTRA_INDEX_URL:-}" ] || export UV_INDEX=$PIP_EXTRA_INDEX_URL
    [ -z "${PIP_FIND_LINKS:-}" ] || export UV_FIND_LINKS=${PIP_FIND_LINKS// /,}
    "$uv" venv --quiet --python "$interpreter" "$directory"
    "$uv" pip install --quiet ${PIP_NO_INDEX:+--no-index} --python "$directory/bin/python" "$@"
  )
}

# has_python_environment DIR: whether there is one that this version of uv has made
has_python_environment() { grep -q "^uv = $uv_version$" "$1/pyvenv.cfg" 2> /dev/null; }

# install_python_service NAME IMPORTS: the service's environment in $cache/NAME/venv, from the pinned versions of its requirements.
# One that exists already stays. IMPORTS is what the service imports: only that is compiled, as most of the packages' files are
# tests and clients that never run.
install_python_service() {
  local requirements=$root/scripts/services/$1-requirements.txt venv=$cache/$1/venv stamp=$cache/$1/installed
  mkdir -p "$cache/$1"
  exec 9> "$cache/$1/lock"
  flock 9
  if has_python_environment "$venv" && cmp -s "$requirements" "$stamp"; then return; fi
  rm -f "$stamp"
  python_environment "$venv" --requirement "$requirements"
  PYTHONWARNINGS=ignore "$venv/bin/python" -c "import $2"
  cp "$requirements" "$stamp"
}
