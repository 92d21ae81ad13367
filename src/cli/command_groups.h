// The groups of commands in the table of commands (cli/command.h), named for their first words:
// `about` is version and openapi, `market` assets and rates, `operator` also the audit log.
#pragma once

#include <vector>

#include "cli/command.h"

namespace coffer::cli {

std::vector<Command> help_commands();
std::vector<Command> apply_commands();
std::vector<Command> demo_commands();
std::vector<Command> sandbox_commands();
std::vector<Command> doctor_commands();
std::vector<Command> application_commands();
std::vector<Command> association_commands();
std::vector<Command> approval_commands();
std::vector<Command> operator_commands();
std::vector<Command> operator_sign_in_commands();
std::vector<Command> operator_token_commands();
std::vector<Command> user_commands();
std::vector<Command> market_commands();
std::vector<Command> wallet_commands();
std::vector<Command> settings_commands();
std::vector<Command> about_commands();
std::vector<Command> archive_commands();
std::vector<Command> backup_commands();
std::vector<Command> export_commands();
std::vector<Command> healthcheck_commands();
std::vector<Command> replica_commands();
std::vector<Command> init_commands();
std::vector<Command> key_commands();
std::vector<Command> log_commands();
std::vector<Command> alert_commands();
std::vector<Command> notification_commands();
std::vector<Command> overview_commands();
std::vector<Command> serve_commands();
std::vector<Command> verify_commands();
std::vector<Command> beneficiary_commands();
std::vector<Command> quote_commands();
std::vector<Command> payment_commands();
std::vector<Command> limit_commands();
std::vector<Command> period_commands();
std::vector<Command> report_commands();
std::vector<Command> arrival_commands();
std::vector<Command> reconcile_commands();
std::vector<Command> provider_sim_commands();
std::vector<Command> connector_commands();
std::vector<Command> fee_commands();
std::vector<Command> completion_commands();
std::vector<Command> event_commands();
std::vector<Command> listen_commands();
std::vector<Command> webhook_commands();

}  // namespace coffer::cli
