import type { CephCommands } from '../../../ceph/ceph-commands.ts'
import type { CephPorts } from '../../../ceph/reader/ceph-ports.ts'
import type { CephMap } from '../../../safety/ceph-map.ts'
import { known, type Observed } from '../../../shared/observed.ts'
import type { BatchProposal, BatchQuestion } from '../domain/batch-proposal.ts'
import { updateAnnotations } from '../domain/update-settings.ts'
import { upgradeBuckets } from '../domain/upgrade-buckets.ts'

export interface ProposalRequest {
  /** The cluster: `namespace/name`. */
  readonly key: string
  readonly question: BatchQuestion
  readonly map: CephMap
  readonly commands: CephCommands
  readonly signal: AbortSignal
}

/** Each costs the mgr a scan of all placement groups. */
const mostQuestions = 20

/** Lets Ceph name the next batch. */
export class BatchProposals {
  readonly #ceph: Pick<CephPorts, 'askStoppable' | 'askOkToUpgrade' | 'observeOsdVersions'>
  /** By cluster: where the last search ended without a yes. The next one begins there. */
  readonly #turns = new Map<string, number>()
  readonly #notes = new Map<string, string>()

  constructor(ceph: Pick<CephPorts, 'askStoppable' | 'askOkToUpgrade' | 'observeOsdVersions'>) {
    this.#ceph = ceph
  }

  forget(key: string): void {
    this.#turns.delete(key)
    this.#notes.delete(key)
  }

  /** Why Ceph was last asked something else than was wished for. */
  noteOf(key: string): string | undefined {
    return this.#notes.get(key)
  }

  async propose(request: ProposalRequest): Promise<Observed<BatchProposal>> {
    const { key, question } = request
    const upgrade = question.by === 'ok-to-upgrade' ? await this.#byUpgrade(request) : undefined
    if (upgrade === undefined || !('hindrance' in upgrade)) this.#notes.delete(key)
    else {
      const instead = 'ceph osd ok-to-upgrade is not available, and ok-to-stop is used instead'
      this.#notes.set(key, `annotation ${updateAnnotations.strategy}: ${instead}: ${upgrade.hindrance}`)
    }
    return upgrade === undefined || 'hindrance' in upgrade ? this.#byStop(request) : upgrade
  }

  /** One OSD after the other, until one may stop. */
  async #byStop({ key, question, commands, signal }: ProposalRequest): Promise<Observed<BatchProposal>> {
    const by = 'ok-to-stop'
    const asked: number[] = []
    for (const osd of this.#inTurn(key, question.osds)) {
      asked.push(osd)
      const answer = await this.#ceph.askStoppable(commands, osd, question.max, signal)
      if (!answer.known) return answer
      if (answer.value.length > 0) return this.#found(key, { by, osds: answer.value, asked })
    }
    return this.#foundNone(key, { by, osds: [], asked })
  }

  async #byUpgrade(request: ProposalRequest): Promise<Observed<BatchProposal> | { readonly hindrance: string }> {
    const { key, question, map, commands, signal } = request
    const by = 'ok-to-upgrade'
    const version = await this.#versionFor(request)
    if ('hindrance' in version) return version
    const pending = new Set(question.osds)
    const asked: number[] = []
    for (const [bucket, inside] of this.#inTurn(key, [...upgradeBuckets(map, question.osds)])) {
      asked.push(...inside)
      const wanted = { bucket, version: version.version, max: question.max }
      const answer = await this.#ceph.askOkToUpgrade(commands, wanted, signal)
      if (!answer.known) return answer
      if (answer.value.kind === 'no-such-question') return { hindrance: answer.value.why }
      const { osds, upgraded, versionless } = answer.value
      const passedOver = [...upgraded, ...versionless].find((osd) => pending.has(osd))
      if (passedOver !== undefined && osds.length === 0) {
        return {
          hindrance: `it passes over osd.${passedOver}, as if that ran ${version.version} already or nothing at all`,
        }
      }
      if (osds.some((osd) => pending.has(osd))) return this.#found(key, { by, osds, asked })
      // It counts those towards the limit that it does not know to be updated.
      if (osds.length > 0) return { hindrance: `it names only OSDs that need no update, such as osd.${osds[0]}` }
    }
    return this.#foundNone(key, { by, osds: [], asked })
  }

  async #versionFor({
    question,
    commands,
    signal,
  }: ProposalRequest): Promise<{ readonly version: string } | { readonly hindrance: string }> {
    if (question.version !== undefined) return { version: question.version }
    const wayOut = `annotation ${updateAnnotations.cephVersion} can say it`
    if (question.updated.length === 0) {
      return { hindrance: `the version to come is not known before the first OSD runs it; ${wayOut}` }
    }
    const versions = await this.#ceph.observeOsdVersions(commands, signal)
    if (!versions.known) return { hindrance: `the versions that OSDs run are not known: ${versions.why}` }
    const [version, other] = [...new Set(question.updated.flatMap((osd) => versions.value.get(osd) ?? []))]
    if (version === undefined) return { hindrance: `no updated OSD says which version it runs; ${wayOut}` }
    if (other !== undefined) return { hindrance: `updated OSDs run both ${version} and ${other}; ${wayOut}` }
    return { version }
  }

  *#inTurn<T>(key: string, all: readonly T[]): Generator<T> {
    const from = (this.#turns.get(key) ?? 0) % Math.max(all.length, 1)
    const count = Math.min(all.length, mostQuestions)
    for (const item of [...all.slice(from), ...all.slice(0, from)].slice(0, count)) yield item
  }

  #found(key: string, proposal: BatchProposal): Observed<BatchProposal> {
    this.#turns.delete(key)
    return known(proposal)
  }

  #foundNone(key: string, proposal: BatchProposal): Observed<BatchProposal> {
    this.#turns.set(key, (this.#turns.get(key) ?? 0) + mostQuestions)
    return known(proposal)
  }
}
