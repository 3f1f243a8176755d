# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Runs a test program as server and as client, each with a librpma.so.0 of its
# own: ours, old (ours with a program built for 1.x), host (ours as built on the host),
# by-read (ours without native flush), 1.2.0 and 1.3.0 (Debian's).
# Sourced by the scripts that run in the guest.

with_library()
{
	local directory
	case $1 in
	ours) directory=$RPMA_BUILD_DIR/librpma ;;
	host) directory=$RPMA_VM_OUT/host PATH=$RPMA_VM_OUT/host:$PATH ;;
	old)
		directory=$RPMA_BUILD_DIR/librpma
		export RPMA_TEST_VERSION=LIBRPMA_1.0
		;;
	by-read) directory=$RPMA_BUILD_DIR/tests/vm/by-read ;;
	*) directory=$RPMA_VM_OUT/reference/$1 ;;
	esac
	shift
	LD_LIBRARY_PATH=$directory RPMA_TEST_LIBRARY=$directory exec "$@"
}

# start_server LIBRARY PROGRAM...: sets server, its process, and port
start_server()
{
	exec 9< <(with_library "$@")
	server=$!
	# shellcheck disable=SC2034 # port is for the caller
	if ! read -r -t 60 -u 9 _ port; then
		printf 'server with %s did not listen\n' "$1"
		return 1
	fi
}

# client LIBRARY PROGRAM...
client()
{
	(with_library "$@")
}

# end_server STATUS: wait for it, or end it when its client failed with STATUS
end_server()
{
	[[ $1 -eq 0 ]] || kill "$server" 2> /dev/null || true
	wait "$server"
}
