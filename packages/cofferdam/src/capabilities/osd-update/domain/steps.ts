import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { Step } from '../../../shared/steps.ts'
import type { BatchQuestion } from './batch-proposal.ts'
import type { LostDeployment } from './decide-removal.ts'
import type { OsdUpdateDecision, UpdateNoout } from './decision.ts'
import type { UpdateClaim } from './hold-for-update.ts'
import type { LabelChange } from './pace-label.ts'
import type { StartIntent } from './pass-snapshot.ts'
import type { RecordWrite } from './stored-update.ts'

/** What a pass over one cluster does. Within a kind the second part of the name says which. */
export type UpdateStep = AskStep | HoldStep | WriteStep | EvictStep | ReportStep

interface Ask extends Step {
  readonly do: 'ask'
}

export type AskStep =
  /** Ceph's map, its health and who is back. */
  | (Ask & { readonly ask: 'map' })
  /** Which batch Ceph itself would choose. */
  | (Ask & { readonly ask: 'batch'; readonly question: BatchQuestion })
  /** What Rook's operator does with the cluster, as the API server has it now. */
  | (Ask & { readonly ask: 'rook' })
  /** The probe of Ceph's ok-to-stop check. Its result is reported and blocks nothing. */
  | (Ask & { readonly ask: 'trial'; readonly isClean: boolean })
  /** Whether these may stop together. A yes counts only when nobody else can take the storage after it. */
  | (Ask & {
      readonly ask: 'ok-to-stop'
      readonly osds: readonly number[]
      readonly isSecured: boolean
      /** Ids of pools whose placement groups do not count in the answer. */
      readonly ignoredPools?: readonly number[]
    })
  /** How the pods of these may be removed, by the budgets as the API server has them now. */
  | (Ask & { readonly ask: 'restart-ways'; readonly osds: readonly number[]; readonly isAgain: boolean })
  /** What each OSD runs. */
  | (Ask & { readonly ask: 'osd-versions' })
  /** Which of these Ceph has lost, and which of those it could do without. */
  | (Ask & { readonly ask: 'lost-osds'; readonly osds: readonly number[] })

interface Hold extends Step {
  readonly do: 'hold'
}

export type HoldStep =
  | (Hold & { readonly hold: 'acquire'; readonly claim: UpdateClaim; readonly attempt: number })
  | (Hold & { readonly hold: 'keep' | 'release' })

interface Write extends Step {
  readonly do: 'write'
}

export type WriteStep =
  | (Write & RecordWrite & { readonly write: 'record' })
  | (Write & {
      readonly write: 'deployments'
      readonly starts: readonly { readonly osd: number; readonly deployment: Deployment }[]
      readonly intent: StartIntent
    })
  /** Labels that keep Rook from OSDs. `isFirst`: everything is decided again after them. */
  | (Write & { readonly write: 'labels'; readonly changes: readonly LabelChange[]; readonly isFirst: boolean })
  /** The labels of a round are taken off: Rook may update these. */
  | (Write & { readonly write: 'round'; readonly changes: readonly LabelChange[]; readonly intent: StartIntent })
  /** Rook is asked for a pass. */
  | (Write & { readonly write: 'pass-request'; readonly token: string })
  /** Labels alone: no pod is replaced. */
  | (Write & { readonly write: 'version-labels'; readonly deployments: readonly Deployment[] })
  | (Write & { readonly write: 'flags'; readonly noout: UpdateNoout })
  | (Write & { readonly write: 'removals'; readonly lost: readonly LostDeployment[] })

export interface EvictStep extends Step {
  readonly do: 'evict'
  readonly evictions: readonly Eviction[]
  readonly intent: StartIntent
  /** Whether it is the second attempt: for pods refused by a budget that is being closed for this very update. */
  readonly isAgain: boolean
}

interface Report extends Step {
  readonly do: 'report'
}

export type ReportStep =
  | (Report & {
      readonly report: 'decision'
      readonly decision: OsdUpdateDecision
      readonly problems: readonly string[]
    })
  /** Pods that were refused, and are left in peace for a while. */
  | (Report & { readonly report: 'held'; readonly pods: readonly { readonly uid: string; readonly why: string }[] })
  | (Report & { readonly report: 'removed'; readonly notes: readonly string[] })

/** The pods of one OSD that are removed, within their budgets or past them. */
export interface Eviction {
  readonly osd: number
  readonly by: 'eviction' | 'deletion'
  readonly pods: readonly { readonly namespace: string; readonly name: string; readonly uid: string }[]
}
