#if Server
    import Crypto
    import Foundation
    import StrataStore

    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Darwin)
        import Darwin
    #endif

    /// Remembers signatures for as long as their time would let them in again, over restarts, too.
    ///
    /// A signature is one request's: the old client chose nonces among 10,000, so that two honest requests of one
    /// second may share one, but not with the same method and URI. Only signatures that were checked get in here, so
    /// nobody without a key can fill the memory, and one session only its own share of it. When it is full all the same,
    /// requests are refused instead of forgetting one that could come back.
    ///
    /// Each is written to a file before its request is answered, so that killing the server makes it forget none. The
    /// file is not flushed for each, which would make every signed read wait for the disk, but once a second at most:
    /// after a power failure the last second may be missing.
    ///
    /// Servers that share a database remember them in the database instead; the limits are those of each server.
    final class ReplayGuard: Sendable {
        /// The first half of a SHA-256, as two numbers.
        private struct Digest: Hashable {
            var high: UInt64
            var low: UInt64
        }

        private struct State {
            var seen: Set<Digest> = []
            /// By the second in which they are forgotten, each with its session.
            var line: [Int64: [(digest: Digest, session: String)]] = [:]
            /// How many each session has; those from before a restart are nobody's.
            var counts: [String: Int] = [:]
            /// All that were good until an earlier second are forgotten. It only grows, so that a clock that is set back
            /// brings none of them back.
            var horizon: Int64 = 0
            var descriptor: Int32
            /// Entries of the file, forgotten ones included.
            var written = 0
            var isSynchronizing = false
        }

        /// Three numbers of 8 bytes: the second, and the two halves of the digest.
        private static let entrySize = 24

        private let path: String?
        private let shared: (any SharedMemory)?
        private let capacity: Int
        private let capacityPerSession: Int
        private let state: Guarded<State>
        private let queue = DispatchQueue(label: "strata.server.signatures")

        /// Reads what was remembered.
        /// - Parameters:
        ///   - path: The file; nil for none.
        ///   - now: The present in seconds.
        ///   - shared: What other servers of the database remember, too; nil if there are none.
        /// - Throws: ``ServerSetupError`` if the file cannot be read or written.
        init(
            path: String?, capacity: Int, capacityPerSession: Int = .max, now: Int64,
            shared: (any SharedMemory)? = nil
        ) throws {
            self.path = path
            self.shared = shared
            self.capacity = capacity
            self.capacityPerSession = capacityPerSession
            var state = State(descriptor: -1)
            let data = path.flatMap { FileManager.default.contents(atPath: $0) } ?? Data()
            data.withUnsafeBytes { bytes in
                // A part of an entry at the end was never answered for.
                for entry in 0..<bytes.count / Self.entrySize {
                    let (time, digest) = Self.entry(bytes, at: entry * Self.entrySize)
                    if time >= now, state.seen.insert(digest).inserted {
                        state.line[time, default: []].append((digest, ""))
                    }
                }
            }
            self.state = Guarded(state)
            try self.state.withLock { try rewrite(&$0) }
        }

        func close() {
            state.withLock { state in
                guard state.descriptor >= 0 else { return }
                _ = Self.synchronize(state.descriptor)
                _ = systemClose(state.descriptor)
                state.descriptor = -1
            }
        }

        deinit { close() }

        /// Applies a signature.
        /// - Parameters:
        ///   - session: Whose signature it is.
        ///   - time: The time of the signature, in seconds.
        ///   - now: The present in seconds.
        ///   - window: How far the time of a signature may be off, in seconds.
        /// - Throws: ``ServerError`` 401 if it has been there, 503 if no more can be remembered.
        func admit(_ key: [String], of session: String, time: Int64, now: Int64, window: Int64) throws(ServerError) {
            let digest = Self.digest(key)
            let until = time + window
            let verdict: ServerError? = state.withLock { state in
                Self.forget(&state, before: now)
                guard until >= state.horizon else { return .unauthorized("The signature is too old.") }
                if state.seen.contains(digest) { return .unauthorized("The signature was used before.") }
                guard state.seen.count < capacity, state.counts[session, default: 0] < capacityPerSession else {
                    return ServerError(503, "Too many signed requests.", retryAfter: 1)
                }
                guard write(until, digest, &state) else {
                    return ServerError(503, "The signature cannot be remembered.", retryAfter: 1)
                }
                state.seen.insert(digest)
                state.line[until, default: []].append((digest, session))
                state.counts[session, default: 0] += 1
                return nil
            }
            if let verdict { throw verdict }
            if let shared {
                let name = "signature " + Hexadecimal.text(Self.bytes(0, digest))
                let isNew = try shared.keep(UUID().uuidString, named: name, until: until * 1000 + 999, now: now * 1000)
                guard isNew else { throw .unauthorized("The signature was used before.") }
            }
        }

        private static func forget(_ state: inout State, before now: Int64) {
            guard now > state.horizon else { return }
            // Seconds are few, whatever the rate: twice the window.
            for second in state.line.keys where second < now {
                for (digest, session) in state.line.removeValue(forKey: second) ?? [] {
                    state.seen.remove(digest)
                    guard let count = state.counts[session] else { continue }
                    state.counts[session] = count > 1 ? count - 1 : nil
                }
            }
            state.horizon = now
        }

        private static func digest(_ key: [String]) -> Digest {
            var hash = SHA256()
            for part in key {
                hash.update(data: Data(part.utf8))
                // No UTF-8 holds this byte, so that parts cannot be shifted.
                hash.update(data: [0xFF])
            }
            return hash.finalize().withUnsafeBytes {
                Digest(
                    high: $0.loadUnaligned(fromByteOffset: 0, as: UInt64.self),
                    low: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            }
        }

        // MARK: The file

        private static func entry(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> (Int64, Digest) {
            (
                bytes.loadUnaligned(fromByteOffset: offset, as: Int64.self),
                Digest(
                    high: bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self),
                    low: bytes.loadUnaligned(fromByteOffset: offset + 16, as: UInt64.self))
            )
        }

        private static func bytes(_ time: Int64, _ digest: Digest) -> [UInt8] {
            var bytes: [UInt8] = []
            for number in [UInt64(bitPattern: time), digest.high, digest.low] {
                withUnsafeBytes(of: number) { bytes += $0 }
            }
            return bytes
        }

        /// Adds an entry to the file. When most of its entries are forgotten, it is created again.
        private func write(_ time: Int64, _ digest: Digest, _ state: inout State) -> Bool {
            guard path != nil else { return true }
            if state.written > 2 * state.seen.count + 10_000 {
                do { try rewrite(&state) } catch { return false }
            }
            guard Self.writeAll(Self.bytes(time, digest), to: state.descriptor) else {
                // What is half written would shift all that follows.
                state.written = .max
                return false
            }
            state.written += 1
            if !state.isSynchronizing {
                state.isSynchronizing = true
                queue.asyncAfter(deadline: .now() + 1) { [weak self] in self?.synchronize() }
            }
            return true
        }

        private func synchronize() {
            // A copy of the descriptor, so that no thread holds the lock while it waits for the disk.
            let copy = state.withLock { state in
                state.isSynchronizing = false
                return state.descriptor < 0 ? -1 : dup(state.descriptor)
            }
            guard copy >= 0 else { return }
            _ = Self.synchronize(copy)
            _ = systemClose(copy)
        }

        /// Writes what is remembered into a new file, which takes the place of the old one.
        private func rewrite(_ state: inout State) throws {
            guard let path else { return }
            let draft = path + ".new"
            let descriptor = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0o600)
            var bytes: [UInt8] = []
            for (time, entries) in state.line {
                for entry in entries { bytes += Self.bytes(time, entry.digest) }
            }
            guard descriptor >= 0, Self.writeAll(bytes, to: descriptor), Self.synchronize(descriptor),
                rename(draft, path) == 0
            else {
                let reason = String(cString: strerror(errno))
                if descriptor >= 0 { _ = systemClose(descriptor) }
                throw ServerSetupError("\(path), which remembers signatures, cannot be written: \(reason)")
            }
            if state.descriptor >= 0 { _ = systemClose(state.descriptor) }
            state.descriptor = descriptor
            state.written = state.seen.count
        }

        private static func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { systemWrite(descriptor, $0.baseAddress, $0.count) }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }

        private static func synchronize(_ descriptor: Int32) -> Bool { fsync(descriptor) == 0 }
    }

    // Methods of the class have the same names.
    private func systemClose(_ descriptor: Int32) -> Int32 { close(descriptor) }
    private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
        write(descriptor, bytes, count)
    }
#endif
