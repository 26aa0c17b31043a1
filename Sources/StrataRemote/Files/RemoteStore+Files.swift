import Foundation
import StrataSQLite

/// Files that properties of objects refer to.
///
/// The property is a string or a URI. It has the text that ``stageFile(_:name:contentType:)`` gives until its object is saved at
/// the server, and from then on what the server calls the file.
extension RemoteStore {
    /// Keeps the bytes of a file in the mirror until an object that refers to it is sent.
    ///
    ///     note.photo = try store.stageFile(bytes, name: "me.jpeg", contentType: "image/jpeg")
    ///     try await context.save()  // uploads the file, and then saves the note
    ///
    /// The upload comes first, so that no object refers to what the server does not have. It is not repeated when the save is.
    /// - Parameter contentType: The MIME type.
    /// - Returns: What the property is set to.
    /// - Throws: ``StoreError/unsupported(store:feature:)`` if the server keeps no files.
    public func stageFile(
        _ data: Data, name: String, contentType: String = "application/octet-stream"
    ) throws(StoreError) -> String {
        guard backend.capabilities.features.contains(.files) else {
            throw .unsupported(
                store: backend.name,
                feature: "the file \(name); keep it elsewhere, and its address in the attribute")
        }
        let id = UUID()
        try mirror.stage(id, data, name: name, contentType: contentType)
        return StagedFile.text(id, name)
    }

    /// The bytes of a file: from the mirror while it waits there, otherwise from the server.
    /// - Parameters:
    ///   - reference: The value of the property.
    ///   - progress: Is told how far they have come.
    ///   - options: How the request is made; nil as the store is told.
    /// - Throws: ``StoreError/remote(_:)``, of kind ``RemoteError/Kind/notFound`` if there is no such file.
    public func fileData(
        _ reference: String, progress: FileProgress? = nil, options: RequestOptions? = nil
    ) async throws(StoreError) -> Data {
        var reference = reference
        if let file = StagedFile(reference) {
            guard let found = try mirror.staged(file) else {
                throw StoreError(
                    RemoteError(.notFound, domain: "Strata", message: "the file \(file.id) is not in this mirror"))
            }
            if let data = found.data { return data }
            reference = found.reference ?? reference
        }
        let (backend, address, options) = (backend, reference, options ?? self.options(nil).request)
        return try await asking { () async throws(RemoteError) in
            try await FileProgress.reporting(.download, to: progress) { () async throws(RemoteError) in
                try await backend.download(address, options: options)
            }
        }
    }

    /// Deletes a file at the server. Clear the properties that refer to it, and save, before.
    ///
    ///     let reference = note.photo ?? ""
    ///     note.photo = nil
    ///     try await context.save()
    ///     try await store.deleteFile(reference)
    ///
    /// - Parameters:
    ///   - reference: What the server calls the file: the value that the property had.
    ///   - options: How the request is made; nil as the store is told.
    /// - Throws: ``StoreError/remote(_:)``, of kind ``RemoteError/Kind/unsupported`` if the server does not delete single
    ///   files.
    public func deleteFile(_ reference: String, options: RequestOptions? = nil) async throws(StoreError) {
        var reference = reference
        if let file = StagedFile(reference) {
            guard let told = try mirror.staged(file)?.reference else { return }
            reference = told
        }
        let (backend, address, options) = (backend, reference, options ?? self.options(nil).request)
        try await asking { () async throws(RemoteError) in try await backend.deleteFile(address, options: options) }
    }

    private func asking<T>(_ body: () async throws(RemoteError) -> T) async throws(StoreError) -> T {
        do throws(RemoteError) {
            return try await body()
        } catch {
            throw StoreError(error)
        }
    }
}
