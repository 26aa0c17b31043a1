#if Server
    import Crypto
    import Foundation
    import Strata

    /// The files of binary fields, named by the SHA-256 of their content, so that equal content is kept once and a name
    /// can be learned from the content only.
    struct FileVault: Sendable {
        /// The folder.
        let folder: URL
        /// What comes before the paths of files in answers.
        var baseURL = ""

        /// The first segment of the paths of files.
        let segment: String

        /// The length of the name of a file: that of its digest.
        static let nameLength = 64
        static let productionSegment = "_files"
        static let developmentSegment = "_development_files"

        init(folder: URL, segment: String) {
            self.folder = folder
            self.segment = segment
        }

        /// The file of a binary value, with a type and name that may be in headers and addresses; nil for any other
        /// text.
        static func file(_ text: String) throws(ServerError) -> InlineFile? {
            do throws(InlineFile.Fault) {
                var file = try InlineFile(fieldValue: text)
                if !isPlain(file.contentType) { file.contentType = "application/octet-stream" }
                file.name = safeName(file.name)
                return file
            } catch {
                guard error == .noHeaders else { throw .badRequest("The content of a file is not base64.") }
                return nil
            }
        }

        private static func isPlain(_ text: String) -> Bool {
            text.utf8.count <= 200 && text.utf8.allSatisfy { (0x20..<0x7F).contains($0) }
        }

        /// A file name that is nothing but one: no folders, no control characters.
        private static func safeName(_ text: String) -> String {
            let trimmed = text.trimmingCharacters(in: CharacterSet(charactersIn: "\"' ;"))
            let last = trimmed.split { $0 == "/" || $0 == "\\" }.last.map(String.init) ?? ""
            let plain = String(
                last.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F && $0 != "\"" }.prefix(120))
            return plain.isEmpty || plain.allSatisfy({ $0 == "." }) ? "file" : plain
        }

        /// Puts the content of a binary value into the folder, where it is durable before the object that names it.
        /// - Returns: The URL for a binary value, any other text as it is.
        func replaceContent(_ text: String, scope: DataScope) throws(ServerError) -> String {
            guard let content = try Self.file(text) else { return text }
            let digest = Hexadecimal.text(SHA256.hash(data: content.data))
            do {
                try save(content.data, name: digest)
            } catch {
                throw ServerError(503, "The file cannot be kept.")
            }
            scope.touchFile(digest)
            if try scope.find("ServerFile", ("digest", digest), ("filename", content.name)) == nil {
                let row = try scope.insert("ServerFile")
                row["digest"] = digest
                row["filename"] = content.name
                row["type"] = content.contentType
                scope.register(row, digest, content.name)
                row["size"] = Int64(content.data.count)
            }
            return "\(baseURL)/\(segment)/\(digest)/\(PercentEncoding.encode(content.name))"
        }

        // MARK: Names

        /// What a URL of this server's names; nil for any other text. What comes before the path does not count: the
        /// server may have had another address.
        private func name(in url: String) -> (digest: String, filename: String)? {
            guard let start = url.range(of: "/\(segment)/", options: .backwards)?.upperBound else { return nil }
            let parts = url[start...].split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count == 2, parts[0].utf8.count == 64, Hexadecimal.isLowercase(parts[0]),
                let filename = PercentEncoding.decode(parts[1])
            else { return nil }
            return (String(parts[0]), filename)
        }

        private func row(
            _ url: String, _ scope: DataScope
        ) throws(ServerError) -> (row: ManagedObject, digest: String, filename: String)? {
            guard let (digest, filename) = name(in: url),
                let row = try scope.find("ServerFile", ("digest", digest), ("filename", filename))
            else { return nil }
            return (row, digest, filename)
        }

        /// Counts one more field that holds a text, if it is the URL of a file.
        func retain(_ text: String, scope: DataScope) throws(ServerError) {
            guard let (row, _, _) = try row(text, scope) else { return }
            row["uses"] = (row.whole("uses") ?? 0) + 1
        }

        /// Counts one field less; the name is removed with the last one.
        func release(_ text: String, scope: DataScope) throws(ServerError) {
            guard let (row, digest, filename) = try row(text, scope) else { return }
            let uses = (row.whole("uses") ?? 0) - 1
            guard uses <= 0 else {
                row["uses"] = uses
                return
            }
            scope.delete(row, digest, filename)
            scope.touchFile(digest)
        }

        /// The content of the file that a text is the URL of; nil for any other text, and for a file that is gone.
        func content(of url: String, scope: DataScope) throws(ServerError) -> Data? {
            guard let (_, digest, _) = try row(url, scope) else { return nil }
            return try? Data(contentsOf: path(of: digest))
        }

        // MARK: Files

        /// Removes the files without a name. Files that cannot be removed now are left to the next ``sweep(_:)``.
        func removeUnnamed(_ digests: Set<String>, _ context: ManagedObjectContext) {
            let request = FetchRequest<ManagedObject>(
                entity: "ServerFile",
                where: .comparison(.keyPath(["digest"]), .isIn, .constant(.list(digests.map(Value.string))), []))
            guard let rows = try? context.fetch(request) else { return }
            for digest in digests.subtracting(rows.compactMap { $0.text("digest") }) {
                try? FileManager.default.removeItem(at: path(of: digest))
            }
        }

        /// Removes what a crash has left: files whose objects were never written, or were deleted, and drafts.
        /// - Throws: The error of the store.
        func sweep(_ context: ManagedObjectContext) throws {
            let manager = FileManager.default
            for folder in (try? manager.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? [] {
                let part = folder.lastPathComponent
                guard part.utf8.count == 2, Hexadecimal.isLowercase(part) else { continue }
                var request = FetchRequest<ManagedObject>(
                    entity: "ServerFile",
                    where: .comparison(.keyPath(["digest"]), .beginsWith, .constant(.string(part)), []))
                request.includesPendingChanges = false
                let named = Set(try context.fetch(request).compactMap { $0.text("digest") })
                for file in (try? manager.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
                where !named.contains(file.lastPathComponent) {
                    try? manager.removeItem(at: file)
                }
            }
        }

        private func save(_ data: Data, name: String) throws {
            let target = path(of: name)
            guard !FileManager.default.fileExists(atPath: target.path) else { return }
            try PrivateFiles.makeFolder(target.deletingLastPathComponent())
            let draft = target.appendingPathExtension(UUID().uuidString)
            guard
                FileManager.default.createFile(
                    atPath: draft.path, contents: nil, attributes: [.posixPermissions: 0o600])
            else {
                throw CocoaError(.fileWriteUnknown)
            }
            let handle = try FileHandle(forWritingTo: draft)
            defer { try? handle.close() }
            try handle.write(contentsOf: data)
            try handle.synchronize()
            guard rename(draft.path, target.path) == 0 else { throw CocoaError(.fileWriteUnknown) }
        }

        /// The place of a file: the first two digits are a folder, so that none grows too large.
        private func path(of digest: String) -> URL {
            folder.appendingPathComponent(String(digest.prefix(2))).appendingPathComponent(digest)
        }

        /// The answer to a request for a file.
        func download(_ segments: [String], scope: DataScope) throws(ServerError) -> ServerResponse {
            guard segments.count == 3, segments[1].utf8.count == 64, Hexadecimal.isLowercase(segments[1]),
                let row = try scope.first(
                    "ServerFile", ("digest", .string(segments[1])), ("filename", .string(segments[2]))),
                let data = try? Data(contentsOf: path(of: segments[1]))
            else { throw .notFound("There is no such file.") }
            return ServerResponse(
                status: 200,
                headers: [
                    ("Content-Type", row.text("type") ?? "application/octet-stream"),
                    ("Content-Disposition", "attachment; filename=\"\(PercentEncoding.encode(segments[2]))\""),
                    // A browser must not take what somebody uploaded for a page of this server.
                    ("X-Content-Type-Options", "nosniff"), ("Content-Security-Policy", "sandbox"),
                    ("Cache-Control", "private, max-age=31536000, immutable"),
                ], body: data)
        }
    }
#endif
