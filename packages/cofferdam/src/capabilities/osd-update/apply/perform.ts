import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { CephCommands } from '../../../ceph/ceph-commands.ts'
import type { CephPorts } from '../../../ceph/reader/ceph-ports.ts'
import { type Observed, unknown } from '../../../shared/observed.ts'
import type { Performers, StepOutcome } from '../../interpreter.ts'
import type { LostDeployment, LostOsds } from '../domain/decide-removal.ts'
import type { StartOutcome } from '../domain/start-outcome.ts'
import type { AskStep, EvictStep, HoldStep, ReportStep, UpdateStep, WriteStep } from '../domain/steps.ts'
import type { UpdateMemory, UpdatePass } from '../observe/observe-pass.ts'
import type { OsdUpdateReporter, UpdateReports } from '../report/report.ts'
import { relabel, removeDeployment, startRestart, startUpdate } from './apply.ts'
import { changeLabel, readRookPass, requestPass } from './pace.ts'
import { writeRecord } from './record.ts'

export interface PerformPorts {
  readonly api: KubeApi
  readonly ceph: Pick<CephPorts, 'askOkToStop' | 'applyOsdNoout' | 'observeOsdVersions'>
  readonly osdDeployments: Pick<WatchView<Deployment>, 'whenSeen'>
  readonly reports: Pick<UpdateReports, 'events' | 'countDisagreement'>
  /** Which of these OSDs Ceph has lost, and which of those it could do without. */
  observeLostOsds(ceph: CephCommands, osds: readonly number[], signal: AbortSignal): Promise<Observed<LostOsds>>
}

/** Who performs the steps of one pass. What comes of them is learned by the pass. */
export class UpdatePerformer implements Performers<UpdateStep> {
  readonly #ports: PerformPorts
  readonly #memory: UpdateMemory
  readonly #reporter: OsdUpdateReporter
  readonly #pass: UpdatePass
  readonly #signal: AbortSignal
  /** Ends questions also when the cluster changes; what is written is written. */
  readonly #asking: AbortSignal

  constructor(
    ports: PerformPorts,
    given: { readonly memory: UpdateMemory; readonly reporter: OsdUpdateReporter; readonly pass: UpdatePass },
    { signal, asking }: { readonly signal: AbortSignal; readonly asking: AbortSignal },
  ) {
    this.#ports = ports
    this.#memory = given.memory
    this.#reporter = given.reporter
    this.#pass = given.pass
    this.#signal = signal
    this.#asking = asking
  }

  readonly ask = async (step: AskStep): Promise<StepOutcome> => {
    switch (step.ask) {
      case 'map':
        return this.#askMap()
      case 'batch':
        return this.#askBatch(step)
      case 'rook':
        return this.#askRook()
      case 'trial':
        return this.#askProbe(step)
      case 'ok-to-stop':
        return this.#askOkToStop(step)
      case 'restart-ways':
        return this.#readWays(step)
      case 'osd-versions':
        return this.#askVersions()
      case 'lost-osds':
        return this.#askLost(step)
    }
  }

  readonly hold = async (step: HoldStep): Promise<StepOutcome> => {
    const pass = this.#pass
    const { cluster } = pass.last.observed.snapshot
    const { hold } = this.#memory
    if (step.hold !== 'acquire') {
      const failure = await hold.settle(cluster, step.hold, this.#signal)
      if (failure === undefined) return 'done'
      pass.hear({ unsettled: `${failure.object}: ${failure.problem}` })
      return 'learned'
    }
    const seen = hold.observe(cluster)
    const acquired = await hold.acquire(cluster, step.claim, this.#signal)
    if (acquired.outcome === 'refused') {
      const { refusals = 0 } = pass.heard.hold ?? {}
      pass.hear({ hold: { isAcquired: false, refusals: refusals + 1 } }, hold.observe(cluster, acquired.ledger))
      return 'learned'
    }
    // The new hold on the storage does not change the decision.
    pass.hear({ hold: { isAcquired: true, refusals: 0 } }, pass.last.answers.arbiter === undefined ? seen : {})
    return 'done'
  }

  readonly write = async (step: WriteStep): Promise<StepOutcome> => {
    const { api } = this.#ports
    const pass = this.#pass
    if (step.write === 'record') {
      const { generation } = pass.last.observed.snapshot.cluster
      pass.record(await writeRecord(api, step, { generation, signal: this.#signal }))
      return 'done'
    }
    if (step.write === 'labels') return this.#writeLabels(step)
    if (step.write === 'pass-request') {
      await requestPass(api, { namespace: pass.cluster.metadata.namespace ?? '', token: step.token }, this.#signal)
      return 'done'
    }
    if (step.write === 'round') {
      const outcomes = await Promise.all(step.changes.map((change) => changeLabel(api, change, this.#signal)))
      await this.#seen(outcomes)
      pass.hear({ begun: { intent: step.intent, outcomes, isTriedAgain: true } })
      return 'learned'
    }
    if (step.write === 'flags') {
      const commands = this.#commands()
      const failures =
        commands === undefined ? [] : await this.#ports.ceph.applyOsdNoout(commands, step.noout, this.#signal)
      if (failures.length > 0) pass.hear({ flagFailures: failures })
      return 'done'
    }
    if (step.write === 'version-labels') {
      for (const deployment of step.deployments) await relabel(api, deployment, this.#signal)
      return 'done'
    }
    if (step.write === 'removals') {
      const removed: LostDeployment[] = []
      for (const lost of step.lost) if (await removeDeployment(api, lost, this.#signal)) removed.push(lost)
      pass.hear({ removed })
      return 'learned'
    }
    const outcomes = await Promise.all(step.starts.map((start) => startUpdate(api, start, this.#signal)))
    await this.#seen(outcomes)
    pass.hear({ begun: { intent: step.intent, outcomes, isTriedAgain: true } })
    return 'learned'
  }

  readonly evict = async ({ evictions, intent, isAgain }: EvictStep): Promise<StepOutcome> => {
    const { observer } = this.#memory
    const outcomes = await Promise.all(
      evictions.map(async (eviction): Promise<StartOutcome> => {
        for (const { uid } of eviction.pods) observer.noteLeaving(uid)
        const outcome = await startRestart(this.#ports.api, eviction, this.#signal)
        const isStaying = outcome.result === 'later' || outcome.result === 'refused'
        if (isStaying) for (const { uid } of eviction.pods) observer.noteStaying(uid)
        return outcome
      }),
    )
    const before = this.#pass.heard.begun?.outcomes ?? []
    const byOsd = new Map([...before, ...outcomes].map((outcome) => [outcome.osd, outcome]))
    this.#pass.hear({ begun: { intent, outcomes: [...byOsd.values()], isTriedAgain: isAgain } })
    return 'learned'
  }

  readonly report = async (step: ReportStep): Promise<StepOutcome> => {
    const { key, cluster, recorded, heard } = this.#pass
    if (step.report === 'decision') {
      const problems = [...step.problems, ...(heard.flagFailures ?? [])]
      await this.#reporter.report({ key, cluster, recorded, decision: step.decision, problems })
    } else if (step.report === 'held') {
      for (const { uid, why } of step.pods) this.#memory.observer.noteHeld(uid, why)
    } else {
      for (const note of step.notes) {
        await this.#ports.reports.events.record(cluster, { type: 'Normal', reason: 'OsdRemoved', note })
      }
    }
    return 'done'
  }

  /** Those that somebody changed meanwhile are decided anew. */
  async #writeLabels({ changes, isFirst }: WriteStep & { readonly write: 'labels' }): Promise<StepOutcome> {
    const pass = this.#pass
    const outcomes = await Promise.all(changes.map((change) => changeLabel(this.#ports.api, change, this.#signal)))
    await this.#seen(outcomes)
    // What Rook did when it was asked says nothing of what it has read since.
    pass.hear({ labelled: (pass.heard.labelled ?? 0) + 1, hasRook: false })
    const failure = outcomes.find(({ result }) => result === 'unsure' || result === 'refused')
    if (failure?.result === 'unsure') throw failure.error
    if (failure?.result === 'refused') throw new Error(`osd.${failure.osd} cannot be labelled: ${failure.why}`)
    return isFirst ? 'learned' : 'done'
  }

  /** Resolves when what was written is seen. */
  async #seen(outcomes: readonly StartOutcome[]): Promise<void> {
    const versions = outcomes.flatMap((outcome) => ('version' in outcome && outcome.version ? [outcome.version] : []))
    const { namespace } = this.#pass.cluster.metadata
    await Promise.all(versions.map((version) => this.#ports.osdDeployments.whenSeen(version, this.#signal, namespace)))
  }

  async #askRook(): Promise<StepOutcome> {
    const rook = await readRookPass(this.#ports.api, this.#pass.cluster, this.#asking)
    this.#pass.hear({ hasRook: true }, { rook })
    return 'learned'
  }

  async #askMap(): Promise<StepOutcome> {
    const { key, cluster, last } = this.#pass
    const ceph = await this.#memory.observer.askCeph(key, cluster, last, this.#asking)
    this.#pass.hear({ hasMap: true }, { ceph })
    return 'learned'
  }

  async #askBatch({ question }: AskStep & { readonly ask: 'batch' }): Promise<StepOutcome> {
    const { key } = this.#pass
    const map = this.#map()
    const commands = this.#commands()
    const proposal =
      commands === undefined || map === undefined
        ? unknown('no way to reach this Ceph is known')
        : await this.#memory.proposals.propose({ key, question, map, commands, signal: this.#asking })
    this.#pass.hear({}, { proposal })
    return 'learned'
  }

  async #askProbe({ isClean }: AskStep & { readonly ask: 'trial' }): Promise<StepOutcome> {
    const { key } = this.#pass
    const { probes } = this.#memory
    const request = { key, isClean, map: this.#map(), ceph: this.#commands(), signal: this.#asking }
    const isRelevant = await probes.try(request)
    if (isRelevant && probes.problemOf(key) !== undefined) this.#ports.reports.countDisagreement(key)
    return 'done'
  }

  async #askOkToStop({
    osds,
    isSecured,
    ignoredPools,
  }: AskStep & { readonly ask: 'ok-to-stop' }): Promise<StepOutcome> {
    const { key, last } = this.#pass
    const commands = this.#commands()
    const answer =
      commands === undefined
        ? unknown('no way to reach this Ceph is known')
        : await this.#ports.ceph.askOkToStop(commands, osds, this.#asking, ignoredPools)
    const { nowMs, cluster } = last.observed.snapshot
    const isYes = answer.known && answer.value
    this.#memory.refusals.note(key, { isYes, nowMs, generation: cluster.generation })
    this.#pass.hear({ okToStop: { osds, isSecured, answer } })
    return 'learned'
  }

  async #readWays({ osds, isAgain }: AskStep & { readonly ask: 'restart-ways' }): Promise<StepOutcome> {
    const { cluster, last } = this.#pass
    const seen = await this.#memory.observer.readRestartWays(cluster, this.#signal).then(
      (wayOf) => ({ ways: new Map(osds.map((osd) => [osd, wayOf(last.observed.oldPods.get(osd) ?? [])])) }),
      (error: unknown) => {
        this.#signal.throwIfAborted()
        return { error }
      },
    )
    this.#pass.hear(isAgain ? { waysAgain: seen } : { ways: seen })
    return 'learned'
  }

  async #askLost({ osds }: AskStep & { readonly ask: 'lost-osds' }): Promise<StepOutcome> {
    const commands = this.#commands()
    const lost =
      commands === undefined
        ? unknown('no way to reach this Ceph is known')
        : await this.#ports.observeLostOsds(commands, osds, this.#signal)
    this.#pass.hear({ lost })
    return 'learned'
  }

  async #askVersions(): Promise<StepOutcome> {
    const commands = this.#commands()
    const versions =
      commands === undefined
        ? unknown('no way to reach this Ceph is known')
        : await this.#ports.ceph.observeOsdVersions(commands, this.#asking)
    this.#pass.hear({ versions })
    return 'learned'
  }

  #commands(): CephCommands | undefined {
    return this.#memory.observer.commandsOf(this.#pass.cluster)
  }

  #map() {
    const { ceph } = this.#pass.last.answers
    return ceph?.known === true ? ceph.value.map : undefined
  }
}
