# SPDX-License-Identifier: GPL-2.0-only
# What can come next is up to wakegovctl itself.
function __wakegovctl_complete
    set -l before (commandline -opc)
    set -e before[1]
    wakegovctl complete -- $before (commandline -ct) 2>/dev/null
end
complete -c wakegovctl -f -a '(__wakegovctl_complete)'
