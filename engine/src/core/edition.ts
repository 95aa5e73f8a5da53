/**
 * Edition of the server. Data retention policies exist in the self-hosted edition only, `assessments-enabled` in the hosted edition
 * only (docs/compatibility.md, "Workspace settings").
 */
export type Edition = "self-hosted" | "hosted"
