import StrataStore

/// Options of one fetch or save for single stores of a container that has several. The other stores use their defaults.
///
///     import StrataRemote
///
///     let options = OptionsByConfiguration(["Orders": RemoteOptions(savePolicy: .networkElseQueue)])
///     try await context.save(options: options)
///
/// Options of another type go to every store that takes them.
public struct OptionsByConfiguration: StoreRequestOptions {
    private let options: [String: any StoreRequestOptions]

    /// - Parameter options: The options by the name of the configuration; `Default` is the store without a configuration.
    public init(_ options: [String: any StoreRequestOptions]) { self.options = options }

    /// The options for a configuration; nil if its store uses its defaults.
    public subscript(configuration: String) -> (any StoreRequestOptions)? { options[configuration] }
}
