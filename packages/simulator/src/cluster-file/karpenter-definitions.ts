import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { nodeClaims, nodePools } from '@cofferdam/kubernetes/api/kinds/karpenter.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { buildResourceDefinition } from '@cofferdam/kubernetes/api/resource-definition.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'

const open: JsonObject = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
const age: JsonObject = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' }
const node: JsonObject = { name: 'Node', type: 'string', jsonPath: '.status.nodeName' }

/** Karpenter's kinds: their names and columns. Fields are kept as they are written. */
export function karpenterDefinitions(): KubeObject[] {
  return [
    build(nodeClaims, 'A node that Karpenter has made.', [node, age]),
    build(nodePools, 'What nodes Karpenter makes, and when it takes them.', [age]),
  ]
}

function build({ group, kind, plural, version }: ResourceType, description: string, columns: JsonObject[]): KubeObject {
  const versions = [{ name: version, description, properties: { spec: open, status: open }, columns }]
  return buildResourceDefinition({ group, kind, plural, namespaced: false, versions })
}
