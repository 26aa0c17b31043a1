import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What the errors of `URLSession` mean for the caller.
enum URLSessionFailure {
    static func error(for error: any Error) -> RemoteError {
        guard let error = error as? URLError else {
            return TransportFailure.failure(.unreachable, .unknown, "\(error)")
        }
        let kind: RemoteError.Kind =
            switch error.code {
            case .cancelled: .cancelled
            case .timedOut: .timeout
            case .badURL, .unsupportedURL: .invalidRequest
            // A connection that ends before the answer is reported as a bad answer on some platforms, and it is what these
            // mean most often: `default` has them.
            case .cannotParseResponse, .cannotDecodeRawData, .cannotDecodeContentData,
                .zeroByteResource, .dataLengthExceedsMaximum, .httpTooManyRedirects,
                .redirectToNonExistentLocation:
                .invalidAnswer
            // Nobody gets through to a server that cannot prove who it is, now or later.
            case .serverCertificateHasBadDate, .serverCertificateUntrusted, .serverCertificateHasUnknownRoot,
                .serverCertificateNotYetValid, .clientCertificateRejected, .clientCertificateRequired:
                .invalidAnswer
            default: .unreachable
            }
        return TransportFailure.failure(kind, error.code, error.localizedDescription)
    }
}
