import Foundation
import StrataSQLite

/// The text that a property has of a file which is not uploaded yet: `strata-file:<UUID>/<name>`.
struct StagedFile: Hashable {
    static let scheme = "strata-file:"

    let id: String

    /// - Returns: nil for all other texts.
    init?(_ text: String) {
        guard text.hasPrefix(Self.scheme) else { return nil }
        id = String(text.dropFirst(Self.scheme.count).prefix { $0 != "/" })
    }

    init?(_ value: RemoteValue) {
        switch value {
        case .value(.string(let text)): self.init(text)
        case .value(.uri(let uri)): self.init(uri.absoluteString)
        default: return nil
        }
    }

    static func text(_ id: UUID, _ name: String) -> String {
        "\(scheme)\(id.uuidString)/\(PercentEncoding.encode(name))"
    }
}

extension Mirror {
    /// Keeps the bytes of a file until they are uploaded.
    func stage(_ id: UUID, _ data: Data, name: String, contentType: String) throws(StoreError) {
        try store.transaction { (transaction) throws(StoreError) in
            let statement = try transaction.connection.statement(
                "INSERT INTO _remote_files(id, name, type, data) VALUES(?, ?, ?, ?)")
            statement.bind(id.uuidString, at: 1)
            statement.bind(name, at: 2)
            statement.bind(contentType, at: 3)
            statement.bind(data, at: 4)
            try statement.run()
        }
    }

    /// A file that was staged: its bytes, or what the server gave for them; nil if it is not known.
    func staged(
        _ file: StagedFile
    ) throws(StoreError) -> (name: String, contentType: String, data: Data?, reference: String?)? {
        try store.reading { (connection) throws(StoreError) in
            let statement = try connection.statement(
                "SELECT name, type, data, reference FROM _remote_files WHERE id = ?")
            statement.bind(file.id, at: 1)
            guard try statement.step() else { return nil }
            defer { statement.reset() }
            return (
                statement.text(0), statement.text(1), statement.isNull(2) ? nil : Data(statement.blobBytes(2)),
                statement.isNull(3) ? nil : statement.text(3)
            )
        }
    }

    /// Forgets bytes that nothing waits for: their objects have been sent, or were never saved.
    func purgeFiles() throws(StoreError) {
        try store.transaction { (transaction) throws(StoreError) in
            try transaction.connection.execute(
                "DELETE FROM _remote_files WHERE data IS NOT NULL AND NOT EXISTS (SELECT 1 FROM _outbox)")
        }
    }

    /// The server has the bytes: what it gave for them stands for the file from now on.
    func settle(_ file: StagedFile, _ reference: String) throws(StoreError) {
        try store.transaction { (transaction) throws(StoreError) in
            let statement = try transaction.connection.statement(
                "UPDATE _remote_files SET reference = ?, data = NULL WHERE id = ?")
            statement.bind(reference, at: 1)
            statement.bind(file.id, at: 2)
            try statement.run()
        }
    }
}
