import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import type { Machine, MachineSet } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import type { KubeObject, OwnerReference } from '@cofferdam/kubernetes/api/kube-object.ts'
import { apiVersionOf } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { MachineKinds } from './machine-kinds.ts'
import type { MachineSetDescription } from './machines-description.ts'

interface Place {
  readonly kinds: MachineKinds
  readonly namespace: string
  readonly clusterName: string
}

export function buildMachineSet({ kinds, namespace, clusterName }: Place, set: MachineSetDescription): MachineSet {
  const labels = { ...set.labels, [kinds.setLabel]: set.name }
  const spec = {
    ...(kinds.api === 'cluster-api' ? { clusterName } : {}),
    replicas: set.nodes.length,
    selector: { matchLabels: { [kinds.setLabel]: set.name } },
    template: { metadata: { labels } },
  }
  return {
    apiVersion: apiVersionOf(kinds.machineSets),
    kind: kinds.machineSets.kind,
    metadata: { name: set.name, namespace },
    spec,
  }
}

export function buildMachine({ kinds, clusterName }: Place, set: MachineSet, name: string): Machine {
  return {
    apiVersion: apiVersionOf(kinds.machines),
    kind: kinds.machines.kind,
    metadata: {
      name,
      ...(set.metadata.namespace === undefined ? {} : { namespace: set.metadata.namespace }),
      labels: { ...set.spec?.template?.metadata?.labels },
      finalizers: [kinds.finalizer],
      ownerReferences: [ownerOf(set)],
    },
    spec: kinds.api === 'cluster-api' ? { clusterName } : {},
  }
}

function ownerOf({ apiVersion, kind, metadata }: KubeObject): OwnerReference {
  return {
    apiVersion,
    kind,
    name: metadata.name,
    uid: metadata.uid as string,
    controller: true,
    blockOwnerDeletion: true,
  }
}

const hostname = 'kubernetes.io/hostname'
const zone = 'topology.kubernetes.io/zone'

export function providerIdOf(machine: string, node: Node | undefined): string {
  return `simulated:///${node?.metadata.labels?.[zone] ?? 'zone'}/${machine}`
}

/** A Node that has joined for a Machine; like the one it comes after in all but its name. */
export function buildNode(
  name: string,
  like: Node | undefined,
  of: { readonly machine: Machine; readonly annotation: string },
): Node {
  const { machine, annotation } = of
  const { namespace = '', name: machineName } = machine.metadata
  const allocatable = like?.status?.allocatable
  const capacity = like?.status?.capacity
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: { ...like?.metadata.labels, [hostname]: name },
      annotations: { [annotation]: `${namespace}/${machineName}` },
    },
    spec: { providerID: providerIdOf(machineName, like) },
    status: {
      ...(allocatable === undefined ? {} : { allocatable }),
      ...(capacity === undefined ? {} : { capacity }),
    },
  }
}
