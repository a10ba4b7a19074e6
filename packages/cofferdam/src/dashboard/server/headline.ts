import { goneWords } from '../../capabilities/drain-lock/view/explain-disruption.ts'
import type { CephView, ClusterView, DrainView } from './cluster-view.ts'
import { openDrains } from './lock-view-model.ts'
import { isKeptOpen, type KeepOf, longhornSentence } from './longhorn-view-model.ts'
import type { NodeState, NodeViewModel } from './node-view-model.ts'
import { updateSentences } from './osd-update-view-model.ts'
import type { Tone } from './tone.ts'
import { verdictsOf } from './verdicts-of.ts'

/** What is the matter, in one sentence, and the rest of it. */
export interface Headline {
  readonly tone: Tone
  readonly says: string
  readonly more: readonly string[]
}

/** More sentences than this are counted. */
const mostSentences = 5

/** Names the cause first: what is dead, what holds the storage, what each drain waits for. */
export function headlineOf(models: readonly NodeViewModel[], view: ClusterView, keepOf: KeepOf): Headline {
  if (models.length === 0) return { tone: 'busy', says: 'No nodes yet.', more: [] }
  const inState = (...states: NodeState[]) => models.filter(({ state }) => states.includes(state))
  const down = inState('gone', 'not-ready', 'unknown')
  const open = openDrains(view.drains)
  const requested = new Set(open.map(({ node }) => node))
  const others = models.filter(({ node }) => !requested.has(node.id))
  const updates = updateSentences(view.osdUpdates ?? [])
  const [says, ...more] = [
    ...inState('gone').map(goneSentence),
    ...downSentences(inState('not-ready', 'unknown'), view.ceph ?? []),
    ...(view.ceph ?? []).flatMap(cephSentences),
    ...open.flatMap(drainSentence),
    ...others.filter(({ state }) => state === 'draining').map(drainingSentence),
    ...others.filter(({ state }) => state === 'cordoned').map(cordonedSentence),
    ...sentenceAbout(
      others.filter(({ state }) => state === 'drained'),
      'is drained',
      'are drained',
    ),
    ...updates.map((update) => update.says),
  ]
  const isAlarming =
    down.length > 0 ||
    updates.some((update) => update.isAlarming) ||
    (view.ceph ?? []).some(({ health }) => health === 'HEALTH_ERR')
  if (says === undefined) return calmHeadline(models, view, keepOf)
  const left = more.length - mostSentences
  const rest = left > 0 ? [...more.slice(0, mostSentences), `${counted(left, 'more thing')} below.`] : more
  return { tone: isAlarming ? 'alarm' : 'busy', says, more: rest }
}

function calmHeadline(models: readonly NodeViewModel[], view: ClusterView, keepOf: KeepOf): Headline {
  const allReady = models.length === 1 ? 'The node is ready' : `All ${models.length} nodes are ready`
  const verdictOf = verdictsOf(view)
  const full = view.budgets.filter((budget) => !isKeptOpen(keepOf(budget.id)) && verdictOf(budget).tone !== 'calm')
  const [first] = full
  if (first === undefined) {
    const says = view.budgets.length === 0 ? `${allReady}.` : `${allReady}, and no budget is blocked.`
    return { tone: 'calm', says, more: [] }
  }
  const why =
    full.length === 1
      ? `pdb/${first.id}: ${verdictOf(first).says}.`
      : `${listed(full.map(({ id }) => id))} allow no eviction now.`
  return { tone: 'busy', says: `${allReady}.`, more: [why] }
}

function goneSentence({ node, podCount }: NodeViewModel): string {
  return `${node.id} is gone: its Node was deleted, and ${counted(podCount, 'pod')} ${podCount === 1 ? 'is' : 'are'} still bound to it.`
}

/** A dead host with OSDs is named with the failure domain that is away with it. */
function downSentences(models: readonly NodeViewModel[], ceph: readonly CephView[]): string[] {
  const placeOf = (name: string) =>
    ceph.flatMap(({ type, domains }) =>
      domains.filter(({ nodes }) => nodes.includes(name)).map((each) => `${type} ${each.name}`),
    )[0]
  const storage = models.filter(({ node }) => placeOf(node.id) !== undefined)
  return [
    ...storage.map(({ node }) => `${node.id} is NotReady, a storage host of ${placeOf(node.id)}.`),
    ...sentenceAbout(
      models.filter((model) => !storage.includes(model)),
      'is NotReady',
      'are NotReady',
    ),
  ]
}

function cephSentences({ id, health, checks, explanation, counts }: CephView): string[] {
  const isHeld = counts.held + counts.away > 0
  if (isHeld && explanation !== undefined) return [`Ceph ${id}: ${explanation}`]
  if (health === undefined || health === 'HEALTH_OK') return []
  const [first] = checks
  return [`Ceph ${id} is ${health}${first === undefined ? '' : `: ${first.message}`}.`]
}

/** In the words of the request; of a node that may go nothing else is said. */
function drainSentence({ node, phase, intent, isBlocked, blockedBy, explanation }: DrainView): string[] {
  if (phase === 'Drained') return [`${node} is drained and can be ${goneWords[intent]} now.`]
  const [first] = isBlocked ? blockedBy : []
  if (first === undefined) return explanation === '' ? [] : [explanation]
  const more = blockedBy.length === 1 ? '' : ` and ${blockedBy.length - 1} more`
  const state = phase === 'Waiting' || phase === 'Pending' ? 'is not cordoned yet' : `is ${phase.toLowerCase()}`
  return [`${node} ${state}: its drain waits for ${first.object}, held by ${first.holder}${more}.`]
}

function drainingSentence({ node, toMove, longhorn, verdict }: NodeViewModel): string {
  const says = `${node.id} is draining, ${counted(toMove, 'pod')} still to move`
  return `${says}${heldText(longhornSentence(longhorn), verdict?.blocker)}`
}

function cordonedSentence({ node, longhorn, verdict }: NodeViewModel): string {
  return `${node.id} is cordoned${heldText(longhornSentence(longhorn), verdict?.blocker)}`
}

function heldText(longhorn: string | undefined, blocker: { object: string; holder: string } | undefined): string {
  if (longhorn !== undefined) return `. ${longhorn}`
  if (blocker === undefined) return '.'
  return blocker.object === blocker.holder
    ? `, held by ${blocker.object}.`
    : `, held by ${blocker.object} (${blocker.holder}).`
}

function sentenceAbout(models: readonly NodeViewModel[], one: string, many: string): string[] {
  if (models.length === 0) return []
  return [`${listed(models.map(({ node }) => node.id))} ${models.length === 1 ? one : many}.`]
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** `a`, `a and b`, `a, b and 3 more`. */
function listed(items: readonly string[]): string {
  const shown = items.length > 3 ? [...items.slice(0, 2), `${items.length - 2} more`] : items
  return shown.length < 2 ? shown.join('') : `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`
}
