/**
 * Two editions differ (specification 1, item 5): data retention policies exist in the self-hosted one only,
 * `assessments-enabled` in the hosted one only.
 */
export type Edition = "self-hosted" | "hosted"
