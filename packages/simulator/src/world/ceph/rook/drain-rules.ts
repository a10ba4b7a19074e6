/** What Rook's disruption controller sees of the OSDs of a cluster. */
export interface RookDrainView {
  readonly nowMs: number
  readonly osds: readonly {
    readonly id: number
    /** Value of its label `topology-location-<type>`. */
    readonly domain: string
    readonly isDown: boolean
    /** Its node is cordoned, or gone. */
    readonly isOnDrainedNode: boolean
  }[]
  readonly isClean: boolean
  /** Of `rook-ceph-pdbstatemap`. */
  readonly state: Readonly<Record<string, string>>
  readonly maintenanceTimeoutMs: number
}

export interface RookDrainDecision {
  readonly state: Readonly<Record<string, string>>
  /** The failure domain that may go; every other one is blocked. Empty: the default budget stands. */
  readonly draining: string
  /** OSDs that the default budget leaves out. */
  readonly excluded: readonly number[]
  /** The one failure domain with noout; undefined: none. Rook unsets it on all others. */
  readonly noout: string | undefined
}

const domainKey = 'draining-failure-domain'
const stampKey = 'draining-failure-domain-duration'
const nooutKey = 'set-no-out'
const nooutSuffix = '-noout-last-set-at'
const cleanAfterDrainMs = 60_000

/**
 * Decides as Rook does: one failure domain at a time, by the readiness of Deployments and by whether all placement groups are clean.
 * Keys that Rook does not know stay, as it changes single keys.
 */
export function decideRookDrain(view: RookDrainView): RookDrainDecision {
  const { nowMs, osds, isClean } = view
  const state = { ...view.state }
  const down = osds.filter(({ isDown }) => isDown)
  const drained = down.filter(({ isOnDrainedNode }) => isOnDrainedNode)
  const now = new Date(nowMs).toISOString()
  let excluded: readonly number[] = []
  if (isClean && drained.length === 0) {
    reset()
    excluded = down.map(({ id }) => id)
  } else if (isClean) {
    state[stampKey] ??= now
    const since = Date.parse(state[stampKey])
    if ((state[domainKey] ?? '') === '' && nowMs - since >= cleanAfterDrainMs) excluded = down.map(({ id }) => id)
  } else if (down.length > 0) {
    choose()
    state[stampKey] = now
  }
  const draining = state[domainKey] ?? ''
  return { state, draining, excluded, noout: noout() }

  function reset(): void {
    state[domainKey] = ''
    delete state[stampKey]
    delete state[nooutKey]
  }

  function choose(): void {
    const recorded = state[domainKey] ?? ''
    const downDomains = domainsOf(down)
    const drainedDomains = domainsOf(drained)
    const [drainedFirst] = drainedDomains
    if (drainedFirst !== undefined && !drainedDomains.includes(recorded)) take(drainedFirst, 'true')
    else if (!downDomains.includes(recorded)) take(downDomains[0] ?? '', '')
  }

  function take(domain: string, wantsNoout: string): void {
    state[domainKey] = domain
    state[nooutKey] = wantsNoout
  }

  function noout(): string | undefined {
    for (const key of Object.keys(state)) {
      if (key.endsWith(nooutSuffix) && key !== `${draining}${nooutSuffix}`) delete state[key]
    }
    if (draining === '' || state[nooutKey] !== 'true') return undefined
    const stamp = `${draining}${nooutSuffix}`
    state[stamp] ??= now
    const since = Date.parse(state[stamp])
    return nowMs - since < view.maintenanceTimeoutMs ? draining : undefined
  }
}

function domainsOf(osds: RookDrainView['osds']): string[] {
  return [...new Set(osds.map(({ domain }) => domain))].sort()
}
