import type { LonghornDecision } from '../decision.ts'
import { type ReplicaRule, ruleOf } from '../policy.ts'
import type { InstanceManagerView, LonghornNodeView, LonghornSnapshot, ReplicaView } from '../snapshot.ts'

type Write = (seen: LonghornSnapshot) => LonghornSnapshot

/** A Longhorn that does at once what it is told: pods go when they may, replicas fail with them, copies are rebuilt. */
export class SmallLonghorn {
  seen: LonghornSnapshot
  #made = 0

  constructor(start: LonghornSnapshot) {
    this.seen = start
  }

  cordon(node: string, isCordoned: boolean): void {
    this.#changeNode(node, () => ({ isCordoned }))
    if (!isCordoned) this.#changeManagers(node, true)
  }

  /** Kubernetes refuses to evict a pod that a budget covers. */
  mayEvict(node: string): boolean {
    const managers = this.#managersOn(node)
    return managers.some(({ isRunning }) => isRunning) && managers.every(({ name }) => !this.seen.budgets.has(name))
  }

  evict(node: string): void {
    this.#changeManagers(node, false)
    this.#changeReplicas(
      (replica) => replica.node === node && !replica.isStopped && replica.healthyAt !== '',
      () => ({ failedAt: '2026-02-01T00:00:00Z' }),
    )
  }

  fail(replica: string): void {
    this.#changeReplicas(
      ({ name, healthyAt }) => name === replica && healthyAt !== '',
      () => ({ failedAt: '2026-02-01T00:00:00Z' }),
    )
  }

  rebuild(volume: string): void {
    if (this.available(volume).length === 0) return
    const running = this.#runningNodes()
    this.#changeReplicas(
      (replica) => replica.volume === volume && running.has(replica.node),
      () => ({ failedAt: '', healthyAt: '2026-02-02T00:00:00Z' }),
    )
  }

  /** Copies a flagged replica to an open node that has none, then removes one that is flagged and not needed. */
  move(volume: string): void {
    const copies = this.#copies(volume)
    const flagged = copies.find(({ isEvictionRequested }) => isEvictionRequested)
    if (flagged === undefined || this.available(volume).length === 0) return
    const wanted = this.seen.volumes.find(({ name }) => name === volume)?.numberOfReplicas ?? 1
    const others = this.available(volume).filter(({ isEvictionRequested }) => !isEvictionRequested)
    if (others.length >= wanted) {
      this.seen = { ...this.seen, replicas: this.seen.replicas.filter((replica) => replica !== flagged) }
      return
    }
    const running = this.#runningNodes()
    const target = this.seen.nodes.find(
      ({ name, isCordoned }) => !isCordoned && running.has(name) && copies.every(({ node }) => node !== name),
    )
    if (target === undefined) return
    this.#made += 1
    const made: ReplicaView = {
      ...flagged,
      name: `${volume}-made-${this.#made}`,
      node: target.name,
      directory: `${volume}-made-${this.#made}`,
      diskUuid: `disk-${target.name}`,
      healthyAt: '2026-02-02T00:00:00Z',
      failedAt: '',
      isEvictionRequested: false,
      instanceManager: `im-${target.name}`,
    }
    this.seen = { ...this.seen, replicas: [...this.seen.replicas, made] }
  }

  /** Healthy copies that can be read from now. */
  available(volume: string): ReplicaView[] {
    const running = this.#runningNodes()
    return this.#copies(volume).filter(
      ({ node, healthyAt, failedAt }) => healthyAt !== '' && failedAt === '' && running.has(node),
    )
  }

  /** Volumes that some policy lets go unprotected, by its own words, are not looked at. */
  guardedVolumes(): string[] {
    return this.#volumesUnder((rule) => rule !== 'free' && rule !== 'last-unless-stopped')
  }

  /** And those that may go only while they are stopped, where a copy on the node is not. */
  guardedVolumesOn(node: string): string[] {
    const running = new Set(
      this.seen.replicas.filter((replica) => replica.node === node && !replica.isStopped).map(({ volume }) => volume),
    )
    const unlessStopped = this.#volumesUnder((rule) => rule === 'last-unless-stopped')
    return [...this.guardedVolumes(), ...unlessStopped.filter((volume) => running.has(volume))]
  }

  hasBudget({ instanceManager }: ReplicaView): boolean {
    return this.seen.budgets.has(instanceManager ?? '')
  }

  /** The writes of a decision one by one: budgets that are made come before those that go. */
  writesOf(decision: LonghornDecision): Write[] {
    const budget = (wanted: string, change: (names: Set<string>, name: string) => void): Write[] =>
      decision.budgets
        .filter((answer) => answer.wanted === wanted)
        .map(({ instanceManager }) => (seen) => {
          const budgets = new Set(seen.budgets)
          change(budgets, instanceManager)
          return { ...seen, budgets }
        })
    const automatic = new Set(
      decision.evictions
        .filter(({ isRequested, event }) => isRequested && event === 'EvictionAutomatic')
        .map(({ node }) => node),
    )
    const nodes = this.seen.nodes
      .filter(({ name, isAutoEvicting }) => automatic.has(name) !== isAutoEvicting)
      .map(
        ({ name }): Write =>
          (seen) => ({
            ...seen,
            nodes: seen.nodes.map((view) =>
              view.name === name ? { ...view, isAutoEvicting: automatic.has(name) } : view,
            ),
          }),
      )
    const flags = decision.evictions.map(
      ({ replica, isRequested }): Write =>
        (seen) => ({
          ...seen,
          replicas: seen.replicas.map((view) =>
            view.name === replica ? { ...view, isEvictionRequested: isRequested } : view,
          ),
        }),
    )
    const removed = decision.surplusReplicas.map(
      (name): Write =>
        (seen) => ({
          ...seen,
          replicas: seen.replicas.filter((replica) => replica.name !== name),
        }),
    )
    const made = budget('present', (names, name) => names.add(name))
    const gone = budget('absent', (names, name) => names.delete(name))
    return [...made, ...nodes, ...flags, ...gone, ...removed]
  }

  #volumesUnder(isSuch: (rule: ReplicaRule) => boolean): string[] {
    const setting = this.seen.settings.policy
    return this.seen.volumes.filter((volume) => isSuch(ruleOf({ setting, volume }))).map(({ name }) => name)
  }

  #copies(volume: string): ReplicaView[] {
    return this.seen.replicas.filter((replica) => replica.volume === volume)
  }

  #managersOn(node: string): InstanceManagerView[] {
    return this.seen.instanceManagers.filter((manager) => manager.node === node)
  }

  #runningNodes(): Set<string> {
    return new Set(this.seen.instanceManagers.filter(({ isRunning }) => isRunning).map(({ node }) => node))
  }

  #changeNode(name: string, change: (node: LonghornNodeView) => Partial<LonghornNodeView>): void {
    const nodes = this.seen.nodes.map((node) => (node.name === name ? { ...node, ...change(node) } : node))
    this.seen = { ...this.seen, nodes }
  }

  #changeManagers(node: string, isRunning: boolean): void {
    const instanceManagers = this.seen.instanceManagers.map((manager) =>
      manager.node === node ? { ...manager, isRunning } : manager,
    )
    this.seen = { ...this.seen, instanceManagers }
  }

  #changeReplicas(which: (replica: ReplicaView) => boolean, change: () => Partial<ReplicaView>): void {
    const replicas = this.seen.replicas.map((replica) => (which(replica) ? { ...replica, ...change() } : replica))
    this.seen = { ...this.seen, replicas }
  }
}
