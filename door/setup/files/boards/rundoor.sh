#!/bin/sh
# Starts Black Jack For Time for the caller on a node of your board: rundoor.sh NODE [SOCKET]
# More options of `door run` may follow the socket, such as --door BJFT for one table.

# Where your board writes the drop file of a node; $1 is its number.
dropfile=/bbs/node$1/door32.sys
# Whether the board passes the caller on by standard input and output. If not, the caller is on the
# socket whose number is the second argument.
stdio=yes

if [ $# -lt 1 ]; then
    echo 'usage: rundoor.sh NODE [SOCKET]' >&2
    exit 2
fi
node=$1
socket=${2:-}
shift
[ $# -gt 0 ] && shift
if [ "$stdio" = yes ] || [ -z "$socket" ]; then
    set -- --stdio "$@"
else
    set -- --socket "$socket" "$@"
fi
exec /usr/local/bin/door run --config /bbs/bjft/sysop.toml --node "$node" --dropfile "$dropfile" "$@"
