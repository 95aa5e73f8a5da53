{{- define "chancery.name" -}}
{{- default .Release.Name .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- end -}}

{{- define "chancery.selectorLabels" -}}
app.kubernetes.io/name: chancery
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

{{- define "chancery.scheme" -}}
{{- if .Values.tls.existingSecret -}}HTTPS{{- else -}}HTTP{{- end -}}
{{- end -}}

{{- /* Configuration file of the server. It contains no secrets. */ -}}
{{- define "chancery.configuration" -}}
{{- $settings := dict
  "listen" "0.0.0.0:8420"
  "data" (ternary "/data" "/tmp/chancery" .Values.evaluation.enabled)
  "shutdownDelay" (printf "%ds" (int .Values.shutdown.delaySeconds))
  "shutdownGrace" (printf "%ds" (int .Values.shutdown.graceSeconds)) -}}
{{- if not .Values.evaluation.enabled }}
{{- $_ := set $settings "sealKeyFile" (printf "/etc/chancery/seal/%s" .Values.sealKey.key) }}
{{- end }}
{{- if not .Values.audit.enabled }}
{{- $_ := set $settings "auditLog" "off" }}
{{- end }}
{{- with .Values.publicUrl }}
{{- $_ := set $settings "publicUrl" . }}
{{- end }}
{{- if .Values.tls.existingSecret }}
{{- $_ := set $settings "tlsCert" "/etc/chancery/tls/tls.crt" }}
{{- $_ := set $settings "tlsKey" "/etc/chancery/tls/tls.key" }}
{{- end }}
{{- if .Values.devices.enabled }}
{{- if not .Values.tls.existingSecret }}
{{- fail "devices.enabled requires tls.existingSecret: devices connect by HTTPS with the certificate of the server" }}
{{- end }}
{{- $_ := set $settings "deviceListen" "0.0.0.0:8443" }}
{{- end }}
{{- range $name, $value := .Values.settings }}
{{- if hasKey $settings $name }}
{{- fail (printf "settings.%s is set by the chart; use the other values instead" $name) }}
{{- end }}
{{- $_ := set $settings $name (toString $value) }}
{{- end }}
{{- toPrettyJson $settings -}}
{{- end -}}
