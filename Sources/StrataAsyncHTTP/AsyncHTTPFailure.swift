#if AsyncHTTP
    import AsyncHTTPClient
    import Foundation
    import NIOCore
    import NIOHTTP1
    import NIOHTTPCompression
    import NIOSSL
    import StrataRemote

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    /// What the errors of async-http-client and of SwiftNIO mean for the caller.
    enum AsyncHTTPFailure {
        static func error(for error: any Error, maximumBody: Int) -> RemoteError {
            switch error {
            case let error as RemoteError: return error
            case is CancellationError: return TransportFailure.cancelled
            case is NIOTooManyBytesError: return TransportFailure.tooLong(maximumBody)
            case let error as HTTPClientError: return self.error(for: error)
            // The bytes ended in the middle of an answer.
            case HTTPParserError.invalidEOFState: return lost("\(error)")
            case is HTTPParserError: return TransportFailure.noAnswer
            case is NIOHTTPDecompression.DecompressionError, is NIOHTTPDecompression.ExtraDecompressionError:
                return TransportFailure.failure(.invalidAnswer, .cannotDecodeContentData, "\(error)")
            // Nobody gets through to a server that cannot prove who it is, now or later.
            case let error as NIOSSLExtraError where error == .failedToValidateHostname:
                return TransportFailure.failure(.invalidAnswer, .serverCertificateUntrusted, "\(error)")
            case NIOSSLError.handshakeFailed(let reason) where "\(reason)".contains("CERTIFICATE"):
                return TransportFailure.failure(.invalidAnswer, .serverCertificateUntrusted, "\(error)")
            case is NIOSSLError:
                return TransportFailure.failure(.unreachable, .secureConnectionFailed, "\(error)")
            default: return lost("\(error)")
            }
        }

        private static func lost(_ reason: String) -> RemoteError {
            TransportFailure.failure(.unreachable, .networkConnectionLost, reason)
        }

        private static func error(for error: HTTPClientError) -> RemoteError {
            switch error {
            case .cancelled: return TransportFailure.cancelled
            case .deadlineExceeded, .readTimeout, .writeTimeout:
                return TransportFailure.failure(.timeout, .timedOut, error.description)
            case .connectTimeout, .tlsHandshakeTimeout, .httpProxyHandshakeTimeout, .socksHandshakeTimeout,
                .getConnectionFromPoolTimeout:
                return TransportFailure.failure(.unreachable, .cannotConnectToHost, error.description)
            case .invalidURL, .emptyHost, .emptyScheme:
                return TransportFailure.failure(.invalidRequest, .badURL, error.description)
            default:
                // What is wrong with a request's headers carries the names of these, so that no pattern matches it.
                let isRequest = ["invalidHeaderField", "incompatibleHeaders", "traceRequestWithBody"]
                    .contains { error.description.contains($0) }
                return isRequest
                    ? TransportFailure.failure(.invalidRequest, .badURL, error.description) : lost(error.description)
            }
        }
    }
#endif
