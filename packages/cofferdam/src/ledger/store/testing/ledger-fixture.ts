import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { buildCustomResourceDefinitions } from '../../../deploy/custom-resource-definitions.ts'
import { type DisruptionLedger, disruptionLedgers, ledgerName } from '../../../shared/kinds/disruption-ledger.ts'
import { type NodeDisruption, nodeDisruptions } from '../../../shared/kinds/node-disruption.ts'
import type { Claim } from '../../rules/claim.ts'

const definitions = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
}

export async function installDefinitions(api: KubeApi): Promise<void> {
  for (const definition of buildCustomResourceDefinitions()) await api.create<KubeObject>(definitions, definition)
}

export const ledgerObject = (api: KubeApi): Promise<DisruptionLedger> =>
  api.get(disruptionLedgers, { name: ledgerName })

/** `node/a Acting R1 at 1`, in the order of the ledger. */
export async function heldKeys(api: KubeApi): Promise<string[]> {
  const { status } = await ledgerObject(api)
  return (status?.entries ?? []).map(
    ({ key, state, requestId, epoch }) => `${key} ${state} ${requestId.slice(0, 8)} at ${epoch}`,
  )
}

/** Asks for a node to be taken out; with a record, as an operator would have written it. */
export async function createDisruption(
  api: KubeApi,
  name: string,
  nodeName: string,
  record?: NodeDisruption['status'],
): Promise<NodeDisruption> {
  const created = await api.create(nodeDisruptions, {
    apiVersion: 'cofferdam.io/v1alpha1',
    kind: 'NodeDisruption',
    metadata: { name },
    spec: { nodeName, intent: 'Reboot', honourSkipDrain: true },
  })
  if (record === undefined) return created
  return api.update(nodeDisruptions, { ...created, status: record }, { subresource: 'status' })
}

export function claim(key: string, scope = ''): Claim {
  return { key, uid: `uid of ${key}`, scope }
}
