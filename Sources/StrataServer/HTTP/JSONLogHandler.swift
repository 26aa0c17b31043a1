#if Server
    import Foundation
    import Logging

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
            label: String, write: @escaping @Sendable (Data) -> Void = { FileHandle.standardError.write($0) }
        ) {
            self.label = label
            self.write = write
        }

        public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        public func log(event: LogEvent) {
            var members: [String: JSONValue] = [:]
            for (name, value) in metadata.merging(event.metadata ?? [:], uniquingKeysWith: { $1 }) {
                members[name] = .string("\(value)")
            }
            members["time"] = .string(Date().ISO8601Format(.iso8601(timeZone: .gmt, includingFractionalSeconds: true)))
            members["level"] = .string(event.level.rawValue)
            members["message"] = .string("\(event.message)")
            members["label"] = .string(label)
            write(JSONValue.object(members).data + Data([0x0A]))
        }
    }
#endif
