import Foundation

/// How many bytes of a file have been transferred.
///
///     let progress = FileProgress { transfer in
///         guard let total = transfer.total, total > 0 else { return }
///         print(transfer.direction, Double(transfer.completed) / Double(total))
///     }
///     try await context.save(options: RemoteOptions(fileProgress: progress))
///
/// The handler of a ``FileProgress`` receives one after each part. ``total`` is nil if the server does not tell the size of a
/// download. If several files are transferred, each begins again at 0. For an upload, ``completed`` counts what was sent, which
/// is not yet what the server has saved.
public struct TransferProgress: Sendable, Hashable {
    /// The direction of a transfer.
    public enum Direction: String, Sendable, Hashable {
        /// To the server.
        case upload
        /// From the server.
        case download
    }

    /// The direction of the transfer.
    public var direction: Direction
    /// How many bytes have been sent or have come.
    public var completed: Int
    /// How many there are; nil if the server does not tell.
    public var total: Int?

    /// Describes a transfer.
    public init(_ direction: Direction, completed: Int, total: Int?) {
        self.direction = direction
        self.completed = completed
        self.total = total
    }
}

/// A handler that is called with the progress of the files of a save, a push or a download.
///
///     let progress = FileProgress { print($0.completed, "of", $0.total ?? 0) }
///     let photo = try await store.fileData("me.jpeg", progress: progress)
///
/// Pass it to ``RemoteStore/fileData(_:progress:options:)``, or set it in ``RemoteOptions/fileProgress`` for a save and in
/// ``SyncOptions/fileProgress`` for pushes.
///
/// The handler is called on any thread, in the order in which the bytes of a file are transferred. It should return soon; send
/// values to the main actor to show them.
public final class FileProgress: Sendable, Hashable {
    private let handler: @Sendable (TransferProgress) -> Void

    /// Tells a handler.
    public init(_ handler: @escaping @Sendable (TransferProgress) -> Void) { self.handler = handler }

    /// Whom transports tell what the requests of this task send and get; nil for nobody.
    @TaskLocal package static var current: FileProgress?

    /// Tells the handler. Transports call it.
    package func report(_ progress: TransferProgress) { handler(progress) }

    /// Does something whose requests report one way.
    package static func reporting<T: Sendable>(
        _ direction: TransferProgress.Direction, to progress: FileProgress?,
        _ body: @Sendable () async throws(RemoteError) -> T
    ) async throws(RemoteError) -> T {
        let filtered = progress.map { progress in
            FileProgress { if $0.direction == direction { progress.report($0) } }
        }
        let result = await $current.withValue(filtered) { () async -> Result<T, RemoteError> in
            do throws(RemoteError) {
                return .success(try await body())
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// Whether both are the same one.
    public static func == (a: FileProgress, b: FileProgress) -> Bool { a === b }
    /// By identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
