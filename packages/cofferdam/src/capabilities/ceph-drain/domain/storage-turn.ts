import type { StorageArbiter } from '../../../ledger/rules/storage-arbiter.ts'
import type { ObjectProblem } from '../../../shared/object-problem.ts'
import type { Observed } from '../../../shared/observed.ts'
import type { ChosenDomains } from './choose-domains.ts'
import { type DomainView, type Layout, osdNames } from './layout.ts'
import type { CephDrainSnapshot } from './snapshot.ts'

/** Which nodes may lose all of Ceph that runs on them. */
export interface StorageTurn {
  /** The failure domains whose nodes may be emptied. */
  readonly domains: readonly string[]
  /** By node: the OSDs on it that may not go now, in words. Mons and mgrs there stay as well. */
  readonly heldNodes: Readonly<Record<string, string>>
  /** Nodes with OSDs that may go and have not gone. */
  readonly openNodes: readonly string[]
}

/**
 * Decides whose turn it is: the failure domains that are released, or else the one that somebody holds in the ledger.
 *
 * A mon that left a cordoned node comes back with the node, and while it is away no other mon may go. A node that gave up its
 * mon and then has to wait with its OSDs would wait for another node that waits for the mon. So OSDs go first, and mons and
 * mgrs follow where the failure domain of all OSDs beside them is open.
 *
 * Assumes: the turn counts only after the budgets of the same decision were written.
 */
export function decideTurn(
  layout: Layout,
  { chosen, released }: ChosenDomains,
  arbiter: Observed<StorageArbiter> | undefined,
): StorageTurn {
  if (chosen.length > 0) return turnOf(layout, released)
  const held = arbiter?.known === true ? new Set(arbiter.value.others.map(({ scope }) => scope)) : new Set<string>()
  const domains = layout.domains.filter(({ name, verdict }) => held.has(name) && verdict.may === 'yes')
  // Several at once would each keep the others from beginning.
  return turnOf(layout, domains.length === 1 ? domains.map(({ name }) => name) : [])
}

/** Fails closed: OSDs of which it is not known where they belong are held, and so is what runs beside them. */
export function turnOf({ osds }: Layout, domains: readonly string[]): StorageTurn {
  const isOpen = (name: string | undefined) => name !== undefined && domains.includes(name)
  const heldByNode = new Map<string, number[]>()
  const openNodes = new Set<string>()
  for (const { id, nodeName, hasPodOnNode, domain, label } of osds) {
    if (nodeName === undefined || !hasPodOnNode) continue
    if (isOpen(domain) && isOpen(label)) openNodes.add(nodeName)
    else heldByNode.set(nodeName, [...(heldByNode.get(nodeName) ?? []), id])
  }
  const heldNodes = Object.fromEntries([...heldByNode].sort().map(([node, ids]) => [node, osdNames(ids)]))
  return { domains: [...domains].sort(), heldNodes, openNodes: [...openNodes].sort() }
}

/** What both allow: for the time between two turns, when the budgets of neither stand for sure. */
export function narrowTurn(before: StorageTurn | undefined, next: StorageTurn): StorageTurn {
  const { openNodes } = next
  if (before === undefined) return { domains: [], heldNodes: next.heldNodes, openNodes }
  return {
    openNodes,
    domains: next.domains.filter((domain) => before.domains.includes(domain)),
    heldNodes: { ...before.heldNodes, ...next.heldNodes },
  }
}

/** What mons and mgrs could do when a pass began. */
export interface TurnInForce {
  /** Undefined until it was decided about OSDs. */
  readonly turn: StorageTurn | undefined
  /** Nodes whose mon or mgr may go; undefined until their budgets were read. */
  readonly looseNodes: readonly string[] | undefined
}

/**
 * Whether a mon or mgr may have left, unseen by a pass that began then, a node where the turn that was decided from it wants it
 * to stay. Then no OSD may be let go yet: it could be the OSD of another node, which would wait for that mon.
 */
export function isAhead({ turn, looseNodes }: TurnInForce, { heldNodes }: StorageTurn): boolean {
  if (turn === undefined || looseNodes === undefined) return true
  return (
    looseNodes.some((node) => Object.hasOwn(heldNodes, node)) ||
    Object.keys(heldNodes).some((node) => !Object.hasOwn(turn.heldNodes, node))
  )
}

/**
 * Two drains that wait for each other: one node has lost a mon and keeps its OSDs, the other has lost OSDs and keeps its mon.
 * Budgets never lead there, but whoever deletes pods can, and nothing but a person gets them out.
 */
export function crossedDrains({ daemons = [] }: Pick<CephDrainSnapshot, 'daemons'>, layout: Layout): ObjectProblem[] {
  const mons = daemons.filter(({ type }) => type === 'mon')
  const away = mons.filter(({ isReady }) => !isReady).length
  if (away < (mons.length >= 5 ? 2 : 1)) return []
  const hurt = layout.domains.filter(({ isDrained, neededDown }) => isDrained && neededDown.length > 0)
  return layout.domains
    .filter((domain) => monsLostBy(domain).length > 0)
    .flatMap((waiting) => {
      const other = hurt.find((domain) => domain.name !== waiting.name && hasMonLeft(domain))
      return other === undefined ? [] : [crossing(waiting, other)]
    })

  function monsLostBy({ lostDaemons }: DomainView): string[] {
    return lostDaemons.filter((daemon) => daemon.startsWith('mon.'))
  }

  function hasMonLeft({ drainedNodes }: DomainView): boolean {
    return mons.some(({ isReady, nodeName }) => isReady && nodeName !== undefined && drainedNodes.includes(nodeName))
  }

  function crossing(waiting: DomainView, other: DomainView): ObjectProblem {
    const { type } = layout
    const lost = monsLostBy(waiting).join(', ')
    const nodes = waiting.drainedNodes.join(', ')
    return {
      object: `node/${nodes}`,
      problem:
        `its drain and that of ${other.drainedNodes.join(', ')} wait for each other: ${lost} is down here and its OSDs wait for ` +
        `${type} ${other.name}, where ${osdNames(other.neededDown)} is down and a mon waits for ${lost}; ` +
        `uncordon ${nodes}, and drain it again when ${type} ${other.name} is back`,
    }
  }
}
