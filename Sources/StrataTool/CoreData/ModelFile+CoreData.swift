import StrataCoreDataModel
import StrataModel
import StrataModelFiles

// A link in `Sources/strata-generate-coredata` leads to this file: tool and plug-in read Core Data models in the same way.
extension ModelFile {
    /// Converts a Core Data model. It is named after its bundle, whatever its versions are called.
    /// - Parameters:
    ///   - path: The path of an `.xcdatamodeld`, `.xcdatamodel`, `.momd` or `.mom`.
    ///   - version: The name of the version; nil for the current one.
    ///   - report: Gets a warning for each feature that has no counterpart.
    /// - Throws: ``ModelError`` with the file and line if the model cannot be read.
    static func readCoreDataModel(
        path: String, version: String? = nil, report: (CoreDataModelWarning) -> Void
    ) throws(ModelError) -> ModelFile {
        let conversion: CoreDataConversion
        do throws(CoreDataModelError) {
            conversion = try CoreDataModelFile.read(path: path, version: version).converted()
        } catch {
            let location = SourceLocation(file: error.file, line: error.line ?? 1, column: 1)
            throw ModelError(
                model: modelName(path: path), faults: [ModelFault(message: error.message, location: location)])
        }
        conversion.warnings.forEach(report)
        var file = ModelFile(
            name: modelName(path: path), naming: conversion.naming, entities: conversion.entities,
            fetches: conversion.fetches, path: path)
        // Core Data's files have no place for it but the user info of entities.
        for entity in conversion.entities {
            guard let text = entity.userInfo["strata.access"] else { continue }
            if let access = Access(rawValue: text) {
                file.access = access
            } else {
                report(
                    CoreDataModelWarning(
                        file: entity.location?.file ?? path, line: entity.location?.line,
                        message: "\(entity.name): strata.access is internal or public, not '\(text)'; it is left out"))
            }
        }
        return file
    }
}
