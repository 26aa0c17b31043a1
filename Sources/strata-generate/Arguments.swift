import StrataModelFiles

/// What the command line asks for.
///
/// The arguments are read by hand, because every package with the build plug-in compiles this tool: a library for four options
/// would cost more than the rest of it.
struct Arguments {
    /// How the tool is called, and what it does.
    static let help = """
        Turns a model into Swift classes.

        Writes the model and its classes into a few files, always as many. Mistakes in the model are printed as
        FILE:LINE:COLUMN: error: MESSAGE, all together; nothing is written then, and the exit code is 1.

        USAGE: \(ModelSource.tool) --model <file> --output <folder> [--access internal|public] [--verbose]

          --model <file>      \(ModelSource.kinds)
          --output <folder>   The folder to write to; it is created if it does not exist.
          --access <access>   Who may use the classes: internal or public. Default: what the model file says, else internal.
          --verbose           Print the names of the files that changed.
          --help              Print this text.

        """

    /// A command line that cannot be carried out.
    struct Problem: Error { let message: String }

    /// The path of the model file.
    private(set) var model = ""
    /// The path of the folder to write to.
    private(set) var output = ""
    /// Who may use the classes; nil for what the model file says.
    private(set) var access: ModelFile.Access?
    /// Whether to print the names of the files that changed.
    private(set) var isVerbose = false
    /// Whether only ``help`` is asked for.
    private(set) var asksForHelp = false

    /// Reads the arguments after the name of the tool.
    init(_ arguments: [String]) throws(Problem) {
        var rest = arguments[...]
        while let option = rest.popFirst() {
            switch option {
            case "--model": model = try Self.value(of: option, &rest)
            case "--output": output = try Self.value(of: option, &rest)
            case "--access":
                let name = try Self.value(of: option, &rest)
                guard let found = ModelFile.Access(rawValue: name) else {
                    throw Problem(message: "--access is internal or public, not '\(name)'")
                }
                access = found
            case "--verbose": isVerbose = true
            case "--help", "-h": asksForHelp = true
            default: throw Problem(message: "unknown argument '\(option)'")
            }
        }
        if asksForHelp { return }
        if model.isEmpty { throw Problem(message: "--model <file> is missing") }
        if output.isEmpty { throw Problem(message: "--output <folder> is missing") }
    }

    private static func value(of option: String, _ rest: inout ArraySlice<String>) throws(Problem) -> String {
        guard let value = rest.popFirst(), !value.isEmpty else { throw Problem(message: "\(option) has no value") }
        return value
    }
}
