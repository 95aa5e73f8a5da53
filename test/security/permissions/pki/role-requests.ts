import type { PreparePki } from "./prepared-request.ts"

const role = { allowed_domains: ["example.com"], allow_subdomains: true, key_type: "ec", ttl: "24h" }

const saved: PreparePki = async ({ root, mount }) => {
  await root("POST", `/${mount}/roles/web`, role)
  return { params: { name: "web" } }
}

export const roleRequests: Readonly<Record<string, PreparePki>> = {
  "LIST /:mount/roles": saved,
  "GET /:mount/roles/:name": saved,
  "POST /:mount/roles/:name": () => ({ params: { name: "web" }, body: role }),
  "PATCH /:mount/roles/:name": async (subject, caller) => ({
    ...(await saved(subject, caller)),
    body: { max_ttl: "48h", allowed_domains: ["example.org"] },
  }),
  "DELETE /:mount/roles/:name": saved,
}
