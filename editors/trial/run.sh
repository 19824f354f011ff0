#!/usr/bin/env bash
# Sets up the editors that are installed as docs/how-to/use-in-editors.md says, in folders of their
# own, and asks Neovim and Emacs for diagnostics, hover, definition and renaming in all three languages
# and for the layout of native models, Helix for renaming. An editor that is missing is skipped, and the last line says so.
#
#   editors/trial/run.sh [PROGRAM]     the program `fair`; target/release/fair unless given
set -euo pipefail
cd "$(dirname "$0")/../.."

program=$(realpath "${1:-target/release/fair}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/bin" "$folder/models"
ln -s "$program" "$folder/bin/fair"
export PATH="$folder/bin:$PATH" TRIAL="$folder/models" HOME="$folder"
cp examples/micro/toggle.fair examples/promela/alternating_bit.pml examples/csp/milner.csp "$folder/models"

# A code block of the manual, by its heading and language.
block() {
  awk -v heading="## $1" -v fence="\`\`\`$2" '
    $0 == heading { inside = 1; next }
    /^## / { inside = 0 }
    inside && $0 == fence { copying = 1; next }
    /^```$/ { copying = 0 }
    copying' docs/how-to/use-in-editors.md
}

tried=() skipped=()

if command -v nvim >/dev/null && nvim --headless -u NONE -c 'if has("nvim-0.11") | qall | else | cquit | endif' 2>/dev/null; then
  echo "== $(nvim --version | head -n 1)"
  export XDG_CONFIG_HOME="$folder/config"
  mkdir -p "$XDG_CONFIG_HOME/nvim/pack/fair/start"
  cp -r editors/vim "$XDG_CONFIG_HOME/nvim/pack/fair/start/fair"
  block Neovim lua >"$XDG_CONFIG_HOME/nvim/init.lua"
  nvim --headless -c 'luafile editors/trial/neovim.lua'
  tried+=(neovim)
else
  skipped+=("neovim (0.11 or later)")
fi

if command -v emacs >/dev/null && emacs --batch --eval '(unless (require (quote eglot) nil t) (kill-emacs 1))' 2>/dev/null; then
  echo "== $(emacs --version | head -n 1)"
  block Emacs lisp | sed "s|/path/to/fairground|$PWD|" >"$folder/init.el"
  emacs --batch -l "$folder/init.el" -l editors/trial/emacs.el
  tried+=(emacs)
else
  skipped+=("emacs (with eglot)")
fi

# Helix has no mode without a terminal: keys are typed into one. `\033;` and `;` put the cursor at the
# beginning of what was found, ` r` asks for a new name, `\025` removes the old one.
rename_in_helix() {
  cp "examples/$1" "$TRIAL/model.${1##*.}"
  (
    sleep 3
    for keys in "/$2\r" '\033;' ';' ' r' '\025renamed\r' ':w\r' ':q!\r'; do
      printf "$keys"
      sleep 2
    done
  ) | timeout 60 script -qc "stty rows 40 cols 120; hx '$TRIAL/model.${1##*.}'" /dev/null >/dev/null
  grep -qF "$3" "$TRIAL/model.${1##*.}" || { echo "helix: $1 is not renamed"; exit 1; }
  echo "${1##*/}: renaming"
}

if command -v hx >/dev/null && command -v script >/dev/null; then
  echo "== $(hx --version)"
  export XDG_CONFIG_HOME="$folder/config" TERM=xterm
  mkdir -p "$XDG_CONFIG_HOME/helix"
  cp editors/helix/languages.toml "$XDG_CONFIG_HOME/helix/"
  for language in fair promela csp; do
    hx --health "$language" | grep -F "$folder/bin/fair" || { echo "helix: $language has no server"; exit 1; }
  done
  rename_in_helix micro/toggle.fair 'x == 1' 'var renamed : 0..1'
  rename_in_helix promela/alternating_bit.pml 'received == sent' 'byte sent, renamed;'
  rename_in_helix csp/milner.csp 'Ready.i.;' 'renamed(i) = a.i'
  tried+=(helix)
else
  skipped+=("helix (and script)")
fi

echo "tried: ${tried[*]:-none}; skipped: ${skipped[*]:-none}"
