# SPDX-License-Identifier: GPL-2.0-only
# The answer of wakegovctl benefit --json as metrics for node_exporter: see README.md.
def family(name; help; of):
  "# HELP \(name) \(help)", "# TYPE \(name) gauge",
  ((.against // "the former governor") as $against | .figures[] |
   "\(name){figure=\(.name | @json),against=\($against | @json)} \(of)");

family("wakegov_benefit_ratio"; "What was measured with wakegov, by what was without."; .ratio),
family("wakegov_benefit_ratio_low"; "The least that the ratio is, 99 times in 100."; .low),
family("wakegov_benefit_ratio_high"; "The most that the ratio is, 99 times in 100."; .high),
family("wakegov_benefit_with"; "Mean with wakegov, in the unit of the figure."; .with),
family("wakegov_benefit_without"; "Mean without wakegov, in the unit of the figure."; .without),
"# HELP wakegov_benefit_time_seconds When it was measured.",
"# TYPE wakegov_benefit_time_seconds gauge",
"wakegov_benefit_time_seconds \(now | floor)"
