import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import { type Clock, timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { explainDisruption, isOver } from '../../capabilities/drain-lock/view/explain-disruption.ts'
import { type NodeDisruption, nodeDisruptions } from '../../shared/kinds/node-disruption.ts'
import type { Invocation } from '../command.ts'
import type { ClusterLink, Connect } from '../connect.ts'
import { planNodes } from '../plan/plan-nodes.ts'
import type { DrainFlags } from './drain-flags.ts'
import { type Followed, followDisruptions } from './drain-follow.ts'
import { buildRequest } from './drain-request.ts'
import { type DrainBatch, type DrainResult, drainOutcome, nextSteps } from './drain-result.ts'
import { noteWithoutOperator } from './note-without-operator.ts'
import { type PlanToCarryOut, readPlanFile } from './read-plan-file.ts'

interface PlanRunPorts {
  readonly connect: Connect
  readonly clock: Clock
  /** Who asks, where no flag says so. */
  readonly requester: () => string
}

interface PlanRun extends Invocation<DrainFlags> {
  readonly ports: PlanRunPorts
  readonly link: ClusterLink
  readonly plan: PlanToCarryOut
  readonly deadlineMs: number
}

/**
 * Carries a plan out, wave by wave. A wave begins when every node of the one before it is back, or gone, and when the decisions that made
 * the plan still say of the cluster as it is now that its nodes can go, together.
 *
 * The requests are named after the plan, so that the same call again goes on where it was; nothing is remembered here.
 */
export async function drainByPlan(
  path: string,
  invocation: Invocation<DrainFlags>,
  ports: PlanRunPorts,
): Promise<DrainBatch> {
  const { args, flags } = invocation
  refuseBeside(args, flags)
  const plan = await readPlanFile(path)
  refuseOtherLosses(flags, plan)
  const link = await ports.connect(flags)
  const deadlineMs = flags.timeout === 0 ? Number.POSITIVE_INFINITY : ports.clock.now() + flags.timeout
  try {
    return await carryOut({ ...invocation, ports, link, plan, deadlineMs })
  } finally {
    await link.close()
  }
}

function refuseBeside(args: readonly string[], flags: DrainFlags): void {
  if (args.length > 0 || flags.selector !== undefined || flags.all === true) {
    throw new CofferdamError('USAGE', '--plan names the nodes: give no others')
  }
  if (flags.dryRun !== 'none' || !flags.wait) {
    throw new CofferdamError('USAGE', '--plan waits for each wave: it goes with neither --dry-run nor --no-wait', {
      hint: 'cofferdam plan drain shows a plan again',
    })
  }
}

/** What a plan was made for decides which nodes are in it. */
function refuseOtherLosses({ force, deleteEmptydirData }: DrainFlags, { asked }: PlanToCarryOut): void {
  const more = [
    ...(force === true && !asked.accepts.includes('force') ? ['--force'] : []),
    ...(deleteEmptydirData === true && !asked.accepts.includes('deleteEmptyDirData') ? ['--delete-emptydir-data'] : []),
  ]
  if (more.length === 0) return
  throw new CofferdamError('USAGE', `the plan was made without ${more.join(' and ')}`, {
    hint: `make it again: cofferdam plan drain ${more.join(' ')} -o json > plan.json`,
  })
}

async function carryOut(run: PlanRun): Promise<DrainBatch> {
  const { plan, ports, terminal, link, signal, flags } = run
  const { waves } = plan
  const { clock } = ports
  const results = new Map<string, DrainResult>()
  const note = { api: link.api, leaseNamespace: flags.leaseNamespace, clock, signal, terminal }
  await noteWithoutOperator(note)
  for (const [at, wave] of waves.entries()) {
    const name = `wave ${at + 1} of ${waves.length}`
    const ended = await carryOutWave(name, wave, results, run)
    if (ended !== undefined) return { waves, drains: [...results.values()], observedAt: timestamp(clock), ended }
  }
  return { waves, drains: [...results.values()], observedAt: timestamp(clock) }
}

/**
 * In one part, unless pods have moved meanwhile so that its nodes cannot all be away together any more: then in as many as it takes.
 * Undefined: every node of it is back, or gone.
 */
async function carryOutWave(
  name: string,
  wave: readonly string[],
  results: Map<string, DrainResult>,
  run: PlanRun,
): Promise<DrainBatch['ended']> {
  const { terminal, ports } = run
  for (;;) {
    const seen = await ownRequests(wave, run)
    for (const [node, own] of seen)
      results.set(node, resultOf({ answer: explainDisruption(own), ended: 'reached' }, ports))
    const rejected = [...seen.values()].find(({ status }) => status?.phase === 'Rejected')
    if (rejected !== undefined) {
      return { how: 'blocked', says: `${name}: ${explainDisruption(rejected).explanation} Make a new plan.` }
    }
    const open = wave.filter((node) => seen.get(node)?.status?.phase !== 'Completed')
    if (open.length === 0) return undefined
    const next = await findNext(open, seen, run)
    if ('changed' in next) {
      const fresh = open.filter((node) => !seen.has(node))
      return {
        how: 'blocked',
        says: `${name} stops: ${next.changed} Nothing was done to ${fresh.join(', ')}. Make a new plan.`,
      }
    }
    const { nodes: part } = next
    const later = open.length - part.length
    terminal.note(
      `${name}: ${part.join(', ')}${later === 0 ? '' : `; ${later} more of it follow, since pods have moved`}`,
    )
    for (const node of part) if (!seen.has(node)) seen.set(node, await request(node, run))
    const followed = await follow(
      part.flatMap((node) => seen.get(node) ?? []),
      run,
    )
    for (const each of followed) results.set(each.answer.node, resultOf(each, ports))
    const waiting = followed.filter(({ answer, ended }) => ended !== 'gone' && !isOver(answer))
    if (waiting.length > 0) {
      const phases = waiting.map(({ answer }) => `${answer.node} is ${answer.phase}`).join(', ')
      return { how: 'timed-out', says: `${name} is not over: ${phases}. The same command continues it.` }
    }
    const gone = followed.find(({ ended }) => ended === 'gone')
    if (gone !== undefined) {
      return { how: 'blocked', says: `${name}: the request for ${gone.answer.node} was deleted. Make a new plan.` }
    }
  }
}

const longestNodePart = 230

function requestName(node: string, { id }: PlanToCarryOut): string {
  return `${node.slice(0, longestNodePart).replace(/[^a-z0-9]+$/, '')}-plan-${id}`
}

/** The requests of this plan for these nodes, by node. */
async function ownRequests(
  wave: readonly string[],
  { link, signal, plan }: PlanRun,
): Promise<Map<string, NodeDisruption>> {
  const { items } = await link.api.list(nodeDisruptions, { signal })
  const byName = new Map(items.map((item) => [item.metadata.name, item]))
  const found = wave.flatMap((node): [string, NodeDisruption][] => {
    const own = byName.get(requestName(node, plan))
    return own === undefined ? [] : [[node, own]]
  })
  return new Map(found)
}

/** Which of these nodes go next, by the decisions that made the plan, on the cluster as it is now; or what has changed too much. */
async function findNext(
  open: readonly string[],
  seen: ReadonlyMap<string, NodeDisruption>,
  { link, ports, signal, flags, plan }: PlanRun,
): Promise<{ readonly nodes: readonly string[] } | { readonly changed: string }> {
  const fresh = open.filter((node) => !seen.has(node))
  if (fresh.length === 0) return { nodes: open }
  const { items } = await link.api.list(nodes, { signal })
  const there = new Set(items.map(({ metadata }) => metadata.name))
  const gone = fresh.filter((node) => !there.has(node))
  if (gone.length > 0) return { changed: `${gone.join(', ')} ${gone.length === 1 ? 'does' : 'do'} not exist any more.` }
  const foreign = (await link.api.list(nodeDisruptions, { signal })).items.find(
    (each) => fresh.includes(each.spec.nodeName) && !isOver(explainDisruption(each)),
  )
  if (foreign !== undefined) {
    const { metadata, spec } = foreign
    return { changed: `nodedisruption/${metadata.name} is in progress for ${spec.nodeName} and is not of this plan.` }
  }
  const place = { link, clock: ports.clock, signal, leaseNamespace: flags.leaseNamespace }
  const now = await planNodes(
    open.filter((node) => there.has(node)),
    plan.asked,
    place,
  )
  const never = now.never.find(({ node }) => fresh.includes(node))
  if (never !== undefined) return { changed: `${never.node} cannot go any more: ${never.why}` }
  const unknown = now.unknown.find(({ node }) => fresh.includes(node))
  if (unknown !== undefined) return { changed: `whether ${unknown.node} can go is not known: ${unknown.why}.` }
  const begun = open.filter((node) => seen.has(node))
  // What was requested before is followed first, and what goes beside it.
  const first = now.waves.find((wave) => begun.every((node) => wave.includes(node))) ?? begun
  return { nodes: first.length === 0 ? (now.waves[0] ?? open) : first }
}

async function request(nodeName: string, { plan, flags, ports, link, signal }: PlanRun): Promise<NodeDisruption> {
  const { requester = ports.requester(), reason, gracePeriod } = flags
  const built = buildRequest({
    ...plan.asked,
    nodeName,
    requester,
    nowMs: ports.clock.now(),
    ...(reason === undefined ? {} : { reason }),
    ...(gracePeriod < 0 ? {} : { gracePeriodSeconds: gracePeriod }),
  })
  const named = { ...built, metadata: { ...built.metadata, name: requestName(nodeName, plan) } }
  try {
    return await link.api.create(nodeDisruptions, named, { fieldManager: 'cofferdam', signal })
  } catch (error) {
    // Made by this very command before, whose answer was lost.
    if (!hasReason(error, 'AlreadyExists')) throw error
    return link.api.get(nodeDisruptions, { name: named.metadata.name }, { signal })
  }
}

function follow(requests: readonly NodeDisruption[], run: PlanRun): Promise<readonly Followed[]> {
  const { link, ports, terminal, signal, deadlineMs } = run
  const leftMs = Math.max(1, deadlineMs - ports.clock.now())
  return followDisruptions(requests, {
    api: link.api,
    clock: ports.clock,
    terminal,
    signal,
    timeoutMs: Number.isFinite(leftMs) ? leftMs : 0,
    isOne: false,
    isReached: isOver,
  })
}

function resultOf(followed: Followed, { clock }: PlanRunPorts): DrainResult {
  const outcome = drainOutcome(followed)
  const { answer } = followed
  return {
    outcome,
    isJoined: false,
    disruption: answer,
    observedAt: timestamp(clock),
    next: nextSteps(outcome, answer),
  }
}
