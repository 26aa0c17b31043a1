import Strata

/// The examples of Documentation/Undo.md.
enum UndoGuide {
    static func first(_ context: ManagedObjectContext, _ lima: City, print: (Any) -> Void) throws -> UndoHistory {
        let history = UndoHistory()
        context.undoManager = history

        lima.name = "Ciudad de los Reyes"
        try history.undo()
        print(lima.name)  // Lima
        try history.redo()
        print(lima.name)  // Ciudad de los Reyes
        return history
    }

    static func grouping(_ history: UndoHistory, _ lima: City, print: (Any) -> Void) throws -> UndoReport {
        history.group(named: "Make a port") {
            lima.isPort = true
            lima.about = "A port on the Pacific"
        }
        print(history.undoActionName ?? "")  // Make a port
        let report = try history.undo()
        return report
    }

    static func saving(
        _ context: ManagedObjectContext, _ history: UndoHistory, _ lima: City, print: (Any...) -> Void
    ) throws {
        context.delete(lima)
        try context.save()
        try history.undo()
        print(lima.isDeleted, lima.sights.count)
        try context.save()
    }

    static func reporting(_ report: UndoReport, print: (Any...) -> Void) {
        for skipped in report.skipped {
            print(skipped.id, skipped.property ?? "the object", skipped.reason)
        }
    }
}
