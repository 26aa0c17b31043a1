import Strata

/// What a ``MigrationTrial`` finds wrong.
public enum MigrationTrialError: Error, Sendable, Hashable {
    /// The trial has no versions, or not the one that was asked for.
    case noVersions
    /// The version of the fixture is not among the versions of the trial.
    case unknownVersion(path: String, fingerprint: String)
    /// A migrated store is damaged, or has references that lead nowhere.
    case notSound(IntegrityReport)
    /// A migration from each version to the next has another result than one to the last version. Lines that only the latter has
    /// begin with `-`, those that only the former has with `+`.
    case stepwiseDiffers([String])
    /// A migrated store is migrated again by the same versions.
    case notFinished([MigrationStep])
    /// The fixture has changed.
    case fixtureChanged(path: String)
}

extension MigrationTrialError: CustomStringConvertible {
    /// What is wrong and what to do.
    public var description: String {
        switch self {
        case .noVersions: "the trial has no such version; name the versions of the model, the oldest first"
        case .unknownVersion(let path, let fingerprint):
            "\(path) has the version \(fingerprint.prefix(8)), which is not among the versions of the trial; add its model"
        case .notSound(let report):
            "the migrated store is not sound: "
                + (report.problems + report.danglingReferences).prefix(10).joined(separator: "; ")
        case .stepwiseDiffers(let lines):
            "a migration from version to version has another result; ignore properties with values that are new each time:\n"
                + lines.prefix(20).joined(separator: "\n")
        case .notFinished(let steps):
            "the migrated store is migrated again: \(steps.map(\.description).joined(separator: "; "))"
        case .fixtureChanged(let path): "\(path) has changed; something else has it open, or the migration wrote to it"
        }
    }
}
