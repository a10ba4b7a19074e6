import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { machineConfigPools } from '@cofferdam/kubernetes/api/kinds/machine-config.ts'
import { nodeMaintenances } from '@cofferdam/kubernetes/api/kinds/node-maintenance.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { buildResourceDefinition } from '@cofferdam/kubernetes/api/resource-definition.ts'

const text: JsonObject = { type: 'string' }
const number: JsonObject = { type: 'integer' }
const loose: JsonObject = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }

/** medik8s' kind of maintenance, as its operator installs it. */
export function nodeMaintenanceDefinition(): KubeObject {
  const { group, kind, plural, namespaced, version } = nodeMaintenances
  return buildResourceDefinition({
    group,
    kind,
    plural,
    namespaced,
    shortNames: ['nm'],
    versions: [
      {
        name: version,
        description: 'A node that is taken out of service.',
        columns: [],
        properties: {
          spec: { type: 'object', required: ['nodeName'], properties: { nodeName: text, reason: text } },
          status: {
            type: 'object',
            properties: {
              phase: text,
              lastError: text,
              lastUpdate: { type: 'string', format: 'date-time' },
              drainProgress: number,
              errorOnLeaseCount: number,
              evictionPods: number,
              pendingPods: { type: 'array', items: text },
            },
          },
        },
      },
    ],
  })
}

/** OpenShift's pools of nodes with one configuration: names, columns and the fields that are read. */
export function machineConfigPoolDefinition(): KubeObject {
  const { group, kind, plural, namespaced, version } = machineConfigPools
  const column = (name: string, jsonPath: string): JsonObject => ({ name, type: 'string', jsonPath })
  return buildResourceDefinition({
    group,
    kind,
    plural,
    namespaced,
    shortNames: ['mcp'],
    versions: [
      {
        name: version,
        description: 'Nodes that are brought to one configuration.',
        columns: [column('Config', '.status.configuration.name')],
        properties: {
          spec: {
            ...loose,
            properties: {
              nodeSelector: loose,
              paused: { type: 'boolean' },
              maxUnavailable: { 'x-kubernetes-int-or-string': true },
              configuration: loose,
            },
          },
          status: loose,
        },
      },
    ],
  })
}
