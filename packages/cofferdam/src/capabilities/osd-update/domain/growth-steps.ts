import type { Deployment, Job } from '@cofferdam/kubernetes/api/apps.ts'
import type { ConfigMap } from '@cofferdam/kubernetes/api/core.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { Step } from '../../../shared/steps.ts'
import type { GrowthPlace } from './growth-places.ts'

/** What became of one write. */
export type GrowthOutcome =
  | { readonly result: 'made' }
  /** The object was there already, or changed meanwhile: the next pass handles it. */
  | { readonly result: 'passed' }
  /** The server does not take it, now or later. */
  | { readonly result: 'refused'; readonly why: string }
  /** Nothing about this object: a right is missing, or nobody answers. */
  | { readonly result: 'unsure'; readonly error: unknown }

/** A prepare Job that is to start, with its claim and its status. */
export interface PrepareStart {
  readonly cluster: CephCluster
  readonly place: GrowthPlace
  readonly rookImage: string
  /** The status of an earlier inspection, which has the same name. */
  readonly previous: ConfigMap | undefined
}

export interface NewDeployment {
  readonly osd: number
  readonly place: string
  readonly deployment: Deployment
}

export interface UsedStatus {
  readonly status: ConfigMap
  readonly trouble: string
}

export interface GrowthReport {
  readonly added: readonly { readonly id: number; readonly place: string }[]
  readonly prepared: readonly string[]
  /** With what was asked of the place. */
  readonly errors: readonly { readonly place: string; readonly asked: string; readonly why: string }[]
  /** Places whose disks are being inspected, and those where that cannot be done now. */
  readonly awaited: number
  readonly unusable: number
}

export interface AskUuids extends Step {
  readonly do: 'ask'
  readonly ask: 'uuids'
}

interface Write extends Step {
  readonly do: 'write'
}

export type GrowthWrite =
  | (Write & { readonly write: 'osds'; readonly osds: readonly NewDeployment[] })
  | (Write & { readonly write: 'used'; readonly used: readonly UsedStatus[] })
  | (Write & { readonly write: 'prepares'; readonly prepares: readonly PrepareStart[] })
  | (Write & { readonly write: 'removals'; readonly jobs: readonly Job[]; readonly statuses: readonly ConfigMap[] })

export interface ReportGrowth extends Step {
  readonly do: 'report'
  readonly report: GrowthReport
}

export type GrowthStep = AskUuids | GrowthWrite | ReportGrowth
