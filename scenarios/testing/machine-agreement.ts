import type { Lease } from '@cofferdam/kubernetes/api/core.ts'
import {
  type Machine,
  type MachineDisruptionBudget,
  machineDisruptionBudgets,
} from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { leases, nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { hookName, leaseHolder, marks } from '@cofferdam/product/capabilities/fencing/domain/marks.ts'
import type { FencingAnswer } from '@cofferdam/product/capabilities/fencing/view/fencing-answer.ts'
import type { FencingSummary } from '@cofferdam/product/capabilities/fencing/view/summarize-fencing.ts'
import { machineText } from '@cofferdam/product/dashboard/server/machine-note.ts'
import { disruptionLedgers } from '@cofferdam/product/shared/kinds/disruption-ledger.ts'
import { nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import { recordNotes } from '@cofferdam/product/shared/record-notes.ts'
import { type AskPorts, askExplain, askPage, askStatus } from './ask-commands.ts'
import { atOneMoment } from './at-one-moment.ts'
import type { FencingFixture } from './fencing-fixture.ts'

export interface MachineAgreement {
  /** What contradicts itself at one moment: never right. */
  readonly disagreements: readonly string[]
  /** What the operator has not caught up with: right while it is not the same for long. */
  readonly behind: readonly string[]
  /** Reasons that were given, of machines and of clusters. */
  readonly reasons: readonly string[]
}

type Ports = AskPorts & Pick<FencingFixture, 'kinds'>

export async function compareMachines(ports: Ports): Promise<MachineAgreement> {
  return atOneMoment(
    ports.api,
    [ports.kinds.machines, machineDisruptionBudgets, leases, nodes, disruptionLedgers, nodeDisruptions],
    () => lookAtMachines(ports),
  )
}

/** Of every Machine: what is said by `explain` of it and of its node, by `status` and the page, and what stands on machines and budgets. */
async function lookAtMachines(ports: Ports): Promise<MachineAgreement> {
  const { api, kinds } = ports
  const [{ items: machines }, { items: budgets }, { items: held }, { items: nodeList }] = await Promise.all([
    api.list(kinds.machines),
    api.list(machineDisruptionBudgets),
    api.list(leases),
    api.list(nodes),
  ])
  const status = ((await askStatus(ports)) as { fencing?: FencingSummary }).fencing
  const page = await askPage(ports)
  const disagreements: string[] = []
  const behind: string[] = []
  const reasons = new Set<string>()
  const isSick = new Set(
    nodeList.filter((node) => conditionOf(node, 'Ready')?.status !== 'True').map(({ metadata }) => metadata.name),
  )
  for (const machine of machines) {
    const name = `machine/${machine.metadata.namespace}/${machine.metadata.name}`
    const { code, answer } = await askExplain(ports, name)
    if (answer.kind !== 'machine') throw new Error(`${name} is a ${answer.kind}`)
    const { mayGo, fencing } = answer
    const { reason, underWay } = fencing
    reasons.add(reason)
    const says = mayGo ? 'may be fenced' : 'may not be fenced'
    const blame = (sentence: string) =>
      disagreements.push(`${name}: explain says that it ${says} (${reason}); ${sentence}`)
    if (code !== (mayGo ? 0 : 3)) blame(`its exit code is ${code}`)

    const node = machine.status?.nodeRef?.name
    const ofNode = node === undefined ? undefined : await fencingOfNode(ports, node)
    if (node !== undefined && ofNode === undefined && nodeList.some(({ metadata }) => metadata.name === node))
      blame(`explain node/${node} says nothing of it`)
    if (ofNode !== undefined && JSON.stringify(ofNode) !== JSON.stringify(fencing))
      blame(`explain node/${node} says ${ofNode.mayFence} (${ofNode.reason}): ${ofNode.explanation}`)
    const isPlanned = status?.planned.some((each) => each.node === node && !each.isOver) === true
    if (isPlanned !== (reason === 'PlannedOutage'))
      blame(`status ${isPlanned ? 'lists' : 'does not list'} it as planned`)
    const isListed = isPlanned || status?.held.some((each) => each.node === node) === true
    if (node !== undefined && isSick.has(node) && isListed === mayGo)
      blame(`status ${isListed ? 'lists' : 'does not list'} it as kept`)

    const card = page.machines.get(`${kinds.api}/${machine.metadata.namespace}/${machine.metadata.name}`)
    const text = card === undefined ? 'nothing' : machineText(card, node === undefined || !isSick.has(node))
    const isKept = /kept from|not to be fenced/.test(text)
    if (!/is being/.test(text) && isKept === mayGo) blame(`the page says "${text}"`)

    const keepers = keepersOf(machine, budgets, held)
    if (mayGo && underWay === undefined && keepers.length > 0) blame(`it is kept by ${keepers.join(', ')}`)
    const isExpected = ['FenceInTurn', 'FenceUnknown', 'PlannedOutage'].includes(reason)
    if (!mayGo && !isExpected && keepers.length === 0)
      behind.push(`${name}: nothing keeps it, and explain says ${reason}`)
  }
  for (const { cluster, allowed, reason, explanation } of status?.clusters ?? []) {
    reasons.add(reason)
    const [namespace, name] = cluster.split('/')
    const budget = budgets.find(({ metadata }) => metadata.name === `${name}-${namespace}`)
    const written = budget?.status?.disruptionsAllowed ?? 0
    if ((allowed ?? 0) > written) disagreements.push(`${cluster}: status allows ${allowed}, its budget ${written}`)
    if ((allowed ?? 0) < written) behind.push(`${cluster}: status allows ${allowed} (${reason}), its budget ${written}`)
    const recorded = budget?.metadata.annotations?.[recordNotes.reason] ?? 'nothing'
    const said = budget?.metadata.annotations?.[recordNotes.explanation] ?? ''
    if (recorded !== reason || said !== explanation)
      behind.push(`${cluster}: the operator decided ${recorded} (${said}), status says ${reason} (${explanation})`)
  }
  return { disagreements, behind, reasons: [...reasons] }
}

async function fencingOfNode(ports: Ports, node: string): Promise<FencingAnswer | undefined> {
  try {
    return ((await askExplain(ports, `node/${node}`)).answer as { fencing?: FencingAnswer }).fencing
  } catch {
    // A machine may still name a node that is gone.
    return undefined
  }
}

/** What stands on it, or over it, that keeps remediators off. */
function keepersOf(machine: Machine, budgets: readonly MachineDisruptionBudget[], held: readonly Lease[]): string[] {
  const { labels = {}, annotations = {}, namespace, name } = machine.metadata
  const node = machine.status?.nodeRef?.name
  const over = budgets.filter(({ metadata, spec, status }) => {
    const selects = Object.entries(spec?.selector?.matchLabels ?? {})
    const isSelected = metadata.namespace === namespace && selects.every(([key, value]) => labels[key] === value)
    const isFenced = Object.hasOwn(status?.disruptedMachines ?? {}, name)
    return isSelected && !isFenced && (status?.disruptionsAllowed ?? 0) === 0
  })
  const hooks = machine.spec?.lifecycleHooks?.preTerminate ?? []
  const lease = held.find(({ metadata }) => metadata.namespace === 'medik8s-leases' && metadata.name === `node-${node}`)
  return [
    ...over.map(({ metadata }) => `budget ${metadata.name}`),
    ...(annotations[marks.setByUs]?.includes('skip') === true ? ['an annotation'] : []),
    ...(hooks.some((hook) => hook.name === hookName) ? ['a hook'] : []),
    ...(lease?.spec?.holderIdentity === leaseHolder ? ['a Lease'] : []),
  ]
}

/** How often it is looked within two seconds before the operator counts as not catching up: a pass of it takes less. */
const looksMost = 3

/**
 * Compares now, and again until the operator has caught up: what is said must agree at every moment, and what it wrote soon after. The
 * clock moves on by up to two seconds.
 */
export async function agreeOnMachines(
  fixture: FencingFixture,
): Promise<Pick<MachineAgreement, 'disagreements' | 'reasons'>> {
  const looks: MachineAgreement[] = []
  while (looks.length < looksMost) {
    const look = await compareMachines(fixture)
    looks.push(look)
    if (look.behind.length === 0) break
    await fixture.seconds(1)
  }
  return {
    disagreements: [...looks.flatMap(({ disagreements }) => disagreements), ...lasting(looks)],
    reasons: [...new Set(looks.flatMap(({ reasons }) => reasons))],
  }
}

function lasting(looks: readonly MachineAgreement[]): readonly string[] {
  const [first, ...rest] = looks
  if (first === undefined || looks.length < looksMost) return []
  return first.behind.filter((sentence) => rest.every(({ behind }) => behind.includes(sentence)))
}
