// The groups of commands in the table of commands (cli/command.h).
#pragma once

#include <vector>

#include "cli/command.h"

namespace coffer::cli {

std::vector<Command> help_commands();

/// coffer apply: creates and changes the objects that a file declares.
std::vector<Command> apply_commands();

std::vector<Command> demo_commands();
/// coffer sandbox: the clock of a demo.
std::vector<Command> sandbox_commands();

/// coffer doctor: checks everything that a server depends on, and states a remedy for each finding.
std::vector<Command> doctor_commands();

/// coffer application: register, list, rotate, suspend, resume, scopes.
std::vector<Command> application_commands();
/// coffer association: create, list, activate, suspend, quotas, set-quota.
std::vector<Command> association_commands();
/// coffer approval: list, show, approve, reject.
std::vector<Command> approval_commands();
/// Operators of the admin page, and the audit log.
std::vector<Command> operator_commands();
/// How operators sign in: their sessions, their passkeys, and accounts of an identity provider.
std::vector<Command> operator_sign_in_commands();
/// coffer operator token: tokens of operators' programs.
std::vector<Command> operator_token_commands();
/// coffer user: users of an association, who log in with a one-time code.
std::vector<Command> user_commands();

std::vector<Command> market_commands();
/// coffer wallet: reviews of third-party wallets, and funding.
std::vector<Command> wallet_commands();

/// coffer settings: all settings as texts, or the value of one.
std::vector<Command> settings_commands();

/// coffer version and coffer openapi: versions of this binary, and its API document.
std::vector<Command> about_commands();
/// coffer backup and coffer restore.
std::vector<Command> backup_commands();
/// coffer export: all data as lines of JSON.
std::vector<Command> export_commands();
/// coffer healthcheck: checks a running server, for supervisors and containers.
std::vector<Command> healthcheck_commands();
/// coffer init: a new database and its master key.
std::vector<Command> init_commands();
/// coffer key: the master key of a file.
std::vector<Command> key_commands();
/// coffer logs: the request log.
std::vector<Command> log_commands();
/// coffer alert: alerts to the operator.
std::vector<Command> alert_commands();
/// coffer notification: requested notifications and their results.
std::vector<Command> notification_commands();
/// coffer overview and coffer activity: the system status, and figures over time.
std::vector<Command> overview_commands();
/// coffer serve: the server, configured by file, environment and flags.
std::vector<Command> serve_commands();
std::vector<Command> verify_commands();

/// coffer beneficiary: beneficiaries of associations.
std::vector<Command> beneficiary_commands();
/// coffer quote: quotes of associations.
std::vector<Command> quote_commands();

std::vector<Command> payment_commands();
/// coffer arrival: customer payments that could not be assigned to a reference.
std::vector<Command> arrival_commands();

/// coffer provider-sim: a payment provider for tests, and an example to copy.
std::vector<Command> provider_sim_commands();

std::vector<Command> connector_commands();
std::vector<Command> fee_commands();

std::vector<Command> completion_commands();

std::vector<Command> event_commands();
/// coffer listen: forwards the events of a running server to a consumer in development.
std::vector<Command> listen_commands();
std::vector<Command> webhook_commands();

}  // namespace coffer::cli
