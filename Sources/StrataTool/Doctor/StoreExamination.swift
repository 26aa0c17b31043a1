import Foundation
import StrataModel
import StrataSQLite
import StrataStore

/// Checks the file of a store: its format, whether it is sound, whether it fits a model, its log, the disk, and what waits
/// for a server. It only reads.
struct StoreExamination {
    /// A write-ahead log that is larger is not written back any longer, because something keeps it from that.
    static let largeLog = 64 << 20
    /// With less free space, a save may fail.
    static let smallDisk = 16 << 20
    /// Changes that wait for longer are probably not sent at all, in seconds.
    static let longWait = 7 * 86_400.0

    let path: String
    var report: Examination

    mutating func examine(_ model: ManagedObjectModel?, isQuick: Bool) throws(StoreError) {
        let info = try SQLiteStore.storeInfo(at: path)
        let format = info.metadata.formatVersion
        let count = info.entities.reduce(0) { $0 + $1.count }
        let text = "model \(info.metadata.modelName), \(count) \(count == 1 ? "object" : "objects"), format \(format)"
        if format < StoreMetadata.currentFormatVersion {
            report.warn(
                "format", "\(text); this version of Strata writes format \(StoreMetadata.currentFormatVersion)",
                advice: "open the store once with this version, which upgrades the file; keep a copy for older apps")
        } else {
            report.ok("format", text)
        }
        if !isQuick { examineIntegrity() }
        if let model { try report.examineModel(of: .file(path), model, schema: "") }
        examineLog(info)
        examinePlace(info)
        if let mirror = try MirrorCondition.read(at: path) { examineMirror(mirror) }
    }

    private mutating func examineIntegrity() {
        let integrity: IntegrityReport
        do throws(StoreError) {
            integrity = try SQLiteStore.integrityReport(at: path)
        } catch {
            return report.fail("integrity", error.description, advice: nil)
        }
        if integrity.isSound { return report.ok("integrity", "the file is sound") }
        if !integrity.problems.isEmpty {
            report.fail(
                "integrity", "the file is damaged:\n\(Examination.list(integrity.problems))",
                advice: "stop writing to the store and restore it from a backup; "
                    + "without one, recover what is left with sqlite3 \(path) .recover")
        }
        if !integrity.danglingReferences.isEmpty {
            report.fail(
                "references",
                "references lead to objects that do not exist:\n\(Examination.list(integrity.danglingReferences))",
                advice: "set these relationships to nil or to existing objects; another program may have deleted rows")
        }
    }

    private mutating func examineLog(_ info: StoreInfo) {
        let size = Examination.bytes(info.logSize)
        if info.logSize > max(Self.largeLog, info.fileSize) {
            report.warn(
                "writeAheadLog", "the write-ahead log has \(size), more than the store itself",
                advice: "a reader that never ends keeps it from being written back: end long reads, "
                    + "or close all processes that have the store open and open it once")
        } else {
            report.ok("writeAheadLog", "the write-ahead log has \(size)")
        }
        let free = info.freePages * info.pageSize
        report.ok(
            "size",
            "the file has \(Examination.bytes(info.fileSize)), \(Examination.bytes(free)) of it free for later saves; "
                + "\(info.externalCount) external files have \(Examination.bytes(info.externalSize))")
    }

    private mutating func examinePlace(_ info: StoreInfo) {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        let files = FileManager.default
        if !files.isWritableFile(atPath: path) || !files.isWritableFile(atPath: folder) {
            report.warn(
                "permissions", "this account may not write to the file or to its folder \(folder)",
                advice: "make both writable, because SQLite creates its log in the folder; or open the store read-only")
        }
        guard let free = (try? files.attributesOfFileSystem(forPath: folder))?[.systemFreeSize] as? NSNumber else {
            return
        }
        let text = "\(Examination.bytes(free.intValue)) are free on the disk"
        if free.intValue < Self.smallDisk {
            report.fail("disk", text + ", so saves may fail", advice: "free some space on the disk")
        } else if free.intValue < info.fileSize {
            report.warn(
                "disk", text + ", less than the size of the store",
                advice: "free some space: a migration that keeps the original needs as much as the store has")
        } else {
            report.ok("disk", text)
        }
    }

    private mutating func examineMirror(_ mirror: MirrorCondition) {
        if mirror.failed > 0 {
            report.warn(
                "outbox", "the server has refused \(mirror.failed) of the changes in the outbox",
                advice: "read them with SyncEngine.failedChanges(), then call retry(_:) or drop(_:)")
        }
        let waiting = mirror.waiting + mirror.sent
        guard waiting > 0 else {
            return report.ok("outbox", "a mirror of a server; no changes wait to be sent")
        }
        let days = max(0, mirror.oldest.map { Date().timeIntervalSinceReferenceDate - $0 } ?? 0)
        let text = "\(waiting) changes wait to be sent to the server, the oldest for \(Int(days / 86_400)) days"
        if days > Self.longWait {
            report.warn(
                "outbox", text,
                advice:
                    "call SyncEngine.push() and look at the error that it throws: the app may be offline or logged out")
        } else {
            report.ok("outbox", text)
        }
    }
}
