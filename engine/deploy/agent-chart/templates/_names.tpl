{{- define "agent.name" -}}
{{- default .Release.Name .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- end -}}

{{- define "agent.selectorLabels" -}}
app.kubernetes.io/name: chancery-agent
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{- define "agent.labels" -}}
{{ include "agent.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "agent.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}{{ .repository }}@{{ .digest }}{{- else -}}{{ .repository }}:{{ default $.Chart.AppVersion .tag }}{{- end -}}
{{- end -}}
{{- end -}}

{{- /* Template of the pods of runs. They are pulled like the agents. */ -}}
{{- define "agent.podTemplate" -}}
{{- $template := deepCopy .Values.pods.template }}
{{- $spec := default dict $template.spec }}
{{- if and .Values.imagePullSecrets (not $spec.imagePullSecrets) }}
{{- $_ := set $spec "imagePullSecrets" .Values.imagePullSecrets }}
{{- end }}
{{- $_ := set $template "spec" $spec }}
{{- toYaml $template -}}
{{- end -}}

{{- /* Words after `chancery`. */ -}}
{{- define "agent.args" -}}
- agent
- --engine-url={{ required "engineUrl is required: set it to the URL of the server" .Values.engineUrl }}
- --token-file=/etc/chancery/token/token
{{- if or .Values.ca.existingConfigMap .Values.ca.existingSecret }}
- --ca-file=/etc/chancery/ca/ca.crt
{{- end }}
- --name=$(POD_NAME)
- --slots={{ .Values.slots }}
- --isolation={{ .Values.isolation }}
- --tool={{ .Values.tool }}
{{- with .Values.toolsMirror }}
- --tools-mirror={{ . }}
{{- end }}
{{- with .Values.providerMirror }}
- --provider-mirror={{ . }}
{{- end }}
{{- if eq .Values.isolation "pod" }}
- --pod-image={{ default (include "agent.image" .) .Values.pods.image }}
- --pod-template=/etc/chancery/pods/template.yaml
- --pod-namespace=$(POD_NAMESPACE)
- --pod-start-timeout={{ .Values.pods.startTimeout }}
{{- else }}
- --data=/data
{{- if eq .Values.isolation "user" }}
- --run-as={{ .Values.runAs }}
{{- end }}
{{- end }}
{{- with .Values.extraArgs }}
{{ toYaml . }}
{{- end }}
{{- range .Values.passEnv }}
- --pass-env={{ . }}
{{- end }}
{{- end -}}
