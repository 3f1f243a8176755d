# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Installs the packages that a script needs, by the sets of scripts/packages.list.
# Sourced by scripts/test and its neighbours. Where there is no apt-get it prints what is
# to be typed, and stops.

packages_list=$(dirname "${BASH_SOURCE[0]}")/../packages.list

# packages_names apt|dnf SET...: the packages of these sets by their names there, one a line
packages_names()
{
	local kind=$1 wanted=" ${*:2} " name words word only dnf taken=no here
	local -A printed=()
	# shellcheck source=/dev/null
	here=" $(. /etc/os-release 2> /dev/null && printf '%s %s' "${ID-}" "${VERSION_CODENAME-}") "
	while read -r name words; do
		case $name in
		'' | '#'*) continue ;;
		'['*']')
			[[ $wanted == *" ${name:1:-1} "* ]] && taken=yes || taken=no
			continue
			;;
		esac
		[[ $taken == yes ]] || continue
		only='' dnf=$name
		for word in $words; do
			[[ $word == dnf=* ]] && dnf=${word#dnf=} || only=$word
		done
		if [[ $kind == dnf ]]; then
			name=$dnf
			[[ -z $only ]] || name=
		elif [[ -n $only && $here != *" $only "* ]]; then
			name=
		fi
		[[ -z $name || -n ${printed[$name]-} ]] || printf '%s\n' "${name//,/$'\n'}"
		[[ -z $name ]] || printed[$name]=yes
	done < "$packages_list"
}

# packages_missing apt|dnf SET...: those of them that are not installed for this machine
packages_missing()
{
	local name own
	[[ $1 == dnf ]] || own=$(dpkg --print-architecture)
	while read -r name; do
		if [[ $1 == dnf ]]; then
			rpm -q --quiet --whatprovides "$name" > /dev/null 2>&1
		else
			dpkg-query -W -f '${db:Status-Status} ${Architecture}\n' "$name" 2> /dev/null |
				grep -qxE "installed ($own|all)"
		fi || printf '%s\n' "$name"
	done < <(packages_names "$@")
}

packages_apt()
{
	local as_root=()
	[[ $EUID == 0 ]] || as_root=(sudo)
	"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
		apt-get -q -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300 "$@"
}

# packages_known NAME...: whether apt's lists have all of them
packages_known()
{
	local name
	for name; do
		apt-cache show --no-all-versions "$name" > /dev/null 2>&1 || return 1
	done
}

# packages_stop WHY NAME...: ends the script, with what is to be typed
packages_stop()
{
	{
		printf '%s\n' "$1"
		shift
		printf 'Install these packages, then run this script again with --no-install:\n'
		printf '  %s\n' "$*"
	} >&2
	exit 3
}

# packages_install SET...: install what is missing; ends the script with 3 if it cannot
packages_install()
{
	local missing
	if ! command -v apt-get > /dev/null; then
		packages_without_apt "$@"
		return
	fi
	mapfile -t missing < <(packages_missing apt "$@")
	[[ ${#missing[@]} -gt 0 ]] || return 0
	if [[ $EUID != 0 ]] && ! command -v sudo > /dev/null; then
		packages_stop "Packages are missing, and there is no sudo to install them." \
			"apt-get install ${missing[*]}"
	fi
	printf 'Installing %s\n' "${missing[*]}"
	packages_known "${missing[@]}" || packages_apt update
	# Lists that are there may be stale: the second try is with fresh ones.
	packages_apt install -y --no-install-recommends "${missing[@]}" ||
		{ packages_apt update && packages_apt install -y --no-install-recommends "${missing[@]}"; } ||
		packages_stop "apt-get could not install the packages (its message is above)." \
			"apt-get install ${missing[*]}"
}

# On Fedora and RHEL it goes on if all are there; installing them is left to the user.
packages_without_apt()
{
	local missing
	if ! command -v dnf > /dev/null && ! command -v rpm > /dev/null; then
		mapfile -t missing < <(packages_names apt "$@")
		packages_stop "This system has neither apt-get nor dnf: the names are Debian's." "${missing[@]}"
	fi
	mapfile -t missing < <(packages_missing dnf "$@")
	[[ ${#missing[@]} -gt 0 ]] || return 0
	packages_stop "Packages are missing. RHEL has some of them in its CodeReady Builder and in EPEL." \
		"sudo dnf install ${missing[*]}"
}
