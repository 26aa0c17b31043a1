#if Server
    import Foundation

    /// Outgoing mail, put into a folder as one file a message, for a program that sends it.
    struct MailFolder: Sendable {
        /// The folder.
        let folder: URL

        /// Writes a message. The name appears whole or not at all, so that a sender never meets half a message.
        /// - Throws: Whatever the file system says.
        func send(to address: String, subject: String, text: String, milliseconds: Int64) throws {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            let date = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
            let formatter = DateFormatter()
            formatter.locale = Locale(identifier: "en_US_POSIX")
            formatter.timeZone = TimeZone(secondsFromGMT: 0)
            formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss Z"
            // An address with a line break would write headers of its own.
            let line = address.filter { !$0.isNewline && $0 != "\0" }
            let message = """
                To: \(line)\r
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
