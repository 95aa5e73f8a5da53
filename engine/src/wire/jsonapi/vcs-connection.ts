import { z } from "zod"
import { badRequest } from "../../core/errors.ts"
import type { ProjectId } from "../../core/ids.ts"
import { formatInstant } from "../../core/time.ts"
import {
  type AppInstallationInput,
  type AppInstallationQuery,
  type AppInstallationView,
  type OauthClientInput,
  type OauthClientPatch,
  type OauthClientView,
  type OauthTokenPatch,
  type OauthTokenView,
  providersWithoutToken,
  type ServiceProvider,
  serviceProviders,
} from "../../organizations/vcs-connection.ts"
import { readResource } from "./answer.ts"
import { decodeDocument, encodeDocument, type RequestDocument, type Resource, toMany, toOne } from "./document.ts"
import { attributePointers, renamedPointers } from "./errors.ts"
import { given } from "./given.ts"
import { dashedMembers } from "./member-name.ts"
import { relatedId, toManySchema, toOneSchema } from "./relationship.ts"

const keys = {
  key: z.string().nullish(),
  "rsa-public-key": z.string().nullish(),
  secret: z.string().nullish(),
}
const scope = { "organization-scoped": z.boolean().nullish() }
const scopeRelationships = z
  .object({
    projects: toManySchema(z.object({ id: z.string() })).nullish(),
    "agent-pool": toOneSchema.nullish(),
  })
  .nullish()

/** Wire names of the relationships, which pointers of faults need too. */
export const oauthClientNames = { projectIds: "projects", agentPoolId: "agentPool" }
export const oauthClientPointers = renamedPointers(attributePointers(["projects", "agentPool"]), oauthClientNames)

const scopeOf = (
  { "organization-scoped": organizationScoped }: { "organization-scoped"?: boolean | null | undefined },
  related: z.infer<typeof scopeRelationships>,
): Pick<OauthClientPatch, "organizationScoped" | "projectIds" | "agentPoolId"> =>
  given({
    organizationScoped: organizationScoped ?? undefined,
    projectIds: related?.projects?.data.map(({ id }) => id),
    agentPoolId: relatedId(related?.["agent-pool"] ?? undefined),
  })

const clientSchema = (token: z.ZodType<string | null | undefined>) =>
  z.object({
    attributes: z.object({
      name: z.string().nullish(),
      "service-provider": z.enum(serviceProviders),
      "http-url": z.string(),
      "api-url": z.string(),
      "oauth-token-string": token,
      ...keys,
      "private-key": z.string().nullish(),
      ...scope,
    }),
    relationships: scopeRelationships,
  })
/** A client with a key pair, or of a provider with application links, gets its token later, from the provider. */
const withoutToken = z.union([
  z.object({
    data: z.object({ attributes: z.object({ key: z.string().min(1), "rsa-public-key": z.string().min(1) }) }),
  }),
  z.object({ data: z.object({ attributes: z.object({ "service-provider": z.enum([...providersWithoutToken]) }) }) }),
])

export function decodeOauthClient(body: unknown): OauthClientInput {
  const token = withoutToken.safeParse(body).success ? z.string().nullish() : z.string()
  const { attributes, relationships } = decodeDocument(body, clientSchema(token), { types: ["oauth-clients"] })
  return {
    name: attributes.name ?? null,
    serviceProvider: attributes["service-provider"],
    httpUrl: attributes["http-url"],
    apiUrl: attributes["api-url"],
    ...given({
      token: attributes["oauth-token-string"] || undefined,
      key: attributes.key || undefined,
      rsaPublicKey: attributes["rsa-public-key"] || undefined,
      secret: attributes.secret || undefined,
      privateKey: attributes["private-key"] || undefined,
    }),
    ...scopeOf(attributes, relationships),
  }
}

const clientPatchSchema = z.object({
  attributes: z
    .object({ name: z.string().nullish(), "oauth-token-string": z.string().nullish(), ...keys, ...scope })
    .prefault({}),
  relationships: scopeRelationships,
})

/** An absent name is kept and null takes it away; there is no client without a secret, so null keeps that as well. */
export function decodeOauthClientPatch(body: unknown): OauthClientPatch {
  const { attributes, relationships } = decodeDocument(body, clientPatchSchema, { types: ["oauth-clients"] })
  return {
    ...given({
      name: attributes.name,
      token: attributes["oauth-token-string"] ?? undefined,
      key: attributes.key ?? undefined,
      rsaPublicKey: attributes["rsa-public-key"] ?? undefined,
      secret: attributes.secret ?? undefined,
    }),
    ...scopeOf(attributes, relationships),
  }
}

/** The other direction of `decodeOauthClientPatch`. */
export const encodeOauthClientPatch = ({
  token,
  projectIds,
  agentPoolId,
  ...patch
}: OauthClientPatch): RequestDocument =>
  encodeDocument("oauth-clients", dashedMembers(given({ ...patch, oauthTokenString: token })), {
    projects: projectIds && toMany("projects", projectIds),
    "agent-pool": agentPoolId === undefined ? undefined : toOne("agent-pools", agentPoolId),
  })

export const encodeOauthClient = (client: OauthClientView): Resource => ({
  id: client.id,
  type: "oauth-clients",
  attributes: {
    name: client.name,
    "service-provider": client.serviceProvider,
    "service-provider-display-name": displayNames[client.serviceProvider],
    "http-url": client.httpUrl,
    "api-url": client.apiUrl,
    key: client.key === "" ? null : client.key,
    "rsa-public-key": client.rsaPublicKey === "" ? null : client.rsaPublicKey,
    secret: null,
    "created-at": formatInstant(client.createdAt),
    "callback-url": null,
    "connect-path": null,
    "organization-scoped": client.organizationScoped,
  },
  relationships: {
    organization: toOne("organizations", client.organizationName),
    "oauth-tokens": toMany("oauth-tokens", client.tokenIds),
    projects: toMany("projects", client.projectIds),
    "agent-pool": toOne("agent-pools", client.agentPoolId),
  },
  links: { self: `/api/v2/oauth-clients/${client.id}` },
})

const displayNames: Record<ServiceProvider, string> = {
  github: "GitHub",
  github_enterprise: "GitHub Enterprise",
  gitlab_hosted: "GitLab.com",
  gitlab_community_edition: "GitLab Community Edition",
  gitlab_enterprise_edition: "GitLab Enterprise Edition",
  bitbucket_hosted: "Bitbucket Cloud",
  bitbucket_server: "Bitbucket Server",
  bitbucket_data_center: "Bitbucket Data Center",
  ado_server: "Azure DevOps Server",
  ado_services: "Azure DevOps Services",
}

export const encodeOauthToken = (token: OauthTokenView): Resource => ({
  id: token.id,
  type: "oauth-tokens",
  attributes: {
    "created-at": formatInstant(token.createdAt),
    "service-provider-user": token.serviceProviderUser,
    "has-ssh-key": token.hasSshKey,
  },
  relationships: { "oauth-client": toOne("oauth-clients", token.oauthClientId) },
  links: { self: `/api/v2/oauth-tokens/${token.id}` },
})

const tokenPatchSchema = z.object({ attributes: z.object({ "ssh-key": z.string().nullish() }).prefault({}) })

/** Clients send empty text to take it away. */
export function decodeOauthTokenPatch(body: unknown): OauthTokenPatch {
  const { "ssh-key": sshKey } = decodeDocument(body, tokenPatchSchema, { types: ["oauth-tokens"] }).attributes
  return given({ sshKey: sshKey === "" ? null : sshKey })
}

/** The other direction of `decodeOauthTokenPatch`. */
export const encodeOauthTokenPatch = (patch: OauthTokenPatch): RequestDocument =>
  encodeDocument("oauth-tokens", dashedMembers(patch))

const installationSchema = z.object({
  attributes: z.object({ name: z.string(), "installation-id": z.int() }),
})

export function decodeAppInstallation(body: unknown): AppInstallationInput {
  const { attributes } = decodeDocument(body, installationSchema, { types: ["github-app-installations"] })
  return { name: attributes.name, installationId: attributes["installation-id"] }
}

export function decodeAppInstallationQuery(query: URLSearchParams): AppInstallationQuery {
  const number = query.get(installationIdFilter) || undefined
  if (number !== undefined && !/^\d{1,15}$/.test(number))
    throw badRequest("The filter is not valid.", [
      { detail: `${installationIdFilter} must be a positive integer`, parameter: installationIdFilter },
    ])
  return given({
    name: query.get("filter[name]") || undefined,
    installationId: number === undefined ? undefined : Number(number),
  })
}
const installationIdFilter = "filter[installation_id]"

/** The other direction of `decodeAppInstallationQuery`. */
export const encodeAppInstallationQuery = ({ name, installationId }: AppInstallationQuery) =>
  [
    ["filter[name]", name],
    [installationIdFilter, installationId?.toString()],
  ] as const

export const encodeAppInstallation = (installation: AppInstallationView): Resource => ({
  id: installation.id,
  type: "github-app-installations",
  attributes: {
    name: installation.name,
    "installation-id": installation.installationId,
    "created-at": formatInstant(installation.createdAt),
  },
  relationships: { organization: toOne("organizations", installation.organizationName) },
  links: { self: `/api/v2/github-app/installations/${installation.id}` },
})

/** The other direction of `encodeOauthClient`. */
export function decodeOauthClientView(resource: unknown): OauthClientView {
  const { id, attributes: own, ...related } = readResource(resource, "oauth-clients")
  return {
    id,
    organizationName: related.one("organization"),
    name: own.textOrNull("name"),
    serviceProvider: own.oneOf("serviceProvider", serviceProviders),
    httpUrl: own.text("httpUrl"),
    apiUrl: own.text("apiUrl"),
    key: own.textOrNull("key") ?? "",
    rsaPublicKey: own.textOrNull("rsaPublicKey") ?? "",
    createdAt: own.instant("createdAt"),
    tokenIds: related.many("oauthTokens"),
    organizationScoped: own.flag("organizationScoped"),
    projectIds: related.many("projects") as ProjectId[],
    agentPoolId: related.oneOrNull("agentPool"),
  }
}

/** The other direction of `decodeOauthClient`. */
export const encodeOauthClientInput = (input: OauthClientInput): RequestDocument => encodeOauthClientPatch(input)

/** The other direction of `encodeOauthToken`. */
export function decodeOauthTokenView(resource: unknown): OauthTokenView {
  const { id, attributes: own, ...related } = readResource(resource, "oauth-tokens")
  return {
    id,
    oauthClientId: related.one("oauthClient"),
    serviceProviderUser: own.textOrNull("serviceProviderUser"),
    hasSshKey: own.flag("hasSshKey"),
    createdAt: own.instant("createdAt"),
  }
}

/** The other direction of `encodeAppInstallation`. */
export function decodeAppInstallationView(resource: unknown): AppInstallationView {
  const { id, attributes: own, ...related } = readResource(resource, "github-app-installations")
  return {
    id,
    organizationName: related.one("organization"),
    name: own.text("name"),
    installationId: own.number("installationId"),
    createdAt: own.instant("createdAt"),
  }
}

/** The other direction of `decodeAppInstallation`. */
export const encodeAppInstallationInput = (input: AppInstallationInput): RequestDocument =>
  encodeDocument("github-app-installations", dashedMembers(input))
