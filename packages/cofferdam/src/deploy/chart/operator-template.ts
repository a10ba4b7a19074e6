import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { dashboardAdditions, dashboardTls } from '../dashboard-manifests.ts'
import { buildOperatorWorkload } from '../operator-manifests.ts'
import { type ChartCapability, valueName, type WorkloadDefaults } from './chart-values.ts'
import { expression, templateText } from './expression.ts'

interface Container extends JsonObject {
  readonly args: readonly string[]
  readonly ports: JsonObject[]
  readonly resources: JsonObject
}
interface PodSpec extends JsonObject {
  readonly priorityClassName: string
  readonly affinity: JsonObject
  readonly containers: readonly [Container]
}
interface Deployment extends JsonObject {
  readonly spec: JsonObject & { readonly replicas: number; readonly template: JsonObject & { readonly spec: PodSpec } }
}

const image = '{{ include "cofferdam.image" . }}'
const cephFolder = '/etc/cofferdam/ceph'

function workload(named: string) {
  const [deployment, ...others] = buildOperatorWorkload({ image: named }) as unknown as [Deployment, ...JsonObject[]]
  return { deployment, others }
}

/** What the Deployment of deploy/ says, so that the chart says nothing else unless it is told to. */
export function workloadDefaults(): WorkloadDefaults {
  const { spec } = workload('').deployment
  const { priorityClassName, affinity, containers } = spec.template.spec
  return { replicas: spec.replicas, priorityClassName, affinity, resources: containers[0].resources }
}

/** The Deployment of deploy/ with the places in it that values fill. */
export function operatorTemplate(): string {
  const { deployment, others } = workload(expression(image))
  const { template } = deployment.spec
  const [container] = template.spec.containers
  const lines = (name: string, indent: number) => expression(`{{- include "cofferdam.${name}" . | nindent ${indent} }}`)
  const given = (path: string, indent: number) => expression(`{{- toYaml .Values.${path} | nindent ${indent} }}`)
  const filled = {
    ...deployment,
    spec: {
      ...deployment.spec,
      replicas: expression('{{ .Values.replicas }}'),
      template: {
        ...template,
        spec: {
          ...template.spec,
          priorityClassName: expression('{{ .Values.priorityClassName | quote }}'),
          affinity: given('affinity', 8),
          containers: [
            {
              ...container,
              [lines('pull', 10)]: null,
              args: [lines('args', 12)],
              ports: [...container.ports, lines('ports', 12)],
              resources: given('resources', 12),
              [lines('mounts', 10)]: null,
            },
          ],
          [lines('pod', 6)]: null,
        },
      },
    },
  }
  return templateText([filled, ...others])
}

/** Named templates: the image, the arguments and what volumes they need. */
export function operatorHelpers(capabilities: readonly ChartCapability[]): string {
  const { args } = workload('').deployment.spec.template.spec.containers[0]
  const [dashboardPorts, ...dashboardVolumes] = dashboardAdditions
  const [mounts, volumes] = dashboardVolumes.map(({ value }) => value as readonly object[])
  const item = (value: object | undefined) => templateText([[value ?? {}]]).trimEnd()
  const page = '(and .Values.dashboard.enabled .Values.dashboard.service.enabled)'
  const conf = '.Values.ceph.conf.secret'
  return [
    define(
      'image',
      `{{- $tag := .Values.image.tag | default (ternary (printf "%s-ceph" .Chart.AppVersion) .Chart.AppVersion (ne ${conf} "")) -}}
{{- if .Values.image.digest -}}{{ .Values.image.repository }}@{{ .Values.image.digest }}{{- else -}}{{ .Values.image.repository }}:{{ $tag }}{{- end -}}`,
    ),
    define(
      'pull',
      `{{- if ne .Values.image.pullPolicy "IfNotPresent" }}imagePullPolicy: {{ .Values.image.pullPolicy }}{{- end }}`,
    ),
    define('cephNamespaces', namespacesOf('.Values.ceph.clusters')),
    define('ownNamespaces', namespacesOf('.Values.ceph.ownOsds')),
    define('growNamespaces', namespacesOf('.Values.ceph.growOsds')),
    define('controllers', controllersText(capabilities)),
    define(
      'args',
      [
        ...args.map((word) => `- ${JSON.stringify(word)}`),
        argument('.Values.ceph.clusters', '--ceph-clusters=%s', '(join "," .)'),
        argument('.Values.ceph.ownOsds', '--own-osds=%s', '(join "," .)'),
        argument('.Values.ceph.growOsds', '--grow-osds=%s', '(join "," .)'),
        argument('.Values.ceph.rookImage', '--rook-image=%s', '.'),
        argument('.Values.ceph.rookNamespaces', '--rook-namespaces=%s', '(join "," .)'),
        `{{- with ${conf} }}\n- --ceph-conf=${cephFolder}/ceph.conf\n- --ceph-keyring=${cephFolder}/keyring`,
        '- {{ printf "--ceph-name=%s" $.Values.ceph.conf.user | quote }}\n{{- end }}',
        '{{- if .Values.dashboard.enabled }}\n- --dashboard\n{{- end }}',
        `{{- if ${page} }}\n- --dashboard-host=0.0.0.0\n- --dashboard-tls=${dashboardTls.folder}\n{{- end }}`,
        '{{- if not .Values.capabilities.evictionGuard }}\n- --no-guard\n{{- end }}',
        `{{- if not (and ${capabilities.map((each) => `.Values.capabilities.${valueName(each.name)}`).join(' ')}) }}`,
        '- {{ printf "--controllers=%s" (include "cofferdam.controllers" . | trimSuffix ",") | quote }}\n{{- end }}',
        '{{- if ne .Values.logLevel "info" }}\n- {{ printf "--log-level=%s" .Values.logLevel | quote }}\n{{- end }}',
        '{{- range .Values.extraArgs }}\n- {{ . | quote }}\n{{- end }}',
      ].join('\n'),
    ),
    define('ports', `{{- if ${page} }}\n${item(dashboardPorts?.value)}\n{{- end }}`),
    define(
      'mounts',
      `{{- if or ${page} ${conf} }}
volumeMounts:
{{- if ${page} }}
${item(mounts?.[0])}
{{- end }}
{{- if ${conf} }}
${item({ name: 'ceph', mountPath: cephFolder, readOnly: true })}
{{- end }}
{{- end }}`,
    ),
    define(
      'pod',
      `{{- if or ${page} ${conf} }}
volumes:
{{- if ${page} }}
${item(volumes?.[0])}
{{- end }}
{{- if ${conf} }}
${item({ name: 'ceph', secret: { secretName: expression(`{{ ${conf} | quote }}`) } })}
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
{{- end }}`,
    ),
  ].join('\n')
}

const define = (name: string, text: string) => `{{- define "cofferdam.${name}" -}}\n${text}\n{{- end }}\n`

const argument = (path: string, format: string, value: string) =>
  `{{- with ${path} }}\n- {{ printf "${format}" ${value} | quote }}\n{{- end }}`

/** Of NAMESPACE/NAME, each once, as a list in JSON. */
function namespacesOf(path: string): string {
  return `{{- $found := list -}}
{{- range ${path} }}{{- $found = append $found (first (splitList "/" .)) }}{{- end -}}
{{- $found | uniq | sortAlpha | toJson -}}`
}

function controllersText(capabilities: readonly ChartCapability[]): string {
  return capabilities
    .map(
      ({ name, controllers }) => `{{- if .Values.capabilities.${valueName(name)} }}${controllers.join(',')},{{- end }}`,
    )
    .join('\n')
}
