import { dump } from 'js-yaml'
import type { Permission } from '../controllers/permission.ts'
import { buildCustomResourceDefinitions } from './custom-resource-definitions.ts'
import { buildGuardService } from './guard-manifests.ts'
import { buildAccess, buildMedik8sAccess, buildOperatorWorkload, buildToolboxAccess } from './operator-manifests.ts'

export interface DeployOptions {
  readonly version: string
  readonly permissions: Readonly<Record<string, readonly Permission[]>>
}

/** Every file of deploy/, by its path in there. */
export function buildDeployFiles({ version, permissions }: DeployOptions): Record<string, string> {
  const definitions = buildCustomResourceDefinitions().map(
    (definition) => [`crds/${definition.metadata.name}.yaml`, [definition]] as const,
  )
  const files: Record<string, readonly object[]> = {
    ...Object.fromEntries(definitions),
    'access.yaml': buildAccess(permissions),
    'operator.yaml': buildOperatorWorkload({ image: `cofferdam:${version}` }),
    'guard.yaml': buildGuardService(),
  }
  const kustomization = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: Object.keys(files),
  }
  // Beside the kustomization: they belong into namespaces that not every cluster has.
  const separate = {
    'ceph-toolbox.yaml': buildToolboxAccess({ namespace: 'rook-ceph' }),
    'medik8s.yaml': buildMedik8sAccess(permissions),
  }
  return Object.fromEntries(
    Object.entries({ ...files, ...separate, 'kustomization.yaml': [kustomization] }).map(([path, objects]) => [
      path,
      text(objects),
    ]),
  )
}

function text(objects: readonly object[]): string {
  const documents = objects.map((object) => dump(object, { lineWidth: 120, noRefs: true }))
  return `# Made by \`npm run deploy-files\` from the code; change it there.\n${documents.join('---\n')}`
}
