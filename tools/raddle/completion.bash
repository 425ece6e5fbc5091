# SPDX-License-Identifier: Apache-2.0
# bash completion of raddle. Commands, options and what their values are called come from the help of
# the program itself, so there is nothing here to keep up.
# shellcheck shell=bash

# The help's lines of commands: "  name   what it does".
_raddle_commands() {
  "$1" --help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\)  *.*/\1/p'
}

# The help's lines of options: "  --name VALUE  what it does".
_raddle_options() {
  "$1" "$2" --help 2>/dev/null | sed -n 's/^  \(--*[a-z][a-z-]*\).*/\1/p'
}

# What the help calls the value of option $3; nothing when it has none.
_raddle_value() {
  "$1" "$2" --help 2>/dev/null | sed -n "s/^  $3 \([A-Z][A-Z=]*\)  .*/\1/p"
}

_raddle_selectors() {
  "$1" devices --json 2>/dev/null | sed -n '/"usable": true/s/^{"selector": "\([^"]*\)".*/\1/p'
}

# The tasks of the files on the command line.
_raddle_tasks() {
  local word
  for word in "$@"; do
    if [[ $word == *.c && -r $word ]]; then
      sed -n 's/^RDL_TASK\(_LANES\|_PRIVATE\)\{0,1\}(\([A-Za-z_0-9]*\),.*/\2/p' "$word"
    fi
  done
}

_raddle_shapes() {
  printf '%s\n' all
  "$1" bench --help 2>/dev/null | sed -n '/--shape SHAPE /,/^  --device/p' |
    sed 's/.*one of//; /^  --/d' | tr -s ' ' '\n'
}

_raddle_files() {
  compopt -o filenames 2>/dev/null
  compgen -f -- "$1"
}

# What may stand where an option's value is called $2.
_raddle_candidates() {
  local program=$1 value=$2 current=$3
  shift 3
  case $value in
    SELECTOR) compgen -W "$(_raddle_selectors "$program")" -- "$current" ;;
    TASK) compgen -W "$(_raddle_tasks "$@")" -- "$current" ;;
    SHAPE) compgen -W "$(_raddle_shapes "$program")" -- "$current" ;;
    FILE) _raddle_files "$current" ;;
  esac
}

# bash takes : and = for ends of words, and replaces what is behind the last of them.
_raddle_cut() {
  local behind=${1##*[:=]} i
  local before=${1%"$behind"}
  for i in "${!COMPREPLY[@]}"; do COMPREPLY[i]=${COMPREPLY[i]#"$before"}; done
}

_raddle() {
  local program=$1 line=${COMP_LINE:0:COMP_POINT} words current previous value="" whole
  COMPREPLY=()
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  current=${words[-1]}
  whole=$current
  if ((${#words[@]} <= 2)); then
    mapfile -t COMPREPLY < <(compgen -W "$(_raddle_commands "$program") --help --version" -- "$current")
    return
  fi
  previous=${words[-2]}
  if [[ $current == --*=* ]]; then
    previous=${current%%=*}
    current=${current#*=}
  fi
  [[ $previous == -* ]] && value=$(_raddle_value "$program" "${words[1]}" "$previous")
  if [[ -n $value ]]; then
    mapfile -t COMPREPLY < <(_raddle_candidates "$program" "$value" "$current" "${words[@]:2}")
  elif [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_raddle_options "$program" "${words[1]}")" -- "$current")
  else
    mapfile -t COMPREPLY < <(_raddle_files "$current")
  fi
  if [[ $whole == --*=* ]]; then _raddle_cut "$current"; else _raddle_cut "$whole"; fi
}

complete -F _raddle raddle
