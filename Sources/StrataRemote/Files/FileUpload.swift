import Foundation
import StrataSQLite

/// Uploads the files that a write refers to before the write itself is sent.
struct FileUpload {
    let mirror: Mirror
    let backend: any RemoteBackend
    let options: RequestOptions
    let progress: FileProgress?

    /// The write with what the server gave for the files, or with the files themselves for a back end that takes them so. A
    /// file is uploaded once, however often the write is sent.
    /// - Throws: ``RemoteError`` of the upload, or of kind ``RemoteError/Kind/invalidRequest`` for a file that is not here.
    func ready(_ write: MirrorWrite) async throws(RemoteError) -> MirrorWrite {
        var result = write
        for (name, value) in write.write.values.sorted(by: { $0.key < $1.key }) {
            guard let file = StagedFile(value) else { continue }
            let (reference, isInline) = try await reference(of: file, name, write)
            result.write.values[name] = Self.value(reference, like: value)
            // What the server makes of a file that goes along it tells itself.
            if !isInline { result.files.insert(name) }
        }
        return result
    }

    private func reference(
        of file: StagedFile, _ property: String, _ write: MirrorWrite
    ) async throws(RemoteError) -> (text: String, isInline: Bool) {
        let found = try here { () throws(StoreError) in try mirror.staged(file) }
        guard let found, found.data != nil || found.reference != nil else {
            throw RemoteError(
                .invalidRequest, domain: "Strata",
                message: "\(write.entity.name).\(property): the file \(file.id) is not in this mirror; stage it again",
                identity: RemoteIdentity(entity: write.entity.name, id: write.write.id))
        }
        if let reference = found.reference { return (reference, false) }
        let content = RemoteFile(
            property: property, name: found.name, contentType: found.contentType, data: found.data ?? Data())
        if case .text(let text) = backend.delivery(of: content) { return (text, true) }
        let (backend, options, entity) = (backend, options, write.entity)
        let answer = try await FileProgress.reporting(.upload, to: progress) { () async throws(RemoteError) in
            try await backend.perform(.upload(entity: entity, content), options: options)
        }
        guard case .file(let reference) = answer, !reference.isEmpty else {
            throw RemoteError(
                .invalidAnswer, domain: "Strata",
                message: "\(backend.name) did not say where it has the file \(found.name)")
        }
        try here { () throws(StoreError) in try mirror.settle(file, reference) }
        return (reference, false)
    }

    private func here<T>(_ body: () throws(StoreError) -> T) throws(RemoteError) -> T {
        do throws(StoreError) {
            return try body()
        } catch {
            throw RemoteError(.invalidRequest, domain: "Strata", message: error.description)
        }
    }

    private static func value(_ text: String, like value: RemoteValue) -> RemoteValue {
        if case .value(.uri) = value { return URL(string: text).map { .value(.uri($0)) } ?? .value(.string(text)) }
        return .value(.string(text))
    }
}

extension MirrorWrite {
    /// The record of an answer with the files that it does not tell: the server has them under what was sent.
    func told(_ record: RemoteRecord) -> RemoteRecord {
        var record = record
        for name in files where record.values[name] == nil { record.values[name] = write.values[name] }
        return record
    }
}
