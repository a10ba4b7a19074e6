import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { AccessPart, Permission } from '../../shared/permission.ts'
import { buildAccess, buildPartAccess, buildToolboxAccess } from '../access-manifests.ts'
import { buildAdmissionPolicies } from '../admission-policies.ts'
import { buildCustomResourceDefinitions } from '../custom-resource-definitions.ts'
import { buildDashboardService, buildDashboardViewer } from '../dashboard-manifests.ts'
import { buildGuardConfigurationManifest, buildGuardNetworkPolicy, buildGuardService } from '../guard-manifests.ts'
import {
  buildAlertRules,
  buildDashboardConfig,
  buildMetricsService,
  buildServiceMonitor,
} from '../monitoring/monitoring-manifests.ts'
import { operatorAccount } from '../operator-manifests.ts'
import { buildUserRoles } from '../user-roles.ts'
import { type ChartCapability, chartValues, valueName } from './chart-values.ts'
import { expression, templateText, when } from './expression.ts'
import { operatorHelpers, operatorTemplate, workloadDefaults } from './operator-template.ts'
import { valuesSchema, valuesText } from './values-tree.ts'

export interface ChartOptions {
  readonly version: string
  readonly permissions: Readonly<Record<string, readonly Permission[]>>
  readonly capabilities: readonly ChartCapability[]
}

interface Manifest extends JsonObject {
  readonly metadata: JsonObject & { readonly name: string; readonly namespace?: string }
}

const origin = 'Made by `npm run deploy-files` from the code; change it there.'
const { namespace } = operatorAccount

/** Every file of the chart, by its path in deploy/. The same builders make the plain manifests, so that no right can differ. */
export function buildChartFiles(options: ChartOptions): Record<string, string> {
  const { version, capabilities } = options
  const values = chartValues(capabilities, workloadDefaults())
  const files: Record<string, string> = {
    'Chart.yaml': `# ${origin}\n${chartYaml(version)}`,
    'values.yaml': `# ${origin}\n\n${valuesText(values)}`,
    'values.schema.json': `${JSON.stringify({ $schema: 'http://json-schema.org/draft-07/schema#', ...valuesSchema(values) }, undefined, 2)}\n`,
    'templates/_helpers.tpl': `{{- /* ${origin} */ -}}\n${operatorHelpers(capabilities)}`,
    'templates/NOTES.txt': notes,
    ...Object.fromEntries(
      Object.entries(templates(options)).map(([path, text]) => [`templates/${path}.yaml`, `# ${origin}\n${text}`]),
    ),
  }
  return Object.fromEntries(Object.entries(files).map(([path, text]) => [`helm/cofferdam/${path}`, text]))
}

function templates(options: ChartOptions): Record<string, string> {
  const { permissions, capabilities } = options
  const access = buildAccess(permissions) as unknown as readonly Manifest[]
  const roles = (names: readonly string[]) =>
    access.filter(({ metadata }) => names.some((name) => metadata.name === `cofferdam:${name}`)) as readonly object[]
  const switched = capabilities.flatMap((capability) => capability.roles)
  const always = access.filter(
    ({ kind, metadata }) => kind !== 'Namespace' && !switched.some((name) => metadata.name === `cofferdam:${name}`),
  )
  return {
    check: checks,
    namespace: when('.Values.namespace.create', templateText(access.filter(({ kind }) => kind === 'Namespace'))),
    crds: when('.Values.crds.install', templateText(buildCustomResourceDefinitions().map(kept))),
    account: templateText(always),
    ...Object.fromEntries(
      capabilities.map(({ name, roles: names }) => [
        `capabilities/${name}`,
        when(`.Values.capabilities.${valueName(name)}`, templateText(roles(names))),
      ]),
    ),
    operator: operatorTemplate(),
    guard: when(
      '.Values.capabilities.evictionGuard',
      templateText([...buildGuardService(), ...buildGuardConfigurationManifest()]),
    ),
    ...partTemplates(options),
    users: when('.Values.users.roles', templateText(buildUserRoles())),
    ...monitoringTemplates(),
  }
}

function partTemplates({ permissions, capabilities }: ChartOptions): Record<string, string> {
  const place = expression('{{ $namespace }}')
  const switched = (objects: readonly object[]) => switchedText(objects as readonly Manifest[], capabilities)
  const inEach = (namespaces: string, text: string) =>
    `{{- range $namespace := ${namespaces} }}\n${text.trimEnd()}\n{{- end }}\n`
  const listed = (helper: string) => `include "cofferdam.${helper}" . | fromJsonArray`
  const ofCeph = (part: AccessPart) => switched(buildPartAccess(part, permissions, { ceph: [place] }))
  const rightsOf = (part: AccessPart) => switched(buildPartAccess(part, permissions))
  const longhorn = buildPartAccess('longhorn', permissions, { longhorn: [place] }) as unknown as readonly Manifest[]
  const everywhere = longhorn.filter(({ metadata }) => metadata.namespace === undefined)
  const within = longhorn.filter(({ metadata }) => metadata.namespace !== undefined)
  const toolbox = `---\n${templateText(buildToolboxAccess({ namespace: place }))}`
  return {
    'parts/ceph': inEach(listed('cephNamespaces'), ofCeph('ceph')),
    'parts/ceph-toolbox': when('.Values.ceph.toolbox', inEach(listed('cephNamespaces'), toolbox)),
    'parts/ceph-own-osds': inEach(listed('ownNamespaces'), ofCeph('ceph-own-osds')),
    'parts/ceph-pace': when('.Values.ceph.pace', inEach(listed('cephNamespaces'), ofCeph('ceph-pace'))),
    'parts/ceph-grow-osds': inEach(listed('growNamespaces'), ofCeph('ceph-grow-osds')),
    'parts/longhorn': when(
      '.Values.longhorn.enabled',
      `${switched(everywhere)}${inEach('.Values.longhorn.namespaces', switched(within))}`,
    ),
    'parts/medik8s': when('.Values.medik8s.enabled', rightsOf('medik8s')),
    'parts/kured': when('.Values.kured.enabled', rightsOf('kured')),
    'parts/admission-policies': when('.Values.admissionPolicies.enabled', templateText(buildAdmissionPolicies())),
    'parts/guard-network': when('.Values.guard.networkPolicy.enabled', guardNetwork()),
    'parts/dashboard': when(
      '.Values.dashboard.enabled',
      templateText([...buildPartAccess('dashboard', permissions), ...buildDashboardViewer()]),
    ),
    'parts/dashboard-service': when(
      'and .Values.dashboard.enabled .Values.dashboard.service.enabled',
      templateText(buildDashboardService()),
    ),
  }
}

/** Rights of a part, each while the capability is on whose controller they are for. */
function switchedText(objects: readonly Manifest[], capabilities: readonly ChartCapability[]): string {
  return objects
    .map((object) => {
      const controller = object.metadata.name.split(':').at(-1) ?? ''
      const capability = capabilities.find(({ roles }) => roles.includes(controller))
      if (capability === undefined) throw new Error(`${object.metadata.name} belongs to no capability`)
      return when(`$.Values.capabilities.${valueName(capability.name)}`, `---\n${templateText([object])}`)
    })
    .join('')
}

function guardNetwork(): string {
  const ranges = expression(
    '{{- range .Values.guard.networkPolicy.controlPlane }}\n        - ipBlock:\n            cidr: {{ . | quote }}\n{{- end }}',
  )
  return templateText(buildGuardNetworkPolicy([ranges]))
}

function monitoringTemplates(): Record<string, string> {
  const labelled = (objects: readonly JsonObject[], path: string) =>
    objects.map((object) => {
      const { metadata } = object as Manifest
      const added = expression(`{{- with .Values.${path} }}{{ toYaml . | nindent 4 }}{{- end }}`)
      return { ...object, metadata: { ...metadata, labels: { ...(metadata['labels'] as JsonObject), [added]: null } } }
    })
  return {
    'monitoring/service-monitor': when(
      '.Values.metrics.serviceMonitor.enabled',
      templateText([...buildMetricsService(), ...labelled(buildServiceMonitor(), 'metrics.serviceMonitor.labels')]),
    ),
    'monitoring/rules': when(
      '.Values.metrics.rules.enabled',
      templateText(
        labelled(buildAlertRules(expression('{{ .Values.metrics.rules.runbooks }}')), 'metrics.rules.labels'),
      ),
    ),
    'monitoring/grafana-dashboard': when(
      '.Values.metrics.grafanaDashboard.enabled',
      templateText(buildDashboardConfig()),
    ),
  }
}

/** A release that is uninstalled takes neither requests nor the ledger along. */
function kept(definition: object): object {
  const { metadata, ...rest } = definition as { readonly metadata: { readonly annotations?: object } }
  return {
    ...rest,
    metadata: { ...metadata, annotations: { ...metadata.annotations, 'helm.sh/resource-policy': 'keep' } },
  }
}

/** What no schema can say, before anything is written. */
const checks = `{{- if and (ne .Release.Namespace "${namespace}") (not .Values.namespace.create) }}
{{- fail "install it with --namespace ${namespace} --create-namespace: Roles and admission policies name the operator's account there" }}
{{- end }}
{{- if and .Values.ceph.growOsds (not .Values.ceph.rookImage) }}
{{- fail "ceph.growOsds needs ceph.rookImage" }}
{{- end }}
{{- range concat .Values.ceph.ownOsds .Values.ceph.growOsds }}
{{- if not (has . $.Values.ceph.clusters) }}
{{- fail (printf "%s is not among ceph.clusters" .) }}
{{- end }}
{{- end }}
{{- if and .Values.ceph.conf.secret (ne (len .Values.ceph.clusters) 1) }}
{{- fail "ceph.conf.secret is for one of ceph.clusters, and there is another number of them" }}
{{- end }}
{{- if and .Values.guard.networkPolicy.enabled (not .Values.guard.networkPolicy.controlPlane) }}
{{- fail "guard.networkPolicy needs guard.networkPolicy.controlPlane: without it no eviction in locked namespaces is answered" }}
{{- end }}
`

const notes = `The operator is installed in ${namespace}: kubectl -n ${namespace} get pods
{{- if not .Values.ceph.clusters }}
It acts on no Ceph cluster: name those it may act on in ceph.clusters.
{{- end }}
{{- if not .Values.namespace.create }}
Let nothing in its namespace leave a container:
  kubectl label namespace ${namespace} pod-security.kubernetes.io/enforce=restricted
{{- end }}
Check the installation: cofferdam doctor
Before you uninstall the release: cofferdam uninstall
`

function chartYaml(version: string): string {
  return `apiVersion: v2
name: cofferdam
description: Drain, reboot, fence, upgrade and remove nodes while the data on them stays safe and available.
type: application
version: ${version}
appVersion: ${version}
kubeVersion: '>=1.28.0-0'
keywords:
  - rook
  - ceph
  - longhorn
  - drain
`
}
