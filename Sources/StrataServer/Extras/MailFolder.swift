#if Server
    import Foundation

    /// Outgoing mail, put into a folder as one file a message, for a program that sends it.
    struct MailFolder: Sendable {
        /// The folder.
        let folder: URL

        /// Whether a text is one address, and not a list of them or a header.
        static func isAddress(_ text: String) -> Bool {
            let parts = text.split(separator: "@", omittingEmptySubsequences: false)
            return parts.count == 2 && parts.allSatisfy { !$0.isEmpty } && text.utf8.count <= 254
                && text.unicodeScalars.allSatisfy { scalar in
                    scalar.value > 0x20 && scalar.value != 0x7F && !scalar.properties.isWhitespace
                        && !",;:<>()[]\\\"".unicodeScalars.contains(scalar)
                }
        }

        /// Writes a message to an address of ``isAddress(_:)``. The name appears whole or not at all, so that a sender never meets half a message.
        /// - Throws: Whatever the file system says.
        func send(to address: String, subject: String, text: String, milliseconds: Int64) throws {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            let date = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
            let formatter = DateFormatter()
            formatter.locale = Locale(identifier: "en_US_POSIX")
            formatter.timeZone = TimeZone(secondsFromGMT: 0)
            formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss Z"
            let message = """
                To: \(address)\r
                Subject: \(subject)\r
                Date: \(formatter.string(from: date))\r
                MIME-Version: 1.0\r
                Content-Type: text/plain; charset=utf-8\r
                \r
                \(text)\r\n
                """
            let file = folder.appendingPathComponent("\(milliseconds)-\(UUID().uuidString).eml")
            let draft = file.appendingPathExtension("part")
            guard
                FileManager.default.createFile(
                    atPath: draft.path, contents: Data(message.utf8), attributes: [.posixPermissions: 0o600]),
                rename(draft.path, file.path) == 0
            else { throw CocoaError(.fileWriteUnknown) }
        }
    }
#endif
