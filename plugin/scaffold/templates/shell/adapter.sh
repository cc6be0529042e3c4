#!/bin/sh
# SPDX-License-Identifier: MIT-0
# bento-adapter-__ID__: teaches bento the language __ID__, in POSIX sh with jq.
set -u
LC_ALL=C # lengths are bytes
marker=__ID__.txt

manifest() {
    jq -nc --arg m "$marker" '{
        protocol_version: 1, adapter_id: "__ID__", display_name: "__ID__",
        fingerprint_files: [$m, ".__ID__-version"],
        default_tasks: [
            {name: "build", run: "mkdir -p out && cp \($m) out/result", outputs: ["out/**"]},
            {name: "test", run: "test -s \($m)"},
            {name: "lint", run: "! grep -Hn TODO \($m)"}
        ],
        capabilities: {detect: true, required_toolchain: true, install: true, links: true},
        diagnostic_hooks: {lint: {parser: "plugin", rerun: {kind: "append_args", args: []}}}
    }'
}

# send writes the message on standard input as one frame.
send() {
    body=$(cat)
    printf 'Content-Length: %d\r\n\r\n%s' "${#body}" "$body"
}

# param prints a text among the params, and fails if it is none.
param() { printf '%s' "$request" | jq -er --arg n "$1" '.params[$n] | strings' 2>/dev/null; }

# required_toolchain prints the pin of a directory.
required_toolchain() {
    [ -f "$1/.__ID__-version" ] || { echo null; return; }
    jq -nRc --arg f "$1/.__ID__-version" \
        '[inputs] | to_entries | map(select(.value | test("\\S")))[0]
         | if . then {tool: "__ID__", version: (.value | gsub("^\\s+|\\s+$"; "")), file: $f, line: (.key + 1)} else null end' "$1/.__ID__-version"
}

# links: a line "use ../lib" is a dependency on the dish in that directory.
links() {
    [ -f "$1/$marker" ] || { echo '{"links": []}'; return; }
    grep -n '^use ' "$1/$marker" | while IFS= read -r line; do
        to=${line#*:use }
        case $to in /*) ;; *) to=$1/$to ;; esac
        to=$(cd "$to" 2>/dev/null && pwd) || continue
        jq -nc --arg d "$to" --arg f "$1/$marker" --argjson n "${line%%:*}" '{dir: $d, file: $f, line: $n}'
    done | jq -sc '{links: .}'
}

# findings reads what lint prints: FILE:LINE:TEXT, with FILE relative to the dish.
findings() {
    printf '%s' "$request" | jq -c '.params as $p
        | ($p.dish_dir | ltrimstr($p.workspace_root) | ltrimstr("/")) as $dish
        | {diagnostics: [$p.stdout | split("\n")[] | capture("^(?<f>[^:]+):(?<l>[0-9]+):(?<m>.*)$")
            | {file: ([$dish, .f] | map(select(. != "")) | join("/")), line: (.l | tonumber),
               severity: "warning", message: (.m | gsub("^\\s+|\\s+$"; "")), source: "__ID__"}]}'
}

reply() { jq -c --argjson id "$id" '{jsonrpc: "2.0", id: $id, result: .}' | send; }

refuse() {
    jq -nc --argjson id "$id" --argjson c "$1" --arg m "$2" '{jsonrpc: "2.0", id: $id, error: {code: $c, message: $m}}' | send
}

answer() {
    case $method in
    initialize) manifest | reply ;;
    shutdown) echo null | reply ;;
    install)
        jq -nc '{jsonrpc: "2.0", method: "notifications/log", params: {level: "info", message: "nothing to install"}}' | send
        echo null | reply
        ;;
    detect | requiredToolchain | links)
        dir=$(param dir) || { refuse -32602 "params.dir: expected a text"; return; }
        case $method in
        detect) [ -f "$dir/$marker" ] && echo '{"matches": true}' || echo '{"matches": false}' ;;
        requiredToolchain) required_toolchain "$dir" ;;
        links) links "$dir" ;;
        esac | reply
        ;;
    parseDiagnostics)
        for name in stdout dish_dir workspace_root; do
            param $name >/dev/null || { refuse -32602 "params.$name: expected a text"; return; }
        done
        findings | reply
        ;;
    *) refuse -32601 "method not found: $method" ;;
    esac
}

cr=$(printf '\r')
length=0
while IFS= read -r line; do
    line=${line%"$cr"}
    case $line in
    [Cc][Oo][Nn][Tt][Ee][Nn][Tt]-[Ll][Ee][Nn][Gg][Tt][Hh]:*) length=$((${line#*:})) ;;
    '')
        request=$(dd ibs=1 obs=65536 count="$length" 2>/dev/null)
        head=$(printf '%s' "$request" | jq -r '(if has("id") then .id | tojson else "" end) + " " + (.method // "")')
        id=${head%% *} method=${head#* }
        if [ -n "$id" ]; then answer; fi # else a notification
        if [ "$method" = shutdown ]; then exit 0; fi
        ;;
    esac
done
