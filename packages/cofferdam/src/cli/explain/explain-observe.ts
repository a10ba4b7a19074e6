import { budgetsOf } from '@cofferdam/kubernetes/api/disruption-rules.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import type { ObjectKey } from '@cofferdam/kubernetes/api/resource-type.ts'
import { nodes, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { ifAllowed } from '@cofferdam/kubernetes/client/if-allowed.ts'
import { readStorage } from '../../capabilities/ceph-drain/observe/read-storage.ts'
import { findMachine, readFencing } from '../../capabilities/fencing/observe/read-fencing.ts'
import { isOverInstanceManager } from '../../capabilities/longhorn-drain/domain/budget-object.ts'
import { readLonghorn } from '../../capabilities/longhorn-drain/observe/read-longhorn.ts'
import { answerLonghorn } from '../../capabilities/longhorn-drain/view/longhorn-answer.ts'
import { nodeBehind } from '../../capabilities/longhorn-drain/view/longhorn-budget.ts'
import type { LonghornView } from '../../capabilities/longhorn-drain/view/longhorn-view.ts'
import type { Shown } from '../../capabilities/shown.ts'
import { explainBudget } from '../../explain/explain-budget.ts'
import { explainMachine } from '../../explain/explain-machine.ts'
import { explainNode } from '../../explain/explain-node.ts'
import { explainPod } from '../../explain/explain-pod.ts'
import { explainRequest } from '../../explain/explain-request.ts'
import { observeHolds } from '../../observe/observe-holds.ts'
import { readShownNode, type ShownPorts } from '../../observe/read-shown.ts'
import type { Reader } from '../../observe/reader.ts'
import { nodeDisruptions } from '../../shared/kinds/node-disruption.ts'
import { observePodGuards, podsOf } from '../observe/observe-guards.ts'
import { answered } from './answered.ts'
import { explainNamedVolume, explainNamedZone } from './explain-places.ts'
import { explainNamedCluster, explainNamedOsd, osdUpdateField } from './explain-update.ts'
import { explainNamedClaim, explainNamedWorkload } from './explain-workload.ts'
import { findObject } from './find-object.ts'
import type { Subject } from './locate-subject.ts'
import { observeNodes } from './observe-nodes.ts'
import type { Explained } from './question.ts'

/** Reads what an answer needs, no more, and asks the decision. */
export function explainSubject(
  subject: Subject,
  read: Reader & { readonly list: readonly Shown<ShownPorts>[] },
): Promise<Explained> {
  switch (subject.kind) {
    case 'node':
      return explainNamedNode(subject.name, read)
    case 'zone':
      return explainNamedZone(subject, read)
    case 'nodedisruption':
      return explainNamedRequest(subject.name, read)
    case 'pod':
      return explainNamedPod(subject, read)
    case 'pdb':
      return explainNamedBudget(subject, read)
    case 'pvc':
      return explainNamedClaim(subject, read)
    case 'volume':
      return explainNamedVolume(subject, read)
    case 'machine':
      return explainNamedMachine(subject, read)
    case 'osd': {
      const { namespace, name } = subject
      return explainNamedOsd({ namespace, osd: Number(name), object: `osd/${namespace}/${name}` }, read)
    }
    case 'cephcluster':
      return explainNamedCluster(subject, read)
    case 'deployment':
    case 'statefulset':
    case 'daemonset':
    case 'replicaset':
      return explainNamedWorkload({ ...subject, kind: subject.kind }, read)
  }
}

async function explainNamedNode(
  name: string,
  read: Reader & { readonly list: readonly Shown<ShownPorts>[] },
): Promise<Explained> {
  const node = await findObject(nodes, { name }, read)
  const [snapshot] = await observeNodes([node], read)
  if (snapshot === undefined) throw new Error(`node ${name} was not observed`)
  const { storage, holds } = snapshot
  const shown = await readShownNode({ ...read, storage, ledger: holds.ledger }, read.list, name)
  return answered({ kind: 'node', ...explainNode(snapshot), ...shown }, read)
}

async function explainNamedPod(key: Required<ObjectKey>, read: Reader): Promise<Explained> {
  const { api, signal } = read
  const [pod, budgets] = await Promise.all([
    findObject(pods, key, read),
    api.list(podDisruptionBudgets, { namespace: key.namespace, signal }),
  ])
  const guards = await observePodGuards([pod], budgets.items, read)
  const explanation = {
    ...explainPod({ pod, ...guards }),
    ...(await longhornField(guards.longhorn, budgetsOf(pod, budgets.items), read)),
    ...(await osdUpdateField(pod, read)),
  }
  return answered({ kind: 'pod', ...explanation }, read)
}

async function explainNamedBudget(key: Required<ObjectKey>, read: Reader): Promise<Explained> {
  const { api, signal } = read
  const [budget, siblings] = await Promise.all([
    findObject(podDisruptionBudgets, key, read),
    api.list(podDisruptionBudgets, { namespace: key.namespace, signal }),
  ])
  const [peers, storage, holds, longhorn] = await Promise.all([
    podsOf([budget], read),
    readStorage(read, [budget]),
    observeHolds(read, siblings.items, read.notSeen),
    isOverInstanceManager(budget) ? readLonghorn(read) : undefined,
  ])
  const explanation = {
    ...explainBudget({
      budget,
      pods: peers,
      storage,
      holds,
      unread: [...read.notSeen],
      ...(longhorn && { longhorn }),
    }),
    ...(await longhornField(longhorn, [budget], read)),
  }
  return answered({ kind: 'pdb', ...explanation }, read)
}

async function explainNamedRequest(name: string, read: Reader): Promise<Explained> {
  const { notSeen } = read
  const [request, budgets] = await Promise.all([
    findObject(nodeDisruptions, { name }, read),
    ifAllowed('poddisruptionbudgets', notSeen, () => read.api.list(podDisruptionBudgets, { signal: read.signal })),
  ])
  const holds = await observeHolds(read, budgets?.items ?? [], notSeen)
  return answered({ kind: 'nodedisruption', ...explainRequest(request, holds) }, read)
}

async function explainNamedMachine(key: Required<ObjectKey>, read: Reader): Promise<Explained> {
  const [storage, holds] = await Promise.all([readStorage(read, []), observeHolds(read, [], read.notSeen)])
  const view = await readFencing(read, { storage, ledger: holds.ledger })
  const machine = findMachine(view, key, read.notSeen)
  return answered({ kind: 'machine', ...explainMachine(machine.view, machine.machine) }, read)
}

/** What is said of the node behind an instance manager, and of its pods: they may take volumes with them. */
async function longhornField(
  longhorn: LonghornView | undefined,
  budgets: readonly PodDisruptionBudget[],
  { api, signal }: Reader,
): Promise<Pick<Explained, 'longhorn'>> {
  const nodeName = longhorn && budgets.map((budget) => nodeBehind(budget, longhorn)).find((name) => name !== undefined)
  if (longhorn === undefined || nodeName === undefined) return {}
  const { items } = await api.list(pods, { fieldSelector: `spec.nodeName=${nodeName}`, signal })
  const answer = answerLonghorn(longhorn, { nodeName, podsOnNode: items })
  return answer === undefined ? {} : { longhorn: answer }
}
