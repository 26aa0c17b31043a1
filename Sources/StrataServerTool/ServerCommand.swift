#if Server
    import ArgumentParser
    import StrataServer

    /// `strata-server`: runs a server until it is told to end, or looks at its configuration.
    @main
    struct ServerCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "strata-server",
            abstract:
                "Serves objects over HTTP in the dialects of StackMob, Parse, MaxLeap and Azure, kept by Strata in one file.",
            discussion: """
                Without arguments it listens at 127.0.0.1:8080, keeps its data in ./strata-data, and takes in new \
                schemas and fields as clients of API version 0 use them. Try:

                  strata-server &
                  curl -d '{"name":"Lima"}' http://127.0.0.1:8080/city
                  curl 'http://127.0.0.1:8080/city?name=Lima'

                For a server that others reach: a model file, keys, access rules in a configuration file, and TLS. \
                `strata-server check-config --config server.yaml` explains who may do what then. \
                Documentation/Server.md explains each setting, SECURITY.md what to think of. SIGTERM and SIGINT end \
                the server after the requests that are under way.
                """,
            subcommands: [
                ServeCommand.self, CheckConfigurationCommand.self, DeployCommand.self, BackupCommand.self,
            ],
            defaultSubcommand: ServeCommand.self)
    }
#endif
