import { z } from "zod"
import type { ProjectId } from "../../core/ids.ts"
import {
  type OauthClientInput,
  providersWithoutToken,
  type ServiceProvider,
  serviceProviders,
} from "../../organizations/vcs-connection.ts"
import { emptyAsNull, instant, nullAsAbsent, nullIfEmpty } from "../codec.ts"
import {
  type Body,
  computed,
  constant,
  document,
  identifiers,
  immutable,
  many,
  manyInput,
  mappedBody,
  one,
  oneInput,
  oneOrNull,
  readOnly,
  writable,
} from "./document.ts"
import { contract, created, filledText, nothing, page, resource } from "./endpoint.ts"

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

const text = nullAsAbsent(z.string())
const createdAt = readOnly(instant, { rule: "Time of the creation.", example: "2026-11-26T12:00:00.000Z" })
const organizationName = readOnly(one<string>("organizations"), { wireName: "organization", rule: "Organization." })

const clientNeedingToken = <const Required extends boolean>(required: Required) =>
  document("oauth-clients", {
    id: z.custom<string>(),
    self: (id) => `/api/v2/oauth-clients/${id}`,
    attributes: {
      name: writable(z.string().nullable(), {
        rule: "Name, at most 255 characters, or null.",
        default: null,
        example: "GitHub",
      }),
      serviceProvider: immutable(z.enum(serviceProviders), {
        input: z.enum(serviceProviders),
        rule: "Provider.",
        example: "github",
      }),
      serviceProviderDisplayName: computed(
        z.string(),
        ({ serviceProvider }: { readonly serviceProvider: ServiceProvider }) => displayNames[serviceProvider],
        { rule: "Name of the provider, for people.", example: "GitHub" },
      ),
      httpUrl: immutable(z.string(), {
        input: z.string(),
        rule: "Address of the provider's pages.",
        example: "https://github.com",
      }),
      apiUrl: immutable(z.string(), {
        input: z.string(),
        rule: "Address of the provider's API.",
        example: "https://api.github.com",
      }),
      token: {
        schema: z.string(),
        input: required ? z.string() : text,
        required,
        writeOnly: true as const,
        wireName: "oauth-token-string",
        rule: "Secret of the first token. Needed without key and rsa-public-key, but not for Bitbucket Server and Data Center.",
        example: "ghp_abc",
      },
      key: writable(nullIfEmpty, {
        input: text,
        rule: "Key of an application link.",
        default: null,
        example: "chancery",
      }),
      rsaPublicKey: writable(nullIfEmpty, {
        input: text,
        rule: "Public key of an application link, in PEM.",
        default: null,
        example: "-----BEGIN PUBLIC KEY-----…",
      }),
      secret: {
        ...computed(z.string().nullable(), () => null, {
          rule: "Private key of an application link, or the secret of the provider. Null in answers.",
          default: null,
          example: "c0ffee",
        }),
        input: text,
      },
      privateKey: {
        schema: z.string(),
        input: text,
        immutable: true as const,
        writeOnly: true as const,
        rule: "SSH key of the first token, in PEM.",
        example: "-----BEGIN OPENSSH PRIVATE KEY-----…",
      },
      createdAt,
      callbackUrl: constant(null, { rule: "Always null." }),
      connectPath: constant(null, { rule: "Always null." }),
      organizationScoped: writable(z.boolean(), {
        input: nullAsAbsent(z.boolean()),
        rule: "Workspaces of all projects may use the client. False if a request names projects and not this.",
        default: true,
        example: false,
      }),
    },
    relationships: {
      organizationName,
      tokenIds: readOnly(many<string>("oauth-tokens"), { wireName: "oauth-tokens", rule: "Tokens." }),
      projectIds: writable(many<ProjectId>("projects"), {
        input: manyInput<string>("projects"),
        wireName: "projects",
        rule: "Projects whose workspaces may use the client.",
      }),
      agentPoolId: writable(oneOrNull<string>("agent-pools"), {
        input: oneInput<string>("agent-pools"),
        wireName: "agent-pool",
        rule: "Agent pool whose agents reach the provider.",
      }),
    },
  })

export const oauthClient = clientNeedingToken(true)
const clientWithoutToken = clientNeedingToken(false)

/** Removes relationships that are null, which API clients send for relationships that they do not set. */
const withoutNull = <T>(body: Body<T>): Body<T> => ({
  ...body,
  decode(sent) {
    const data = (sent as { readonly data?: { readonly relationships?: unknown } } | null | undefined)?.data
    if (
      typeof data !== "object" ||
      data === null ||
      typeof data.relationships !== "object" ||
      Array.isArray(data.relationships)
    )
      return body.decode(sent)
    const relationships = Object.entries(data.relationships ?? {}).filter(([, relationship]) => relationship !== null)
    return body.decode({ data: { ...data, relationships: Object.fromEntries(relationships) } })
  },
})

/**
 * Requests that need no token: clients with a key pair, and clients of providers with application links, get it from the provider later.
 */
const needsNoToken = z.union([
  z.object({
    data: z.object({ attributes: z.object({ key: z.string().min(1), "rsa-public-key": z.string().min(1) }) }),
  }),
  z.object({ data: z.object({ attributes: z.object({ "service-provider": z.enum([...providersWithoutToken]) }) }) }),
])

type Sent = Omit<OauthClientInput, "name"> & { readonly name?: string | null }
const complete = (sent: Sent): OauthClientInput => ({
  name: null,
  ...(Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== "")) as Sent),
})
const input = mappedBody(clientWithoutToken.input, { from: (client: OauthClientInput) => client, to: complete })
const oauthClientInput: Body<OauthClientInput> = withoutNull({
  ...input,
  describes: oauthClient.input.describes,
  decode: (sent) =>
    needsNoToken.safeParse(sent).success ? input.decode(sent) : complete(oauthClient.input.decode(sent)),
})

export const oauthToken = document("oauth-tokens", {
  id: z.custom<string>(),
  self: (id) => `/api/v2/oauth-tokens/${id}`,
  attributes: {
    createdAt,
    serviceProviderUser: readOnly(z.string().nullable(), { rule: "User at the provider." }),
    hasSshKey: readOnly(z.boolean(), { rule: "The token has an SSH key." }),
    sshKey: {
      schema: z.string(),
      input: emptyAsNull(z.string()),
      writeOnly: true as const,
      rule: "Private SSH key, in PEM. Null or empty takes it away.",
      example: "-----BEGIN OPENSSH PRIVATE KEY-----…",
    },
  },
  relationships: {
    oauthClientId: readOnly(one<string>("oauth-clients"), { wireName: "oauth-client", rule: "OAuth client." }),
  },
})

export const appInstallation = document("github-app-installations", {
  id: z.custom<string>(),
  self: (id) => `/api/v2/github-app/installations/${id}`,
  attributes: {
    name: writable(z.string(), { required: true, rule: "Account that has installed the app.", example: "acme" }),
    installationId: writable(z.number(), {
      input: z.int(),
      required: true,
      rule: "Number of the installation at the provider.",
      example: 54810170,
    }),
    createdAt,
  },
  relationships: { organizationName },
})

const installationIdFilter = "filter[installation_id]"
const installationNumber = z.codec(z.string(), z.custom<number | undefined>(), {
  decode(value, context) {
    if (value === "") return undefined
    if (/^\d{1,15}$/.test(value)) return Number(value)
    context.issues.push({
      code: "custom",
      message: `${installationIdFilter} must be a positive integer`,
      input: value,
    })
    return z.NEVER
  },
  encode: (number) => String(number ?? ""),
})

const manages = "`manage-vcs-settings`."
const client = "/oauth-clients/:client_id"
const installations = "/organizations/:organization_name/github-app/installations"
const getInstallation = {
  method: "GET",
  summary: "Returns an installation.",
  rights: manages,
  answers: resource(appInstallation),
} as const

export const vcsConnections = contract({
  createClient: {
    method: "POST",
    path: "/organizations/:organization_name/oauth-clients",
    summary: "Creates an OAuth client and its first token. No request is sent to the provider.",
    rights: manages,
    body: oauthClientInput,
    answers: created(oauthClient),
  },
  listClients: {
    method: "GET",
    path: "/organizations/:organization_name/oauth-clients",
    summary: "Lists the OAuth clients of an organization.",
    rights: manages,
    answers: page(oauthClient),
  },
  getClient: {
    method: "GET",
    path: client,
    summary: "Returns an OAuth client, with the projects that the caller sees.",
    rights: manages,
    answers: resource(oauthClient),
  },
  updateClient: {
    method: "PATCH",
    path: client,
    summary:
      "Changes an OAuth client. A null name takes the name away; other attributes that are null keep their values.",
    rights: manages,
    body: withoutNull(clientWithoutToken.patch),
    answers: resource(oauthClient),
  },
  deleteClient: {
    method: "DELETE",
    path: client,
    summary: "Deletes an OAuth client and its tokens.",
    rights: manages,
    answers: nothing,
  },
  addProjects: {
    method: "POST",
    path: `${client}/relationships/projects`,
    summary: "Lets workspaces of the projects use the client.",
    rights: manages,
    body: identifiers("projects"),
    answers: nothing,
  },
  removeProjects: {
    method: "DELETE",
    path: `${client}/relationships/projects`,
    summary: "Takes the client from projects. Workspaces that use it keep their connection.",
    rights: manages,
    body: identifiers("projects"),
    answers: nothing,
  },
  listTokens: {
    method: "GET",
    path: "/organizations/:organization_name/oauth-tokens",
    summary: "Lists the OAuth tokens of an organization.",
    rights: manages,
    answers: page(oauthToken),
  },
  getToken: {
    method: "GET",
    path: "/oauth-tokens/:oauth_token_id",
    summary: "Returns an OAuth token, without its secret.",
    rights: manages,
    answers: resource(oauthToken),
  },
  updateToken: {
    method: "PATCH",
    path: "/oauth-tokens/:oauth_token_id",
    summary: "Sets the SSH key of an OAuth token, or takes it away.",
    rights: manages,
    body: oauthToken.patch,
    answers: resource(oauthToken),
  },
  deleteToken: {
    method: "DELETE",
    path: "/oauth-tokens/:oauth_token_id",
    summary: "Deletes an OAuth token.",
    rights: manages,
    answers: nothing,
  },
  createInstallation: {
    method: "POST",
    path: installations,
    summary: "Records an installation of a GitHub app.",
    rights: manages,
    body: appInstallation.input,
    answers: created(appInstallation),
  },
  listInstallations: {
    method: "GET",
    path: installations,
    summary: "Lists the installations of an organization.",
    rights: manages,
    answers: page(appInstallation),
  },
  listAvailableInstallations: {
    method: "GET",
    path: "/github-app/installations",
    summary: "Lists the installations of all organizations whose VCS settings the caller manages.",
    rights: "Any token.",
    query: {
      name: {
        parameter: "filter[name]",
        schema: filledText,
        rule: "Name, in any case of its letters.",
        example: "acme",
      },
      installationId: {
        parameter: installationIdFilter,
        schema: installationNumber,
        rule: "Number of the installation at the provider.",
        example: 54810170,
      },
    },
    answers: page(appInstallation),
  },
  getInstallation: { ...getInstallation, path: "/github-app/installations/:installation_id" },
  getInstallationAsClients: {
    ...getInstallation,
    path: "/github-app/installation/:installation_id",
    summary: "The same, at the address that public clients use.",
  },
  deleteInstallation: {
    method: "DELETE",
    path: "/github-app/installations/:installation_id",
    summary: "Deletes an installation.",
    rights: manages,
    answers: nothing,
  },
})
