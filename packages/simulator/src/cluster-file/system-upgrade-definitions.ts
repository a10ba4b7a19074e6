import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { upgradePlans } from '@cofferdam/kubernetes/api/kinds/system-upgrade.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { buildResourceDefinition } from '@cofferdam/kubernetes/api/resource-definition.ts'

const loose: JsonObject = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }

/** The Plan of system-upgrade-controller: its name and columns; its fields are kept as they are written. */
export function upgradePlanDefinition(): KubeObject {
  const { group, kind, plural, version } = upgradePlans
  return buildResourceDefinition({
    group,
    kind,
    plural,
    versions: [
      {
        name: version,
        description: 'Applies an upgrade to nodes, by a Job on each.',
        properties: { spec: loose, status: loose },
        columns: [
          { name: 'Image', type: 'string', jsonPath: '.spec.upgrade.image' },
          { name: 'Version', type: 'string', jsonPath: '.spec.version' },
        ],
      },
    ],
  })
}
