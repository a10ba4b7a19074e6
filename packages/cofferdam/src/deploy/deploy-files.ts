import { defaultRookNamespace } from '@cofferdam/kubernetes/api/kinds/rook-operator.ts'
import { dump } from 'js-yaml'
import type { AccessPart, Permission } from '../shared/permission.ts'
import { buildAccess, buildPartAccess, buildToolboxAccess } from './access-manifests.ts'
import { buildAdmissionPolicies } from './admission-policies.ts'
import { buildCustomResourceDefinitions } from './custom-resource-definitions.ts'
import { buildDashboardService, buildDashboardViewer, dashboardAdditions, dashboardTls } from './dashboard-manifests.ts'
import { buildGuardConfigurationManifest, buildGuardNetworkPolicy, buildGuardService } from './guard-manifests.ts'
import {
  buildAlertRules,
  buildDashboardConfig,
  buildMetricsService,
  buildServiceMonitor,
} from './monitoring/monitoring-manifests.ts'
import { buildOperatorWorkload, operatorAccount } from './operator-manifests.ts'
import { buildUserRoles } from './user-roles.ts'

export interface DeployOptions {
  readonly version: string
  readonly permissions: Readonly<Record<string, readonly Permission[]>>
}

interface Part {
  readonly rights: readonly object[]
  /** Further arguments of the operator. */
  readonly args: readonly string[]
  /** What else is added to the operator's Deployment. */
  readonly additions?: readonly { readonly path: string; readonly value: unknown }[]
}

const kustomize = 'kustomize.config.k8s.io'
/** The one that Rook's own examples make. */
const exampleCluster = `${defaultRookNamespace}/rook-ceph`
const exampleRookImage = 'docker.io/rook/ceph:v1.18.8'

/** Every file of deploy/, by its path in there. */
export function buildDeployFiles({ version, permissions }: DeployOptions): Record<string, string> {
  const definitions = buildCustomResourceDefinitions().map(
    (definition) => [`crds/${definition.metadata.name}.yaml`, [definition]] as const,
  )
  const files: Record<string, readonly object[]> = {
    ...Object.fromEntries(definitions),
    'access.yaml': buildAccess(permissions),
    'operator.yaml': buildOperatorWorkload({ image: `cofferdam:${version}` }),
    'guard.yaml': [...buildGuardService(), ...buildGuardConfigurationManifest()],
    'users.yaml': buildUserRoles(),
  }
  const kustomization = { apiVersion: `${kustomize}/v1beta1`, kind: 'Kustomization', resources: Object.keys(files) }
  const parts = Object.entries(buildParts(permissions)).flatMap(([name, part]) => partFiles(name, part))
  const all = { ...files, 'kustomization.yaml': [kustomization], ...Object.fromEntries(parts) }
  return Object.fromEntries(Object.entries(all).map(([path, objects]) => [path, text(objects)]))
}

/** What not every cluster needs: rights in namespaces that not every cluster has, and the flags that go with them. */
type PartName =
  | AccessPart
  | 'admission-policies'
  | 'ceph-toolbox'
  | 'dashboard-service'
  | 'guard-network'
  | 'monitoring'

function buildParts(permissions: DeployOptions['permissions']): Readonly<Record<PartName, Part>> {
  const rightsOf = (part: AccessPart) => buildPartAccess(part, permissions, { ceph: [defaultRookNamespace] })
  return {
    ceph: {
      rights: rightsOf('ceph'),
      args: [`--ceph-clusters=${exampleCluster}`],
    },
    'ceph-toolbox': { rights: buildToolboxAccess({ namespace: defaultRookNamespace }), args: [] },
    'ceph-own-osds': { rights: rightsOf('ceph-own-osds'), args: [`--own-osds=${exampleCluster}`] },
    'ceph-pace': { rights: rightsOf('ceph-pace'), args: [] },
    'ceph-grow-osds': {
      rights: rightsOf('ceph-grow-osds'),
      args: [`--grow-osds=${exampleCluster}`, `--rook-image=${exampleRookImage}`],
    },
    longhorn: { rights: rightsOf('longhorn'), args: [] },
    'admission-policies': { rights: buildAdmissionPolicies(), args: [] },
    'guard-network': { rights: buildGuardNetworkPolicy(), args: [] },
    monitoring: {
      rights: [...buildMetricsService(), ...buildServiceMonitor(), ...buildAlertRules(), ...buildDashboardConfig()],
      args: [],
    },
    medik8s: { rights: rightsOf('medik8s'), args: [] },
    kured: { rights: rightsOf('kured'), args: [] },
    dashboard: { rights: [...rightsOf('dashboard'), ...buildDashboardViewer()], args: ['--dashboard'] },
    'dashboard-service': {
      rights: buildDashboardService(),
      args: ['--dashboard-host=0.0.0.0', `--dashboard-tls=${dashboardTls.folder}`],
      additions: dashboardAdditions,
    },
  }
}

/**
 * A component for whoever composes an installation, and the rights alone in a folder of their own: an overlay can put those into
 * another namespace, and a component cannot.
 */
function partFiles(name: string, { rights, args, additions = [] }: Part): (readonly [string, readonly object[]])[] {
  const component = {
    apiVersion: `${kustomize}/v1alpha1`,
    kind: 'Component',
    resources: ['rights'],
    ...(args.length + additions.length === 0 ? {} : { patches: [deploymentPatch(args, additions)] }),
  }
  const alone = { apiVersion: `${kustomize}/v1beta1`, kind: 'Kustomization', resources: ['rights.yaml'] }
  return [
    [`${name}/kustomization.yaml`, [component]],
    [`${name}/rights/kustomization.yaml`, [alone]],
    [`${name}/rights/rights.yaml`, rights],
  ]
}

function deploymentPatch(args: readonly string[], additions: NonNullable<Part['additions']>): object {
  const path = '/spec/template/spec/containers/0/args/-'
  const added = [...args.map((value) => ({ path, value })), ...additions]
  return {
    target: { kind: 'Deployment', name: operatorAccount.name },
    patch: dump(added.map((each) => ({ op: 'add', ...each }))),
  }
}

function text(objects: readonly object[]): string {
  const documents = objects.map((object) => dump(object, { lineWidth: 120, noRefs: true }))
  return `# Made by \`npm run deploy-files\` from the code; change it there.\n${documents.join('---\n')}`
}
