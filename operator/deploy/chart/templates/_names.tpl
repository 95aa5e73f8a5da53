{{- define "chancery.name" -}}
{{- default .Release.Name .Values.fullnameOverride | trunc 46 | trimSuffix "-" -}}
{{- end -}}

{{- define "chancery.selectorLabels" -}}
app.kubernetes.io/name: chancery-operator
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{- define "chancery.labels" -}}
{{ include "chancery.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "chancery.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}{{ .repository }}@{{ .digest }}{{- else -}}{{ .repository }}:{{ default $.Chart.AppVersion .tag }}{{- end -}}
{{- end -}}
{{- end -}}

{{- define "chancery.serviceAccount" -}}
{{- with .Values.serviceAccount -}}
{{- default (ternary (include "chancery.name" $) "default" .create) .name -}}
{{- end -}}
{{- end -}}

{{- /* Value of --answer: the requests that the operator signs. */ -}}
{{- define "chancery.answered" -}}
{{- $names := list -}}
{{- if .Values.signing.certManager }}{{ $names = append $names "cert-manager" }}{{ end -}}
{{- if .Values.signing.certificateSigningRequests }}{{ $names = append $names "csr" }}{{ end -}}
{{- if .Values.signing.podCertificates }}{{ $names = append $names "pods" }}{{ end -}}
{{- join "," $names -}}
{{- end -}}
