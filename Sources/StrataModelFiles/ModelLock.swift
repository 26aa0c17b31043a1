import Foundation
import StrataModel
import Yams

/// The versions of a model that were shipped: a file next to the model, `App.strata.lock.yaml`, that `strata model
/// commit` writes and that belongs into version control.
///
/// ```text
/// model: App
/// versions:
///   - version: 1
///     fingerprint: 0c1f…
///     declarations: {…}
///   - version: 2
///     fingerprint: 91ab…
///     accepted: [City.nickname]
///     declarations: {…}
/// ```
package struct ModelLock: Sendable {
    /// A version that was recorded.
    package struct Version: Sendable {
        /// Its number, from 1.
        package let number: Int
        /// The fingerprint of its declarations.
        package let fingerprint: String
        /// The steps from the version before that may lose data.
        package let accepted: [String]
        /// The model as text; see ``ModelRecord``.
        package let declarations: String

        /// A version as it is to be recorded.
        package init(number: Int, fingerprint: String, accepted: [String], declarations: String) {
            self.number = number
            self.fingerprint = fingerprint
            self.accepted = accepted
            self.declarations = declarations
        }

        /// The model of the version.
        package func model() throws(ModelError) -> ManagedObjectModel {
            guard let record = ModelRecord(text: declarations), record.fingerprint == fingerprint else {
                throw ModelError(
                    model: "version \(number)",
                    faults: [
                        ModelFault(
                            message:
                                "version \(number) of the lock file was changed by hand; take it from version control again"
                        )
                    ])
            }
            return try record.model()
        }
    }

    /// The name of the model.
    package var model: String
    /// The versions, the oldest first.
    package var versions: [Version]

    /// No versions yet.
    package init(model: String) {
        self.model = model
        versions = []
    }

    /// The path of the lock file of a model file or Core Data model: `App.strata.lock.yaml` next to it.
    package static func path(forModel path: String) -> String {
        var stem = path[...]
        // The path of a folder may end so.
        while stem.count > 1, stem.hasSuffix("/") { stem.removeLast() }
        let ending = ModelFile.coreDataEnding(path) ?? ModelFile.fileEnding
        if stem.lowercased().hasSuffix(ending) { stem = stem.dropLast(ending.count) }
        return stem + ".strata.lock.yaml"
    }

    /// Reads the lock file of a model file.
    /// - Returns: nil if there is none.
    /// - Throws: ``ModelError`` if it cannot be understood.
    package static func read(forModel modelPath: String) throws(ModelError) -> ModelLock? {
        let path = path(forModel: modelPath)
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        func fault(_ message: String) -> ModelError {
            ModelError(
                model: modelPath,
                faults: [ModelFault(message: message, location: SourceLocation(file: path, line: 1, column: 1))])
        }
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw fault("the lock file cannot be read as UTF-8 text")
        }
        guard let root = try? Yams.compose(yaml: text), let list = root["versions"]?.sequence else {
            throw fault("the lock file is not a list of versions; restore it from version control")
        }
        var lock = ModelLock(model: root["model"]?.string ?? "")
        for (index, node) in list.enumerated() {
            guard let number = node["version"]?.int, number == index + 1, let print = node["fingerprint"]?.string,
                let declarations = node["declarations"]?.string
            else {
                throw fault(
                    "version \(index + 1) is incomplete or out of order, perhaps after a merge; take the file of one branch "
                        + "and commit the model again")
            }
            lock.versions.append(
                Version(
                    number: number, fingerprint: print,
                    accepted: node["accepted"]?.sequence?.compactMap(\.string) ?? [], declarations: declarations))
        }
        return lock
    }

    /// The lock file as text.
    package var yaml: String {
        var lines = [
            "# The versions of the model that were shipped. `strata model commit` writes this file; check it in.",
            "model: \(model)", "versions:",
        ]
        for version in versions {
            lines.append("  - version: \(version.number)")
            lines.append("    fingerprint: \"\(version.fingerprint)\"")
            if !version.accepted.isEmpty {
                lines.append("    accepted: [\(version.accepted.map { "\"\($0)\"" }.joined(separator: ", "))]")
            }
            lines.append("    declarations: >-")
            lines.append("      \(version.declarations)")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// What a change of the model since the last version means.
    package enum Finding: Sendable {
        /// The model is the last version.
        case unchanged
        /// The model has changed, and nothing would be lost.
        case changed(MigrationPlan, since: Int)
        /// Some steps would lose data, or cannot be inferred.
        case hazardous(MigrationPlan, since: Int)
    }

    /// Compares a model with the last version.
    package func compare(with model: ManagedObjectModel) throws(ModelError) -> Finding {
        guard let last = versions.last else { return .unchanged }
        if last.fingerprint == model.fingerprint { return .unchanged }
        let plan = MigrationPlan(from: try last.model(), to: model)
        return plan.hazards.isEmpty ? .changed(plan, since: last.number) : .hazardous(plan, since: last.number)
    }
}
