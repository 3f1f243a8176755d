# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Installs the Debian packages that a script needs, by the sets of
# scripts/packages.list. Sourced by scripts/test and scripts/quickstart.
# On another distribution it lists what is needed and stops: a wrong guess at
# foreign package names would be worse than none.

packages_list=$(dirname "${BASH_SOURCE[0]}")/../packages.list

# packages_names SET...: the packages of these sets, one a line
packages_names()
{
	local wanted=" $* " name release taken=no here
	here=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release 2> /dev/null || true)
	while read -r name release; do
		case $name in
		'' | '#'*) ;;
		'['*']') [[ $wanted == *" ${name:1:-1} "* ]] && taken=yes || taken=no ;;
		*) [[ $taken == no || ${release:-$here} != "$here" ]] || printf '%s\n' "$name" ;;
		esac
	done < "$packages_list"
}

packages_on_debian()
{
	command -v apt-get > /dev/null && grep -qsx 'ID=debian' /etc/os-release
}

# packages_missing SET...: those of them that dpkg does not have installed
packages_missing()
{
	local name
	while read -r name; do
		dpkg-query -W -f '${db:Status-Status}\n' "$name" 2> /dev/null | grep -qx installed ||
			printf '%s\n' "$name"
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

packages_stop()
{
	{
		printf '%s\n' "$1"
		printf 'Needed, by their Debian names:\n'
		shift
		printf '  %s\n' "$@"
		printf 'Install them, then run this script again with --no-install.\n'
	} >&2
	exit 3
}

# packages_install SET...: install what is missing; ends the script with 3 if it cannot
packages_install()
{
	local missing
	if ! packages_on_debian; then
		mapfile -t missing < <(packages_names "$@")
		packages_stop "This is not Debian: packages are not installed here." "${missing[@]}"
	fi
	mapfile -t missing < <(packages_missing "$@")
	[[ ${#missing[@]} -gt 0 ]] || return 0
	if [[ $EUID != 0 ]] && ! command -v sudo > /dev/null; then
		packages_stop "Packages are missing, and there is no sudo to install them." "${missing[@]}"
	fi
	printf 'Installing %s\n' "${missing[*]}"
	packages_known "${missing[@]}" || packages_apt update
	# Lists that are there may be stale: the second try is with fresh ones.
	packages_apt install -y --no-install-recommends "${missing[@]}" ||
		{ packages_apt update && packages_apt install -y --no-install-recommends "${missing[@]}"; } ||
		packages_stop "apt-get could not install the packages (its message is above)." "${missing[@]}"
}
