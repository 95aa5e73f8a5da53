-- Health check of chancery.dev objects for Argo CD. Without a script, Argo CD reports them as healthy immediately.
-- Results equal those of kstatus. The key in `resource.customizations` of argocd-cm is "chancery.dev/*" (see argocd-cm.yaml).
local waiting = { status = "Progressing", message = "The operator has not reconciled the object yet." }
local status = obj.status
if status == nil or status.conditions == nil then
  return waiting
end
local conditions = {}
for _, condition in ipairs(status.conditions) do
  conditions[condition.type] = condition
end
local function holds(kind)
  return conditions[kind] ~= nil and conditions[kind].status == "True"
end
-- A spec that is edited during a pause stays unreconciled until the pause ends.
local is_observed = status.observedGeneration == nil or status.observedGeneration == obj.metadata.generation
if not is_observed and not holds("Paused") then
  return { status = "Progressing", message = "The operator has not reconciled this generation yet." }
end
if obj.metadata.deletionTimestamp ~= nil then
  if holds("Stalled") then
    return { status = "Degraded", message = conditions.Stalled.message }
  end
  return { status = "Progressing", message = "The object is being deleted." }
end
if holds("Paused") then
  return { status = "Suspended", message = conditions.Paused.message }
end
if holds("Stalled") then
  return { status = "Degraded", message = conditions.Stalled.message }
end
if holds("Reconciling") then
  return { status = "Progressing", message = conditions.Reconciling.message }
end
if holds("Ready") then
  return { status = "Healthy", message = conditions.Ready.message }
end
if conditions.Ready ~= nil then
  return { status = "Progressing", message = conditions.Ready.message }
end
return waiting
