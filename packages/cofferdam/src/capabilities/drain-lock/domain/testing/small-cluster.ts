import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import type { BreakGlass } from '../../../../ledger/rules/break-glass.ts'
import { decideEviction } from '../../../../ledger/rules/decide-eviction.ts'
import {
  adopt,
  breakLocks,
  emptyLedger,
  enqueue,
  grant,
  intend,
  type Ledger,
  type LedgerChange,
  release,
  releaseKeys,
  renew,
  stepBack,
  withdraw,
} from '../../../../ledger/rules/ledger.ts'
import type { PodReference } from '../../../../shared/object-references.ts'
import { known } from '../../../../shared/observed.ts'
import { deletionTimeoutMs } from '../budget-hold.ts'
import { decideDisruption } from '../decide.ts'
import type { DisruptionDecision, DisruptionStep } from '../decision.ts'
import type { BudgetFacts, BudgetHold, DisruptionRecord, DisruptionSnapshot } from '../snapshot.ts'
import { blank, minutes, nowMs, settings } from './fixture.ts'

interface SmallNode {
  readonly name: string
  version: number
  boots: number
  isReady: boolean
  isCordoned: boolean
}

interface SmallPod {
  readonly app: SmallApp
  readonly name: string
  readonly wantsToStay: boolean
  node: SmallNode | undefined
  isReady: boolean
  isLeaving: boolean
}

interface SmallApp extends AppPlan {
  readonly name: string
  version: number
  /** As the disruption controller counted it last, with what was taken since. */
  allowed: number
  healthy: number
  disrupted: Record<string, number>
  hold: BudgetHold | undefined
  ownerLockedUntilMs: number
}

interface SmallRequest {
  readonly id: string
  readonly node: SmallNode
  readonly createdMs: number
  /** Which process looks after it: another one after each crash. */
  process: number
  version: number
  record: DisruptionRecord
  breakGlass: BreakGlass | undefined
  isCancelled: boolean
  isGone: boolean
}

export interface AppPlan {
  /** Which of its pods want to stay. */
  readonly stays: 'all' | 'none' | 'even' | 'odd'
  readonly replicas: number
  readonly maxUnavailable: number
}

/**
 * A cluster small enough to know the truth: which pods run, what the budgets have counted of it, and who holds what. Pods
 * fail only with their node. Made for one test run, and changed in place.
 */
export class SmallCluster {
  nowMs = nowMs
  ledger: Ledger = emptyLedger
  readonly nodes: SmallNode[]
  readonly apps: SmallApp[]
  readonly requests: SmallRequest[]
  pods: SmallPod[] = []
  isGuardUp = true
  #made = 0
  #asleep: { request: SmallRequest; steps: readonly DisruptionStep[]; seen: Map<string, number> } | undefined

  constructor(nodeCount: number, apps: readonly AppPlan[], wanted: readonly number[]) {
    this.nodes = [...Array(nodeCount).keys()].map((index) => {
      return { name: `node-${index}`, version: 0, boots: 1, isReady: true, isCordoned: false }
    })
    this.apps = apps.map((app, index) => {
      const name = `app-${index}`
      return { ...app, name, version: 0, allowed: 0, healthy: 0, disrupted: {}, hold: undefined, ownerLockedUntilMs: 0 }
    })
    for (const app of this.apps) {
      for (let replica = 0; replica < app.replicas; replica += 1) this.#make(app, this.nodes[replica % nodeCount])
    }
    this.requests = wanted.map((node, index) => ({
      id: `R${index}`,
      // One node stays, so that what is evicted has somewhere to go.
      node: this.nodes[node % (nodeCount - 1)] as SmallNode,
      createdMs: nowMs,
      process: 0,
      version: 0,
      record: blank,
      breakGlass: undefined,
      isCancelled: false,
      isGone: false,
    }))
    this.count()
  }

  #make(app: SmallApp, node: SmallNode | undefined): void {
    const number = this.pods.filter((pod) => pod.app === app).length
    const wantsToStay = app.stays === 'all' || app.stays === (number % 2 === 0 ? 'even' : 'odd')
    const name = `${app.name}-${this.#made}`
    this.#made += 1
    this.pods.push({ app, name, wantsToStay, node, isReady: node !== undefined, isLeaving: false })
  }

  /** Applications with fewer running pods than their budget wants. */
  harmed(): string[] {
    return this.apps
      .filter((app) => {
        const running = this.pods.filter((pod) => pod.app === app && pod.isReady && !pod.isLeaving).length
        return running < app.replicas - app.maxUnavailable
      })
      .map(({ name }) => name)
  }

  /** Both are held by at most one, unless they go together. */
  twiceHeld(): string[] {
    const keys = this.ledger.entries.map(({ key }) => key)
    return keys.filter((key, index) => keys.indexOf(key) !== index)
  }

  count(): void {
    for (const app of this.apps) {
      const pods = this.pods.filter((pod) => pod.app === app)
      const disrupted = Object.entries(app.disrupted).filter(
        ([name, untilMs]) => untilMs > this.nowMs && pods.some((pod) => pod.name === name && !pod.isLeaving),
      )
      app.disrupted = Object.fromEntries(disrupted)
      app.healthy = pods.filter((pod) => pod.isReady && !pod.isLeaving && app.disrupted[pod.name] === undefined).length
      app.allowed = Math.max(0, app.healthy - (app.replicas - app.maxUnavailable))
      app.version += 1
    }
  }

  /** Pods that leave are gone, and others are made where there is room. */
  replacePods(): void {
    const gone = this.pods.filter(({ isLeaving, node }) => isLeaving && node?.isReady !== false)
    this.pods = this.pods.filter((pod) => !gone.includes(pod))
    for (const { app } of gone) this.#make(app, undefined)
    const room = this.nodes.filter(({ isReady, isCordoned }) => isReady && !isCordoned)
    for (const pod of this.pods.filter(({ node }) => node === undefined)) pod.node = room[this.#made % room.length]
  }

  startPods(): void {
    for (const pod of this.pods) if (pod.node?.isReady === true) pod.isReady = true
  }

  /** Somebody who goes by the record takes down a node that may go. */
  reboot(pick: number): boolean {
    const request = this.requests[pick % this.requests.length]
    if (request === undefined || request.isGone || request.record.phase !== 'Drained' || !request.node.isReady)
      return false
    request.node.isReady = false
    for (const pod of this.pods) if (pod.node === request.node) pod.isReady = false
    return true
  }

  boot(): void {
    for (const node of this.nodes.filter(({ isReady }) => !isReady)) {
      node.isReady = true
      node.boots += 1
    }
  }

  /** What the eviction API answers, asked by anybody. */
  evict(target: PodReference, token?: { readonly requestId: string; readonly epoch: number }): boolean {
    const pod = this.pods.find(({ name }) => name === target.name)
    if (pod === undefined || pod.isLeaving) return false
    const { app } = pod
    if (this.isGuardUp && !this.#guardAllows(pod, token)) return false
    if (pod.isReady || app.healthy < app.replicas - app.maxUnavailable) {
      if (app.allowed <= 0) return false
      app.allowed -= 1
      app.disrupted = { ...app.disrupted, [pod.name]: this.nowMs + deletionTimeoutMs }
      app.version += 1
    }
    pod.isLeaving = true
    return true
  }

  #guardAllows({ app, name, node }: SmallPod, token: { requestId: string; epoch: number } | undefined): boolean {
    return decideEviction({
      nowMs: this.nowMs,
      target: { namespace: 'shop', name },
      pod: known({
        namespace: 'shop',
        name,
        uid: name,
        nodeName: node?.name ?? '',
        isLeaving: false,
        isCounted: node !== undefined,
      }),
      budgets: known([this.#budget(app)]),
      ledger: known(this.ledger),
      token,
      asker: 'operator',
      operatorUser: known('operator'),
      breakGlass: undefined,
      isStrict: true,
      dryRun: false,
    }).allowed
  }

  /** Looks, decides, and takes the first steps; whoever dies half-way is followed by another process. */
  look(pick: number, { steps = 100, dies = false, writesAnyway = false } = {}): DisruptionDecision | undefined {
    const request = this.requests[pick % this.requests.length]
    if (request === undefined || request.isGone) return undefined
    const decision = decideDisruption(this.snapshot(request))
    let isWhole = true
    for (const [index, step] of decision.steps.entries()) {
      isWhole = index < steps && this.#take(request, step)
      if (!isWhole) break
    }
    if (isWhole || (writesAnyway && !dies)) {
      request.record = decision.record
      request.version += 1
    }
    if (dies) request.process += 1
    return decision
  }

  /** A process falls asleep before one of its steps, and another one takes over. */
  fallAsleep(pick: number, steps: number): void {
    const request = this.requests[pick % this.requests.length]
    const decision = this.look(pick, { steps, dies: true })
    if (request === undefined || decision === undefined) return
    this.#asleep = { request, steps: decision.steps.slice(steps), seen: this.#versions() }
  }

  /** It wakes up and goes on with what it had in mind. Objects that have changed since refuse it. */
  wakeUp(): void {
    const { request, steps = [], seen } = this.#asleep ?? {}
    this.#asleep = undefined
    if (request === undefined || request.isGone || seen === undefined) return
    for (const step of steps) {
      const isTouched = this.#objectOf(request, step)
      const now = this.#versions()
      if (isTouched !== undefined && seen.get(isTouched) !== now.get(isTouched)) return
      // As whoever it was before: the ledger knows it by its epoch.
      if (step.step === 'take' || step.step === 'adopt' || step.step === 'finish') return
      if (!this.#take(request, step)) return
      if (isTouched !== undefined) seen.set(isTouched, this.#versions().get(isTouched) ?? 0)
    }
  }

  #objectOf({ node, id }: SmallRequest, step: DisruptionStep): string | undefined {
    if (step.step === 'lock' || step.step === 'unlock') return step.budget.uid
    if (step.step === 'cordon' || step.step === 'uncordon') return node.name
    return step.step === 'record' ? id : undefined
  }

  #versions(): Map<string, number> {
    const all = [...this.nodes, ...this.apps].map(({ name, version }): [string, number] => [name, version])
    return new Map([...all, ...this.requests.map(({ id, version }): [string, number] => [id, version])])
  }

  snapshot(request: SmallRequest): DisruptionSnapshot {
    const { id, node, record, createdMs, breakGlass, isCancelled } = request
    return {
      nowMs: this.nowMs,
      holder: this.#holder(request),
      request: {
        id,
        name: id,
        nodeName: node.name,
        intent: 'Reboot',
        requester: 'alice',
        reason: '',
        honourSkipDrain: true,
        accepts: [],
        createdMs,
        fallbackAfterMs: minutes(8),
        deadlineMs: undefined,
        isCancelled,
        breakGlass,
        record,
      },
      node: {
        name: node.name,
        uid: node.name,
        bootID: `boot-${node.boots}`,
        isReady: node.isReady,
        isCordoned: node.isCordoned,
        shutdownGraceSeconds: undefined,
      },
      pods: this.pods
        .filter((pod) => pod.node === node)
        .map(({ app, name, wantsToStay, isReady, isLeaving }) => ({
          namespace: 'shop',
          name,
          uid: name,
          kind: 'ordinary',
          isReady,
          isLeaving,
          wantsToStay,
          toleratesMs: Number.POSITIVE_INFINITY,
          losses: [],
          budgetUids: [app.name],
        })),
      budgets: this.apps.map((app) => this.#budget(app)),
      ledger: known(this.ledger),
      limits: known([]),
      storage: [],
      settings,
    }
  }

  #budget(app: SmallApp): BudgetFacts {
    const { name, ownerLockedUntilMs: untilMs } = app
    return {
      namespace: 'shop',
      name,
      uid: name,
      resourceVersion: '',
      isCounted: true,
      disruptionsAllowed: app.allowed,
      currentHealthy: app.healthy,
      desiredHealthy: app.replicas - app.maxUnavailable,
      expectedPods: app.replicas,
      disruptedUntilMs: app.disrupted,
      hold: app.hold,
      appLock: untilMs === 0 ? undefined : { holder: 'bob', reason: 'rebalance', sinceMs: 0, writtenMs: 0, untilMs },
    }
  }

  #holder({ id, process }: SmallRequest): string {
    return `process-${process} for ${id}`
  }

  #take(request: SmallRequest, step: DisruptionStep): boolean {
    const { id } = request
    switch (step.step) {
      case 'take': {
        const by = { requestId: id, holder: this.#holder(request), claims: step.claims, now: rfc3339(this.nowMs) }
        const answer = grant(this.ledger, by)
        this.ledger = answer.ledger
        return answer.granted
      }
      case 'queue': {
        const { claims, aside } = step
        const by = { requestId: id, holder: this.#holder(request), claims, now: rfc3339(this.nowMs) }
        this.ledger = enqueue(this.ledger, { ...by, ...(aside === undefined ? {} : { aside }) })
        return true
      }
      case 'adopt': {
        const adopted = adopt(this.ledger, { requestId: id, holder: this.#holder(request) })
        this.ledger = adopted?.ledger ?? this.ledger
        return adopted !== undefined
      }
      case 'renew':
        return this.#change(renew(this.ledger, { requestId: id, epoch: step.epoch }))
      case 'release':
        return this.#change(release(this.ledger, { requestId: id, epoch: step.epoch }))
      case 'release-budgets':
        return this.#change(releaseKeys(this.ledger, { requestId: id, epoch: step.epoch, keys: step.keys }))
      case 'step-back': {
        const { epoch, aside } = step
        return this.#change(stepBack(this.ledger, { requestId: id, epoch, ...(aside === undefined ? {} : { aside }) }))
      }
      case 'intend':
        return this.#change(intend(this.ledger, { requestId: id, epoch: step.epoch, bootID: step.bootID }))
      case 'withdraw':
        this.ledger = withdraw(this.ledger, id)
        return true
      case 'break':
        this.ledger = breakLocks(this.ledger, { ...step, at: rfc3339(this.nowMs), sparing: id })
        return true
      case 'record':
        request.record = step.record
        request.version += 1
        return true
      case 'lock':
        return this.#lock(id, step)
      case 'unlock':
        return this.#unlock(step.budget.uid)
      case 'cordon':
      case 'uncordon':
        request.node.isCordoned = step.step === 'cordon'
        request.node.version += 1
        return true
      case 'forget-cordon':
        return true
      case 'evict':
        for (const pod of step.pods) this.evict(pod, { requestId: id, epoch: step.epoch })
        return true
      case 'finish':
        request.isGone = true
        return true
    }
  }

  #change(change: LedgerChange): boolean {
    if (change.ok) this.ledger = change.ledger
    return change.ok
  }

  #lock(requestId: string, { budget, pods, untilMs, epoch }: DisruptionStep & { step: 'lock' }): boolean {
    const app = this.apps.find(({ name }) => name === budget.uid)
    if (app === undefined) return false
    app.version += 1
    app.hold = { requestId, request: requestId, epoch, untilMs, reason: '' }
    const fresh = pods.filter((pod) => app.disrupted[pod] === undefined).length
    if (fresh > app.allowed) return false
    app.allowed -= fresh
    app.disrupted = { ...app.disrupted, ...Object.fromEntries(pods.map((pod) => [pod, untilMs])) }
    return true
  }

  #unlock(uid: string): boolean {
    const app = this.apps.find(({ name }) => name === uid)
    if (app === undefined) return false
    app.version += 1
    // An eviction is never dated ahead.
    const isOwn = ([, untilMs]: [string, number]) => untilMs > this.nowMs + deletionTimeoutMs
    app.disrupted = Object.fromEntries(Object.entries(app.disrupted).filter((each) => !isOwn(each)))
    app.hold = undefined
    return true
  }
}
