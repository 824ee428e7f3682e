/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* The tests of a backend that drives, by what they are about. */

/* Acquire, save, apply: actuator-drive.c */
void test_acquire_saves_first(void **state);
void test_acquire_without_room_changes_nothing(void **state);
void test_apply_each_opp(void **state);
void test_apply_unchanged_writes_nothing(void **state);
void test_apply_under_limits(void **state);

/* Other writers, and CPUs that come and go: actuator-others.c */
void test_foreign_governor(void **state);
void test_foreign_governor_found_by_apply(void **state);
void test_foreign_governor_found_by_release(void **state);
void test_foreign_speed(void **state);
void test_foreign_limits_are_told(void **state);
void test_foreign_governor_is_told(void **state);
void test_sibling_offline_and_online(void **state);
void test_domain_offline_and_online(void **state);
void test_acquire_with_first_sibling_offline(void **state);
void test_acquire_offline(void **state);
void test_release_offline(void **state);

/* Release, crash, restore: actuator-undo.c */
void test_release_restores(void **state);
void test_release_restores_userspace(void **state);
void test_crash_then_restore(void **state);
void test_crash_then_others(void **state);
void test_crash_then_start_again(void **state);
void test_tunables_released(void **state);
void test_tunables_after_crash(void **state);
void test_tunables_never_lost(void **state);
void test_tunables_brought_back(void **state);
void test_tunables_with_a_domain_offline(void **state);
void test_tunables_that_depend(void **state);

/* What is particular to limits: actuator-limits.c */
void test_limits_save_first(void **state);
void test_limits_never_cross(void **state);
void test_limits_are_merged(void **state);
void test_limits_end_while_idle(void **state);
void test_limits_of_others_are_told(void **state);
void test_limits_that_pass(void **state);
int cooled_tear_down(void **state);
void test_limits_set_while_free(void **state);
void test_limits_taken_over(void **state);
void test_limits_taken_over_unseen(void **state);
void test_limits_with_one_control_broken(void **state);
void test_limits_after_crash(void **state);

/* Children of tasks with clamps: actuator-children.c */
void test_clamps_of_children(void **state);
void test_clamps_of_grandchildren(void **state);
void test_clamps_of_orphans(void **state);
void test_clamps_of_children_with_their_own(void **state);
void test_clamps_kept_by_children(void **state);
void test_clamps_of_many_children(void **state);

/* The clamps of tasks, and the backend uclamp: actuator-uclamps.c */
void test_clamps_saved_first(void **state);
void test_clamps_without_room(void **state);
void test_clamps_unchanged_write_nothing(void **state);
void test_clamps_rate_limited(void **state);
void test_clamps_merged_with_the_users(void **state);
void test_clamps_set_by_the_user_meanwhile(void **state);
void test_clamps_asked_away(void **state);
void test_clamps_released(void **state);
void test_clamps_of_another_policy(void **state);
void test_clamps_of_a_task_that_is_gone(void **state);
void test_clamps_of_a_number_used_again(void **state);
void test_clamps_of_known_tasks(void **state);
void test_clamps_refused_for_one(void **state);
void test_clamps_of_siblings_governor(void **state);
void test_clamps_after_crash(void **state);
void test_clamps_of_many_heirs_after_crash(void **state);
void test_clamps_after_crash_before_the_write(void **state);
void test_clamps_of_a_spoilt_journal(void **state);
void test_clamps_in_a_storm(void **state);
void test_uclamp_needs_schedutil(void **state);
void test_uclamp_writes_nothing_to_a_domain(void **state);
void test_uclamp_floor_is_a_minimum(void **state);
void test_uclamp_is_refused(void **state);
