# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# How the scripts of this folder run their cases, one line for each, and what a
# failed one said; and how they wait. Sourced; failed is 1 once one has failed.

# shellcheck disable=SC2034 # it is for the caller
failed=0

# check NAME COMMAND...: outside of any condition, where set -e would not reach
check()
{
	local name=$1 status begin=$SECONDS
	shift
	set +e
	(
		set -e
		trap 'kill $(jobs -pr) 2> /dev/null || true' EXIT # what a failed one leaves running
		"$@"
	) > log 2>&1
	status=$?
	set -e
	if [[ $status -eq 0 ]]; then
		printf 'ok %s (%d s)\n' "$name" $((SECONDS - begin))
	else
		printf 'not ok %s\n' "$name"
		cat log
		[[ ! -s server.err ]] || sed 's/^/server: /' server.err
		failed=1
	fi
}

# check_long NAME COMMAND...: left out where the script was asked to be short
check_long()
{
	[[ ${length-} == short ]] || check "$@"
}

# judge FILE PROGRAM [ARGUMENT...]: the Python PROGRAM passes FILE, its last argument. Where
# RPMA_JUDGE_LATER names a directory, as in a guest, both are kept there for the host
# (tests/vm/judge_results).
judge()
{
	local file=$1 kept
	shift
	if [[ -z ${RPMA_JUDGE_LATER-} ]]; then
		/usr/bin/python3 -B "$@" "$file"
		return
	fi
	kept=$(mktemp "$RPMA_JUDGE_LATER/result.XXXXXX")
	cp "$file" "$kept"
	printf '%s\0' "${0##*/}: ${name-}" "$@" "$kept" > "$kept.words"
}

# until_true WHAT COMMAND...: waits for it, for 5 minutes and 10 tries, and then shows the last err
until_true()
{
	local what=$1 tries=0 begin=$SECONDS
	shift
	until "$@"; do
		if ((++tries >= 10 && SECONDS - begin >= 300)); then
			printf 'in vain, %d times: %s\n' "$tries" "$what"
			[[ ! -s err ]] || cat err
			return 1
		fi
		sleep 0.05
	done
}
