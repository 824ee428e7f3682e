# SPDX-License-Identifier: GPL-2.0-only
# The example of a policy, from the comments of its manual.
s/^\.\\"> \{0,1\}//p
