{{- /* Made by `npm run deploy-files` from the code; change it there. */ -}}
{{- define "cofferdam.image" -}}
{{- $tag := .Values.image.tag | default (ternary (printf "%s-ceph" .Chart.AppVersion) .Chart.AppVersion (ne .Values.ceph.conf.secret "")) -}}
{{- if .Values.image.digest -}}{{ .Values.image.repository }}@{{ .Values.image.digest }}{{- else -}}{{ .Values.image.repository }}:{{ $tag }}{{- end -}}
{{- end }}

{{- define "cofferdam.pull" -}}
{{- if ne .Values.image.pullPolicy "IfNotPresent" }}imagePullPolicy: {{ .Values.image.pullPolicy }}{{- end }}
{{- end }}

{{- define "cofferdam.cephNamespaces" -}}
{{- $found := list -}}
{{- range .Values.ceph.clusters }}{{- $found = append $found (first (splitList "/" .)) }}{{- end -}}
{{- $found | uniq | sortAlpha | toJson -}}
{{- end }}

{{- define "cofferdam.ownNamespaces" -}}
{{- $found := list -}}
{{- range .Values.ceph.ownOsds }}{{- $found = append $found (first (splitList "/" .)) }}{{- end -}}
{{- $found | uniq | sortAlpha | toJson -}}
{{- end }}

{{- define "cofferdam.growNamespaces" -}}
{{- $found := list -}}
{{- range .Values.ceph.growOsds }}{{- $found = append $found (first (splitList "/" .)) }}{{- end -}}
{{- $found | uniq | sortAlpha | toJson -}}
{{- end }}

{{- define "cofferdam.controllers" -}}
{{- if .Values.capabilities.drainDetection }}drain-detection,{{- end }}
{{- if .Values.capabilities.cephDrain }}ceph-drain,ceph-static-budgets,{{- end }}
{{- if .Values.capabilities.osdUpdate }}osd-update,osd-growth,{{- end }}
{{- if .Values.capabilities.longhornDrain }}longhorn-drain,{{- end }}
{{- if .Values.capabilities.fencing }}fencing,{{- end }}
{{- if .Values.capabilities.autoscalers }}autoscalers,{{- end }}
{{- if .Values.capabilities.drainLock }}node-disruption,disruption-ledger,app-locks,finished-requests,{{- end }}
{{- if .Values.capabilities.kured }}kured,{{- end }}
{{- if .Values.capabilities.machineDeletion }}machine-deletion,{{- end }}
{{- if .Values.capabilities.nodeMaintenance }}node-maintenance,{{- end }}
{{- if .Values.capabilities.machineConfig }}machine-config,{{- end }}
{{- if .Values.capabilities.evictionGuard }}guard-certificates,guard-registration,{{- end }}
{{- end }}

{{- define "cofferdam.args" -}}
- "operator"
- "--health-host"
- "0.0.0.0"
- "--health-port"
- "7480"
{{- with .Values.ceph.clusters }}
- {{ printf "--ceph-clusters=%s" (join "," .) | quote }}
{{- end }}
{{- with .Values.ceph.ownOsds }}
- {{ printf "--own-osds=%s" (join "," .) | quote }}
{{- end }}
{{- with .Values.ceph.growOsds }}
- {{ printf "--grow-osds=%s" (join "," .) | quote }}
{{- end }}
{{- with .Values.ceph.rookImage }}
- {{ printf "--rook-image=%s" . | quote }}
{{- end }}
{{- with .Values.ceph.rookNamespaces }}
- {{ printf "--rook-namespaces=%s" (join "," .) | quote }}
{{- end }}
{{- with .Values.ceph.conf.secret }}
- --ceph-conf=/etc/cofferdam/ceph/ceph.conf
- --ceph-keyring=/etc/cofferdam/ceph/keyring
- {{ printf "--ceph-name=%s" $.Values.ceph.conf.user | quote }}
{{- end }}
{{- if .Values.dashboard.enabled }}
- --dashboard
{{- end }}
{{- if (and .Values.dashboard.enabled .Values.dashboard.service.enabled) }}
- --dashboard-host=0.0.0.0
- --dashboard-tls=/etc/cofferdam/dashboard-tls
{{- end }}
{{- if not .Values.capabilities.evictionGuard }}
- --no-guard
{{- end }}
{{- if not (and .Values.capabilities.drainDetection .Values.capabilities.cephDrain .Values.capabilities.osdUpdate .Values.capabilities.longhornDrain .Values.capabilities.fencing .Values.capabilities.autoscalers .Values.capabilities.drainLock .Values.capabilities.kured .Values.capabilities.machineDeletion .Values.capabilities.nodeMaintenance .Values.capabilities.machineConfig .Values.capabilities.evictionGuard) }}
- {{ printf "--controllers=%s" (include "cofferdam.controllers" . | trimSuffix ",") | quote }}
{{- end }}
{{- if ne .Values.logLevel "info" }}
- {{ printf "--log-level=%s" .Values.logLevel | quote }}
{{- end }}
{{- range .Values.extraArgs }}
- {{ . | quote }}
{{- end }}
{{- end }}

{{- define "cofferdam.ports" -}}
{{- if (and .Values.dashboard.enabled .Values.dashboard.service.enabled) }}
- name: dashboard
  containerPort: 7401
{{- end }}
{{- end }}

{{- define "cofferdam.mounts" -}}
{{- if or (and .Values.dashboard.enabled .Values.dashboard.service.enabled) .Values.ceph.conf.secret }}
volumeMounts:
{{- if (and .Values.dashboard.enabled .Values.dashboard.service.enabled) }}
- name: dashboard-tls
  mountPath: /etc/cofferdam/dashboard-tls
  readOnly: true
{{- end }}
{{- if .Values.ceph.conf.secret }}
- name: ceph
  mountPath: /etc/cofferdam/ceph
  readOnly: true
{{- end }}
{{- end }}
{{- end }}

{{- define "cofferdam.pod" -}}
{{- if or (and .Values.dashboard.enabled .Values.dashboard.service.enabled) .Values.ceph.conf.secret }}
volumes:
{{- if (and .Values.dashboard.enabled .Values.dashboard.service.enabled) }}
- name: dashboard-tls
  secret:
    secretName: cofferdam-dashboard-tls
    optional: true
{{- end }}
{{- if .Values.ceph.conf.secret }}
- name: ceph
  secret:
    secretName: {{ .Values.ceph.conf.secret | quote }}
{{- end }}
{{- end }}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
{{- range . }}
- name: {{ . | quote }}
{{- end }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
