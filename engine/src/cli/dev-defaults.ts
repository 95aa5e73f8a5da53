export const developmentOrganization = "default"

/** Whoever starts it in a clone sees them. */
export const usualManifests = "examples/manifests"
