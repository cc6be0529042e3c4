#!/bin/sh
# Prints the lines with "very", as FILE(LINE): TEXT.
awk '/very/ { printf "%s(%d): \"very\" says nothing\n", FILENAME, FNR }' "$@"
