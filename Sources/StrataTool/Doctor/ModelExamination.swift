import StrataModel
import StrataModelFiles

/// Checks a model file, and whether its lock file knows the present version.
enum ModelExamination {
    /// - Returns: The findings, and the model if it has no errors.
    static func examine(_ path: String) -> (findings: [Finding], model: ManagedObjectModel?) {
        var report = Examination("model \(path)")
        do throws(ModelError) {
            let model = try Output.checkedModel(path, version: nil)
            let count = model.entities.count
            report.ok(
                "model",
                "\(model.name), \(count) \(count == 1 ? "entity" : "entities"), version hash \(model.versionHash)")
            examineLock(path, model, &report)
            return (report.findings, model)
        } catch {
            for fault in error.faults {
                report.fail("model", fault.description, advice: "correct the model file, then run strata doctor again")
            }
            return (report.findings, nil)
        }
    }

    private static func examineLock(_ path: String, _ model: ManagedObjectModel, _ report: inout Examination) {
        let place = ModelLock.path(forModel: path)
        do throws(ModelError) {
            guard let lock = try ModelLock.read(forModel: path), !lock.versions.isEmpty else { return }
            switch try lock.compare(with: model) {
            case .unchanged: report.ok("lock", "the lock file has this version as number \(lock.versions.count)")
            case .changed(let plan, _):
                report.warn(
                    "lock", "the model differs from version \(lock.versions.count) of its lock file:\n\(plan)",
                    advice: "run strata model commit \(path) before you ship it")
            case .hazardous(let plan, _):
                report.warn(
                    "lock",
                    "the model loses data compared with version \(lock.versions.count) of its lock file:\n\(plan)",
                    advice: "declare renamedFrom for what was renamed, or accept the loss with "
                        + "strata model commit \(path) --accept step")
            }
        } catch {
            report.fail("lock", error.description, advice: "restore \(place) from version control")
        }
    }
}
