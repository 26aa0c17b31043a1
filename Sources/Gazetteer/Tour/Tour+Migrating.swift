import Foundation
import Strata

extension Tour {
    /// Migrates a copy of the store, a SQLite file, to the second version of the model: the plan, a trial, the migration, and counts.
    func migrate() async throws {
        let model = try SecondVersion.model()
        let copy = store.copyPath
        let later = StoreFile(path: copy)
        try later.removeOld(force: true)
        defer { try? later.removeOld(force: true) }
        try await printer.step("Plan the migration to a second version of the model") {
            try await store.copy(container, to: copy)
            let plan = try SQLiteStore.migrationPlan(for: copy, to: model)
            for step in plan.steps { printer.say("\(step)") }
            let open = SQLiteStore.blockedSteps(of: plan, answers: [:])
            try expect(open.map(\.id) == Array(SecondVersion.answers.keys), "the plan asks for \(open.map(\.id))")
            printer.confirm("Nothing was written. \(open.map(\.id).joined()) loses data, and so needs an answer.")
        }
        var options = SQLiteStore.Options()
        options.migration.answers = SecondVersion.answers
        options.trace = { [log] in log.record(sql: $0.sql, seconds: $0.duration, rows: $0.rows) }
        try printer.step("Try it on a copy, which is thrown away") {
            let size = later.size
            let report = try SQLiteStore.dryRun(copy, to: model, options: options)
            try expect(later.size == size, "the trial changed the store")
            printer.confirm(
                "It works: \(Figures.counted(report.steps.count, "step")) in \(Figures.duration(report.seconds)).")
        }
        try printer.step("Migrate it") {
            let before = try counts(in: container)
            let report = try SQLiteStore.migrate(copy, to: model, options: options)
            printer.say("\(Figures.counted(report.steps.count, "step")) in \(Figures.duration(report.seconds)).")
            let migrated = try PersistentContainer(model: model, at: .file(path: copy))
            defer { migrated.close() }
            let after = try counts(in: migrated)
            var table = Table(.text("Objects"), .number("Version 1"), .number("Version 2"), .text(""))
            for entity in before.keys.sorted() {
                let (old, new) = (before[entity] ?? 0, after[entity] ?? 0)
                table.add(entity, Figures.grouped(old), Figures.grouped(new), old == new ? "✓" : "✗")
            }
            printer.show(table)
            try expect(before == after, "objects are missing after the migration")
            try checkEdit(in: migrated)
        }
    }

    /// How many objects each entity has.
    private func counts(in container: PersistentContainer) throws -> [String: Int] {
        let context = container.newContext()
        var result: [String: Int] = [:]
        for entity in container.model.entities {
            result[entity.name] = try context.count(FetchRequest<ManagedObject>(entity: entity.name))
        }
        return result
    }

    /// Finds the note of the tour under its new name, and its city by the new attribute.
    private func checkEdit(in migrated: PersistentContainer) throws {
        let city = try largestCity(in: context)
        let request = FetchRequest<ManagedObject>(
            entity: "City", where: try FetchPredicate(format: "cityId == %@", city.cityId))
        let found = try migrated.newContext().fetchFirst(request)
        try expect(found?["remark"] as? String == city.note, "the note of \(city.name) is lost")
        printer.confirm("\(city.name).note is .remark now, and its searchName is “\(found?["searchName"] ?? "")”.")
    }
}
