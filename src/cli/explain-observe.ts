import type { Pod } from '../api/core.ts'
import { budgetsOf } from '../api/disruption-rules.ts'
import type { PodDisruptionBudget } from '../api/policy.ts'
import type { ObjectKey } from '../api/resource-type.ts'
import { nodes, podDisruptionBudgets, pods } from '../api/resources.ts'
import { explainBudget } from '../domain/explain/explain-budget.ts'
import { explainNode } from '../domain/explain/explain-node.ts'
import { explainPod } from '../domain/explain/explain-pod.ts'
import type { BudgetExplanation, NodeExplanation, PodExplanation } from '../domain/explain/explanation.ts'
import type { KubeApi } from '../kube/kube-api.ts'
import type { Subject } from './explain-subject.ts'
import { findObject } from './find-object.ts'
import { observeOperator } from './observe-operator.ts'
import { observeStorage, type SeenStorage } from './observe-storage.ts'

export type Explained = (
  | ({ readonly kind: 'node' } & NodeExplanation)
  | ({ readonly kind: 'pod' } & PodExplanation)
  | ({ readonly kind: 'pdb' } & BudgetExplanation)
) & {
  readonly observedAt: string
  /** What could not be read; empty when everything was seen. */
  readonly notSeen: readonly string[]
}

export interface Question {
  readonly api: Pick<KubeApi, 'get' | 'list'>
  readonly now: string
  readonly leaseNamespace: string
  readonly signal: AbortSignal
}

/** Reads what an answer needs, no more, and asks the decision. */
export function explainSubject(subject: Subject, question: Question): Promise<Explained> {
  if (subject.kind === 'node') return explainNamedNode(subject.name, question)
  return subject.kind === 'pod' ? explainNamedPod(subject, question) : explainNamedBudget(subject, question)
}

async function explainNamedNode(name: string, question: Question): Promise<Explained> {
  const { api, now, signal } = question
  const [node, onNode, budgets] = await Promise.all([
    findObject(nodes, { name }, question),
    api.list(pods, { fieldSelector: `spec.nodeName=${name}`, signal }),
    api.list(podDisruptionBudgets, { signal }),
  ])
  const guarding = onNode.items.flatMap((pod) => budgetsOf(pod, budgets.items))
  const [peers, { storage, notSeen }] = await Promise.all([
    podsOf(guarding, question),
    storageBehind(budgets.items, question),
  ])
  const seen = [...onNode.items, ...peers.filter(({ spec }) => spec.nodeName !== name)]
  const explanation = explainNode({ node, pods: seen, budgets: budgets.items, storage, now })
  return { kind: 'node', ...explanation, observedAt: now, notSeen }
}

async function explainNamedPod(key: Required<ObjectKey>, question: Question): Promise<Explained> {
  const { api, now, signal } = question
  const [pod, budgets] = await Promise.all([
    findObject(pods, key, question),
    api.list(podDisruptionBudgets, { namespace: key.namespace, signal }),
  ])
  const [peers, { storage, notSeen }] = await Promise.all([
    podsOf(budgetsOf(pod, budgets.items), question),
    storageBehind(budgets.items, question),
  ])
  const explanation = explainPod({ pod, pods: peers, budgets: budgets.items, storage })
  return { kind: 'pod', ...explanation, observedAt: now, notSeen }
}

async function explainNamedBudget(key: Required<ObjectKey>, question: Question): Promise<Explained> {
  const { now } = question
  const budget = await findObject(podDisruptionBudgets, key, question)
  const [peers, { storage, notSeen }] = await Promise.all([
    podsOf([budget], question),
    storageBehind([budget], question),
  ])
  return { kind: 'pdb', ...explainBudget({ budget, pods: peers, storage }), observedAt: now, notSeen }
}

function storageBehind(budgets: readonly PodDisruptionBudget[], question: Question): Promise<SeenStorage> {
  const { api, signal } = question
  return observeStorage({ api, budgets, operator: (notSeen) => observeOperator(question, notSeen), signal })
}

/** Every pod in the namespaces of these budgets. */
async function podsOf(budgets: readonly PodDisruptionBudget[], { api, signal }: Question): Promise<Pod[]> {
  const namespaces = [...new Set(budgets.map(({ metadata }) => metadata.namespace ?? ''))]
  const lists = await Promise.all(namespaces.map((namespace) => api.list(pods, { namespace, signal })))
  return lists.flatMap(({ items }) => items)
}
