import { closestName } from '@cofferdam/kubernetes/api/closest-name.ts'
import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { persistentVolumes } from '@cofferdam/kubernetes/api/storage.ts'
import { ifAllowed } from '@cofferdam/kubernetes/client/if-allowed.ts'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import { explainNode } from '../../explain/explain-node.ts'
import { explainZone } from '../../explain/explain-zone.ts'
import type { Reader } from '../../observe/reader.ts'
import { compareText } from '../../shared/last-writer.ts'
import { answered } from './answered.ts'
import { explainLonghornVolume, explainNamedClaim } from './explain-workload.ts'
import { observeNodes } from './observe-nodes.ts'
import type { Explained } from './question.ts'

/** A failure domain by the label of its nodes: `topology.kubernetes.io/zone`, `topology.rook.io/rack`, … */
export async function explainNamedZone(
  { name, domainType }: { readonly name: string; readonly domainType: string },
  read: Reader,
): Promise<Explained> {
  const { items } = await read.api.list(nodes, { signal: read.signal })
  const members = items.filter((node) => domainOf(node, domainType) === name)
  if (members.length === 0) {
    const known = [...new Set(items.flatMap((node) => domainOf(node, domainType) ?? []))].sort(compareText)
    const closest = closestName(name, known)
    throw new CofferdamError('OBJECT_NOT_FOUND', `no node is in ${domainType} ${name}`, {
      facts: { kind: domainType, object: name },
      hint:
        closest !== undefined
          ? `did you mean ${domainType}/${closest}?`
          : known.length === 0
            ? `no node has a label topology.kubernetes.io/${domainType} or topology.rook.io/${domainType}`
            : `nodes are in ${domainType} ${known.join(', ')}`,
    })
  }
  const snapshots = await observeNodes(
    members.sort((a, b) => compareText(a.metadata.name, b.metadata.name)),
    read,
  )
  return answered({ kind: 'zone', ...explainZone({ name, domainType }, snapshots.map(explainNode)) }, read)
}

function domainOf({ metadata }: Node, type: string): string | undefined {
  const { labels = {} } = metadata
  return labels[`topology.kubernetes.io/${type}`] ?? labels[`topology.rook.io/${type}`]
}

/** A volume of Longhorn, or a PersistentVolume, which answers as its claim does. */
export async function explainNamedVolume({ name }: { readonly name: string }, read: Reader): Promise<Explained> {
  const volume = await explainLonghornVolume(name, read)
  if (volume !== undefined) return answered({ kind: 'volume', ...volume }, read)
  const bound = await ifAllowed(`persistentvolumes/${name}`, read.notSeen, () =>
    read.api.get(persistentVolumes, { name }, { signal: read.signal }),
  )
  const claim = bound?.spec?.claimRef
  if (claim?.name !== undefined && claim.namespace !== undefined) {
    return explainNamedClaim({ namespace: claim.namespace, name: claim.name }, read)
  }
  const unread = read.notSeen.length === 0 ? '' : `; not seen: ${read.notSeen.join('; ')}`
  throw new CofferdamError(
    'OBJECT_NOT_FOUND',
    bound === undefined
      ? `neither Longhorn nor Kubernetes has a volume ${name}${unread}`
      : `PersistentVolume ${name} is not bound to a claim, so no pod uses it`,
    {
      facts: { kind: 'Volume', object: name },
      hint: 'kubectl get pv, and kubectl get volumes.longhorn.io -A where there is Longhorn, show those there are',
    },
  )
}
