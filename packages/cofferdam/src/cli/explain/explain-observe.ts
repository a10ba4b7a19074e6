import { budgetsOf } from '@cofferdam/kubernetes/api/disruption-rules.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import type { ObjectKey } from '@cofferdam/kubernetes/api/resource-type.ts'
import { nodes, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { ifAllowed } from '@cofferdam/kubernetes/client/if-allowed.ts'
import { type FencingQuestion, findMachine, observeFencing } from '../../capabilities/fencing/observe/from-listing.ts'
import type { FencingView } from '../../capabilities/fencing/view/fencing-view.ts'
import { isInstanceManagerBudget } from '../../capabilities/longhorn-drain/domain/budget-object.ts'
import { answerLonghorn } from '../../capabilities/longhorn-drain/view/longhorn-answer.ts'
import { nodeBehind } from '../../capabilities/longhorn-drain/view/longhorn-budget.ts'
import type { LonghornView } from '../../capabilities/longhorn-drain/view/longhorn-view.ts'
import { explainBudget } from '../../explain/explain-budget.ts'
import { explainMachine } from '../../explain/explain-machine.ts'
import { explainNode } from '../../explain/explain-node.ts'
import { explainPod } from '../../explain/explain-pod.ts'
import { explainRequest } from '../../explain/explain-request.ts'
import { observeHolds } from '../../observe/observe-holds.ts'
import { observeOperator } from '../../observe/observe-operator.ts'
import { nodeDisruptions } from '../../shared/kinds/node-disruption.ts'
import { longhornBehind, observePodGuards, podsOf, rehearsalFor, storageBehind } from '../observe/observe-guards.ts'
import type { Subject } from './explain-subject.ts'
import { explainNamedCluster, explainNamedOsd, osdUpdateField } from './explain-update.ts'
import { findObject } from './find-object.ts'
import type { Explained, Question } from './question.ts'

/** Reads what an answer needs, no more, and asks the decision. */
export function explainSubject(subject: Subject, question: Question): Promise<Explained> {
  switch (subject.kind) {
    case 'node':
      return explainNamedNode(subject.name, question)
    case 'nodedisruption':
      return explainNamedRequest(subject.name, question)
    case 'pod':
      return explainNamedPod(subject, question)
    case 'machine':
      return explainNamedMachine(subject, question)
    case 'osd':
    case 'deployment':
      return explainNamedOsd(subject, question)
    case 'cephcluster':
      return explainNamedCluster(subject, question)
    default:
      return explainNamedBudget(subject, question)
  }
}

async function explainNamedNode(name: string, question: Question): Promise<Explained> {
  const { api, now, signal } = question
  const [node, onNode, budgets] = await Promise.all([
    findObject(nodes, { name }, question),
    api.list(pods, { fieldSelector: `spec.nodeName=${name}`, signal }),
    api.list(podDisruptionBudgets, { signal }),
  ])
  const guarding = onNode.items.flatMap((pod) => budgetsOf(pod, budgets.items))
  const unheld: string[] = []
  const [peers, { storage, notSeen }, holds, longhorn] = await Promise.all([
    podsOf(guarding, question),
    storageBehind(budgets.items, question),
    observeHolds(question, budgets.items, unheld),
    longhornBehind(question, unheld),
  ])
  const rehearsal = await rehearsalFor(
    onNode.items,
    { name, storage, budgets: budgets.items, longhorn },
    question,
    unheld,
  )
  const fencing = await fencingBehind({ storage, ledger: holds.ledger }, question, unheld)
  const seen = [...onNode.items, ...peers.filter(({ spec }) => spec.nodeName !== name)]
  const guards = { pods: seen, budgets: budgets.items, storage, holds, ...(longhorn && { longhorn }), ...rehearsal }
  const explanation = explainNode({ node, ...guards, now, ...(fencing && { fencing }) })
  return { kind: 'node', ...explanation, observedAt: now, notSeen: [...new Set([...notSeen, ...unheld])] }
}

async function explainNamedPod(key: Required<ObjectKey>, question: Question): Promise<Explained> {
  const { api, now, signal } = question
  const [pod, budgets] = await Promise.all([
    findObject(pods, key, question),
    api.list(podDisruptionBudgets, { namespace: key.namespace, signal }),
  ])
  const notSeen: string[] = []
  const guards = await observePodGuards([pod], budgets.items, question, notSeen)
  const explanation = {
    ...explainPod({ pod, ...guards }),
    ...(await longhornField(guards.longhorn, budgetsOf(pod, budgets.items), question)),
    ...(await osdUpdateField(pod, question, notSeen)),
  }
  return { kind: 'pod', ...explanation, observedAt: now, notSeen: [...new Set(notSeen)] }
}

async function explainNamedBudget(key: Required<ObjectKey>, question: Question): Promise<Explained> {
  const { api, now, signal } = question
  const [budget, siblings] = await Promise.all([
    findObject(podDisruptionBudgets, key, question),
    api.list(podDisruptionBudgets, { namespace: key.namespace, signal }),
  ])
  const unheld: string[] = []
  const [peers, { storage, notSeen }, holds, longhorn] = await Promise.all([
    podsOf([budget], question),
    storageBehind([budget], question),
    observeHolds(question, siblings.items, unheld),
    isInstanceManagerBudget(budget) ? longhornBehind(question, unheld) : undefined,
  ])
  const explanation = {
    ...explainBudget({ budget, pods: peers, storage, holds, ...(longhorn && { longhorn }) }),
    ...(await longhornField(longhorn, [budget], question)),
  }
  return { kind: 'pdb', ...explanation, observedAt: now, notSeen: [...notSeen, ...unheld] }
}

async function explainNamedRequest(name: string, question: Question): Promise<Explained> {
  const notSeen: string[] = []
  const [request, budgets] = await Promise.all([
    findObject(nodeDisruptions, { name }, question),
    ifAllowed('poddisruptionbudgets', notSeen, () =>
      question.api.list(podDisruptionBudgets, { signal: question.signal }),
    ),
  ])
  const holds = await observeHolds(question, budgets?.items ?? [], notSeen)
  return { kind: 'nodedisruption', ...explainRequest(request, holds), observedAt: question.now, notSeen }
}

async function explainNamedMachine(key: Required<ObjectKey>, question: Question): Promise<Explained> {
  const unheld: string[] = []
  const [{ storage, notSeen }, holds] = await Promise.all([
    storageBehind([], question),
    observeHolds(question, [], unheld),
  ])
  const view = await fencingBehind({ storage, ledger: holds.ledger }, question, unheld)
  const machine = findMachine(view, key, unheld)
  const seen = { observedAt: question.now, notSeen: [...new Set([...notSeen, ...unheld])] }
  return { kind: 'machine', ...explainMachine(machine.view, machine.machine), ...seen }
}

/** What is said of the node behind an instance manager, and of its pods: they may take volumes with them. */
async function longhornField(
  longhorn: LonghornView | undefined,
  budgets: readonly PodDisruptionBudget[],
  { api, signal }: Question,
): Promise<Pick<Explained, 'longhorn'>> {
  const nodeName = longhorn && budgets.map((budget) => nodeBehind(budget, longhorn)).find((name) => name !== undefined)
  if (longhorn === undefined || nodeName === undefined) return {}
  const { items } = await api.list(pods, { fieldSelector: `spec.nodeName=${nodeName}`, signal })
  const answer = answerLonghorn(longhorn, { nodeName, podsOnNode: items })
  return answer === undefined ? {} : { longhorn: answer }
}

function fencingBehind(
  known: Pick<FencingQuestion, 'storage' | 'ledger'>,
  question: Question,
  notSeen: string[],
): Promise<FencingView | undefined> {
  const operator = (unseen: string[]) => observeOperator(question, unseen)
  return observeFencing({ ...question, ...known, operator }, notSeen)
}
