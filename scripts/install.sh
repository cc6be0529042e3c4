#!/bin/sh
# Installs a released version of bento: downloads its archive, compares the checksum, and puts the program into a
# directory. It changes nothing else.
#
#   sh install.sh                     into ~/.local/bin
#   BENTO_VERSION=0.2.0               another version than that of this script
#   BENTO_INSTALL_DIR=/usr/local/bin  another directory
#   BENTO_RELEASES=URL                where the directories of the versions are, as on a mirror; file:///… for a local one
set -eu

version=${BENTO_VERSION:-}
releases=${BENTO_RELEASES:-https://github.com/bentobuild/bento/releases/download}
dir=${BENTO_INSTALL_DIR:-${HOME:+$HOME/.local/bin}}

die() {
    printf 'install.sh: %s\n' "$*" >&2
    exit 1
}

[ -n "$version" ] || die 'which version? Set BENTO_VERSION, such as BENTO_VERSION=0.2.0'
[ -n "$dir" ] || die 'where to? HOME is not set: set BENTO_INSTALL_DIR'
version=${version#v}

case $(uname -s) in
Linux) os=linux ;;
Darwin) os=darwin ;;
*) die "there is no bento for $(uname -s): it runs on Linux and macOS, on Windows in WSL" ;;
esac
case $(uname -m) in
x86_64 | amd64) arch=amd64 ;;
aarch64 | arm64) arch=arm64 ;;
*) die "there is no bento for $(uname -m): it is built for x86-64 and arm64" ;;
esac

get() { # URL FILE
    if command -v curl >/dev/null; then
        curl --fail --silent --show-error --location --retry 3 --output "$2" "$1"
    elif command -v wget >/dev/null; then
        wget --quiet --tries=3 --output-document="$2" "$1"
    else
        die 'it needs curl or wget'
    fi
}

digest() {
    if command -v sha256sum >/dev/null; then
        sha256sum "$1"
    elif command -v shasum >/dev/null; then
        shasum -a 256 "$1"
    else
        die 'it needs sha256sum or shasum'
    fi | cut -d ' ' -f 1
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
name=bento-$version-$os-$arch
get "$releases/v$version/$name.tar.gz" "$work/$name.tar.gz" || die "cannot download $releases/v$version/$name.tar.gz: is $version a version, and can the host be reached?"
get "$releases/v$version/SHA256SUMS" "$work/SHA256SUMS" || die "cannot download $releases/v$version/SHA256SUMS"

want=$(awk -v name="$name.tar.gz" '$2 == name { print $1 }' "$work/SHA256SUMS")
got=$(digest "$work/$name.tar.gz")
[ -n "$want" ] && [ "$got" = "$want" ] || die "$name.tar.gz has the checksum $got, SHA256SUMS says ${want:-nothing}: nothing was installed"

tar -xzf "$work/$name.tar.gz" -C "$work" "$name/bento"
mkdir -p "$dir" || die "cannot make $dir: set BENTO_INSTALL_DIR to a directory of yours"
cp "$work/$name/bento" "$dir/.bento-install.$$" || die "cannot write to $dir: set BENTO_INSTALL_DIR to a directory of yours"
chmod 755 "$dir/.bento-install.$$"
mv "$dir/.bento-install.$$" "$dir/bento"
printf 'bento %s is in %s\n' "$version" "$dir"
case :${PATH:-}: in
*:"$dir":*) ;;
*) printf 'add it to PATH: export PATH="%s:$PATH"\n' "$dir" ;;
esac
