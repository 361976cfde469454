//! What every store must do; the binaries beside this folder run it on theirs.
pub mod audit;
pub mod audit_tampering;
pub mod browser_marks;
pub mod browser_sessions;
pub mod changes;
pub mod cluster_journal;
pub mod cluster_journal_check;
pub mod cluster_protections;
pub mod command_line;
pub mod creation_attempts;
pub mod enrolled_clusters;
pub mod fixtures;
pub mod keystone_tokens;
pub mod namespace_candidates;
pub mod providers;
pub mod races;
pub mod saved_forms;
pub mod session_credentials;
pub mod session_lookup;
pub mod sessions;
pub mod sign_in;
pub mod statements;
pub mod structure;

use portico_store::{KeyRing, Store};
use secrecy::SecretString;

/// A database of one test.
pub struct Database {
    pub store: Store,
    pub url: String,
    _dir: Option<tempfile::TempDir>,
}

impl Database {
    pub async fn connect(url: String, dir: Option<tempfile::TempDir>) -> Self {
        let store = Store::connect(&url, 4, keys(&[1])).await.unwrap();
        store.migrate(fixtures::at(0)).await.unwrap();
        Self {
            store,
            url,
            _dir: dir,
        }
    }

    /// The same database with other keys.
    pub async fn with_keys(&self, bytes: &[u8]) -> Store {
        Store::connect(&self.url, 1, keys(bytes)).await.unwrap()
    }
}

/// A key ring of keys that each repeat one byte.
pub fn keys(bytes: &[u8]) -> KeyRing {
    use base64::Engine as _;
    let keys: Vec<SecretString> = bytes
        .iter()
        .map(|byte| base64::engine::general_purpose::STANDARD.encode([*byte; 32]))
        .map(SecretString::from)
        .collect();
    KeyRing::from_base64(&keys).unwrap()
}

macro_rules! each_test {
    ($database:expr) => {
        crate::suite::each_test! { @list $database;
            sessions: a_session_is_found_by_its_secret_only
            sessions: an_expired_session_is_not_found
            sessions: an_ended_session_takes_its_children_along
            sessions: a_child_of_an_ended_session_is_refused
            sessions: a_child_hangs_on_the_browser_session
            sessions: use_on_an_apps_host_keeps_the_family_alive
            sessions: use_by_a_command_line_keeps_only_itself_alive
            sessions: touching_is_rare_and_never_passes_the_absolute_end
            sessions: renewing_changes_the_secret_and_the_times
            sessions: the_last_project_outlives_the_session
            sessions: ending_all_spares_the_one_asked_for
            sessions: a_sweep_ends_what_has_expired_and_deletes_what_is_old
            sessions: a_rotated_key_still_finds_sessions
            keystone_tokens: the_longest_lived_token_of_the_project_is_found
            keystone_tokens: ending_a_session_makes_every_token_due
            keystone_tokens: tokens_of_a_command_line_end_with_it_or_with_its_browser_session
            keystone_tokens: a_token_that_races_with_the_end_is_due_at_once
            keystone_tokens: parallel_stores_and_ends_forget_no_token
            keystone_tokens: a_failed_revocation_waits
            keystone_tokens: a_wrong_key_is_an_error_and_not_a_missing_token
            keystone_tokens: new_roles_are_taken_over
            sign_in: a_flow_keeps_its_receipt_sealed
            sign_in: a_flow_is_finished_once
            sign_in: a_handover_code_works_once
            sign_in: a_handover_code_is_bound_to_host_and_nonce
            sign_in: a_handover_code_is_good_for_thirty_seconds
            sign_in: a_totp_code_counts_once
            sign_in: failures_are_counted_in_a_window
            sign_in: a_success_forgets_the_failures
            sign_in: finding_s3_a_place_is_given_back_to_its_own_window
            sign_in: finding_s3_places_reserved_at_once_never_pass_the_limit
            sign_in: finding_s4_delays_grow_and_are_forgotten
            sign_in: finding_s4_an_undecided_attempt_delays_nothing
            sign_in: finding_s4_an_account_learns_what_failed_since_its_last_sign_in
            session_lookup: an_ended_session_is_found_only_by_who_asks_for_the_end
            session_lookup: users_are_found_by_id_and_by_name_in_any_case
            session_lookup: unfinished_revocations_are_counted_until_they_expire
            changes: ends_and_renewals_are_reported_in_their_order
            changes: changes_made_at_once_are_reported_without_a_gap
            changes: a_change_that_was_rolled_back_is_not_reported
            changes: a_reader_that_was_away_for_too_long_gets_an_error
            changes: a_session_used_at_another_replica_meanwhile_does_not_expire
            session_credentials: a_session_lives_as_long_as_its_credential_in_its_project_only
            session_credentials: the_secret_goes_with_the_session
            session_credentials: a_token_is_fetched_by_one_shortly_before_the_old_ones_end
            sessions: keys_are_replaced_under_a_store_in_use
            keystone_tokens: a_revocation_is_tried_by_one_replica_at_a_time
            session_lookup: live_sessions_are_counted_by_kind
            saved_forms: a_form_is_given_back_to_its_user_only
            saved_forms: a_form_is_kept_for_ten_minutes
            saved_forms: a_form_is_forgotten_once
            saved_forms: the_oldest_forms_of_a_user_make_room
            saved_forms: a_stolen_database_shows_no_form
            browser_marks: a_mark_is_read_for_its_purpose_only
            browser_marks: a_changed_mark_is_not_read
            browser_sessions: a_browser_session_is_found_by_its_id_until_it_expires
            browser_sessions: a_deleted_browser_session_does_not_come_back
            browser_sessions: an_id_belongs_to_one_browser_session
            browser_sessions: browser_sessions_are_bounded_in_number_and_size
            browser_sessions: a_browser_session_is_found_after_a_change_of_keys
            browser_sessions: a_stolen_database_shows_no_browser_session
            command_line: a_device_request_is_approved_once
            command_line: a_device_request_is_denied
            command_line: a_hasty_client_is_slowed_down
            command_line: a_device_code_ends_after_five_minutes
            command_line: an_authorization_code_works_once_for_a_minute
            command_line: an_access_token_ends_with_its_session
            command_line: a_refresh_token_rotates
            command_line: a_lost_answer_is_repeated_within_the_grace
            command_line: a_reused_refresh_token_is_noticed
            command_line: a_refresh_token_redeemed_at_once_is_never_reported_as_reuse
            audit: events_are_listed_newest_first
            audit: audit_filters_are_all_applied
            audit: finding_o5_retention_leaves_a_log_that_verifies
            audit: finding_o5_writers_at_once_make_one_chain
            audit: audit_entry_is_stored_though_its_request_is_given_up
            audit: audit_entry_that_a_database_would_refuse_is_adapted
            audit: audit_chain_outlives_its_keys
            audit: audit_head_that_was_noted_must_stay_in_the_chain
            providers: a_flow_of_a_provider_belongs_to_its_browser_and_is_taken_once
            providers: a_session_keeps_its_provider_for_the_whole_family
            providers: one_holder_refreshes_at_a_time
            providers: a_lease_of_a_dead_holder_runs_out
            providers: parallel_leases_have_one_winner
            providers: tokens_of_an_ended_session_wait_for_their_revocation
            providers: a_provider_means_one_session_or_all_of_a_subject
            providers: a_logout_token_counts_once
            races: a_state_is_redeemed_once_by_fifty_at_once
            races: an_authorization_code_is_redeemed_once_by_fifty_at_once
            races: a_handover_code_is_redeemed_once_by_fifty_at_once
            races: an_approved_device_code_is_redeemed_once_by_fifty_at_once
            races: a_device_request_is_decided_once_by_fifty_at_once
            races: a_one_time_passcode_counts_once_for_fifty_at_once
            races: passcodes_tried_at_once_are_all_counted
            races: a_flow_is_finished_once_by_fifty_at_once
            races: a_saved_form_is_taken_once_by_fifty_at_once
            races: a_logout_token_counts_once_for_fifty_at_once
            namespace_candidates: a_candidate_is_found_for_its_subject_and_cluster
            namespace_candidates: the_oldest_candidates_of_a_subject_make_room
            namespace_candidates: a_candidate_expires_unless_it_is_added_again
        }
    };
    (@list $database:expr; $($module:ident: $name:ident)*) => {
        $(
            #[tokio::test]
            async fn $name() {
                let database: crate::suite::Database = $database;
                crate::suite::$module::$name(&database).await;
            }
        )*
    };
}
pub(crate) use each_test;

/// Tests of SQL and of migrations; Redis has counterparts in `redis/`.
macro_rules! each_sql_test {
    ($database:expr) => {
        crate::suite::each_test! { @list $database;
            audit_tampering: events_cannot_be_changed
            audit_tampering: finding_o5_an_altered_entry_is_found
            audit_tampering: finding_o5_a_removed_entry_is_found
            audit_tampering: finding_o5_swapped_entries_are_found
            audit_tampering: finding_o5_a_cut_end_is_found_now_and_later
            audit_tampering: finding_o5_a_cut_beginning_is_found
            audit_tampering: audit_head_that_was_removed_loses_no_entry
            audit_tampering: audit_entries_of_an_earlier_version_join_the_chain
            enrolled_clusters: an_enrolled_cluster_is_stored_replaced_and_removed
            enrolled_clusters: an_imported_cluster_keeps_its_source
            enrolled_clusters: a_change_that_changes_nothing_keeps_the_sequence
            enrolled_clusters: a_cluster_that_kube_auth_would_refuse_is_not_stored
            enrolled_clusters: changes_of_clusters_made_at_once_have_a_sequence_each
            enrolled_clusters: an_enrolment_keeps_what_an_earlier_record_accepts
            enrolled_clusters: enrolments_made_at_once_keep_the_projects_of_each_other
            cluster_journal: entries_of_a_cluster_form_a_chain
            cluster_journal: entries_appended_at_once_all_have_a_place
            cluster_journal: of_two_replicas_one_records_a_difference
            cluster_journal: an_event_that_several_replicas_read_is_recorded_once
            cluster_journal: of_two_replicas_one_records_what_happened_to_nodes
            cluster_journal: an_entry_that_is_too_large_is_refused
            cluster_journal: a_journal_is_stored_for_400_days_after_its_last_entry
            cluster_journal_check: a_journal_agrees_with_the_entries_that_the_audit_log_names
            cluster_journal_check: a_journal_that_was_cut_at_its_end_is_found
            cluster_journal_check: an_entry_of_a_journal_that_was_changed_or_removed_is_found
            cluster_protections: a_cluster_is_protected_until_the_protection_is_removed
            cluster_protections: a_protection_is_of_one_cluster_of_one_project
            creation_attempts: an_attempt_keeps_its_state_for_the_next_run
            creation_attempts: one_run_at_a_time_works_on_an_attempt
            creation_attempts: an_attempt_is_dismissed_only_while_its_outcome_is_unknown
            creation_attempts: attempts_begun_at_once_have_one_run
            creation_attempts: an_attempt_belongs_to_its_user_and_project
            creation_attempts: the_attempt_of_a_cluster_is_found_until_it_is_complete
            creation_attempts: an_attempt_is_stored_for_a_week_after_its_last_change
            statements: every_statement_is_prepared
            structure: migrations_go_up_down_and_up
            structure: a_database_without_migrations_is_noticed
        }
    };
}
pub(crate) use each_sql_test;
