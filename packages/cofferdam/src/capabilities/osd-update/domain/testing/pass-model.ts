import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { LedgerEntry } from '../../../../ledger/rules/ledger.ts'
import type { CephMap } from '../../../../safety/ceph-map.ts'
import { known, unknown } from '../../../../shared/observed.ts'
import { buildOsdDeployment } from '../build-osd-deployment.ts'
import { decideUpdatePass } from '../decide-pass.ts'
import { needsUpdate } from '../osd-deployment.ts'
import type { HeardInPass, UpdatePassSnapshot } from '../pass-snapshot.ts'
import type { OsdUpdateSnapshot } from '../snapshot.ts'
import type { UpdateStep } from '../steps.ts'
import { stoppableOsds } from '../stoppable-osds.ts'
import { type StoredUpdate, storedOf } from '../stored-update.ts'
import { updateClaimOf } from '../update-claim.ts'
import { parseUpdateMark } from '../update-mark.ts'
import { defaultUpdateSettings, type UpdateSettings } from '../update-settings.ts'
import { copiesLost } from './copies-lost.ts'
import { wordsOf } from './pass-fixture.ts'

const clusterOf = (image: string): CephCluster => ({
  apiVersion: 'ceph.rook.io/v1',
  kind: 'CephCluster',
  metadata: { namespace: 'rook-ceph', name: 'rook-ceph', uid: 'uid-1', generation: 1 },
  spec: { cephVersion: { image } },
})

/** Whoever else holds the storage. */
const other: LedgerEntry = {
  key: 'storage/rook-ceph/rook-ceph',
  uid: 'uid-1',
  scope: 'host-a',
  requestId: 'drain-1',
  holder: 'a drain',
  epoch: 1,
  state: 'Acting',
  since: '',
  renewSequence: 0,
}

/** One cluster through passes that end anywhere; what must never be is in `broken`. */
export class PassModel {
  readonly broken: string[] = []
  readonly performed: string[] = []
  starts = 0
  readonly #map: CephMap
  readonly #next: () => number
  readonly #settings: UpdateSettings
  readonly #cluster = clusterOf('ceph:new')
  readonly #deployments: Map<number, Deployment>
  readonly #unready = new Set<number>()
  readonly #away = new Set<number>()
  readonly #flagged = new Set<number>()
  /** OSDs that an administrator has put noout on. */
  readonly #byHand: ReadonlySet<number>
  #stored: StoredUpdate = storedOf(undefined, 1)
  #isHeld = false
  #isHeldByOther = false
  #nowMs = 1_800_000_000_000
  #refusedSinceMs: number | undefined
  #heard: HeardInPass = {}
  #answers: Partial<Pick<OsdUpdateSnapshot, 'ceph' | 'arbiter'>> = {}
  #yes: { readonly osds: readonly number[]; readonly isHeld: boolean } | undefined

  constructor(map: CephMap, next: () => number, settings: Partial<UpdateSettings>) {
    this.#map = map
    this.#next = next
    this.#settings = { ...defaultUpdateSettings, ...settings }
    this.#byHand = new Set(map.osds.filter(() => next() < 0.1).map(({ id }) => id))
    const old = clusterOf('ceph:old')
    this.#deployments = new Map(
      map.osds.map(({ id }) => [id, buildOsdDeployment(old, { id, node: 'node-a', location: { host: 'node-a' } })]),
    )
  }

  /** What happens between two passes. */
  live(): void {
    this.#nowMs += 5_000
    for (const osd of this.#away) if (this.#next() < 0.7) this.#return(osd)
    if (!this.#isHeld && this.#next() < 0.2) this.#isHeldByOther = !this.#isHeldByOther
    if (this.#next() < 0.1) this.#trip()
  }

  /** One pass. It may die after any step, and OSDs may fail while something is asked. */
  pass(): void {
    this.#heard = {}
    this.#answers = {}
    this.#yes = undefined
    for (let round = 0; round < 12; round += 1) {
      const { steps } = decideUpdatePass(this.#snapshot())
      if (this.#performAll(steps) !== 'learned') return
      this.#nowMs += 10
    }
    this.broken.push(`a pass goes on for ever: ${this.performed.slice(-4).join(', ')}`)
  }

  #performAll(steps: readonly UpdateStep[]): 'done' | 'learned' | 'dead' {
    for (const step of steps) {
      const isLearned = this.#perform(step)
      this.performed.push(...wordsOf([step]))
      if (this.#next() < 0.03) return 'dead'
      if (isLearned) return 'learned'
    }
    return 'done'
  }

  #perform(step: UpdateStep): boolean {
    switch (step.do) {
      case 'ask':
        return this.#ask(step)
      case 'hold':
        return this.#hold(step)
      case 'write':
        return this.#write(step)
      default:
        return false
    }
  }

  #ask(step: UpdateStep & { readonly do: 'ask' }): boolean {
    if (this.#next() < 0.05) this.#trip()
    if (step.ask === 'trial') return false
    if (step.ask === 'map') {
      const isClean = known(this.#unready.size === 0)
      const peered = new Set(
        this.#map.osds.filter(({ id, isUp }) => isUp && !this.#unready.has(id)).map(({ id }) => id),
      )
      const ceph =
        this.#next() < 0.1 ? unknown('no answer') : known({ map: this.#flaggedMap(), isHealthy: true, isClean, peered })
      this.#hear({ hasMap: true }, { ceph })
    }
    if (step.ask === 'osd-versions') {
      this.#hear({ versions: known(new Map(this.#map.osds.map(({ id }) => [id, '19.2.3']))) })
    }
    if (step.ask === 'ok-to-stop') {
      const isYes = this.#next() < 0.7
      const answer = isYes ? known(true) : this.#next() < 0.5 ? known(false) : unknown('no answer')
      this.#yes = isYes ? { osds: step.osds, isHeld: this.#isHeld } : undefined
      this.#refusedSinceMs = isYes ? undefined : (this.#refusedSinceMs ?? this.#nowMs)
      this.#hear({ okToStop: { osds: step.osds, isSecured: step.isSecured, answer } })
    }
    return true
  }

  #hold(step: UpdateStep & { readonly do: 'hold' }): boolean {
    if (step.hold === 'keep') return false
    if (step.hold === 'release') {
      if (this.#isHeld && this.#away.size > 0) this.broken.push(`released while osd ${[...this.#away].join()} is away`)
      this.#isHeld = false
      return false
    }
    if (!this.#isHeld && this.#next() < 0.1) this.#isHeldByOther = true
    const arbiter = this.#arbiter()
    this.#isHeld = this.#isHeld || !this.#isHeldByOther
    const { refusals = 0 } = this.#heard.hold ?? {}
    this.#hear({ hold: { isAcquired: this.#isHeld, refusals: this.#isHeld ? 0 : refusals + 1 } }, { arbiter })
    return !this.#isHeld
  }

  #write(step: UpdateStep & { readonly do: 'write' }): boolean {
    if (step.write === 'record') {
      this.#stored = storedOf(step.configMap, 1)
      return false
    }
    if (step.write === 'version-labels') {
      for (const deployment of step.deployments) {
        this.#deployments.set(Number(deployment.metadata.labels?.['ceph-osd-id']), deployment)
      }
      return false
    }
    if (step.write === 'flags') {
      for (const osd of step.noout.set) this.#flagged.add(osd)
      for (const osd of step.noout.unset) {
        if (this.#byHand.has(osd)) this.broken.push(`noout of osd.${osd} was set by hand, and is taken away`)
        this.#flagged.delete(osd)
      }
      return false
    }
    if (step.write !== 'deployments') return true
    const osds = step.starts.map(({ osd }) => osd)
    this.#judge(osds)
    for (const { osd, deployment } of step.starts) {
      this.#deployments.set(osd, deployment)
      this.#away.add(osd)
      this.#unready.add(osd)
    }
    this.starts += osds.length
    const outcomes = osds.map((osd) => ({ osd, result: 'started' as const }))
    this.#hear({ begun: { intent: step.intent, outcomes, isTriedAgain: true } })
    return true
  }

  #judge(osds: readonly number[]): void {
    if (!this.#isHeld) this.broken.push(`osd ${osds.join()} start although the storage is not held`)
    const asked = stoppableOsds(this.#map, [...new Set([...osds, ...this.#away])])
    const heard = this.#yes?.isHeld === true ? this.#yes.osds : undefined
    // Who is back since Ceph was asked may be among them.
    if (asked.some((osd) => heard?.includes(osd) !== true)) {
      this.broken.push(`osd ${osds.join()} start, and Ceph's yes under the hold is to ${heard?.join() ?? 'nothing'}`)
    }
    for (const osd of osds)
      if (!this.#stored.starts.has(osd)) this.broken.push(`osd.${osd} starts and is not on record`)
    for (const osd of stoppableOsds(this.#map, osds)) {
      if (!this.#flagged.has(osd) && !this.#byHand.has(osd)) this.broken.push(`osd.${osd} stops without noout`)
      if (this.#flagged.has(osd) && this.#stored.record.noout?.includes(osd) !== true)
        this.broken.push(`noout of osd.${osd} is set and not on record`)
    }
    this.broken.push(...copiesLost(this.#map, { stop: osds, away: this.#unready }))
  }

  #hear(heard: Partial<HeardInPass>, answers: Partial<Pick<OsdUpdateSnapshot, 'ceph' | 'arbiter'>> = {}): void {
    this.#heard = { ...this.#heard, ...heard }
    this.#answers = { ...this.#answers, ...answers }
  }

  #flaggedMap(): CephMap {
    const hasNoout = (id: number) => this.#flagged.has(id) || this.#byHand.has(id)
    const osds = this.#map.osds.map((osd) => (hasNoout(osd.id) ? { ...osd, hasNoout: true as const } : osd))
    return { ...this.#map, osds }
  }

  /** OSDs that carry noout of ours. */
  flags(): number[] {
    return [...this.#flagged]
  }

  /** Somebody's pod fails. */
  #trip(): void {
    const { id } = this.#map.osds[Math.floor(this.#next() * this.#map.osds.length)] as CephMap['osds'][number]
    if (this.#unready.has(id)) this.#return(id)
    else this.#unready.add(id)
  }

  #return(osd: number): void {
    this.#away.delete(osd)
    this.#unready.delete(osd)
  }

  #arbiter(): NonNullable<OsdUpdateSnapshot['arbiter']> {
    const { wants: _, claim, ...claimed } = updateClaimOf({ namespace: 'rook-ceph', name: 'rook-ceph', uid: 'uid-1' })
    const ours: LedgerEntry = { ...other, ...claim, ...claimed }
    const others = [...(this.#isHeld ? [ours] : []), ...(this.#isHeldByOther ? [other] : [])]
    return known({ key: other.key, own: [], others, tickets: [] })
  }

  #snapshot(): UpdatePassSnapshot {
    const { arbiter = this.#arbiter(), ceph } = this.#answers
    const osds = [...this.#deployments].map(([id, deployment]) => {
      const mark = parseUpdateMark(deployment)
      const startedMs = 'startedMs' in mark ? mark.startedMs : undefined
      return {
        id,
        deployment: deployment.metadata.name,
        needsUpdate: needsUpdate(deployment, this.#cluster),
        isPodReady: !this.#unready.has(id),
        hasStalled: false,
        ...(startedMs !== undefined && { startedMs }),
      }
    })
    return {
      seen: {
        nowMs: this.#nowMs,
        cluster: {
          namespace: 'rook-ceph',
          name: 'rook-ceph',
          uid: 'uid-1',
          generation: 1,
          isBeingDeleted: false,
          mode: 'own',
          isUpgrade: false,
          settings: this.#settings,
        },
        osds,
        ceph,
        arbiter,
        record: this.#stored.record,
      },
      cluster: this.#cluster,
      deployments: this.#deployments,
      oldPods: new Map(),
      removable: [],
      problems: [],
      stored: this.#stored,
      isClaimHeld: this.#isHeld,
      isStorageHeld: this.#isHeld,
      ...(this.#refusedSinceMs !== undefined && { refusedSinceMs: this.#refusedSinceMs }),
      heard: this.#heard,
    }
  }
}
