#if Server
    import Foundation
    import Logging
    import NIOCore
    import NIOSSL
    import StrataStore

    /// The certificate of a service. New connections get the one that is in the files: you can renew it without
    /// restarting the server.
    final class Certificates: Sendable {
        private struct State {
            var override: NIOSSLContextConfigurationOverride
            /// When the files were last changed.
            var dates: [Date]
            var nextLook: ContinuousClock.Instant
        }

        private let files: HTTPService.TLSFiles
        private let logger: Logger
        private let state: Guarded<State>
        /// How long the server waits before it checks the files for changes again.
        private let pause: Duration

        /// - Throws: ``ServerSetupError`` for files that cannot be read.
        init(_ files: HTTPService.TLSFiles, logger: Logger, pause: Duration = .seconds(1)) throws {
            self.files = files
            self.logger = logger
            self.pause = pause
            let (chain, key) = try Self.read(files)
            var override = NIOSSLContextConfigurationOverride()
            override.certificateChain = chain
            override.privateKey = key
            state = Guarded(State(override: override, dates: Self.dates(files), nextLook: .now + pause))
        }

        /// TLS as of today, with the certificates of each moment.
        func configuration() throws -> TLSConfiguration {
            let current = state.withLock { $0.override }
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: current.certificateChain ?? [], privateKey: try Self.read(files).1)
            // Older versions have been given up (RFC 8996).
            configuration.minimumTLSVersion = .tlsv12
            configuration.sslContextCallback = { [self] _, promise in promise.succeed(present()) }
            return configuration
        }

        private func present() -> NIOSSLContextConfigurationOverride {
            state.withLock { state in
                guard state.nextLook <= .now else { return state.override }
                state.nextLook = .now + pause
                let dates = Self.dates(files)
                guard dates != state.dates else { return state.override }
                do {
                    let (chain, key) = try Self.read(files)
                    state.override.certificateChain = chain
                    state.override.privateKey = key
                    state.dates = dates
                    logger.notice("certificate renewed")
                } catch {
                    // The files may be half written. The old certificate is good until then.
                    logger.error("certificate", metadata: ["error": "\(error)"])
                }
                return state.override
            }
        }

        private static func dates(_ files: HTTPService.TLSFiles) -> [Date] {
            [files.certificateChain, files.privateKey].map { path in
                let attributes = try? FileManager.default.attributesOfItem(atPath: path)
                return attributes?[.modificationDate] as? Date ?? .distantPast
            }
        }

        private static func read(
            _ files: HTTPService.TLSFiles
        ) throws -> ([NIOSSLCertificateSource], NIOSSLPrivateKeySource) {
            do {
                let chain = try NIOSSLCertificate.fromPEMFile(files.certificateChain).map {
                    NIOSSLCertificateSource.certificate($0)
                }
                return (chain, .privateKey(try NIOSSLPrivateKey(file: files.privateKey, format: .pem)))
            } catch {
                throw ServerSetupError(
                    "The certificate \(files.certificateChain) or the key \(files.privateKey) cannot be read: \(error)")
            }
        }
    }
#endif
