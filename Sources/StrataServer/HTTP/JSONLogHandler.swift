#if Server
    import Foundation
    import Logging

    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Darwin)
        import Darwin
    #endif

    /// Logs as JSON, one object a line: `time`, `level`, `message`, and the metadata by its names.
    public struct JSONLogHandler: LogHandler {
        public var metadata: Logger.Metadata = [:]
        public var logLevel: Logger.Level = .info
        private let label: String
        private let write: @Sendable (Data) -> Void

        /// Prepares a handler.
        /// - Parameters:
        ///   - label: Who logs.
        ///   - write: Where lines go, each with its line feed; standard error by default.
        public init(
            label: String, write: @escaping @Sendable (Data) -> Void = { JSONLogHandler.writeToStandardError($0) }
        ) {
            self.label = label
            self.write = write
        }

        /// Writes to standard error. Its reader may have ended, which is not a reason to end the server: then nothing
        /// is written.
        public static func writeToStandardError(_ line: Data) {
            var rest = line[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { Foundation.write(STDERR_FILENO, $0.baseAddress, $0.count) }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return }
                rest = rest.dropFirst(count)
            }
        }

        public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        private static let time = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

        public func log(event: LogEvent) {
            let all = metadata.merging(event.metadata ?? [:], uniquingKeysWith: { $1 })
            var members = JSONObject(all.mapValues { JSONValue.string("\($0)") })
            members["time"] = .string(Date().ISO8601Format(Self.time))
            members["level"] = .string(event.level.rawValue)
            members["message"] = .string("\(event.message)")
            members["label"] = .string(label)
            write(Data("\(JSONValue.object(members))\n".utf8))
        }
    }
#endif
