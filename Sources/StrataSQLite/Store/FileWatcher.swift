import Foundation
import StrataSQL
import StrataStore

/// Calls a closure each time somebody writes to one of some files of a folder. The system tells it: inotify on Linux, kqueue
/// on Apple's systems; nothing polls.
///
/// An event comes when bytes are written, which is before a commit can be seen. It is a hint to look, and no more.
final class FileWatcher: Sendable {
    // A source may be cancelled from any thread, and nothing else is done with it.
    private nonisolated(unsafe) let sources: [any DispatchSourceProtocol]

    deinit { for source in sources { source.cancel() } }

    #if canImport(Darwin)
        /// - Parameter names: The files; those that do not exist when the watch begins are not watched.
        /// - Returns: nil if the system gives no watch.
        init?(folder: String, names: [String], queue: DispatchQueue, onEvent: @escaping @Sendable () -> Void) {
            var sources: [any DispatchSourceProtocol] = []
            for name in names {
                let file = open("\(folder)/\(name)", O_EVTONLY)
                guard file >= 0 else { continue }
                let source = DispatchSource.makeFileSystemObjectSource(
                    fileDescriptor: file, eventMask: [.write, .extend, .delete, .rename], queue: queue)
                source.setEventHandler(handler: onEvent)
                source.setCancelHandler { close(file) }
                source.activate()
                sources.append(source)
            }
            guard !sources.isEmpty else { return nil }
            self.sources = sources
        }
    #else
        /// - Parameter names: The files; they need not exist yet.
        /// - Returns: nil if the system gives no watch.
        init?(folder: String, names: [String], queue: DispatchQueue, onEvent: @escaping @Sendable () -> Void) {
            let file = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
            guard file >= 0 else { return nil }
            // Readers that close a file change nothing, so closing is not among these.
            let mask = UInt32(IN_MODIFY) | UInt32(IN_CREATE) | UInt32(IN_DELETE) | UInt32(IN_MOVED_TO)
            guard inotify_add_watch(file, folder, mask) >= 0 else {
                close(file)
                return nil
            }
            let wanted = Set(names)
            let source = DispatchSource.makeReadSource(fileDescriptor: file, queue: queue)
            source.setEventHandler { if Self.readNames(file).contains(where: wanted.contains) { onEvent() } }
            source.setCancelHandler { close(file) }
            source.activate()
            sources = [source]
        }

        /// The names in all events that wait.
        private static func readNames(_ file: Int32) -> Set<String> {
            var names: Set<String> = []
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 8)
            defer { buffer.deallocate() }
            while true {
                let count = read(file, buffer.baseAddress, buffer.count)
                guard count > 0 else { return names }
                var offset = 0
                // An event is watch, mask, cookie, length, each of 32 bits, and so many bytes of a name.
                while offset + 16 <= count {
                    let length = Int(buffer.load(fromByteOffset: offset + 12, as: UInt32.self))
                    let end = min(offset + 16 + length, count)
                    let name = buffer[(offset + 16)..<end].prefix { $0 != 0 }
                    names.insert(String(decoding: name, as: UTF8.self))
                    offset += 16 + length
                }
            }
        }
    #endif
}
