import type { DisruptionAnswer } from '../../capabilities/drain-lock/view/explain-disruption.ts'
import { requesterText } from '../../capabilities/drain-lock/view/requester-text.ts'
import { fencingLines } from '../../capabilities/fencing/view/fencing-text.ts'
import { longhornLines } from '../../capabilities/longhorn-drain/view/longhorn-text.ts'
import { idRanges } from '../../capabilities/osd-update/domain/id-ranges.ts'
import { osdUpdateLines } from '../../capabilities/osd-update/view/osd-update-text.ts'
import { updateDetails, updateHeadline } from '../../capabilities/osd-update/view/status-text.ts'
import type { Shown } from '../../capabilities/shown.ts'
import type { CephState } from '../../explain/ceph-state.ts'
import type { CephClusterExplanation, DomainAnswer } from '../../explain/explain-ceph-cluster.ts'
import type { ClaimExplanation } from '../../explain/explain-claim.ts'
import type { MachineExplanation } from '../../explain/explain-machine.ts'
import type { OsdExplanation } from '../../explain/explain-osd.ts'
import type { VolumeExplanation } from '../../explain/explain-volume.ts'
import type { BudgetExplanation, NodeExplanation, NodeState } from '../../explain/explanation.ts'
import { ageText } from '../../shared/age-text.ts'
import type { Blocker } from '../../shared/blocker.ts'
import { cordonSign } from '../../shared/closed-node.ts'
import { listText } from '../../shared/list-text.ts'
import { mergeBlockers } from '../../shared/merge-blockers.ts'
import type { TextStyle } from '../../shared/paint.ts'
import type { StorageAnswer } from '../../shared/storage-answer.ts'
import { holdsTable, tablesOf } from './explain-tables.ts'
import type { Explained } from './question.ts'

interface Style extends TextStyle {
  /** What capabilities show. */
  readonly list: readonly Shown<never>[]
}

const verdictColours = { free: 'green', blocked: 'red', unknown: 'yellow' } as const

/** The whole answer for people: the verdict first, then what stands in the way, then the details. */
export function renderExplained(explained: Explained, { list, paint }: Pick<Style, 'list' | 'paint'>): string {
  const { object, summary, blockers, notSeen } = explained
  const style: Style = { list, paint, now: explained.observedAt }
  const verdict = paint(verdictColours[explained.verdict], explained.verdict)
  return [
    `${paint('bold', object)}  ${verdict}: ${summary}`,
    ...detailsOf(explained, style),
    ...wedgeText(explained, style),
    ...alike(explained.kind === 'cephcluster' ? heldBy(explained) : blockers).map((group) =>
      renderBlockers(group, style),
    ),
    ...tablesOf(explained, style),
    ...holdsTable(explained, style),
    ...notSeen.map((what) => `${paint('yellow', 'not seen:')} ${what}`),
  ].join('\n\n')
}

/** What holds some failure domains is printed for a free cluster too. */
function heldBy({ domains }: CephClusterExplanation): Blocker[] {
  return mergeBlockers(domains.flatMap(({ blockers }) => blockers))
}

function detailsOf(explained: Explained, style: Style): string[] {
  if (explained.kind === 'node') return [renderFacts(nodeFacts(explained, style))]
  if (explained.kind === 'pdb') return [renderFacts([...budgetFacts(explained), ...longhornFacts(explained)])]
  if (explained.kind === 'nodedisruption') return [renderFacts(requestFacts(explained.disruption, style))]
  if (explained.kind === 'machine') return [renderFacts(machineFacts(explained, style))]
  if (explained.kind === 'osd') return [renderFacts(osdFacts(explained, style))]
  if (explained.kind === 'cephcluster') return [renderFacts(cephClusterFacts(explained, style))]
  if (explained.kind === 'volume') return [renderFacts(volumeFacts(explained))]
  if (explained.kind === 'pvc') return explained.volume === undefined ? [] : [renderFacts(claimFacts(explained))]
  if (explained.kind !== 'pod') return []
  const { reason, explanation, node } = explained.pod
  const { osdUpdate } = explained
  const place = [
    ...(node === undefined ? [] : [['node', node] as Fact]),
    ...longhornFacts(explained),
    ...(osdUpdate === undefined ? [] : some('update', osdUpdateLines(osdUpdate, style.now))),
  ]
  if (explained.blockers.length > 0) return place.length === 0 ? [] : [renderFacts(place)]
  return [renderFacts([['why', `${explanation} (${reason})`], ...place])]
}

type Fact = readonly [name: string, text: string]

const factWidth = 10

function renderFacts(facts: readonly Fact[]): string {
  const width = Math.max(factWidth, ...facts.map(([name]) => name.length + 1))
  return facts.map(([name, text]) => `  ${name.padEnd(width)}${text}`).join('\n')
}

function longhornFacts({ longhorn }: Pick<Explained, 'longhorn'>): Fact[] {
  return longhorn === undefined ? [] : some('longhorn', longhornLines(longhorn))
}

function nodeFacts(explained: NodeExplanation, style: Style): Fact[] {
  const { node, storage, disruptions } = explained
  return [
    ['state', nodeStateText(node, style)],
    ...disruptions.map((each): Fact => ['request', disruptionText(each, style)]),
    ...storage.map((each): Fact => ['storage', storageText(each, style)]),
    ...longhornFacts(explained),
    ...style.list.flatMap((each) => shownFacts(each, explained, style)),
  ]
}

function shownFacts({ field, title, node }: Shown<never>, explained: NodeExplanation, style: Style): Fact[] {
  const answer = node && (explained as object as Readonly<Partial<Record<string, unknown>>>)[field]
  return answer === undefined || node === undefined ? [] : some(title.toLowerCase(), node.lines(answer, style))
}

function machineFacts({ nodeName, fencing }: MachineExplanation, style: Style): Fact[] {
  return [['node', nodeName ?? 'none'], ...some('fencing', fencingLines(fencing, style.now))]
}

function osdFacts({ pods, osdUpdate, blockers }: OsdExplanation, { now }: Style): Fact[] {
  return [
    ['cluster', osdUpdate.cluster],
    ...pods.map(({ pod, node }): Fact => ['pod', node === undefined ? pod : `${pod} on ${node}`]),
    ...(blockers.length > 0 ? [] : pods.map(({ explanation, reason }): Fact => ['why', `${explanation} (${reason})`])),
    ...some('update', osdUpdateLines(osdUpdate, now)),
  ]
}

function cephClusterFacts(explanation: CephClusterExplanation, style: Style): Fact[] {
  const { domains, failureDomainType, state: ceph, ownership, update, problems = [] } = explanation
  const { now, paint } = style
  const colours = { free: 'green', held: 'red', away: 'yellow' } as const
  const places = (['free', 'held', 'away'] as const).flatMap((state): Fact[] => {
    const names = domains.filter((each) => each.state === state).map(domainText)
    const text = `${failureDomainType ?? 'node'} ${listText(names)}`
    return names.length === 0 ? [] : [[state, paint(colours[state], text)]]
  })
  const owned = ownership === undefined ? [] : [`budgets: ${ownership.budgets}, OSD updates: ${ownership.updates}`]
  return [
    ...places,
    ...cephFacts(ceph),
    ...some('ownership', owned),
    ...some('problem', problems),
    ...some('update', [updateHeadline(update, now, paint), ...updateDetails(update, now, paint)]),
  ]
}

/** Where nothing is known, that is said once. */
function cephFacts({ placementGroups, quorum, noout }: CephState): Fact[] {
  if (placementGroups === quorum && quorum === noout) return [['ceph', placementGroups]]
  return [
    ['pgs', placementGroups],
    ['mons', quorum],
    ['noout', noout],
  ]
}

function domainText({ domain, osds, says, downPart }: DomainAnswer): string {
  const place = `${domain} (osd ${idRanges(osds)})`
  return downPart === undefined ? place : `${place}: ${says}`
}

export function nodeStateText(node: NodeState, { now }: Pick<Style, 'now'>): string {
  const ready = node.isReady ? 'Ready' : `NotReady${forText(node.notReadySince, now)}`
  if (!node.isCordoned) return ready
  const by = node.cordonedBy === undefined ? '' : ` by ${node.cordonedBy}`
  const [first = cordonSign, ...more] = node.closedBy ?? []
  const closed = `${first === cordonSign ? `cordoned${by}` : `closed by ${first}`}${forText(node.cordonedSince, now)}`
  const also = more.map((sign) => `closed by ${sign}`)
  const drain = {
    PodsLeaving: `pods are leaving${forText(node.drainSince, now)}`,
    DrainCompleted: `drained${forText(node.drainSince, now)}`,
    EvictionAttempted: `a drain waits${forText(node.drainSince, now)}`,
    DrainEnded: 'a drain was abandoned, pods remain',
    CordonedOnly: 'none of its pods is being evicted',
  }
  return [ready, closed, ...also, drain[node.drain as keyof typeof drain]]
    .filter((part) => part !== undefined)
    .join(', ')
}

function storageText({ cluster, domain, failureDomainType, osds, ...answer }: StorageAnswer, { now }: Style): string {
  const names = osds.map((id) => `osd.${id}`).join(' ')
  const place = [cluster, domain === undefined ? '' : `${failureDomainType ?? 'domain'} ${domain}`, names]
    .filter((part) => part !== '')
    .join(', ')
  const age = ageText(answer.unattendedSince, now)
  const absence = age === undefined ? 'no operator is running' : `no operator has been running for ${age}`
  const old = answer.isAttended === false ? `; it may be old: ${absence}` : ''
  const from = answer.source === 'record' ? `, as last recorded${old}` : ''
  return `${place}: ${answer.explanation} (${answer.reason}${forText(answer.since, now)}${from})`
}

/** One request in one line. */
export function disruptionText(
  { request, phase, intent, since, blockedBy, ...rest }: DisruptionAnswer,
  { now }: Pick<Style, 'now'>,
): string {
  const requester = requesterText(rest)
  const by = requester === undefined ? '' : ` by ${requester}`
  const waits = rest.isBlocked ? `, waits for ${listText(blockedBy.map(({ object }) => object))}` : ''
  return `nodedisruption/${request}${by}, to ${intent.toLowerCase()}: ${phase}${forText(since, now)}${waits}`
}

function requestFacts(answer: DisruptionAnswer, { paint, now }: Style): Fact[] {
  const { node, intent, purpose, phase, since, stays, evicted, locked, cordonedBy, breakGlass } = answer
  const optionalFact = (name: string, text: string | undefined): Fact[] =>
    text === undefined || text === '' ? [] : [[name, text]]
  return [
    ['node', `${node}, to ${intent.toLowerCase()}`],
    ['phase', `${phase}${forText(since, now)}${answer.isCancelled ? ', cancelled' : ''}`],
    ...optionalFact('asked by', [requesterText(answer), purpose].filter((part) => part !== undefined).join(': ')),
    ...optionalFact('stay', listText(stays)),
    ...optionalFact('evicted', listText(evicted)),
    ...optionalFact('locked', listText(locked)),
    ...optionalFact('cordoned', cordonedBy === undefined ? undefined : `by ${cordonedBy}`),
    ...optionalFact(
      'fell back',
      answer.hasFallenBack ? 'not all locks were acquired in time: every pod is evicted' : undefined,
    ),
    ...optionalFact('deadline', answer.deadline),
    ...optionalFact(
      'glass',
      breakGlass && `broken by ${breakGlass.by} until ${breakGlass.until}: ${breakGlass.reason}`,
    ),
    ...answer.warnings.map(({ object, says }): Fact => ['', `${paint('yellow', 'warning:')} ${object} ${says}`]),
  ]
}

function budgetFacts({ budget }: BudgetExplanation): Fact[] {
  const { rule, healthy, desired, expected } = budget
  return [
    ['rule', rule],
    ['healthy', `${healthy} of ${expected}, needs ${desired}`],
  ]
}

/** Blockers that differ only in what they are about are printed as one. */
function alike(blockers: readonly Blocker[]): Blocker[][] {
  const groups = new Map<string, Blocker[]>()
  for (const blocker of blockers) {
    const { reason, since = '', unblocks } = blocker
    const key = [reason, since, unblocks].join('\n')
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [blocker])
    else group.push(blocker)
  }
  return [...groups.values()]
}

function renderBlockers(group: readonly Blocker[], { paint, now }: Style): string {
  const first = group[0] as Blocker
  const each = <T>(what: (blocker: Blocker) => readonly T[]) => [...new Set(group.flatMap(what))]
  const causes = each((blocker) =>
    blocker.causes.map(
      ({ object, says, since }) => `${object} ${says}${since === undefined ? '' : `, ${forText(since, now).trim()}`}`,
    ),
  )
  const waiting = each((blocker) => blocker.waiting)
  const facts: Fact[] = [
    ...some('why', linesOf(each(({ explanation }) => [explanation]))),
    ...causes.map((cause): Fact => ['', cause]),
    ['held by', listText(each(({ holder }) => [holder]))],
    ['ends with', first.unblocks],
    ...each(({ estimate }) => (estimate === undefined ? [] : [estimateText(estimate, now)])).map(
      (text, at): Fact => [at === 0 ? 'estimate' : '', text],
    ),
    ...some('override', linesOf(each(({ override }) => [override]))),
    ...(waiting.length === 0 ? [] : [['waiting', listText(waiting)] as Fact]),
  ]
  const objects = listText(group.map(({ object }) => object))
  const title = `${paint('bold', objects)}  ${paint('yellow', first.reason)}${forText(first.since, now)}`
  return `${title}\n${renderFacts(facts)}`
}

function estimateText({ at, restsOn }: NonNullable<Blocker['estimate']>, now: string): string {
  const age = ageText(now, at)
  return `${age === undefined ? 'now' : `in ${age}`}, at ${at}: ${restsOn}`
}

function some(name: string, lines: readonly string[]): Fact[] {
  return lines.map((line, at) => [at === 0 ? name : '', line])
}

function linesOf(lines: readonly string[]): string[] {
  const more = lines.length - shownAtMost
  return more <= 0 ? [...lines] : [...lines.slice(0, shownAtMost), `and ${more} more; -o json shows all`]
}

const shownAtMost = 5

/** Before the single blockers: none of them ends by itself. */
function wedgeText({ wedge }: Explained, { paint }: Style): string[] {
  if (wedge === undefined) return []
  const { circle, wayOut, cost } = wedge
  const lines = circle.map(({ object, says }) => `  ${paint('bold', object)} ${says}`)
  return [
    [
      paint('red', 'These wait for each other in a circle; none of them ends by itself:'),
      ...lines,
      `  ${'way out'.padEnd(factWidth)}${paint('bold', wayOut)}`,
      `  ${''.padEnd(factWidth)}${cost}`,
    ].join('\n'),
  ]
}

function volumeFacts({
  namespace,
  state,
  robustness,
  wantedCopies,
  copies,
  attachedTo,
  attachedBy,
}: VolumeExplanation): Fact[] {
  const healthy = copies.filter((copy) => copy.state === 'healthy').length
  const user = attachedBy === undefined ? '' : `, for ${attachedBy}`
  return [
    ['longhorn', `${namespace}: ${robustness}, ${healthy} of ${wantedCopies} copies healthy`],
    ['state', attachedTo === undefined ? state : `${state} to ${attachedTo}${user}`],
  ]
}

function claimFacts({ volume = '', driver, longhornVolume }: ClaimExplanation): Fact[] {
  return [
    ['volume', driver === undefined ? volume : `${volume} (${driver})`],
    ...(longhornVolume === undefined ? [] : [['data', longhornVolume.summary] as Fact, ...volumeFacts(longhornVolume)]),
  ]
}

function forText(since: string | undefined, now: string): string {
  const age = ageText(since, now)
  return age === undefined ? '' : ` for ${age}`
}
