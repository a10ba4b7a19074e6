import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { type Clock, timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { LastDecision } from '../../../ceph/reader/last-decisions.ts'
import { adopt, grant, intend, type Ledger, type LedgerEntry, release, renew } from '../../../ledger/rules/ledger.ts'
import { parseLedger } from '../../../ledger/rules/parse-ledger.ts'
import { arbiterOf, isOwnRequest, scopeOf, storageKey } from '../../../ledger/rules/storage-arbiter.ts'
import type { StorageLedger } from '../../../ledger/store/storage-ledger.ts'
import { ledgerName } from '../../../shared/kinds/disruption-ledger.ts'
import { known, type Observed } from '../../../shared/observed.ts'
import type { Fence, FencingDecision } from '../domain/decision.ts'
import type { StorageHolder } from '../domain/snapshot.ts'

type ClusterId = Fence['cluster']
type Problem = FencingDecision['problems'][number]

const prefix = 'fencing/'

function requestIdOf({ cluster, scope }: Pick<Fence, 'cluster' | 'scope'>): string {
  return `${prefix}${cluster.uid}/${scopeText(scope)}`
}

/** In the words of ceph-drain, so that a fence and a drain of the same failure domain go together. */
function scopeText(scope: string): string {
  return scope === '' ? '' : scopeOf([scope])
}

/**
 * Who keeps machines of a cluster from being fenced: whoever holds its storage but fencing itself.
 *
 * Whoever was granted a failure domain and has not begun shares it with nobody: it begins only when it sees fencing closed.
 * What ceph-drain holds counts while a node there is cordoned; a domain that is merely hurt is nobody's disruption.
 */
export function holdersOf(
  ledger: Observed<Ledger>,
  cluster: ClusterId,
  decided: Pick<LastDecision, 'snapshot' | 'decision'> | undefined,
): Observed<readonly StorageHolder[]> {
  if (!ledger.known) return ledger
  const { own, others } = arbiterOf(ledger.value, cluster)
  const strangers = others.filter(({ requestId }) => !requestId.startsWith(`${prefix}${cluster.uid}/`))
  const drained = own.filter((entry) => isBeingDrained(entry, decided))
  return known(
    [...strangers, ...drained].map(({ holder, requestId, scope, state }) => ({
      holder: holder === '' ? `request ${requestId}` : holder,
      requestId,
      scope: state === 'Granted' ? '' : scope,
    })),
  )
}

/** The failure domains that are held for fences of a cluster, but those that were given back a moment ago. */
export function scopesOfFences(
  ledger: Observed<Ledger>,
  { uid }: Pick<ClusterId, 'uid'>,
  isGivenBack: (requestId: string) => boolean,
): readonly string[] {
  if (!ledger.known) return []
  return ledger.value.entries
    .filter(({ requestId }) => requestId.startsWith(`${prefix}${uid}/`) && !isGivenBack(requestId))
    .map(({ scope }) => scope)
}

function isBeingDrained(
  { scope }: LedgerEntry,
  decided: Pick<LastDecision, 'snapshot' | 'decision'> | undefined,
): boolean {
  if (decided === undefined) return true
  const cordoned = new Set(decided.snapshot.nodes.filter(({ isCordoned }) => isCordoned).map(({ name }) => name))
  const { domains } = decided.decision
  const names = new Set(domains.map(({ domain }) => domain))
  const held = scope.split('+').filter((part) => names.has(part))
  return domains
    .filter(({ domain }) => held.length === 0 || held.includes(domain))
    .some(({ nodes }) => nodes.some((node) => cordoned.has(node)))
}

interface Held {
  readonly epoch: number
  readonly renewedAtMs: number
}

/** What fences hold in the ledger: the storage key of their cluster, for the failure domain of their node. */
export class FenceKeys {
  readonly #clock: Clock
  readonly #ledger: StorageLedger | undefined
  /** By request. */
  readonly #held = new Map<string, Held>()
  /** Requests whose keys are about to be given back, or were while the view still shows them. */
  readonly #givenBack = new Set<string>()

  constructor(clock: Clock, ledger: StorageLedger | undefined) {
    this.#clock = clock
    this.#ledger = ledger
  }

  /**
   * Holds the key for every fence that is not over, and shows that its holder lives. Tells what could not be held.
   *
   * Who waits for the key is passed by: a fence that has begun asks nobody.
   */
  async hold(fences: readonly Fence[], signal: AbortSignal): Promise<Problem[]> {
    const ledger = this.#ledger
    const wanted = new Map(fences.filter(({ isOver }) => !isOver).map((fence) => [requestIdOf(fence), fence]))
    if (ledger === undefined || [...wanted.keys()].every((requestId) => this.#isGood(ledger, requestId))) return []
    const now = timestamp(this.#clock)
    const outcomes = await ledger.store.change(
      'hold the storage of machines that are being fenced',
      (seen) => {
        let next = seen
        const held: { requestId: string; epoch: number | undefined; refused: Problem | undefined }[] = []
        for (const [requestId, fence] of wanted) {
          const step = holdFence(next, { requestId, fence, epoch: this.#held.get(requestId)?.epoch, now })
          next = step.ledger
          held.push({ requestId, epoch: step.epoch, refused: step.refused })
        }
        return { ledger: next, value: held }
      },
      signal,
    )
    for (const { requestId, epoch } of outcomes) {
      this.#givenBack.delete(requestId)
      if (epoch === undefined) this.#held.delete(requestId)
      else this.#held.set(requestId, { epoch, renewedAtMs: this.#clock.now() })
    }
    return outcomes.flatMap(({ refused }) => refused ?? [])
  }

  /** Gives back whatever no fence needs any more. To be called when everything else has been written. */
  async giveBack(fences: readonly Fence[], signal: AbortSignal): Promise<void> {
    const ledger = this.#ledger
    const seen = ledger === undefined ? undefined : parseLedger(ledger.view.get({ name: ledgerName }))
    if (ledger === undefined || seen?.known !== true) return
    const needed = new Set(fences.filter(({ isOver }) => !isOver).map(requestIdOf))
    const isUnneeded = ({ requestId }: LedgerEntry) => requestId.startsWith(prefix) && !needed.has(requestId)
    for (const requestId of this.#givenBack) {
      if (!seen.value.entries.some((entry) => entry.requestId === requestId)) this.#givenBack.delete(requestId)
    }
    if (!seen.value.entries.some(isUnneeded)) return
    await ledger.store.change(
      'give back the storage of machines that were fenced',
      (now) => ({ ledger: now.entries.filter(isUnneeded).reduce(freed, now), value: undefined }),
      signal,
    )
    for (const { requestId } of seen.value.entries.filter(isUnneeded)) this.#givenBack.add(requestId)
    for (const requestId of this.#held.keys()) if (!needed.has(requestId)) this.#held.delete(requestId)
  }

  /** What is over is not held for anything any more, though its key is given back only when everything else has been written. */
  noteEnded(fences: readonly Fence[]): void {
    const needed = new Set(fences.filter(({ isOver }) => !isOver).map(requestIdOf))
    for (const requestId of fences.map(requestIdOf)) if (!needed.has(requestId)) this.#givenBack.add(requestId)
  }

  isGivenBack(requestId: string): boolean {
    return this.#givenBack.has(requestId)
  }

  /** When to look again at the latest, so that whoever watches sees that the holder lives. */
  recheckAfterSeconds(): number | undefined {
    if (this.#ledger === undefined || this.#held.size === 0) return undefined
    const dueMs = Math.min(...[...this.#held.values()].map(({ renewedAtMs }) => renewedAtMs)) + this.#ledger.renewMs
    return Math.max(1, Math.ceil((dueMs - this.#clock.now()) / 1_000))
  }

  #isGood({ view, renewMs }: StorageLedger, requestId: string): boolean {
    const held = this.#held.get(requestId)
    if (held === undefined || this.#clock.now() - held.renewedAtMs >= renewMs) return false
    const ledger = parseLedger(view.get({ name: ledgerName }))
    return (
      ledger.known &&
      ledger.value.entries.some(
        (entry) => entry.requestId === requestId && entry.epoch === held.epoch && entry.state === 'Acting',
      )
    )
  }
}

interface HoldStep {
  readonly ledger: Ledger
  readonly epoch: number | undefined
  readonly refused: Problem | undefined
}

function holdFence(
  ledger: Ledger,
  {
    requestId,
    fence,
    epoch,
    now,
  }: { readonly requestId: string; readonly fence: Fence; readonly epoch: number | undefined; readonly now: string },
): HoldStep {
  const { cluster, machine, node } = fence
  const holder = `fencing of ${cluster.namespace}/${cluster.name}: machine ${machine}${node === '' ? '' : ` of node ${node}`} is being fenced`
  const entry = ledger.entries.find((each) => each.requestId === requestId)
  if (entry !== undefined) {
    if (entry.epoch === epoch && entry.state !== 'Orphaned') {
      const renewed = renew(ledger, { requestId, epoch })
      return { ledger: renewed.ok ? renewed.ledger : ledger, epoch, refused: undefined }
    }
    const adopted = adopt(ledger, { requestId, holder })
    return { ledger: adopted?.ledger ?? ledger, epoch: adopted?.epoch, refused: undefined }
  }
  const claim = { key: storageKey(cluster), uid: cluster.uid, scope: scopeText(fence.scope) }
  const answer = grant({ ...ledger, tickets: [] }, { requestId, holder, claims: [claim], now })
  if (answer.granted) {
    const begun = intend({ ...answer.ledger, tickets: ledger.tickets }, { requestId, epoch: answer.epoch })
    if (begun.ok) return { ledger: begun.ledger, epoch: answer.epoch, refused: undefined }
    return { ledger, epoch: undefined, refused: undefined }
  }
  // What ceph-drain holds for the same cluster keeps others off as well.
  const inTheWay = answer.obstacles.filter((obstacle) => !isOwnRequest(cluster, obstacle.requestId))
  const [first] = inTheWay
  return {
    ledger,
    epoch: undefined,
    refused: first && {
      object: `cephcluster/${cluster.namespace}/${cluster.name}`,
      problem: `machine ${machine} is being fenced although ${first.holder} holds the storage`,
    },
  }
}

function freed(ledger: Ledger, { requestId }: LedgerEntry): Ledger {
  const taken = adopt(ledger, { requestId, holder: 'fencing' })
  if (taken === undefined) return ledger
  const released = release(taken.ledger, { requestId, epoch: taken.epoch })
  return released.ok ? released.ledger : ledger
}

/** The kind of the ledger is not installed: nobody can hold anything. */
export function isLedgerAbsent(error: unknown): boolean {
  return hasReason(error, 'NotFound')
}
