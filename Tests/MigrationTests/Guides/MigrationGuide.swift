import Foundation
import Strata

/// The code of `Documentation/Migration.md`.
enum MigrationGuide {
    static func renamed() throws -> ManagedObjectModel {
        try ManagedObjectModel(name: "Contacts") {
            Entity("Person") {
                Attribute("fullName", .string).renamed(from: "name", "title")
                Relationship("employer", to: "Company", .optionalToOne, inverse: "staff").renamed(from: "company")
            }.renamed(from: "Contact")
            Entity("Company") {
                Attribute("name", .string)
                Relationship("staff", to: "Person", .toMany, inverse: "employer")
            }
        }
    }

    static func planning(_ path: String, _ model: ManagedObjectModel) throws -> MigrationPlan {
        let plan = try SQLiteStore.migrationPlan(for: path, to: model)
        for step in plan.steps where step.risk != .safe {
            print(step.id, step.text, step.misfits ?? 0, step.samples)
        }
        return plan
    }

    static func answering(_ path: String, _ model: ManagedObjectModel) throws -> PersistentContainer {
        var options = SQLiteStore.Options()
        options.migration.answers = [
            "Person.nickname": .accept,
            "Person.age": .fill(0),
            "Person.birthday": .clear,
        ]
        return try PersistentContainer(model: model, at: .file(path: path), options: options)
    }

    static func merging(_ path: String, _ model: ManagedObjectModel) throws -> PersistentContainer {
        var options = SQLiteStore.Options()
        options.migration.answers = ["Person.email": .keepFirst]
        return try PersistentContainer(model: model, at: .file(path: path), options: options)
    }

    static func stage(_ before: ManagedObjectModel, _ after: ManagedObjectModel) -> MigrationStage {
        .custom(from: before, to: after) { migration in
            try migration.forEach("Contact", batchSize: 500) { old, new in
                let words = (old["name"] as? String ?? "").split(separator: " ").map(String.init)
                new?["firstName"] = words.first
                new?["lastName"] = words.dropFirst().last
            }
        }
    }

    static func staged(_ path: String, _ versions: [ManagedObjectModel], _ stage: MigrationStage) throws
        -> PersistentContainer
    {
        var options = SQLiteStore.Options()
        options.migration.stages = [stage]
        options.migration.versions = versions
        options.migration.answers = ["Contact.name": .accept]
        return try PersistentContainer(model: versions[versions.count - 1], at: .file(path: path), options: options)
    }

    static func migrating(_ path: String, _ model: ManagedObjectModel) async throws -> MigrationReport {
        try await SQLiteStore.migrate(path, to: model) { progress in
            print(Int(progress.fraction * 100), progress.text)
        }
    }

    static func deferring(_ before: ManagedObjectModel, _ after: ManagedObjectModel) -> MigrationStage {
        .deferred("initials", from: before, to: after, forEach: "Contact", batchSize: 200) { contact in
            let words = (contact["name"] as? String ?? "").split(separator: " ")
            contact["initials"] = words.compactMap(\.first).map(String.init).joined()
        }
    }

    static func finishing(_ container: PersistentContainer) async throws {
        for step in try container.deferredMigrationSteps() { print(step) }
        try await container.finishDeferredMigration { progress in
            print(progress.text, Int(progress.fraction * 100))
        }
    }

    static func overVersions(_ path: String, _ versions: [ManagedObjectModel]) throws -> MigrationReport {
        var options = SQLiteStore.Options()
        options.migration.versions = versions
        return try SQLiteStore.migrate(path, to: versions[versions.count - 1], options: options)
    }
}
