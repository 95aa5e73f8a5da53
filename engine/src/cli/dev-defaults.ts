export const developmentOrganization = "default"

/** Relative to the working directory: found if the command runs in a clone of the repository. */
export const defaultManifests = "examples/manifests"
